// Passes do not change what a program means: the raw program against the optimised one, both interpreted.
#include <stdexcept>

#include "analyzed.h"
#include "catch.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/pipeline.h"

using namespace halo;
using namespace halo::test;

namespace {

constexpr int kSteps = 3;
// Roundings of a random program: a few hundred nodes, none of which amplifies (random_program.h).
constexpr double kRoundingF64 = 1e-12;
constexpr double kRoundingF32 = 2e-5;

// What is wrong with a program, if anything.
std::optional<std::string> complaint(const RandomProgram& source) {
    const ir::Program raw = analyze_text(source.text());
    if (const std::vector<std::string> broken = ir::verify(raw); !broken.empty())
        return "sema: " + broken.front();
    const auto optimized = [&](passes::FloatingPoint floating_point) {
        ir::Program program = raw;
        passes::optimize(program, floating_point);
        return program;
    };
    const ir::Program relaxed = optimized({});
    if (const std::vector<std::string> broken = ir::verify(relaxed); !broken.empty())
        return "passes: " + broken.front();

    const Outcome meaning = interpret(raw, source, ir::Arithmetic::f64, kSteps);
    const Outcome wide = interpret(relaxed, source, ir::Arithmetic::f64, kSteps);
    if (auto text = disagreement(meaning, wide, kRoundingF64)) return "optimised, in f64: " + *text;

    const Outcome written = interpret(raw, source, ir::Arithmetic::declared, kSteps);
    const Outcome strict =
        interpret(optimized(passes::FloatingPoint::strict()), source, ir::Arithmetic::declared, kSteps);
    if (auto text = disagreement(written, strict, 0)) return "strict, bit by bit: " + *text;

    const Outcome narrow = interpret(relaxed, source, ir::Arithmetic::declared, kSteps);
    if (auto text = disagreement(meaning, narrow, kRoundingF32)) return "optimised, as declared: " + *text;
    return std::nullopt;
}

bool still_fails(const RandomProgram& source) {
    try {
        return complaint(source).has_value();
    } catch (const std::runtime_error&) {
        return false;  // refused: a mistake of the shrinker's making
    }
}

void check_programs(const GeneratorOptions& options, Seeds seeds) {
    for (std::uint64_t i = 0; i < seeds.count; ++i) {
        const RandomProgram source = random_program(seeds.first + i, options);
        INFO(source.describe());
        const std::optional<std::string> wrong = complaint(source);
        if (!wrong) continue;
        const RandomProgram small = shrink(source, still_fails);
        INFO("shrunk to: " << small.describe() << "\n" << complaint(small).value_or("no longer wrong"));
        FAIL(*wrong);
    }
}

}  // namespace

TEST_CASE("random programs: optimising keeps the meaning, strict keeps the bits") {
    GeneratorOptions options;
    options.max_cells = 1500;
    options.stretched = true;
    check_programs(options, seeds_from_environment(1, 300));
}

TEST_CASE("random programs with library functions") {
    GeneratorOptions options;
    options.max_cells = 500;
    options.functions = true;
    check_programs(options, seeds_from_environment(100001, 100));
}

TEST_CASE("random chains") {
    GeneratorOptions options;
    options.max_cells = 500;
    options.chains = true;
    check_programs(options, seeds_from_environment(320001, 60));
}

TEST_CASE("random programs of several grids") {
    GeneratorOptions options;
    options.max_cells = 500;
    options.several_grids = true;
    check_programs(options, seeds_from_environment(200001, 80));
}

TEST_CASE("the generator gives the same text for the same seed, and uses all it has") {
    std::string all;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const RandomProgram program = random_program(seed);
        REQUIRE(program.text() == random_program(seed).text());
        all += program.text();
    }
    for (const char* word :
         {"periodic", "fixed",  "clamp", "mirror",      "free",      "f64",  "let ", "reduce", "laplacian(",
          "d(",       "d2(",    "sum(r", "launched[r]", "weight[r]", "if ",  "min(", "max(",   "[t-1",
          "[t+1, ",   "blend(", "z+4",   "^3",          "pos(",      "idx(", "rr*rr"}) {
        INFO(word);
        CHECK(all.find(word) != std::string::npos);
    }
}

TEST_CASE("the shrinker finds the statement that matters") {
    const auto has_power = [](const RandomProgram& program) {
        return program.text().find("^3") != std::string::npos;
    };
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 200 && found < 5; ++seed) {
        const RandomProgram program = random_program(seed);
        if (!has_power(program)) continue;
        ++found;
        const RandomProgram small = shrink(program, has_power);
        INFO(small.text());
        CHECK(has_power(small));
        CHECK(small.statements.size() == 1);
        CHECK(small.rank == 1);
        CHECK(small.grid[0] == 1);
    }
    CHECK(found == 5);
}
