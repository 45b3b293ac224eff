#include <fmt/format.h>

#include "accuracy.h"

namespace halo::test {

namespace {

std::string table(const char* head, const std::vector<Measured>& rows) {
    std::string text = fmt::format("| {} | | formal | observed |\n| --- | --- | --- | --- |\n", head);
    for (const Measured& row : rows)
        text += fmt::format("| {} | {} | {:g} | {:.1f} |\n", row.what, row.where, row.formal, row.observed);
    return text;
}

}  // namespace

std::string accuracy_page() {
    return "# Accuracy\n\n"
           "The orders that schemes have, as found by `scripts/accuracy`, which writes this page; a test "
           "holds it to what\n"
           "it finds. Each is the logarithm to base 2 of the ratio of two errors: on one grid, and on one "
           "twice as fine,\n"
           "against a solution that is known, in f64. The formal order is what the scheme has on paper.\n\n"
           "## Derivatives\n\n"
           "The largest error over a period of a sine wave in two dimensions, with periodic boundaries.\n\n" +
           table("derivative", measure_derivatives()) +
           "\n## Steps in time\n\n"
           "The error at t = 1 of u' = −u², of u'' = −u for leapfrog. All are written as plain statements, "
           "with `let`s for\n"
           "stages and `u[t-1]`, `u[t-2]`, … for steps before.\n\n" +
           table("method", measure_time_steps()) +
           "\n## Boundaries\n\n"
           "The error of heat conduction at t = 0.02, from a solution for which the boundary's condition "
           "holds. Steps are\n"
           "Adams–Bashforth 4 and so short that what is left is the error of space. A boundary can cost "
           "order where the\n"
           "values that it makes up are less exact than the differences that read them.\n\n" +
           table("boundary", measure_boundaries());
}

}  // namespace halo::test
