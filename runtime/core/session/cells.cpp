// The cells of a level from and to dense arrays on the host.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/core/session/arrays.h"
#include "runtime/core/text.h"

namespace halo::rt::session {

namespace {

// Treats an array of several components as one of numbers, of which a cell's components are adjacent cells.
Geometry of_components(Geometry geometry, int count) {
    geometry.extent[0] *= count;
    geometry.pitch *= count;
    geometry.slice *= count;
    geometry.volume *= count;
    geometry.origin *= count;
    geometry.elements *= count;
    return geometry;
}

// The geometry of a box's cells within the same array.
Geometry of_box(Geometry geometry, const Box& box) {
    geometry.origin = geometry.element_of(box.begin);
    geometry.extent = box.extent();
    return geometry;
}

// The geometry of a lattice's rows within the same array, each with what lies between its cells.
Geometry of_rows(Geometry geometry, const Lattice& lattice) {
    geometry = of_box(geometry, bounds(lattice));
    for (std::size_t axis = 1; axis < kMaxRank; ++axis)
        geometry.extent[axis] = lattice.count[axis];
    geometry.pitch *= lattice.stride[1];
    geometry.slice *= lattice.stride[2];
    geometry.volume *= lattice.stride[3];
    return geometry;
}

// Downloads all components of an interleaved field's level, those of a cell side by side.
std::vector<char> download_all(Device& device, const Geometry& geometry, const FieldPlan& field,
                               const Level& level) {
    const Geometry all = of_components(geometry, field.interleave);
    const std::int64_t elements = all.extent.cells();
    std::vector<char> values(static_cast<std::size_t>(elements * size_of(field.type)));
    device.download_cells(values.data(), level.array, all, field.type);
    return values;
}

// Copies `count` elements, which are so many elements apart on either side.
void copy_elements(char* to, std::size_t to_step, const char* from, std::size_t from_step, std::size_t count,
                   std::size_t size) {
    for (std::size_t i = 0; i < count; ++i)
        std::memcpy(to + i * to_step * size, from + i * from_step * size, size);
}

}  // namespace

// Uploads a box. Devices copy rows of adjacent elements, so one component of an interleaved array is merged
// into all of them on the host.
void Arrays::upload(int field, const Level& level, const Box& box, const void* dense) {
    if (box.is_empty()) return;
    Device& device = *setup_.device;
    const FieldPlan& known = plan_of(field);
    const Geometry cells = of_box(setup_.geometry_of(known), box);
    if (known.interleave == 1) return device.upload_cells(level.array, cells, known.type, dense);
    const auto size = static_cast<std::size_t>(size_of(known.type));
    std::vector<char> values = download_all(device, cells, known, level);
    copy_elements(values.data() + static_cast<std::size_t>(known.component) * size,
                  static_cast<std::size_t>(known.interleave), static_cast<const char*>(dense), 1,
                  static_cast<std::size_t>(box.cells()), size);
    device.upload_cells(level.array, of_components(cells, known.interleave), known.type, values.data());
}

// Components that lie side by side are so many elements apart.
CellsOfArray Arrays::cells_in(int field, const Level& level, const Lattice& lattice) const {
    const FieldPlan& known = plan_of(field);
    Geometry cells = of_rows(setup_.geometry_of(known), lattice);
    cells.extent = lattice.count;
    cells.pitch *= known.interleave;
    cells.slice *= known.interleave;
    cells.volume *= known.interleave;
    cells.origin = cells.origin * known.interleave + known.component;
    return {level.array, cells, lattice.stride[0] * known.interleave, known.type};
}

void Arrays::download(int field, const Level& level, const Lattice& lattice, void* dense) const {
    if (lattice.cells() == 0) return;
    Device& device = *setup_.device;
    const FieldPlan& known = plan_of(field);
    const Geometry rows = of_rows(setup_.geometry_of(known), lattice);
    const bool is_box = std::ranges::all_of(lattice.stride, [](std::int64_t each) { return each == 1; });
    if (known.interleave == 1 && !is_box) {
        const CellsOfArray part = cells_in(field, level, lattice);
        if (device.download_every(dense, part.array, part.cells, part.every, part.type)) return;
    }
    if (known.interleave == 1 && lattice.stride[0] == 1)
        return device.download_cells(dense, level.array, rows, known.type);
    const std::vector<char> values = download_all(device, rows, known, level);
    const auto size = static_cast<std::size_t>(size_of(known.type));
    const auto count = static_cast<std::size_t>(lattice.count[0]);
    const auto apart = static_cast<std::size_t>(lattice.stride[0] * known.interleave);
    const auto row_bytes = static_cast<std::size_t>(rows.extent[0] * known.interleave) * size;
    const char* from = values.data() + static_cast<std::size_t>(known.component) * size;
    auto* to = static_cast<char*>(dense);
    for (std::int64_t row = 0; row < lattice.cells() / lattice.count[0]; ++row) {
        copy_elements(to, 1, from, apart, count, size);
        to += count * size;
        from += row_bytes;
    }
}

void Arrays::download(int field, const Level& level, const Box& box, void* dense) const {
    download(field, level, lattice_of(box), dense);
}

void Arrays::upload(int field, const Level& level, const void* dense) {
    upload(field, level, whole_box(setup_.geometry_of(plan_of(field)).extent), dense);
}

void Arrays::download(int field, const Level& level, void* dense) const {
    download(field, level, whole_box(setup_.geometry_of(plan_of(field)).extent), dense);
}

void Arrays::copy_cells(int field, Level& level, const void* array, const Geometry& geometry) {
    Device& device = *setup_.device;
    const std::int64_t element = size_of(plan_of(field).type);
    device.copy_from(device, copy_of_cells(cells_of(level.array, setup_.geometry_of(plan_of(field)), element),
                                           cells_of(array, geometry, element), geometry.extent, element));
    level.images_due = true;
}

void Arrays::check_box(int field, const Box& box) const {
    const auto extent = plan_of(field).grid.extent(setup_.geometry.extent);
    if (intersection(box, whole_box(extent)) == box) return;
    throw Error(ErrorCode::bad_argument,
                fmt::format("cells of field '{}' were asked for that its grid of {} has not",
                            plan_of(field).name, extent_text(setup_.plan.rank, extent)));
}

void Arrays::check_bytes(int field, std::int64_t bytes) const {
    const FieldPlan& known = plan_of(field);
    const std::int64_t cells = setup_.cell_count(known), needed = cells * size_of(known.type);
    if (bytes == needed) return;
    throw Error(
        ErrorCode::bad_argument,
        fmt::format("field '{}' has {} = {} values of {} bytes, {} bytes, and {} were given", known.name,
                    extent_text(setup_.plan.rank, known.grid.extent(setup_.geometry.extent)), cells,
                    size_of(known.type), needed, bytes));
}

}  // namespace halo::rt::session
