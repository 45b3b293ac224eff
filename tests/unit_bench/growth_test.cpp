// Programs of any length compile, and have as many stages as they say.
#include "compiler/bench/growth.h"
#include "catch.h"
#include "compiler/bench/growth_programs.h"
#include "compiler/bench/measure.h"
#include "compiler/ir/analysis.h"

using namespace halo;

TEST_CASE("made programs have the shape that they are named after") {
    for (const std::string& shape : bench::growth_shapes()) {
        for (const int statements : {1, 2, 7}) {
            INFO(shape << " of " << statements);
            const ir::Program program = bench::load_program(shape, bench::growth_program(shape, statements));
            const std::size_t stages = ir::form_stages(program).size();
            CHECK(stages == (shape == "chain" ? static_cast<std::size_t>(statements) : 1));
            CHECK(bench::measure_compile(nullptr, shape, statements).text_bytes > 500);
        }
    }
}

TEST_CASE("a hundred stages compile") {
    const bench::CompileGrowth growth = bench::measure_compile(nullptr, "chain", 100);
    CHECK(growth.text_bytes > 50000);
    CHECK(growth.compile == 0);
}
