// What the JSON of a launch plan is made of: enumerators by name, numbers, lists, scalars. Not for other
// rooms.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/json_value.h"
#include "runtime/core/launch_plan.h"

namespace halo::rt::json {

using Json = Value;

// ---- enumerators by name

inline constexpr const char* kElementTypes[] = {"f32", "f64", "f16", "bf16", "u8", "i32", "i64", "bool"};
inline constexpr const char* kBoundaries[] = {"periodic", "fixed", "clamp", "mirror", "free", "formula"};
inline constexpr const char* kRoles[] = {"input", "state", "output", "intermediate"};
inline constexpr const char* kArguments[] = {
    "field",         "scalar", "extent",     "pitch",         "slice",          "volume", "partials",
    "step_partials", "coefs",  "table",      "rows",          "points",         "count",  "exchange",
    "steps",         "sent",   "iterations", "partial_count", "device_scalars", "planes", "neighbour"};
inline constexpr const char* kInterpolations[] = {"linear", "sinc"};
inline constexpr const char* kReductions[] = {"sum", "min", "max"};
inline constexpr const char* kSteps[] = {"all", "with_results", "without_results", "first",
                                         "first_or_with_results"};
inline constexpr const char* kDomains[] = {"grid", "shell", "faces", "rows", "cells", "samples"};
inline constexpr const char* kOps[] = {
    "constant", "param",      "extent",   "step",          "reduction", "series",    "negate",    "not",
    "sqrt",     "rsqrt",      "cbrt",     "exp",           "log",       "sin",       "cos",       "tan",
    "asin",     "acos",       "atan",     "sinh",          "cosh",      "tanh",      "abs",       "floor",
    "ceil",     "round",      "trunc",    "erf",           "wrap_i32",  "add",       "sub",       "mul",
    "div",      "min",        "max",      "pow",           "atan2",     "mul_i32",   "floor_div", "floor_mod",
    "less",     "less_equal", "greater",  "greater_equal", "equal",     "not_equal", "and",       "or",
    "fma",      "select",     "round_f32"};
static_assert(std::size(kOps) == static_cast<std::size_t>(HostScalar::Op::round_f32) + 1);
static_assert(std::size(kArguments) == static_cast<std::size_t>(Argument::Kind::neighbour) + 1);

[[noreturn]] inline void refuse(const std::string& text) {
    throw Error(ErrorCode::bad_argument, "this is no launch plan: " + text);
}

template <class Enum, std::size_t Count>
const char* name_of(Enum value, const char* const (&names)[Count]) {
    return names[static_cast<std::size_t>(value)];
}

template <class Enum, std::size_t Count>
Enum value_of(const Json& json, const char* const (&names)[Count], const char* what) {
    const auto text = json.get<std::string>();
    for (std::size_t i = 0; i < Count; ++i)
        if (text == names[i]) return static_cast<Enum>(i);
    refuse(fmt::format("'{}' is no {}", text, what));
}

// ---- pieces
// ------------------------------------------------------------------------------------------------------

inline Json number_json(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return Json(value);
}

inline double number_from(const Json& json) {
    if (!json.is_string()) return json.get<double>();
    const auto text = json.get<std::string>();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    refuse(fmt::format("'{}' is no number", text));
}

inline bool has_index(HostScalar::Op op) {
    return op == HostScalar::Op::param || op == HostScalar::Op::extent || op == HostScalar::Op::reduction ||
           op == HostScalar::Op::series;
}

// A step is "add", ["constant", 0.5] or ["param", 1].
inline Json scalar_json(const HostScalar& scalar) {
    Json steps = Json::list({});
    for (const HostScalar::Step& step : scalar.steps) {
        const char* name = name_of(step.op, kOps);
        if (step.op == HostScalar::Op::constant)
            steps.push_back(Json::list({name, number_json(step.value)}));
        else if (has_index(step.op))
            steps.push_back(Json::list({name, step.index}));
        else
            steps.push_back(name);
    }
    return steps;
}

inline HostScalar scalar_from(const Json& json) {
    HostScalar scalar;
    for (const Json& entry : json.items()) {
        HostScalar::Step step;
        step.op = value_of<HostScalar::Op>(entry.is_list() ? entry.at(0) : entry, kOps, "operation");
        if (step.op == HostScalar::Op::constant)
            step.value = number_from(entry.at(1));
        else if (has_index(step.op))
            step.index = entry.at(1).get<int>();
        scalar.steps.push_back(step);
    }
    return scalar;
}

template <class Item, class Convert>
Json list_json(const std::vector<Item>& items, Convert&& convert) {
    Json list = Json::list({});
    for (const Item& item : items)
        list.push_back(convert(item));
    return list;
}

// What is by axis: of three axes, and of the fourth where it is not as for grids without one.
template <class Item>
Json by_axis_json(const std::array<Item, kMaxRank>& items, const Item& of_fourth = {}) {
    Json list = Json::list({});
    for (std::size_t axis = 0; axis < kMaxRank; ++axis)
        if (axis < 3 || items[axis] != of_fourth) list.push_back(items[axis]);
    return list;
}

template <class Item>
std::array<Item, kMaxRank> by_axis_from(const Json& json, const Item& of_fourth = {}) {
    std::array<Item, kMaxRank> items;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis)
        items[axis] = axis < 3 || json.items().size() > axis ? json.at(axis).get<Item>() : of_fourth;
    return items;
}

template <class Convert>
auto list_from(const Json& json, Convert&& convert) {
    std::vector<decltype(convert(json))> items;
    for (const Json& entry : json.items())
        items.push_back(convert(entry));
    return items;
}

inline Extent extent_from(const Json& json) {
    return by_axis_from<std::int64_t>(json, 1);
}

// ---- kernels (plan_json_kernels.cpp)

Json level_json(const KernelPlan::Written& level);
KernelPlan::Written level_from(const Json& json);
Json kernel_json(const KernelPlan& kernel);
KernelPlan kernel_from(const Json& json);
Json fixed_grid_json(const FixedGrid& grid, int rank);
FixedGrid fixed_grid_from(const Json& json);
Json time_block_json(const TimeBlock& block, int rank);
TimeBlock time_block_from(const Json& json);

}  // namespace halo::rt::json
