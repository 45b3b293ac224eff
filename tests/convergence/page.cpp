#include <fmt/format.h>

#include "accuracy.h"

namespace halo::test {

namespace {

constexpr const char* kIntroduction = R"(# Accuracy

The orders that schemes have, as found by `scripts/accuracy`, which writes this page; a test holds it to what it finds. Each
is the logarithm to base 2 of the ratio of two errors: on one grid, and on one twice as fine, against a solution that is
known, in f64. The formal order is what the scheme has on paper.

## Derivatives

The largest error over a period of a sine wave in two dimensions, with periodic boundaries.

)";

constexpr const char* kTimeSteps = R"(
## Steps in time

The error at t = 1 of u' = −u², of u'' = −u for leapfrog. All are written as plain statements, with `let`s for stages and
`u[t-1]`, `u[t-2]`, … for steps before.

)";

constexpr const char* kBoundaries = R"(
## Boundaries

The error of heat conduction at t = 0.02, and with `extrapolate` of a wave that leaves, at t = 0.2, from a solution for which
the boundary's condition holds. Steps are Adams–Bashforth 4 and so short that what is left is the error of space. Where the
solution has the boundary's symmetry, what the boundary makes up is exact and the differences keep their order. Elsewhere a
boundary can cost order: where it makes up values that are less exact than the differences that read them.

)";

std::string table(const char* head, const std::vector<Measured>& rows) {
    std::string text = fmt::format("| {} | | formal | observed |\n| --- | --- | --- | --- |\n", head);
    for (const Measured& row : rows)
        text += fmt::format("| {} | {} | {:g} | {:.1f} |\n", row.what, row.where, row.formal, row.observed);
    return text;
}

}  // namespace

std::string accuracy_page() {
    return kIntroduction + table("derivative", measure_derivatives()) + kTimeSteps +
           table("method", measure_time_steps()) + kBoundaries + table("boundary", measure_boundaries());
}

}  // namespace halo::test
