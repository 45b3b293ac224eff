// What counts as a difference between the results of two engines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/driver/tuning/tune_inputs.h"

namespace halo::driver {

// Functions of a device may be a few units in the last place away from those of the host; sums depend on
// their order.
inline constexpr double kLibraryTolerance = 0x1p-18;

// What a check has found. Where nothing can be compared the candidate is neither right nor wrong.
struct CheckResult {
    enum class Kind : std::uint8_t { agrees, differs, unverified };
    Kind kind = Kind::agrees;
    std::string text;  // of the others: the first difference, or why nothing was compared
};

// NaN agrees with everything, so a comparison of nothing else would prove nothing. A check whose values have
// all become NaN begins anew with values closer to their mean, and does fewer steps: one launch of a kernel
// for several, and a single one.
bool has_numbers(const TuneResults& results);
constexpr int fewer_steps(int steps) {
    return (steps + 1) / 2;
}
// Of a check for which that was not enough, either.
CheckResult nothing_to_compare(int steps);

// A step reads a reduction, whose last bits depend on how blocks cut the grid.
bool reads_reductions(const ir::Program& program);

// How far results may differ from the interpreter's, relative to 1 and to themselves; 0: not at all.
double tolerance_of(const ir::Program& program);

// Units in the last place of the type between two elements of it: numbers that it holds between them, and
// one. nullopt where one of them is no number, or the type is not real.
std::optional<std::uint64_t> ulps_between(const FieldValues& a, const FieldValues& b, std::int64_t element);

// The first difference; empty where there is none. A cell that is no number in `expected`, which has some,
// agrees with all.
// ulps: fields may differ by as many besides, and reductions accordingly.
std::string first_difference(const TuneResults& expected, const TuneResults& got, const Extent& extent,
                             double tolerance, std::uint64_t ulps = 0);

// The same of two engines after their steps; what can be compared on the device is.
std::string difference_of(Engine& expected, Engine& got, const ir::Program& program, const Extent& extent,
                          double tolerance);

}  // namespace halo::driver
