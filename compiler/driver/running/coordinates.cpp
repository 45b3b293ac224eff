#include "compiler/driver/running/coordinates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "compiler/driver/console/exit_code.h"
#include "compiler/support/file_kinds.h"
#include "runtime/hdf5/coordinates.h"

namespace halo::driver {

namespace {

// "0, 0.5, … 19.5"
std::string places_words(const std::vector<double>& places) {
    if (places.size() < 3) return fmt::format("{:.6g}", fmt::join(places, ", "));
    return fmt::format("{:.6g}, {:.6g}, … {:.6g}", places[0], places[1], places.back());
}

// Files may have coordinates in single precision.
bool are_near(const std::vector<double>& one, const std::vector<double>& other, double spacing) {
    return std::ranges::equal(one, other, [&](double a, double b) {
        return std::fabs(a - b) <= 1e-6 * std::fabs(spacing) + 1e-6 * std::fabs(b);
    });
}

void check_unit(const Load& load, const std::string& what, const std::string& found,
                const std::string& wanted) {
    if (found.empty() || wanted.empty() || found == wanted) return;
    throw CommandError(ExitCode::file,
                       fmt::format("{}: the unit of {} is \"{}\" there, and \"{}\" in the stencil", load.path,
                                   what, found, wanted),
                       "units are compared as they are written, and nothing is converted");
}

}  // namespace

void check_coordinates(const Load& load, const FieldSet& set, const ir::Program& program,
                       const RunRequest& request) {
    const ArrayName name = parse_array_name(load.path);
    if (!needs_hdf5(name.file)) return;
    const auto field_of = [&](const std::string& field) -> const ir::Field& {
        return *std::ranges::find(program.fields, field, &ir::Field::name);
    };
    const ir::Field& field = field_of(set.fields.front());
    const auto [found, unit] =
        rt::read_coordinates(name.file, name.dataset.empty() ? "/" + set.name : name.dataset);
    check_unit(load, "the values of " + set.name, unit, field.unit);
    if (!is_of(name.file, FileFormat::netcdf)) return;
    for (const std::string& other : set.fields)
        if (field_of(other).staggered != field.staggered) return;
    std::vector<int> axes;  // of the array, slowest first
    for (int axis = request.rank(); axis-- > 0;)
        if (field.grid.has(axis)) axes.push_back(axis);
    for (std::size_t i = 0; i < std::min(axes.size(), found.size()); ++i) {
        if (!found[i]) continue;
        const auto a = static_cast<std::size_t>(axes[i]);
        const std::string& axis = request.axes[a];
        if (found[i]->name != axis && std::ranges::count(request.axes, found[i]->name) > 0)
            throw CommandError(ExitCode::file,
                               fmt::format("{}: axis {} of {} is {}, and the grid has {} there", load.path,
                                           i + 1, set.name, found[i]->name, axis),
                               "arrays have the slowest axis first, the spec's last");
        check_unit(load, fmt::format("the coordinates along {} of {}", axis, set.name), found[i]->unit,
                   request.axis_units[a]);
        if (found[i]->places.empty()) continue;
        std::vector<double> cells(static_cast<std::size_t>(field.grid.extent(request.extent)[a]));
        const double first = place_of_first_cell(field.staggered[a], field.grid);
        for (std::size_t cell = 0; cell < cells.size(); ++cell)
            cells[cell] = request.origin[a] +
                          request.spacing[a] * (static_cast<double>(cell) * field.grid.factor + first);
        // Another number of them is said where the shapes are compared.
        if (found[i]->places.size() != cells.size() || are_near(found[i]->places, cells, request.spacing[a]))
            continue;
        throw CommandError(
            ExitCode::file,
            fmt::format("{}: the values of {} lie at {} = {}, and the cells of the grid at {}", load.path,
                        set.name, axis, places_words(found[i]->places), places_words(cells)),
            fmt::format("`spacing {0}` and `origin {0}` in the stencil say where its cells lie", axis));
    }
}

}  // namespace halo::driver
