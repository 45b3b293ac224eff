// Sweeps in parts: what emulated CUDA computes by several threads a line is what the interpreter computes
// cell after cell, to rounding, in blocks of many shapes.
#include <fmt/format.h>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/recurrences.h"
#include "compiler/lower/lower.h"
#include "emulated_device.h"
#include "emulator.h"
#include "random_schedule.h"

using namespace halo;
using namespace halo::test;

namespace {

struct Shape {
    int lines, parts, cells;
};

bool is_done_in_parts(const ir::Program& program, const ir::Stage& stage) {
    return std::ranges::any_of(stage.statements, [&](int index) {
        const auto* assign = std::get_if<ir::Assign>(&program.statements[static_cast<std::size_t>(index)]);
        return assign != nullptr && ir::is_in_parts(*assign);
    });
}

// What differs from the interpreter on grids of which no axis is a multiple of the parts; `in parts` has to
// be in the text.
std::string parted_difference(const std::string& text, const std::vector<Shape>& shapes) {
    const ir::Program program = load_program(text);
    const std::vector<ir::Stage> stages = ir::form_stages(program);
    Random random(5);
    std::vector<schedule::Schedule> schedules = random_schedules(program, schedule::Direct{}, random);
    const bool is_f64 = std::ranges::all_of(
        program.fields, [](const ir::Field& field) { return field.type == ir::Scalar::f64; });
    const double tolerance = is_f64 ? 1e-13 : 1e-5;
    for (const Shape& shape : shapes) {
        int axis = 0, parted = 0;
        for (std::size_t i = 0; i < stages.size(); ++i) {
            if (!is_done_in_parts(program, stages[i])) continue;
            ++parted;
            const auto& first = std::get<ir::Assign>(
                program.statements[static_cast<std::size_t>(stages[i].statements.back())]);
            axis = first.sweep->axis;
            schedules[i].threads = schedules[i].cells = {1, 1, 1};
            const int across = axis == 0 ? 1 : 0;
            if (program.rank() > 1) schedules[i].threads[static_cast<std::size_t>(across)] = shape.lines;
            schedules[i].threads[static_cast<std::size_t>(axis)] = shape.parts;
            schedules[i].cells[static_cast<std::size_t>(axis)] = shape.cells;
        }
        if (parted == 0) return "no sweep is done in parts";
        const lower::Lowered on_cuda = lower::lower_cuda(program, {schedules});
        for (const std::int64_t length : {1, 2, 7, 45}) {
            Extent extent{5, 3, 2};
            for (int other = program.rank(); other < 3; ++other)
                extent[static_cast<std::size_t>(other)] = 1;
            extent[static_cast<std::size_t>(axis)] = length;
            const Reference reference(program, extent, 2, 7);
            emulator::EmulatedDevice emulated;
            const std::string wrong = difference(reference, on_cuda, emulated, load_cuda, tolerance);
            if (!wrong.empty())
                return fmt::format("{} lines, {} parts of {} cells, on {} cells: {}", shape.lines,
                                   shape.parts, shape.cells, length, wrong);
        }
    }
    return {};
}

// Statements that stay below 2 whatever the fields, which are below 1.
std::string random_recurrence(Random& random, const std::string& own, const std::string& done) {
    const std::string other = done.empty() || random.chance(30) ? "u" : done;
    switch (random.between(0, 7)) {
        case 0:
            return fmt::format("0.5 * u * {} + {} / 2", own, other);
        case 1:
            return fmt::format("{} / (5 - {})", other, own);
        case 2:
            return fmt::format("(u - 0.3 * {0}) / (4 + u * {0})", own);
        case 3:
            return fmt::format("if u > 0.5 then {} - u / 2 else u / 2",
                               own == "u" ? own : "u / 4 + " + own + " / 4");
        case 4:
            return fmt::format("if {} < 0.4 then u / (4 + {}) else 0.3 * {}", "u", own, own);
        case 5:
            return fmt::format("1 / (3 + u / (4 + {}))", own);
        case 6:
            return fmt::format("({} + {} / 3) / 2 - u", own, other);
        default:
            return fmt::format("{} - u / 2", other);
    }
}

std::string random_text(Random& random) {
    const int rank = random.between(1, 3);
    const std::string axis(1, "xyz"[random.between(0, rank - 1)]);
    const bool upwards = random.chance(50);
    const std::string type = random.chance(70) ? "f64" : "f32";
    std::string fields, statements;
    std::string done;
    const int members = random.between(1, 3);
    for (int m = 0; m < members; ++m) {
        const std::string name = fmt::format("s{}", m);
        fields +=
            fmt::format("    field {}: {} {{ boundary fixed {}/4 }}\n", name, type, random.between(0, 3));
        const std::string before = fmt::format("[{}{}1]", axis, upwards ? "-" : "+");
        const std::string other = done + (random.chance(50) ? before : "");
        statements += fmt::format("        {} = {}\n", name,
                                  random_recurrence(random, name + before, done.empty() ? "" : other));
        done = name;
    }
    const std::string axes = rank == 1 ? "x" : rank == 2 ? "x, y" : "x, y, z";
    return fmt::format(R"(stencil s({0}) {{
    field u: {1} {{ boundary periodic }}
{2}    sweep {3} {4} in parts {{
{5}    }}
    u[t+1] = 0.9 * u + 0.05 * {6}
}})",
                       axes, type, fields, axis, upwards ? "up" : "down", statements, done);
}

}  // namespace

TEST_CASE("a tridiagonal system is eliminated in parts along each axis") {
    for (const std::string axis : {"x", "y", "z"}) {
        const std::string text = fmt::format(R"(stencil s(x, y, z) {{
    field u: f64 {{ boundary fixed 0 }}
    field c, d: f64 {{ boundary fixed 0 }}
    let r = 1.5 + u
    sweep {0} up in parts {{
        let pivot = 1 + 2*r + r*c[{0}-1]
        c = -r / pivot
        d = (u + r*d[{0}-1]) / pivot
    }}
    sweep {0} down in parts {{
        u[t+1] = d - c*u[t+1, {0}+1]
    }}
}})",
                                             axis);
        INFO(text);
        CHECK(parted_difference(text, {{1, 2, 1}, {3, 5, 4}, {2, 32, 2}}) == "");
    }
}

TEST_CASE("a level that is there already is changed in parts, on some lines alone") {
    const std::string text = R"(stencil s(x, y) {
    field u: f32 { boundary y fixed 1/2, x clamp }
    u[t+1] = u / 2
    on x in 1..-2 {
        sweep y up in parts {
            u[t+1] = (u[t+1] + u[t+1, y-1] + u[x+1]) / 4
        }
    }
})";
    CHECK(parted_difference(text, {{4, 3, 4}, {1, 8, 1}}) == "");
}

TEST_CASE("growth over a part is no overflow of its function") {
    const std::string text = R"(stencil s(x) {
    field u: f32
    field c: f32 { boundary fixed 0 }
    sweep x up in parts { c = (1 + u) / (1e9 + u - 1e8 * c[x-1]) }
    u[t+1] = 0.5 * u + 1e9 * c
})";
    CHECK(parted_difference(text, {{1, 4, 2}, {1, 32, 4}}) == "");
}

TEST_CASE("random sweeps in parts") {
    const int seeds = std::getenv("SEEDS") ? std::atoi(std::getenv("SEEDS")) : 10;
    for (int seed = 1; seed <= seeds; ++seed) {
        Random random(static_cast<std::uint64_t>(seed));
        const std::string text = random_text(random);
        const std::vector<Shape> shapes{
            {random.between(1, 4), random.pick<int>({2, 3, 8, 32}), random.pick<int>({1, 2, 4})}};
        INFO("seed " << seed << "\n" << text);
        CHECK(parted_difference(text, shapes) == "");
    }
}

TEST_CASE("strict arithmetic goes cell after cell") {
    const std::string text = R"(stencil s(x) {
    field u: f64
    field c: f64 { boundary fixed 0 }
    sweep x up in parts { c = u / (3 + c[x-1]) }
})";
    const ir::Program program = load_program(text, true);
    CHECK(!is_done_in_parts(program, ir::form_stages(program).front()));
}
