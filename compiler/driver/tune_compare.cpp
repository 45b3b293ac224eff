#include "compiler/driver/tune_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/ir/program.h"
#include "runtime/core/element.h"

namespace halo::driver {

namespace {

// Of functions that are approximations.
constexpr double kFastTolerance = 300 * 0x1p-17;
constexpr double kSumTolerance = 1e-15;  // of a sum of doubles in another order, for each cell

bool is_rounded_alike(ir::Function function) {
    switch (function) {
        case ir::Function::sqrt:
        case ir::Function::rsqrt:
        case ir::Function::abs:
        case ir::Function::floor:
        case ir::Function::ceil:
        case ir::Function::round:
        case ir::Function::trunc:
            return true;
        default:
            return false;
    }
}

bool agrees(double expected, double got, double tolerance) {
    return expected == got || std::isnan(expected) ||
           std::abs(expected - got) <= tolerance * (1 + std::abs(expected));
}

bool element_agrees(const FieldValues& expected, const FieldValues& got, std::int64_t i, double tolerance) {
    if (rt::is_real(expected.type)) return agrees(expected.at(i), got.at(i), tolerance);
    const std::int64_t size = rt::size_of(expected.type);
    return std::memcmp(expected.elements.data() + i * size, got.elements.data() + i * size,
                       static_cast<std::size_t>(size)) == 0;
}

std::string level_difference(const FieldLevel& expected, const FieldLevel& got, const Extent& extent,
                             double tolerance) {
    if (expected.values.elements == got.values.elements) return "";
    for (std::int64_t i = 0; i < expected.values.size(); ++i) {
        if (element_agrees(expected.values, got.values, i, tolerance)) continue;
        return fmt::format("{} at t{:+} differs at cell ({}, {}, {}): {} instead of {}", expected.field,
                           expected.time, i % extent[0], i / extent[0] % extent[1], i / extent[0] / extent[1],
                           got.values.at(i), expected.values.at(i));
    }
    return "";
}

// NaN agrees with everything, so a comparison of nothing else would prove nothing.
bool has_numbers(const TuneResults& results) {
    if (results.fields.empty()) return true;
    return std::any_of(results.fields.begin(), results.fields.end(), [](const FieldLevel& level) {
        if (!rt::is_real(level.values.type)) return true;
        for (std::int64_t i = 0; i < level.values.size(); ++i)
            if (!std::isnan(level.values.at(i))) return true;
        return false;
    });
}

}  // namespace

bool reads_reductions(const ir::Program& program) {
    return std::any_of(program.exprs.begin(), program.exprs.end(), [](const ir::Expr& expr) {
        return std::holds_alternative<ir::ReductionRef>(expr.node);
    });
}

double tolerance_of(const ir::Program& program) {
    double tolerance = 0;
    for (const ir::Expr& expr : program.exprs) {
        const auto* call = std::get_if<ir::Call>(&expr.node);
        const auto* noise = std::get_if<ir::Noise>(&expr.node);
        if (call != nullptr && call->fast) return kFastTolerance;
        if ((call != nullptr && !is_rounded_alike(call->function)) ||
            (noise != nullptr && noise->kind == ir::NoiseKind::normal))
            tolerance = kLibraryTolerance;
    }
    return reads_reductions(program) ? kLibraryTolerance : tolerance;
}

std::string first_difference(const TuneResults& expected, const TuneResults& got, const Extent& extent,
                             double tolerance) {
    if (!has_numbers(expected)) return kNothingToCompare;
    for (std::size_t i = 0; i < expected.fields.size(); ++i) {
        std::string text = level_difference(expected.fields[i], got.fields[i], extent, tolerance);
        if (!text.empty()) return text;
    }
    for (std::size_t i = 0; i < expected.traces.size(); ++i) {
        const auto& [name, values] = expected.traces[i];
        const std::vector<double>& others = got.traces[i].second;
        if (values.size() != others.size())
            return fmt::format("{} has {} values instead of {}", name, others.size(), values.size());
        for (std::size_t n = 0; n < values.size(); ++n) {
            if (!agrees(values[n], others[n], tolerance))
                return fmt::format("{}: value {} is {} instead of {}", name, n, others[n], values[n]);
        }
    }
    const auto cells = static_cast<double>(cell_count(extent));
    for (std::size_t i = 0; i < expected.reductions.size(); ++i) {
        const TuneResults::Reduction& reduction = expected.reductions[i];
        const double other = got.reductions[i].value;
        // What functions round differently adds up as the root of the cells.
        const double allowed =
            reduction.is_sum ? kSumTolerance * cells + tolerance * std::sqrt(cells) : tolerance;
        if (!agrees(reduction.value, other, allowed))
            return fmt::format("the reduction {} is {} instead of {}", reduction.name, other,
                               reduction.value);
    }
    return "";
}

}  // namespace halo::driver
