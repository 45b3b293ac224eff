// What fields start from when a program is timed and checked, and what is done where nothing is left of it.
#include "compiler/driver/tuning/tune_start.h"

#include <algorithm>
#include <cmath>

#include "compiler/driver/tuning/tune_check.h"
#include "tuning.h"

using namespace halo;
using namespace halo::test;
using namespace halo::driver;

namespace {

struct Spec {
    explicit Spec(const std::string& text) : checked(check_text("s.halo", text)) {
        REQUIRE(checked.ok);
        const std::string only_one;
        const sema::AnalyzedStencil& stencil = choose_stencil(checked, only_one);
        program = stencil.program;
        RunArguments arguments;
        console.set_quiet(true);
        request = request_for_tuning(arguments, checked, stencil, console);
        const sema::RunSpec* const run = checked.analysis.find_run(program.name);
        if (run != nullptr && run->init) start = {&*run->init, &request, false};
    }
    std::vector<FieldLevel> fields(const Extent& extent, bool calm = false) {
        start.calm = calm;
        return start_fields(program, start, extent, nullptr);
    }
    Console console;
    CheckedSpec checked;
    ir::Program program;
    RunRequest request;
    TuneStart start;
};

std::vector<double> numbers(const FieldLevel& level) {
    std::vector<double> all;
    for (std::int64_t i = 0; i < level.values.size(); ++i)
        all.push_back(level.values.at(i));
    return all;
}

constexpr Extent kGrid{64, 4, 1};

// Statements of a field u, and what the run block says.
std::string with_init(const std::string& statement, const std::string& init) {
    return "stencil s(x, y) {\n param k = 2\n field u: f64 { boundary clamp }\n" + statement +
           "\n}\nrun s {\n grid 64, 4\n steps 10\n k = 3\n" + init + "\n}\n";
}

}  // namespace

TEST_CASE("fields start from the run's values on the grid at hand, each a little different") {
    Spec spec(with_init("u[t+1] = 2 * u - u[t-1]", "init u = k * (1 + idx(x))"));
    const std::vector<FieldLevel> levels = spec.fields(kGrid);
    REQUIRE(levels.size() == 2);  // and the level before
    CHECK(levels[1].time == -1);
    CHECK(levels[0].values.elements != levels[1].values.elements);
    for (const FieldLevel& level : levels) {
        const std::vector<double> all = numbers(level);
        REQUIRE(all.size() == 256);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const double exact = 3 * (1 + static_cast<double>(i % 64));
            CHECK(std::abs(all[i] - exact) <= 0.01 * exact);
            CHECK(all[i] >= 3);
            CHECK(all[i] <= 192);
        }
        CHECK(all[0] != all[64]);  // the same cell of the next row
    }
}

TEST_CASE("where the run begins with zeros stands a little of what the others hold") {
    Spec spec(R"(stencil s(x, y) {
    field u, v, w: f32 { boundary clamp }
    u[t+1] = u + v + w
    v[t+1] = v
    w[t+1] = w
}
run s {
    grid 64, 4
    steps 10
    init u = if idx(x) < 8 then 0 else 100
    init v = if idx(x) < 8 then 0 else -0.5
}
)");
    const std::vector<FieldLevel> levels = spec.fields(kGrid);
    REQUIRE(levels.size() == 3);
    const std::vector<double> u = numbers(levels[0]), v = numbers(levels[1]), w = numbers(levels[2]);
    for (std::size_t i = 0; i < u.size(); ++i) {
        CHECK(u[i] > 0);  // like its other values
        CHECK(u[i] <= 100);
        CHECK(v[i] < 0);
        CHECK(w[i] != 0);  // nothing fills it
        CHECK(std::abs(w[i]) <= 0x1p-10);
        if (i % 64 >= 8) continue;
        CHECK(u[i] <= 100 * 0x1p-10);
        CHECK(v[i] >= -0.5 * 0x1p-10);
    }
}

TEST_CASE("calmer values are those around the mean, and random ones those around 1") {
    Spec spec(with_init("u[t+1] = u", "init u = if idx(x) < 32 then 10 else 30"));
    for (const double value : numbers(spec.fields(kGrid, true).front()))
        CHECK(std::abs(value - 20) <= 11 * 0x1p-10);
    Spec random(with_init("u[t+1] = u", ""));
    REQUIRE(random.start.init == nullptr);
    const std::vector<double> usual = numbers(random.fields(kGrid).front());
    CHECK(*std::ranges::max_element(usual) - *std::ranges::min_element(usual) > 0.9);
    for (const double value : numbers(random.fields(kGrid, true).front()))
        CHECK(std::abs(value - 1) <= 0x1p-11);
}

TEST_CASE("whole numbers and truth values are the run's, where those differ") {
    Spec spec(R"(stencil s(x, y) {
    field u, v: u8 { boundary periodic }
    u[t+1] = u
    v[t+1] = v
}
run s {
    grid 64, 4
    steps 10
    init u = idx(x)
    init v = 7
}
)");
    const std::vector<FieldLevel> levels = spec.fields(kGrid);
    const std::vector<double> u = numbers(levels[0]), v = numbers(levels[1]);
    CHECK(u[5] == 5);
    CHECK(*std::ranges::max_element(v) > 100);  // one number everywhere would show little
}

TEST_CASE("a check whose numbers are all gone begins anew from calmer values, with fewer steps") {
    const auto reference = [](Spec& spec, int steps) {
        TuneInputs inputs;
        inputs.start = spec.start;
        return make_reference(spec.program, inputs, kGrid, steps);
    };
    const std::string root = "u[t+1] = sqrt(u - 2)";
    Spec stays(with_init("u[t+1] = u / 2", "init u = 1"));
    CHECK(reference(stays, 3).steps == 3);
    CHECK_FALSE(reference(stays, 3).inputs.start.calm);
    // 16: 3.7, 1.3, no number; 8: 2.4, 0.7.
    Spec leaves(with_init(root, "init u = if idx(x) < 32 then 0 else 16"));
    const Reference calm = reference(leaves, 3);
    CHECK(calm.steps == 2);
    CHECK(calm.inputs.start.calm);
    CHECK(has_numbers(calm.expected));
    Spec never(with_init(root, "init u = 1"));
    CHECK(reference(never, 3).steps == 0);
}
