#include "compiler/lsp/field_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/print.h"
#include "compiler/schedule/footprint.h"

namespace halo::lsp {

namespace {

using ir::Program;

std::vector<ir::FieldId> fields_called(const Program& program, const std::string& name) {
    for (const ir::Group& group : program.groups)
        if (group.name == name) return group.fields;
    std::vector<ir::FieldId> fields;
    for (std::size_t i = 0; i < program.fields.size(); ++i) {
        const std::string& each = program.fields[i].name;
        if (each == name || each.starts_with(name + ".")) fields.push_back({static_cast<std::uint32_t>(i)});
    }
    return fields;
}

// "x 1 below and 2 above, y 1"
std::string halo_text(const Program& program, const ir::Field& field) {
    std::vector<std::string> axes;
    for (std::size_t axis = 0; axis < program.axes.size(); ++axis) {
        const auto [low, high] = std::pair(field.halo[axis][0], field.halo[axis][1]);
        const std::string& name = program.axes[axis].name;
        if (low == high && low > 0) axes.push_back(fmt::format("{} {}", name, low));
        if (low != high) axes.push_back(fmt::format("{} {} below and {} above", name, low, high));
    }
    return axes.empty() ? "not read past the edges of the grid"
                        : fmt::format("{} (cells read past the edges of the grid)", fmt::join(axes, ", "));
}

// Copies of a field that are kept: a state has the old level, the new one, and those of the past.
int levels_of(const ir::Field& field) {
    return field.role == ir::Role::state ? field.history + 2 : field.history + 1;
}

std::string memory_text(const Program& program, const std::vector<ir::FieldId>& fields) {
    const std::vector<bool> stored = ir::stored_fields(program, ir::form_stages(program));
    int bytes = 0;
    for (const ir::FieldId id : fields)
        if (stored[id.index]) bytes += schedule::size_of(program[id].storage) * levels_of(program[id]);
    if (bytes == 0) return "- memory: none, it is computed where it is read\n";
    const int levels = levels_of(program[fields.front()]);
    const ir::Field& first = program[fields.front()];
    if (first.grid.factor != 1)
        return fmt::format("- memory: {} byte{} for each cell on coarse({})\n", bytes, bytes == 1 ? "" : "s",
                           first.grid.factor);
    if (!first.grid.is_whole()) {
        std::vector<std::string> own;
        for (std::size_t axis = 0; axis < program.axes.size(); ++axis)
            if (first.grid.along[axis]) own.push_back(program.axes[axis].name);
        return fmt::format("- memory: {} byte{} for each cell along {}\n", bytes, bytes == 1 ? "" : "s",
                           fmt::join(own, " and "));
    }
    return fmt::format("- memory: {} byte{} a cell{}\n", bytes, bytes == 1 ? "" : "s",
                       levels > 1 ? fmt::format(", in {} time levels", levels) : "");
}

}  // namespace

std::string place_of(const Program& program, const ir::Field& field) {
    const bool is_staggered = std::ranges::find(field.staggered, true) != field.staggered.end();
    if (!is_staggered) return {};
    std::vector<std::string> axes;
    for (std::size_t axis = 0; axis < program.axes.size(); ++axis)
        if (field.grid.along[axis])
            axes.push_back(program.axes[axis].name + (field.staggered[axis] ? "+1/2" : ""));
    return fmt::format("{}", fmt::join(axes, ", "));
}

std::string field_facts(const Program& program, const std::string& name, bool is_whole) {
    const std::vector<ir::FieldId> fields = fields_called(program, name);
    if (fields.empty()) return {};
    constexpr std::size_t kShown = 4;  // of an array of components
    std::string text;
    for (std::size_t i = 0; i < std::min(fields.size(), kShown); ++i) {
        const ir::FieldId id = fields[i];
        const ir::Field& field = program[id];
        const std::string which = fields.size() > 1 ? fmt::format("`{}` ", field.name) : "";
        const std::string place = place_of(program, field);
        std::string type(ir::name_of(field.storage));
        if (ir::name_of(field.type) != type) type += fmt::format(", computed in {}", ir::name_of(field.type));
        text += fmt::format("- {}type: {}, {}\n", which, type, ir::name_of(field.role));
        text += fmt::format("- {}place: {}\n", which, place.empty() ? "the cells' points" : place);
        if (is_whole) text += fmt::format("- {}halo: {}\n", which, halo_text(program, field));
    }
    if (fields.size() > kShown) text += fmt::format("- … {} more\n", fields.size() - kShown);
    return is_whole ? text + memory_text(program, fields) : text;
}

}  // namespace halo::lsp
