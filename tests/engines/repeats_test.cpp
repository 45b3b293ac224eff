// Statements that are done several times in a step: the interpreter, the CPU and emulated CUDA, on every
// small grid, and beside the same statements written out.
#include <fmt/format.h>

#include <cmath>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/interpreter.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/strategies.h"
#include "emulated_device.h"
#include "emulator.h"
#include "load_cpp.h"
#include "random_schedule.h"
#include "runtime/cpu/cpu_device.h"

using namespace halo;
using namespace halo::test;

namespace {

// What differs on the CPU or on emulated CUDA, by any strategy, on awkward grids.
std::string repeated_difference(const std::string& text) {
    const ir::Program program = load_program(text, false);
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    const lower::Lowered on_cpu = lower::lower_cpu(program);
    std::vector<lower::Lowered> on_cuda;
    Random random(3);
    for (const schedule::Strategy& strategy :
         {schedule::Strategy(schedule::Direct{}), schedule::Strategy(schedule::Tile{}),
          schedule::Strategy(schedule::Stream{})})
        on_cuda.push_back(lower::lower_cuda(program, {random_schedules(program, strategy, random)}));
    std::vector<schedule::Schedule> fused = random_schedules(program, schedule::Direct{}, random);
    for (schedule::Schedule& each : fused)
        schedule::set_own(each, schedule::Setting::fuse, 256);
    on_cuda.front() = lower::lower_cuda(program, {fused});
    const int rank = program.rank();
    const auto wrong_on = [&](Extent extent) -> std::string {
        for (int axis = rank; axis < ir::kMaxRank; ++axis)
            extent[static_cast<std::size_t>(axis)] = 1;
        const Reference reference(program, extent, 3, 7);
        const std::string where = fmt::format("{}x{}x{} cells: ", extent[0], extent[1], extent[2]);
        std::string wrong = difference(reference, on_cpu, *device, load_cpp);
        if (!wrong.empty()) return "on the CPU, " + where + wrong;
        for (const lower::Lowered& lowered : on_cuda) {
            emulator::EmulatedDevice emulated;
            wrong = difference(reference, lowered, emulated, load_cuda);
            if (!wrong.empty()) return "on emulated CUDA, " + where + wrong;
        }
        return "";
    };
    for (const Extent& extent : std::vector<Extent>{
             {3, 3, 3}, {5, 4, 3}, {33, 3, 4}, {3, 35, 5}, {37, 19, 3}, {4, 3, 17}, {65, 9, 6}})
        if (std::string wrong = wrong_on(extent); !wrong.empty()) return wrong;
    return {};
}

// All of a field after two steps, from u = 1, 2, 3, …
std::vector<double> after_steps(const std::string& text, const std::string& field, const Extent& extent) {
    const ir::Program program = load_program(text, false);
    ir::Interpreter interpreter(program, extent, ir::Arithmetic::declared);
    std::vector<double>& values = interpreter.field("u");
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = 1 + static_cast<double>(i);
    interpreter.step();
    interpreter.step();
    return interpreter.field(field);
}

}  // namespace

// Most of the time is LLVM's: many texts run once each, on few cells.
[[maybe_unused]] const int kOptimization = halo::emulator::CudaModule::optimization = 0;

TEST_CASE("an iteration is what its statements are, written out") {
    const std::string head = "stencil s(x, y) {\n    field u: f64 { boundary fixed 1 }\n";
    const std::string once = "(u[x-1] + u[x+1] + 2*u[y+1]) / 4\n}";
    const std::string repeated =
        head +
        "    repeat k to {} {{\n        u[k+1] = (u[k, x-1] + u[k, x+1] + 2*u[k, y+1]) / 4\n    }}\n}}";
    const Extent extent{5, 3, 1};
    // Two steps of one iteration are two steps of the statement; two of three are six.
    const std::string one = repeated.substr(0, repeated.find("{} {{")) +
                            "1 {\n        u[k+1] = (u[k, x-1] + u[k, x+1] + 2*u[k, y+1]) / 4\n    }\n}";
    CHECK(after_steps(one, "u", extent) == after_steps(head + "    u[t+1] = " + once, "u", extent));
    std::string three = one;
    three.replace(three.find("to 1"), 4, "to 3");
    const ir::Program plain = load_program(head + "    u[t+1] = " + once, false);
    ir::Interpreter interpreter(plain, extent, ir::Arithmetic::declared);
    std::vector<double>& values = interpreter.field("u");
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = 1 + static_cast<double>(i);
    for (int step = 0; step < 6; ++step)
        interpreter.step();
    CHECK(after_steps(three, "u", extent) == interpreter.field("u"));
    CHECK(repeated_difference(three) == "");
}

TEST_CASE("a reduction in a repeat is of its last iteration, and lets are computed anew") {
    const std::string text = R"(stencil s(x, y, z) {
    field f: f32
    field u: f64 { boundary clamp }
    let rhs { boundary clamp } = f * f[x+1]
    repeat k to 4 {
        let flux { boundary clamp } = u[k, z+1] - u[k, y-1] + rhs[x-1]
        u[k+1] = (u[k] + flux[x+1] + flux[z-1]) / 8
        reduce change = max(abs(u[k+1] - u[k]))
        reduce all = sum(u[k+1])
    }
    reduce after = min(u[t+1])
    field size: f64
    size = change * u[t+1]
})";
    CHECK(repeated_difference(text) == "");
}

TEST_CASE("colours, cells and conditions in a repeat") {
    const std::string text = R"(stencil s(x, y) {
    field f: f64
    field u: f64 { boundary fixed 0.5 }
    field e: f32 { boundary periodic }
    field w: f64 { boundary free }
    def average(v) = (v[x-1] + v[x+1] + v[y-1] + v[y+1] - f) / 4
    e = f / 2
    repeat 3 {
        where mod(idx(x) + idx(y), 2) == 0 { u[t+1] = average(u[t+1]) }
        where mod(idx(x) + idx(y), 2) == 1 { u[t+1] = average(u[t+1]) }
    }
    repeat k to 3 {
        where u[t+1] > 0.1 { e[k+1] = average(e[k]) }
        on x in 1..-2 { w[k+1] = (w[k, x-1] + w[k, x+1]) / 2 + e[k+1, y+1] }
        reduce change = max(abs(w[k+1] - w[k]))
        reduce outside = sum(e[k+1, x-1]) on x in 3..-2
    }
    on y.high { w[t+1] = 2 }
    reduce total = sum(e)
})";
    CHECK(repeated_difference(text) == "");
}

TEST_CASE("a sweep in a repeat: Gauss–Seidel by lines") {
    const std::string text = R"(stencil s(x, y) {
    field f: f64
    field u: f64 { boundary fixed 0 }
    u[t+1] = u
    repeat 3 {
        sweep y up { u[t+1] = (u[t+1, y-1] + u[t+1, y+1] + f) / 3 }
        sweep x down { u[t+1] = (u[t+1, x-1] + u[t+1, x+1] + f) / 3 }
    }
})";
    CHECK(repeated_difference(text) == "");
}

TEST_CASE("components and formulas past faces in a repeat") {
    const std::string text = R"(stencil s(x, y) {
    field p: f64 { boundary x gradient 0.5; boundary y antimirror }
    field v: f64[2] { boundary clamp }
    repeat k to 3 {
        p[k+1] = (p[k, x-1] + p[k, x+1] + p[k, y-1] + p[k, y+1]) / 4
        v[k+1] = [v.1[k, x-1] + p[k+1], v.0[k, y+1] / 2]
    }
})";
    CHECK(repeated_difference(text) == "");
}

TEST_CASE("iterations end where a condition holds: after none to spare, some, and all") {
    const std::string head = R"(stencil s(x, y) {
    param tol = 0.02, scale = 2
    field f: f64
    field u: f64 { boundary fixed 0.5 }
)";
    const std::string body = R"({
        u[k+1] = (u[k, x-1] + u[k, x+1] + u[k, y-1] + u[k, y+1] + f) / 5
        reduce change = max(abs(u[k+1] - u[k]))
    }
})";
    for (const char* until : {"change < 100, at most 30", "change < scale * tol, at most 60",
                              "change < 0 or step == 1, at most 7", "change < 0, at most 1",
                              "change < 0 and time_over, at most 4"}) {
        std::string order = until;
        std::string more;
        if (const auto at = order.find("time_over"); at != std::string::npos) {
            order.replace(at, 9, "before > 0");
            more = "    reduce before = max(abs(u)) start 1\n";
        }
        CHECK(repeated_difference(head + more + "    repeat k until " + order + " " + body) == "");
    }
}

TEST_CASE("what ends iterations is read after them, and its block may change cells in place") {
    const std::string text = R"(stencil s(x, y) {
    field f: f64
    field u: f64 { boundary fixed 0.5 }
    field e: f32 { boundary periodic }
    field g: f64 { boundary x gradient 0.5; boundary y antimirror }
    field size: f64
    def average(v) = (v[x-1] + v[x+1] + v[y-1] + v[y+1] - f) / 5
    e = f / 2
    reduce start = max(abs(f))
    repeat until (change < 0.01 * start and least > -10) or len(x) == 4, at most 25 {
        let was = u[t+1]
        where mod(idx(x) + idx(y), 2) == 0 { u[t+1] = average(u[t+1]) }
        where mod(idx(x) + idx(y), 2) == 1 { u[t+1] = average(u[t+1]) }
        reduce change = max(abs(u[t+1] - was))
        reduce least = min(u[t+1])
        reduce all = sum(u[t+1])
    }
    repeat k until far < 0.05, at most 9 {
        where u[t+1] > 0.1 { e[k+1] = average(e[k]) / 2 }
        reduce far = norm2(e[k+1] - e[k])
    }
    repeat k until moved < 0.2, at most 6 {
        g[k+1] = (g[k, x-1] + g[k, x+1] + g[k, y-1] + g[k, y+1]) / 4
        reduce moved = max(abs(g[k+1] - g[k]))
    }
    size = change * u[t+1] + far
    reduce total = sum(e)
})";
    CHECK(repeated_difference(text) == "");
}

TEST_CASE("statements of an iteration read what it has reduced") {
    const std::string head = R"(stencil s(x, y) {
    field f: f64
    field u: f64 { boundary fixed 0.5 }
    field e: f32 { boundary periodic }
    reduce before = max(abs(u))
)";
    const std::string body = R"({
        let flux { boundary clamp } = u[k, x-1] - u[k, y+1]
        reduce most = max(abs(flux)) start 2
        let pace = before / (1 + PACE)
        u[k+1] = u[k] + pace * (flux[x+1] - flux) + f / 8
        reduce least = min(u[k+1])
        where e > least { e[k+1] = e[k, x-1] / 2 + pace + least }
        reduce far = max(abs(e[k+1]))
    }
    reduce size = sum(far * u[t+1] + most)
})";
    // By the device, and by the host, which alone computes `exp` as all engines do.
    for (const auto& [times, pace] :
         {std::pair("k to 4", "most"), std::pair("k until far < 1.2 or most < 0.5, at most 9", "most"),
          std::pair("k until far < 1.2, at most 3", "exp(most)")}) {
        std::string own = body;
        own.replace(own.find("PACE"), 4, pace);
        CHECK(repeated_difference(head + "    e = f\n    repeat " + times + " " + own) == "");
    }
}

TEST_CASE("iterations are counted alike by all engines") {
    const ir::Program program = load_program(R"(stencil s(x, y) {
    field u: f64 { boundary fixed 0 }
    repeat k until change < 0.05, at most 12 {
        u[k+1] = (u[k, x-1] + u[k, x+1] + u[k, y-1] + u[k, y+1]) / 4
        reduce change = max(abs(u[k+1] - u[k]))
    }
})",
                                             false);
    const Extent extent{9, 7, 1};
    std::vector<double> start(63);
    for (std::size_t i = 0; i < start.size(); ++i)
        start[i] = static_cast<double>(i % 5);
    ir::Interpreter interpreter(program, extent, ir::Arithmetic::declared);
    interpreter.field("u") = start;
    for (int step = 0; step < 5; ++step)
        interpreter.step();
    const ir::RepeatCounts& expected = interpreter.iterations(0);
    REQUIRE(expected.unfinished > 0);
    REQUIRE(expected.unfinished < 5);
    Random random(3);
    const auto check = [&](const lower::Lowered& lowered, rt::Device& device, const Load& load) {
        rt::Session session(lowered.plan, extent, device, load(lowered, device));
        session.upload("u", 0, std::span<const double>(start));
        session.step(2);
        session.step(3, false);
        const std::vector<rt::RepeatCounts> counts = session.repeat_counts();
        REQUIRE(counts.size() == 1);
        CHECK(counts[0].condition == "change < 0.05");
        CHECK(counts[0].at_most == 12);
        CHECK(counts[0].reductions == std::vector<std::string>{"change"});
        CHECK(counts[0].total == expected.total);
        CHECK(counts[0].most == expected.most);
        CHECK(counts[0].unfinished == expected.unfinished);
        CHECK(session.download("u") == interpreter.field("u"));
        CHECK(session.reduction("change") == interpreter.reduction("change"));
    };
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    check(lower::lower_cpu(program), *device, load_cpp);
    emulator::EmulatedDevice emulated;
    check(lower::lower_cuda(program,
                            {random_schedules(program, schedule::Strategy(schedule::Direct{}), random)}),
          emulated, load_cuda);
}

namespace {

// The text with `repeat` in the places of OUTER and INNER.
std::string nested(std::string text, const std::string& outer, const std::string& inner) {
    text.replace(text.find("OUTER"), 5, outer);
    text.replace(text.find("INNER"), 5, inner);
    return text;
}

}  // namespace

TEST_CASE("a repeat within a repeat is what its statements are, written out") {
    const std::string head = R"(stencil s(x, y) {
    field u: f64 { boundary fixed 1 }
    field v, w: f64 { boundary clamp }
)";
    const std::string inner = R"(    repeat k to 3 { u[k+1] = (u[k, x-1] + u[k, x+1] + 2*v[t+1, y+1]) / 4 }
)";
    const std::string sum = "    w = w + u[t+1]\n", change = "    v[t+1] = v[t+1] / 2 + u[t+1, x+1]\n";
    const std::string begin = "    v[t+1] = v\n    w = 0\n";
    const std::string twice = head + begin + inner + sum + change + inner + sum + change + "}";
    const std::string text = head + begin + "    repeat 2 {\n" + inner + sum + change + "    }\n}";
    for (const std::string field : {"u", "v", "w"})
        CHECK(after_steps(text, field, {5, 3, 1}) == after_steps(twice, field, {5, 3, 1}));
}

TEST_CASE("repeats within each other, of every form") {
    const std::string text = R"(stencil s(x, y) {
    field f: f64
    field u, w: f64 { boundary fixed 0.5 }
    field v: f32 { boundary x periodic, y clamp }
    OUTER {
        let slope { boundary clamp } = u[k, x+1] - u[k]
        w = u[k] + f / 8
        INNER {
            w[j+1] = (w[j, x-1] + w[j, x+1] + w[j, y-1] + slope[y+1]) / 4
            on y in 1..-2 { v[t+1] = v[t+1] / 2 + w[j] }
            reduce near = max(abs(w[j+1] - w[j]))
        }
        where mod(idx(x), 2) == 0 { v[t+1] = (v[t+1, x-1] + v[t+1, x+1]) / 2 + near / 8 }
        u[k+1] = (u[k, y+1] + w) / 2
        reduce change = max(abs(u[k+1] - u[k]))
    }
    reduce total = min(u[t+1])
})";
    const std::string until = "repeat k until change < 0.2 or near > 3, at most 5";
    for (const auto& [outer, inner] : {std::pair<std::string, std::string>("repeat k to 3", "repeat j to 3"),
                                       {until, "repeat j to 3"},
                                       {until, "repeat j until near < 0.1, at most 6"}})
        CHECK(repeated_difference(nested(text, outer, inner)) == "");
}

TEST_CASE("three repeats within each other, ended by the device and by the host") {
    const std::string text = R"(stencil s(x, y) {
    field u, v, w: f64 { boundary fixed 0.5 }
    repeat until low > 0.9, at most 3 {
        OUTER {
            v[t+1] = v[t+1] / 2
            INNER {
                w[k+1] = (w[k, x-1] + w[k, y+1] + v[t+1]) / 3
                reduce near = max(abs(w[k+1] - w[k]))
                where w[k+1] > 0.5 { v[t+1] = v[t+1] + near * PACE / 64 }
            }
            reduce most = max(v[t+1])
        }
        where u[t+1] < 0.9 { u[t+1] = (u[t+1] + w[t+1, x+1] + most) / 2 }
        reduce low = min(u[t+1])
    }
})";
    const auto with_pace = [&](const std::string& pace) {
        std::string own = text;
        return own.replace(own.find("PACE"), 4, pace);
    };
    CHECK(repeated_difference(nested(with_pace("1"), "repeat 2", "repeat k until near < 0.1, at most 4")) ==
          "");
    // The host computes this, and waits for it.
    CHECK(repeated_difference(nested(with_pace("exp(-near)"), "repeat until most < 0.3, at most 3",
                                     "repeat k until near < 0.1, at most 3")) == "");
}

TEST_CASE("iterations within others are counted alike by all engines") {
    const ir::Program program = load_program(R"(stencil s(x, y) {
    field u, w: f64 { boundary fixed 0 }
    repeat k until change < 0.05, at most 6 {
        w = u[k]
        repeat j until near < 0.02, at most 5 {
            w[j+1] = (w[j, x-1] + w[j, x+1] + w[j, y-1] + w[j, y+1]) / 4
            reduce near = max(abs(w[j+1] - w[j]))
        }
        u[k+1] = w
        reduce change = max(abs(u[k+1] - u[k]))
    }
})",
                                             false);
    const Extent extent{9, 7, 1};
    std::vector<double> start(63);
    for (std::size_t i = 0; i < start.size(); ++i)
        start[i] = static_cast<double>(i % 5);
    ir::Interpreter interpreter(program, extent, ir::Arithmetic::declared);
    interpreter.field("u") = start;
    for (int step = 0; step < 3; ++step)
        interpreter.step();
    REQUIRE(interpreter.iterations(0).total > 3);
    REQUIRE(interpreter.iterations(1).unfinished > 0);
    REQUIRE(interpreter.iterations(1).unfinished < interpreter.iterations(0).total);
    Random random(3);
    const auto check = [&](const lower::Lowered& lowered, rt::Device& device, const Load& load) {
        rt::Session session(lowered.plan, extent, device, load(lowered, device));
        session.upload("u", 0, std::span<const double>(start));
        session.step(3);
        const std::vector<rt::RepeatCounts> counts = session.repeat_counts();
        REQUIRE(counts.size() == 2);
        CHECK(counts[0].condition == "change < 0.05");
        CHECK(counts[1].condition == "near < 0.02");
        for (std::size_t i = 0; i < counts.size(); ++i) {
            CHECK(counts[i].total == interpreter.iterations(i).total);
            CHECK(counts[i].most == interpreter.iterations(i).most);
            CHECK(counts[i].unfinished == interpreter.iterations(i).unfinished);
        }
        CHECK(session.download("u") == interpreter.field("u"));
    };
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    check(lower::lower_cpu(program), *device, load_cpp);
    emulator::EmulatedDevice emulated;
    check(lower::lower_cuda(program,
                            {random_schedules(program, schedule::Strategy(schedule::Direct{}), random)}),
          emulated, load_cuda);
}
