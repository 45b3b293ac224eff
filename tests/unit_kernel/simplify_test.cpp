// Guards and choices where values are known, and what is left of a kernel.
#include "compiler/kernel/simplify.h"

#include "catch.h"
#include "compiler/kernel/build.h"
#include "compiler/kernel/print.h"
#include "contains.h"
#include "variables.h"

using namespace halo::kernel;
using namespace halo::kernel::variables;

namespace {

// What is left of a body whose `i` is threadIdx.x + 32 * blockIdx.x in two blocks of 32 threads, and n is
// given.
std::string rest(Block body, std::int64_t n) {
    KernelFunction function;
    function.name = "kernel";
    function.threads = 32;
    function.constants = {{"kThreads", 32, "", Type::i32}};
    function.parameters = {{Type::f32, "u", Parameter::Kind::output}};
    function.body = {
        Declare{Type::i32, "i", block_index(0) * variable("kThreads", Type::i32) + thread_index(0)}};
    for (Statement& each : body)
        function.body.push_back(std::move(each));
    Known known;
    known.variables["n"] = {n, n};
    known.builtins[Builtin::thread_x] = {0, 31};
    known.builtins[Builtin::block_x] = {0, 1};
    simplify(function, known);
    Program program;
    program.functions.push_back(function);
    const std::string text = print(program);
    const std::size_t begin = text.find("{\n") + 2;
    return text.substr(begin, text.rfind('}') - begin);
}

Statement store(const Expr& at) {
    return Assign{element("u", {at}, Type::f32), real_literal(1, Type::f32)};
}

}  // namespace

TEST_CASE("a guard goes where it never fails, and stays where it may") {
    const Block guarded{If{i >= n, {Return{}}, {}}, BlankLine{}, store(i)};
    CHECK_FALSE(contains(rest(guarded, 64), "return"));
    CHECK(contains(rest(guarded, 63), "if (i >= n) return;"));
    const Block inside{If{i < n, {store(i)}, {store(0)}}};
    CHECK_FALSE(contains(rest(inside, 64), "if"));
    CHECK(contains(rest(inside, 64), "u[i] ="));
    CHECK(contains(rest(inside, 63), "else"));
    CHECK(contains(rest({If{i < n && n > 3, {store(i)}, {}}}, 63), "if (i < n)"));
    CHECK(contains(rest({If{i >= n || n < 3, {store(i)}, {}}}, 63), "if (i >= n)"));
    CHECK_FALSE(contains(rest({If{n < 3, {store(i)}, {}}}, 63), "u["));
}

TEST_CASE("behind a return, and below a condition, its values are known") {
    const Block twice{If{i >= n, {Return{}}, {}}, If{i + 1 <= n, {store(i)}, {}}};
    CHECK_FALSE(contains(rest(twice, 50), "i + 1"));
    const Block below{If{i + 4 <= n, {If{i < n - 3, {store(i)}, {}}}, {}}};
    CHECK_FALSE(contains(rest(below, 50), "n - 3"));
    // Not where the condition does not end the thread's work.
    const Block beside{If{i >= n, {store(0)}, {}}, If{i < n, {store(i)}, {}}};
    CHECK(contains(rest(beside, 50), "if (i < n)"));
}

TEST_CASE("the nearer of two is chosen where it always is") {
    CHECK(contains(rest({store(min(i + 1, n))}, 64), "u[i + 1]"));
    CHECK(contains(rest({store(min(i + 1, n))}, 63), "min("));
    CHECK(contains(rest({store(max(i, 0))}, 64), "u[i]"));
    CHECK(contains(rest({store(select(i < n, i, 0))}, 64), "u[i]"));
}

TEST_CASE("turns of loops are known, and what changes is not") {
    const Expr x = variable("x", Type::i32), far = variable("far", Type::i32);
    const Block loop{
        For{"x", 0, n, 1, Unroll::leave, {If{x < n, {store(x)}, {}}, If{x < 9, {store(0)}, {}}}}};
    CHECK_FALSE(contains(rest(loop, 20), "if (x < n)"));
    CHECK(contains(rest(loop, 20), "if (x < 9)"));
    const Block changing{Declare{Type::i32, "far", 0, true}, Assign{far, far + 1},
                         If{far < n, {store(far)}, {}}};
    CHECK(contains(rest(changing, 64), "if (far < n)"));
}

TEST_CASE("names that nothing asks for any more are gone, and others keep their own") {
    const Expr near = variable("near", Type::boolean);
    const Block idle{Declare{Type::boolean, "near", i < n}, If{near, {store(i)}, {}}};
    CHECK_FALSE(contains(rest(idle, 64), "near"));
    CHECK(contains(rest(idle, 63), "near"));
    const auto declared = [](int value) { return Declare{Type::i32, "at", i + value}; };
    const Expr at = variable("at", Type::i32);
    const std::string both =
        rest({If{i < n, {declared(1), store(at)}, {}}, If{i < 20, {declared(2), store(at)}, {}}}, 64);
    CHECK(contains(both, "    {\n        const int at = i + 1;"));
}
