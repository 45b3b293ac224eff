#include <fmt/format.h>

#include <algorithm>

#include "runtime/api/errors.h"
#include "runtime/api/field_state.h"
#include "runtime/api/program_source.h"

namespace halocline {

namespace rt = halo::rt;

namespace detail {

rt::Geometry geometry_of(const Layout& layout) {
    rt::Geometry geometry;
    geometry.rank = static_cast<int>(layout.grid.size());
    std::copy(layout.grid.begin(), layout.grid.end(), geometry.extent.begin());
    geometry.pitch = layout.pitch;
    geometry.slice = layout.slice;
    geometry.volume = layout.volume;
    geometry.origin = layout.first_cell;
    geometry.elements = layout.elements;
    return geometry;
}

Layout layout_of(const rt::Geometry& geometry, rt::RowLayout rows) {
    Layout layout;
    layout.grid.assign(geometry.extent.begin(), geometry.extent.begin() + geometry.rank);
    layout.pitch = geometry.pitch;
    layout.slice = geometry.slice;
    if (geometry.rank > 3) layout.volume = geometry.volume;
    layout.first_cell = geometry.origin;
    layout.elements = geometry.elements;
    layout.alignment = rt::cell_alignment(rows);
    return layout;
}

}  // namespace detail

Layout common_layout(const std::vector<Program>& programs, const Device& device, const Grid& grid) {
    return detail::translated([&] {
        if (programs.empty())
            throw Error(ErrorCode::bad_argument, "a common layout is that of one program or more");
        std::array<std::array<int, 2>, rt::kMaxRank> halo{};
        for (const Program& program : programs) {
            const auto extent = detail::extent_of(program.info(), grid);
            const auto code = program.source()->code_for(*device.state(), extent);
            for (std::size_t axis = 0; axis < halo.size(); ++axis)
                for (std::size_t side = 0; side < 2; ++side)
                    halo[axis][side] = std::max(halo[axis][side], code->plan.halo[axis][side]);
        }
        const rt::RowLayout rows = device.state()->device->row_layout();
        const auto extent = detail::extent_of(programs.front().info(), grid);
        return detail::layout_of(rt::make_geometry(static_cast<int>(grid.size()), extent, halo, rows), rows);
    });
}

}  // namespace halocline
