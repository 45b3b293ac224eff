// The cells of a session's levels from and to dense arrays on the host.
#include <fmt/format.h>

#include <cstring>
#include <type_traits>

#include "runtime/core/element.h"
#include "runtime/core/session_state.h"
#include "runtime/core/text.h"

namespace halo::rt {

namespace {

template <class Element>
constexpr ElementType kElementType = std::is_same_v<Element, float> ? ElementType::f32 : ElementType::f64;

void check_count(const LaunchPlan& plan, const Geometry& geometry, const std::string& field,
                 std::size_t given, std::int64_t cells) {
    if (static_cast<std::int64_t>(given) == cells) return;
    throw Error(ErrorCode::bad_argument,
                fmt::format("field '{}' has {} = {} values, but the array holds {}", field,
                            extent_text(plan.rank, geometry.extent), cells, given));
}

// An array of several components as one of numbers: a cell of it is a component of a cell.
Geometry of_components(Geometry geometry, int count) {
    geometry.extent[0] *= count;
    geometry.pitch *= count;
    geometry.slice *= count;
    geometry.origin *= count;
    geometry.elements *= count;
    return geometry;
}

// That of a box's cells, in the same array.
Geometry of_box(Geometry geometry, const Box& box) {
    geometry.origin += box.begin[0] + box.begin[1] * geometry.pitch + box.begin[2] * geometry.slice;
    geometry.extent = box.extent();
    return geometry;
}

// All components of an interleaved field's level, those of a cell side by side.
std::vector<char> download_all(Device& device, const Geometry& geometry, const FieldPlan& field,
                               const Level& level) {
    const Geometry all = of_components(geometry, field.interleave);
    const std::int64_t elements = all.extent[0] * all.extent[1] * all.extent[2];
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

// Devices copy rows of neighbouring elements. One component of an interleaved array goes by way of all.
void Session::State::upload_box(int field, const Level& level, const Box& box, const void* dense) {
    if (box.is_empty()) return;
    const FieldPlan& known = plan.fields[field];
    const Geometry cells = of_box(geometry, box);
    if (known.interleave == 1) return device->upload_cells(level.array, cells, known.type, dense);
    const auto size = static_cast<std::size_t>(size_of(known.type));
    std::vector<char> values = download_all(*device, cells, known, level);
    copy_elements(values.data() + static_cast<std::size_t>(known.component) * size,
                  static_cast<std::size_t>(known.interleave), static_cast<const char*>(dense), 1,
                  static_cast<std::size_t>(box.cells()), size);
    device->upload_cells(level.array, of_components(cells, known.interleave), known.type, values.data());
}

void Session::State::download_box(int field, const Level& level, const Box& box, void* dense) const {
    if (box.is_empty()) return;
    const FieldPlan& known = plan.fields[field];
    const Geometry cells = of_box(geometry, box);
    if (known.interleave == 1) return device->download_cells(dense, level.array, cells, known.type);
    const auto size = static_cast<std::size_t>(size_of(known.type));
    const std::vector<char> values = download_all(*device, cells, known, level);
    copy_elements(static_cast<char*>(dense), 1,
                  values.data() + static_cast<std::size_t>(known.component) * size,
                  static_cast<std::size_t>(known.interleave), static_cast<std::size_t>(box.cells()), size);
}

void Session::State::upload_cells(int field, const Level& level, const void* dense) {
    upload_box(field, level, whole_box(geometry.extent), dense);
}

void Session::State::download_cells(int field, const Level& level, void* dense) const {
    download_box(field, level, whole_box(geometry.extent), dense);
}

void Session::State::check_box(const std::string& field, const Box& box) const {
    if (intersection(box, whole_box(geometry.extent)) == box) return;
    throw Error(ErrorCode::bad_argument,
                fmt::format("cells of field '{}' were asked for that its grid of {} has not", field,
                            extent_text(plan.rank, geometry.extent)));
}

void Session::State::check_bytes(int field, std::int64_t bytes) const {
    const FieldPlan& known = plan.fields[static_cast<std::size_t>(field)];
    const std::int64_t needed = cell_count() * size_of(known.type);
    if (bytes == needed) return;
    throw Error(ErrorCode::bad_argument,
                fmt::format("field '{}' has {} = {} values of {} bytes, {} bytes, and {} were given",
                            known.name, extent_text(plan.rank, geometry.extent), cell_count(),
                            size_of(known.type), needed, bytes));
}

template <class Element>
void Session::State::upload_values(const std::string& name, int time, std::span<const Element> values) {
    const int field = find_field(name, time);
    const ElementType type = plan.fields[field].type;
    check_count(plan, geometry, name, values.size(), cell_count());
    Level& to = level(field, time, phase());
    to.images_due = true;
    if (type == kElementType<Element>) return upload_cells(field, to, values.data());
    std::vector<char> converted(values.size() * static_cast<std::size_t>(size_of(type)));
    encode(values.data(), cell_count(), type, converted.data());
    upload_cells(field, to, converted.data());
}

template <class Element>
void Session::State::download_values(const std::string& name, int time, std::span<Element> values) {
    const int field = find_field(name, time);
    const ElementType type = plan.fields[field].type;
    check_count(plan, geometry, name, values.size(), cell_count());
    const Level& from = level(field, time, phase());
    if (type == kElementType<Element>) return download_cells(field, from, values.data());
    std::vector<char> native(values.size() * static_cast<std::size_t>(size_of(type)));
    download_cells(field, from, native.data());
    decode(native.data(), cell_count(), type, values.data());
}

void Session::upload(const std::string& field, int time, std::span<const double> values) {
    state_->upload_values(field, time, values);
}

void Session::upload(const std::string& field, int time, std::span<const float> values) {
    state_->upload_values(field, time, values);
}

void Session::download(const std::string& field, int time, std::span<double> values) {
    state_->download_values(field, time, values);
}

void Session::download(const std::string& field, int time, std::span<float> values) {
    state_->download_values(field, time, values);
}

std::vector<double> Session::download(const std::string& field, int time) {
    std::vector<double> values(static_cast<std::size_t>(cells()));
    download(field, time, std::span<double>(values));
    return values;
}

void Session::upload_elements(const std::string& field, int time, const void* elements, std::int64_t bytes) {
    State& s = *state_;
    const int index = s.find_field(field, time);
    s.check_bytes(index, bytes);
    Level& level = s.level(index, time, s.phase());
    s.upload_cells(index, level, elements);
    level.images_due = true;
}

void Session::download_elements(const std::string& field, int time, void* elements, std::int64_t bytes) {
    State& s = *state_;
    const int index = s.find_field(field, time);
    s.check_bytes(index, bytes);
    s.download_cells(index, s.level(index, time, s.phase()), elements);
}

void Session::upload_box(const std::string& field, int time, const Box& box, const void* elements) {
    State& s = *state_;
    const int index = s.find_field(field, time);
    s.check_box(field, box);
    Level& level = s.level(index, time, s.phase());
    s.upload_box(index, level, box, elements);
    level.images_due = true;
}

void Session::download_box(const std::string& field, int time, const Box& box, void* elements) {
    State& s = *state_;
    const int index = s.find_field(field, time);
    s.check_box(field, box);
    s.download_box(index, s.level(index, time, s.phase()), box, elements);
}

namespace {

bool are_alike(const Geometry& a, const Geometry& b) {
    return a.extent == b.extent && a.pitch == b.pitch && a.slice == b.slice && a.origin == b.origin &&
           a.elements == b.elements;
}

}  // namespace

// The array of a level that lies alone in it, as in `like`; null where it lies in another way.
void* Session::State::array_like(const State& like, const std::string& field, int time) {
    const FieldPlan &here = plan.fields[find_field(field, time)],
                    &there = like.plan.fields[like.find_field(field, time)];
    const bool fits = device == like.device && here.type == there.type && here.interleave == 1 &&
                      there.interleave == 1 && are_alike(geometry, like.geometry);
    return fits ? level(find_field(field, time), time, phase()).array : nullptr;
}

bool Session::copy_level(const std::string& field, int time, const Session& from) {
    State &to = *state_, &source = *from.state_;
    void* const array = to.array_like(source, field, time);
    if (array == nullptr) return false;
    const int index = to.find_field(field, time);
    to.device->copy_on_device(array, source.array_like(to, field, time),
                              to.geometry.elements * size_of(to.plan.fields[index].type));
    to.level(index, time, to.phase()).images_due = true;
    return true;
}

std::optional<CellComparison> Session::compare_level(const std::string& field, int time,
                                                     const Session& other) const {
    State &here = *state_, &there = *other.state_;
    const void* const array = here.array_like(there, field, time);
    if (array == nullptr) return std::nullopt;
    return here.device->compare_cells(array, there.array_like(here, field, time), here.geometry,
                                      here.plan.fields[here.find_field(field, time)].type);
}

}  // namespace halo::rt
