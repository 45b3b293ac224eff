// Checks that a program's adjoint is its transposed tangent, and that the texts of both say the same.
#pragma once

#include <fmt/format.h>

#include <vector>

#include "analyze_text.h"
#include "both_ways.h"
#include "compiler/adjoint/spec_text.h"

namespace halo::test {

inline constexpr double kRounding = 1e-13;  // of the sum of the absolute terms

inline Analyzed read_back(const ir::Program& program) {
    const std::string text = adjoint::spec_text(program, "");
    Analyzed again = analyze_text(text);
    INFO(text << "\n" << again.messages);
    REQUIRE(again.messages.empty());
    return again;
}

// Both from the programs and from their text.
inline void check_transposed(const ir::Program& program, const adjoint::Request& request,
                             const std::vector<Extent>& grids, int steps = 3, const Start& start = {}) {
    const ir::Program tangent = adjoint::make_tangent(program, request);
    for (const std::string& broken : ir::verify(tangent))
        FAIL_CHECK(broken << "\n" << ir::print(tangent));
    const adjoint::Adjoint made = adjoint::make_adjoint(program, request);
    for (const std::string& broken : ir::verify(made.program))
        FAIL_CHECK(broken << "\n" << ir::print(made.program));
    const Analyzed tangent_again = read_back(tangent);
    adjoint::Adjoint made_again = made;
    const Analyzed adjoint_again = read_back(made.program);
    made_again.program = adjoint_again.program();
    for (const Extent& grid : grids) {
        const BothWays direct = BothWaysRun(program, request, tangent, made, grid, steps, start).run();
        check_in_turns(program, request, tangent, direct, grid, steps, start, kRounding);
        const BothWays by_text =
            BothWaysRun(program, request, tangent_again.program(), made_again, grid, steps, start).run();
        INFO(fmt::format("grid {} x {} x {}: {} forwards, {} backwards; by text {} and {}", grid[0], grid[1],
                         grid[2], direct.forward, direct.backward, by_text.forward, by_text.backward));
        INFO(adjoint::spec_text(made.program, ""));
        CHECK(direct.size > 0);
        CHECK(direct.difference() <= kRounding);
        CHECK(by_text.difference() <= kRounding);
        CHECK(std::abs(direct.forward - by_text.forward) <= kRounding * direct.size);
    }
}

}  // namespace halo::test
