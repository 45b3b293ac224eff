// How the arrays of a solver lie, and those that callers give and take.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/launcher_model.h"

namespace halo::emit {

namespace {

std::string plus(const std::string& text, int value) {
    return value == 0 ? text : fmt::format("{} + {}", text, value);
}

}  // namespace

// As rt::geometry_of_field() has it.
FieldArray LauncherModel::array_of(int field, const std::string& members) const {
    const rt::FieldGrid& grid = plan.fields[field].grid;
    FieldArray array;
    for (int axis = 0; axis < plan.rank; ++axis)
        if (grid.has(axis)) array.axes.push_back(axis);
    const std::string pitch = members + "pitch";
    if (grid.is_whole()) {
        array.strides = {"1", pitch, members + "slice", members + "volume"};
        array.strides.resize(static_cast<std::size_t>(plan.rank));
        array.origin = members + "origin";
        array.elements = members + "elements";
        return array;
    }
    const auto halo = grid.halo(plan.halo);
    const auto padded = [&](int axis) {
        const int around = halo[axis][0] + halo[axis][1];
        return around == 0 ? members + extents[axis]
                           : fmt::format("({})", plus(members + extents[axis], around));
    };
    // Without the first axis the cells along the next one lie side by side.
    const int first = array.axes.front(), second = array.axes.back();
    const int left = round_up_row(halo[0][0]), right = round_up_row(halo[0][1]);
    const std::string row = first == 0 ? pitch : padded(first);
    array.strides.emplace_back("1");
    array.origin = std::to_string(first == 0 ? left : halo[first][0]);
    array.elements = "1LL * " + row;
    if (second != first) {
        array.strides.push_back(row);
        if (halo[second][0] > 0) array.origin += fmt::format(" + {}LL * {}", halo[second][0], row);
        array.elements += " * " + padded(second);
    }
    array.elements = plus(array.elements, left + right);
    return array;
}

bool LauncherModel::has_fewer_axes() const {
    return std::ranges::any_of(plan.fields,
                               [](const rt::FieldPlan& field) { return !field.grid.is_whole(); });
}

std::vector<std::string> LauncherModel::strides(int field) const {
    std::vector<std::string> names{"pitch", "slice", "volume"};
    names.resize(static_cast<std::size_t>(plan.fields[field].grid.rank(plan.rank) - 1));
    return names;
}

std::string LauncherModel::stride_parameters(int field) const {
    std::string text;
    for (const std::string& stride : strides(field))
        text += ", long long " + stride;
    return text;
}

}  // namespace halo::emit
