// Random programs: the adjoint against the tangent, the tangent against differences.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <set>

#include "analyzed.h"
#include "both_ways.h"
#include "catch.h"
#include "compiler/adjoint/spec_text.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "random_program.h"
#include "runtime/core/error.h"

using namespace halo;

namespace {

constexpr double kRounding = 2e-12;  // of the sum of the absolute terms

test::RandomProgram random_case(std::uint64_t seed, bool points) {
    test::GeneratorOptions options;
    options.functions = seed % 2 == 0;
    options.max_cells = 400;
    options.points = points;
    return test::random_program(seed, options);
}

// All that can be named: results of every kind, and what they may depend on.
adjoint::Request request_of(const ir::Program& program, std::uint64_t seed) {
    adjoint::Request request;
    request.every_step = seed % 3 == 0;
    for (const ir::Field& field : program.fields) {
        if (field.role == ir::Role::state || field.role == ir::Role::output) request.of.push_back(field.name);
        if (field.role == ir::Role::state || field.role == ir::Role::input)
            request.with.push_back(field.name);
    }
    for (const ir::Statement& statement : program.statements)
        if (const auto* reduce = std::get_if<ir::Reduce>(&statement))
            if (reduce->op == ir::ReduceOp::sum) request.of.push_back(reduce->name);
    for (const ir::Points& points : program.points)
        for (const ir::Points::Trace& trace : points.traces)
            (trace.sampled ? request.of : request.with).push_back(points.name + "." + trace.name);
    for (const char* param : {"p", "q", "k"})
        for (const ir::Param& each : program.params)
            if (each.name == param) request.with.emplace_back(param);
    return request;
}

// The adjoint of as much of the request as is not refused by a name in it.
std::optional<adjoint::Adjoint> make_adjoint(const ir::Program& program, adjoint::Request& request,
                                             std::map<std::string, int>& refusals) {
    while (!request.with.empty() && !request.of.empty()) {
        try {
            adjoint::make_tangent(program, request);  // it has all statements, needed or not
            return adjoint::make_adjoint(program, request);
        } catch (const adjoint::RefusedError& refused) {
            const std::string message = refused.what();
            const auto is_named = [&](const std::string& name) {
                return message.find("`" + name + "`") != std::string::npos;
            };
            const bool is_about_with = std::erase_if(request.with, is_named) > 0;
            if (is_about_with || std::erase_if(request.of, is_named) > 0) continue;
            ++refusals[message];
            return std::nullopt;
        }
    }
    ++refusals["nothing is left"];
    return std::nullopt;
}

// nullopt where a boundary has no words.
std::optional<std::string> text_of(const ir::Program& program) {
    try {
        return adjoint::spec_text(program, "");
    } catch (const adjoint::RefusedError&) {
        return std::nullopt;
    }
}

// Some boundaries are computed from more cells than a small grid has.
bool runs_on(const ir::Program& program, const test::Extent& grid) {
    try {
        ir::Interpreter(program, grid, ir::Arithmetic::f64);
        return true;
    } catch (const rt::Error&) {
        return false;
    }
}

bool is_finite(const test::BothWays& ways) {
    return std::isfinite(ways.forward) && std::isfinite(ways.size);
}

// Of random programs, that the adjoint is the transposed tangent.
void check_adjoints(const test::Seeds& seeds, test::RandomProgram (*draw)(std::uint64_t seed)) {
    int accepted = 0, written = 0, in_turns = 0;
    std::map<std::string, int> refusals;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const test::RandomProgram source = draw(seed);
        const ir::Program program = test::analyze_text(source.text());
        adjoint::Request request = request_of(program, seed);
        const std::optional<adjoint::Adjoint> made = make_adjoint(program, request, refusals);
        if (!made) continue;
        INFO(source.describe());
        const ir::Program tangent = adjoint::make_tangent(program, request);
        const std::optional<std::string> text = text_of(made->program), tangent_text = text_of(tangent);
        INFO(text.value_or("no text"));
        for (const ir::Program* each : {&tangent, &made->program})
            for (const std::string& broken : ir::verify(*each))
                FAIL_CHECK(broken << "\n" << ir::print(*each));
        const test::Extent grid = source.grid;
        if (!runs_on(program, grid)) continue;
        const test::BothWays direct = test::BothWaysRun(program, request, tangent, *made, grid, 3, {}).run();
        if (!is_finite(direct)) continue;
        ++accepted;
        INFO(fmt::format("{} forwards, {} backwards", direct.forward, direct.backward));
        CHECK(direct.difference() <= kRounding);
        test::check_in_turns(program, request, tangent, direct, grid, 3, {}, kRounding);
        in_turns += adjoint::make_turns(program, request).earlier ? 1 : 0;
        if (!text || !tangent_text) continue;
        ++written;
        // What is read back from the text is the same.
        adjoint::Adjoint again = *made;
        again.program = test::analyze_text(*text);
        const ir::Program tangent_again = test::analyze_text(*tangent_text);
        const test::BothWays by_text =
            test::BothWaysRun(program, request, tangent_again, again, grid, 3, {}).run();
        INFO(fmt::format("by text {} forwards, {} backwards", by_text.forward, by_text.backward));
        CHECK(std::abs(by_text.forward - direct.forward) <= kRounding * direct.size);
        CHECK(std::abs(by_text.backward - direct.backward) <= kRounding * direct.size);
    }
    std::string why;
    for (const auto& [message, count] : refusals)
        why += fmt::format("{} times: {}\n", count, message);
    INFO(why);
    CHECK(accepted * 2 > static_cast<int>(seeds.count));
    CHECK(written * 10 > accepted * 9);
    CHECK(in_turns * 3 > accepted);
}

}  // namespace

TEST_CASE("random programs: the adjoint is the transposed tangent") {
    check_adjoints(test::seeds_from_environment(1, 400),
                   [](std::uint64_t seed) { return random_case(seed, seed % 2 == 0); });
}

TEST_CASE("random programs of four axes: the adjoint is the transposed tangent") {
    check_adjoints(test::seeds_from_environment(4001, 30), [](std::uint64_t seed) {
        test::GeneratorOptions options;
        options.min_rank = options.max_rank = 4;
        options.max_radius = 2;
        options.noise = false;
        options.functions = seed % 2 == 0;
        options.max_cells = 400;
        return test::random_program(seed, options);
    });
}

TEST_CASE("random programs: the tangent is what differences tend to") {
    const test::Seeds seeds = test::seeds_from_environment(1, 400);
    int compared = 0, kinks = 0;
    std::map<std::string, int> refusals;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const test::RandomProgram source = random_case(seed, false);
        const ir::Program program = test::analyze_text(source.text());
        adjoint::Request request = request_of(program, seed);
        const std::optional<adjoint::Adjoint> made = make_adjoint(program, request, refusals);
        const test::Extent grid = source.grid;
        if (!made || !runs_on(program, grid)) continue;
        const test::BothWays ways =
            test::BothWaysRun(program, request, adjoint::make_tangent(program, request), *made, grid, 3, {})
                .run();
        const auto difference = [&](double h) {
            return (test::moved_results(program, request, grid, h) -
                    test::moved_results(program, request, grid, -h)) /
                   (2 * h);
        };
        // Of fourth order, from two central differences.
        const auto fourth = [&](double h) { return (4 * difference(h / 2) - difference(h)) / 3; };
        const double coarse = fourth(1e-4), fine = fourth(3e-5);
        if (!is_finite(ways) || !std::isfinite(fine)) continue;
        const double scale = std::max(ways.size, 1.0);
        // Where the two disagree a cell is at a kink or a jump: `abs`, `if`, `min`.
        if (std::abs(coarse - fine) > 1e-8 * scale) {
            ++kinks;
            continue;
        }
        ++compared;
        INFO(source.describe());
        INFO(fmt::format("tangent {}, differences {} and {}", ways.forward, coarse, fine));
        CHECK(std::abs(ways.forward - fine) <= 1e-8 * scale);
    }
    INFO(fmt::format("{} compared, {} at kinks", compared, kinks));
    CHECK(compared * 2 > static_cast<int>(seeds.count));
}
