#include "compiler/driver/tuning/tune_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/ir/program.h"
#include "runtime/core/element.h"
#include "runtime/core/text.h"

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

// Consecutive for consecutive numbers of the type.
template <class Bits>
std::int64_t place_of(const std::byte* element) {
    Bits bits;
    std::memcpy(&bits, element, sizeof bits);
    constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * sizeof bits - 1));
    const auto magnitude = static_cast<std::int64_t>(bits & static_cast<Bits>(~kSign));
    return (bits & kSign) != 0 ? -magnitude : magnitude;
}

std::int64_t place_of(const FieldValues& values, std::int64_t i) {
    const std::byte* const element = values.elements.data() + i * rt::size_of(values.type);
    switch (rt::size_of(values.type)) {
        case 2:
            return place_of<std::uint16_t>(element);
        case 4:
            return place_of<std::uint32_t>(element);
        default:
            return place_of<std::uint64_t>(element);
    }
}

bool element_agrees(const FieldValues& expected, const FieldValues& got, std::int64_t i, double tolerance,
                    std::uint64_t ulps) {
    if (rt::is_real(expected.type)) {
        if (agrees(expected.at(i), got.at(i), tolerance)) return true;
        const std::optional<std::uint64_t> between = ulps_between(expected, got, i);
        return between && *between <= ulps;
    }
    const std::int64_t size = rt::size_of(expected.type);
    return std::memcmp(expected.elements.data() + i * size, got.elements.data() + i * size,
                       static_cast<std::size_t>(size)) == 0;
}

std::string level_difference(const FieldLevel& expected, const FieldLevel& got, const Extent& extent,
                             double tolerance, std::uint64_t ulps) {
    if (expected.values.elements == got.values.elements) return "";
    for (std::int64_t i = 0; i < expected.values.size(); ++i) {
        if (element_agrees(expected.values, got.values, i, tolerance, ulps)) continue;
        const std::optional<std::uint64_t> between = ulps_between(expected.values, got.values, i);
        return fmt::format(
            "{} at t{:+} differs at cell ({}): {} instead of {}{}", expected.field, expected.time,
            rt::cell_text(extent, i), got.values.at(i), expected.values.at(i),
            between ? fmt::format(", {} ulp{} apart", *between, *between == 1 ? "" : "s") : "");
    }
    return "";
}

// Of the numbers around 1 of any field.
double largest_ulp(const TuneResults& results) {
    double largest = 0;
    for (const FieldLevel& level : results.fields) {
        const rt::ElementType type = level.values.type;
        const double ulp = type == rt::ElementType::f32    ? 0x1p-23
                           : type == rt::ElementType::f64  ? 0x1p-52
                           : type == rt::ElementType::f16  ? 0x1p-10
                           : type == rt::ElementType::bf16 ? 0x1p-7
                                                           : 0;
        largest = std::max(largest, ulp);
    }
    return largest;
}

}  // namespace

std::optional<std::uint64_t> ulps_between(const FieldValues& a, const FieldValues& b, std::int64_t element) {
    if (!rt::is_real(a.type) || std::isnan(a.at(element)) || std::isnan(b.at(element))) return std::nullopt;
    const std::int64_t first = place_of(a, element), second = place_of(b, element);
    const auto low = static_cast<std::uint64_t>(std::min(first, second));
    return static_cast<std::uint64_t>(std::max(first, second)) - low;  // modulo 2^64, in which it fits
}

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

bool has_numbers(const TuneResults& results) {
    if (results.fields.empty()) return true;
    return std::any_of(results.fields.begin(), results.fields.end(), [](const FieldLevel& level) {
        if (!rt::is_real(level.values.type)) return true;
        for (std::int64_t i = 0; i < level.values.size(); ++i)
            if (!std::isnan(level.values.at(i))) return true;
        return false;
    });
}

CheckResult nothing_to_compare(int steps) {
    return {
        CheckResult::Kind::unverified,
        fmt::format("there is nothing to compare: no cell is a number after {} step{}, from values close to "
                    "their mean, either",
                    steps, steps == 1 ? "" : "s")};
}

std::string first_difference(const TuneResults& expected, const TuneResults& got, const Extent& extent,
                             double tolerance, std::uint64_t ulps) {
    for (std::size_t i = 0; i < expected.fields.size(); ++i) {
        std::string text = level_difference(expected.fields[i], got.fields[i], extent, tolerance, ulps);
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
    tolerance = std::max(tolerance, static_cast<double>(ulps) * largest_ulp(expected));
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

std::string difference_of(Engine& expected, Engine& got, const ir::Program& program, const Extent& extent,
                          double tolerance) {
    TuneResults expected_rest = results_without_fields(expected, program),
                got_rest = results_without_fields(got, program);
    for (const auto& [name, time] : kept_levels(program)) {
        const std::optional<rt::CellComparison> cells = expected.compare_level(name, time, got);
        if (cells && cells->different == 0) continue;
        expected_rest.fields.push_back({name, time, expected.download(name, time)});
        got_rest.fields.push_back({name, time, got.download(name, time)});
    }
    return first_difference(expected_rest, got_rest, extent, tolerance);
}

}  // namespace halo::driver
