#include "compiler/kernel/verify.h"

#include "catch.h"
#include "compiler/support/error.h"
#include "printed.h"

using namespace halo;
using namespace halo::kernel;

namespace {

std::string all(const std::vector<std::string>& faults) {
    std::string text;
    for (const std::string& fault : faults)
        text += (text.empty() ? "" : "; ") + fault;
    return text;
}

// The faults of a kernel `k(float* u, int n)` with the body.
std::string faults(Block body) {
    return all(verify(kernel_of(std::move(body))));
}

const Expr kOne = real_literal(1, Type::f32);

Expr u(const Expr& index) {
    return element("u", {index}, Type::f32);
}
Expr thread() {
    return builtin(Builtin::thread_x);
}

}  // namespace

TEST_CASE("a well-formed kernel has no faults") {
    const Expr i = i32("i");
    CHECK(faults({DeclareArray{Type::f32, "tile", {Expr(4), Expr(32)}, Memory::shared},
                  Declare{Type::i32, "i", builtin(Builtin::block_x) * 32 + thread()},
                  Assign{element("tile", {0, thread()}, Type::f32), kOne}, Barrier{},
                  For{"x", 0, 4, 1, Unroll::full, {If{i + i32("x") < i32("n"), {Assign{u(i), kOne}}, {}}}},
                  For{"x", 0, 4, 1, Unroll::leave, {Barrier{}}}}) == "");
}

TEST_CASE("names are declared before they are used, and while they are visible") {
    CHECK(faults({Declare{Type::i32, "a", i32("b")}}) == "k: `b` is not declared here");
    CHECK(faults({Assign{element("v", {0}, Type::f32), kOne}}) == "k: `v` is not declared here");
    CHECK(faults({Scope{{Declare{Type::i32, "a", 1}}}, Declare{Type::i32, "b", i32("a")}}) ==
          "k: `a` is not declared here");
    CHECK(faults({For{"x", 0, 4, 1, Unroll::leave, {}}, Assign{u(i32("x")), kOne}}) ==
          "k: `x` is not declared here");
    CHECK(faults({If{i32("n") < 1, {Declare{Type::i32, "a", 1}}, {Assign{u(i32("a")), kOne}}}}) ==
          "k: `a` is not declared here");
    CHECK(faults({Declare{Type::i32, "a", i32("a")}}) == "k: `a` is not declared here");
}

TEST_CASE("a visible name is not declared again") {
    const std::string shadowed = "is declared while another one is visible";
    CHECK(faults({Declare{Type::i32, "n", 1}}) == "k: `n` " + shadowed);
    CHECK(faults({Declare{Type::i32, "a", 1}, Scope{{Declare{Type::i32, "a", 2}}}}) == "k: `a` " + shadowed);
    CHECK(faults({For{"x", 0, 4, 1, Unroll::leave, {For{"x", 0, 4, 1, Unroll::leave, {}}}}}) ==
          "k: `x` " + shadowed);
    CHECK(faults({Scope{{Declare{Type::i32, "a", 1}}}, Scope{{Declare{Type::i32, "a", 2}}}}) == "");
}

TEST_CASE("functions, parameters and constants have distinct names") {
    Program twice = kernel_of({});
    twice.functions.push_back(twice.functions[0]);
    CHECK(all(verify(twice)) == "k: the name is given twice");

    Program parameters = kernel_of({});
    parameters.functions[0].parameters.push_back({Type::i32, "u"});
    CHECK(all(verify(parameters)) == "k: `u` is declared while another one is visible");

    Program constants = kernel_of({});
    constants.functions[0].constants = {{"n", 4, ""}};
    CHECK(all(verify(constants)) == "k: `n` is declared while another one is visible");

    Program array = kernel_of({});
    array.constant_arrays = {{Type::f32, "k", 3, ""}};
    CHECK(all(verify(array)) == "k: the name is given twice");

    Program none = kernel_of({});
    none.functions[0].parameters.clear();
    CHECK(all(verify(none)) == "k: a kernel without parameters computes nothing");
}

TEST_CASE("types agree") {
    const Expr n = i32("n"), d = real_literal(1, Type::f64);
    CHECK(faults({Declare{Type::f64, "a", kOne}}) == "k: the value of `a` is f32, not f64");
    CHECK(faults({Declare{Type::i64, "a", n}}) == "");
    CHECK(faults({Declare{Type::i32, "a", convert(n, Type::i64)}}) == "k: the value of `a` is i64, not i32");
    CHECK(faults({Assign{u(0), d}}) == "k: an assigned value is f64, not f32");
    CHECK(faults({Assign{u(kOne), kOne}}) == "k: an index of `u` is f32, not an integer");
    CHECK(faults({If{n, {}, {}}}) == "k: a condition is i32, not boolean");
    CHECK(faults({Declare{Type::i64, "a", variable("n", Type::i64)}}) == "k: `n` is i32, read as i64");
    CHECK(faults({Declare{Type::f64, "a", element("u", {0}, Type::f64)}}) == "k: `u` holds f32, read as f64");
    CHECK(faults({Declare{Type::boolean, "a", n && n}}) == "k: an operator takes i32");
    CHECK(faults({Declare{Type::boolean, "a", n < 1 && logical_not(n)}}) ==
          "k: what `!` takes is i32, not boolean");
    CHECK(faults({Declare{Type::f32, "a", call(Function::fma, {kOne, kOne, d})}}) ==
          "k: a function's argument is f64, not f32");
    CHECK(faults({Declare{Type::f32, "a", call(Function::fma, {kOne, kOne})}}) ==
          "k: a function has 2 arguments");
    CHECK(faults({Declare{Type::i32, "a", call(Function::sqrt, {n})}}) == "k: a function gives i32");
    CHECK(faults({For{"x", 0, kOne, 1, Unroll::leave, {}}}) ==
          "k: the end of loop `x` is f32, not an integer");
    CHECK(faults({For{"x", 0, 4, 0, Unroll::leave, {}}}) == "k: loop `x` steps by 0");
}

TEST_CASE("arrays have constant dimensions and an index for each") {
    CHECK(faults({DeclareArray{Type::f32, "a", {i32("n")}}}) ==
          "k: array `a` has a dimension that is not constant");
    CHECK(faults({DeclareArray{Type::f32, "a", {0}}}) == "k: array `a` has a dimension of 0");
    CHECK(faults({DeclareArray{Type::f32, "a", {}}}) == "k: array `a` has no dimensions");
    CHECK(faults({DeclareArray{Type::f32, "a", {4, 4}}, Assign{element("a", {1}, Type::f32), kOne}}) ==
          "k: `a` takes 2 indices, not 1");
    CHECK(faults({Assign{u(element("n", {0}, Type::i32)), kOne}}) == "k: `n` has no elements");
    CHECK(faults({Declare{Type::f32, "a", f32("u")}}) == "k: `u` is no number");

    Program named = kernel_of({DeclareArray{Type::f32, "a", {i32("kCells") + 2}}});
    named.functions[0].constants = {{"kCells", 4, ""}};
    CHECK(verify(named).empty());
}

TEST_CASE("vectors are 2 or 4 wide, between a parameter and a local array") {
    const DeclareArray local{Type::f32, "a", {8}}, shared{Type::f32, "a", {8}, Memory::shared};
    const Expr a = element("a", {0}, Type::f32), to_u = address_of("u", 0, Type::f32);
    CHECK(faults({local, LoadVector{a, to_u, 4}, StoreVector{to_u, a, 2}}) == "");
    CHECK(faults({local, LoadVector{a, to_u, 3}}) == "k: a vector is 3 wide");
    CHECK(faults({local, CopyVector{a, to_u, 4}}) == "k: `a` is no shared array");
    CHECK(faults({shared, CopyVector{a, to_u, 4}}) == "");
    CHECK(faults({local, LoadVector{a, address_of("a", 0, Type::f32), 4}}) == "k: `a` is no parameter's");
    CHECK(faults({local, LoadVector{a, a, 4}}) == "k: an address is expected");
    CHECK(faults({LoadVector{u(0), to_u, 4}}) == "k: a vector's end `u` is no local array");
    CHECK(faults({local, LoadVector{a, address_of("u", 0, Type::f64), 4}}) ==
          "k: an address is of f64, not f32");
    CHECK(faults({Declare{Type::f32, "b", to_u}}) == "k: the address into `u` is used as a number");
}

TEST_CASE("four bytes may be loaded to a word, and stored from one") {
    const Expr word = element("words", {1}, Type::u32), sum = variable("sum", Type::u32);
    const auto faults_of = [&](int width, Type storage) {
        Program program = kernel_of({DeclareArray{Type::u32, "words", {3}},
                                     LoadVector{word, address_of("from", 4, storage), width},
                                     Declare{Type::u32, "sum", operation(Operator::add, word, word)},
                                     StoreVector{address_of("to", 4, storage), sum, width}});
        program.functions.front().parameters = {{storage, "from", Parameter::Kind::input},
                                                {storage, "to", Parameter::Kind::output}};
        return all(verify(program));
    };
    CHECK(faults_of(4, Type::u8) == "");
    CHECK(faults_of(4, Type::boolean) == "");
    CHECK(faults_of(2, Type::u8) != "");
    CHECK(faults_of(4, Type::f32) != "");
}

TEST_CASE("cells are copied and filled within arrays in registers") {
    const DeclareArray local{Type::f32, "a", {4, 4}}, other{Type::f64, "b", {16}};
    const DeclareArray shared{Type::f32, "s", {8}, Memory::shared};
    const Expr a = element("a", {0, 0}, Type::f32), b = element("b", {0}, Type::f64);
    const Expr s = element("s", {0}, Type::f32);
    CHECK(faults({local, CopyCells{a, element("a", {1, 0}, Type::f32), 12}, FillCells{a, kOne, 4, 4}}) == "");
    CHECK(faults({local, other, CopyCells{a, b, 4}}) == "k: cells are copied from f64 to f32");
    CHECK(faults({local, shared, CopyCells{a, s, 4}}) == "k: `s` is no array in registers");
    CHECK(faults({FillCells{u(0), kOne, 4}}) == "k: `u` is no array in registers");
    CHECK(faults({FillCells{kOne, kOne, 4}}) == "k: cells begin at what is no element of an array");
    CHECK(faults({local, FillCells{a, real_literal(1, Type::f64), 4}}) ==
          "k: what cells are filled with is f64, not f32");
    CHECK(faults({local, FillCells{a, kOne, i32("n")}}) == "k: a number of cells is not constant");
    CHECK(faults({local, FillCells{a, kOne, 0}}) == "k: 0 cells are stored");
    CHECK(faults({local, FillCells{a, kOne, 4, 0}}) == "k: cells are filled 0 elements apart");
}

TEST_CASE("only what is declared for it is stored to") {
    CHECK(faults({Assign{i32("n"), 1}}) == "k: `n` is stored to, but not declared for it");
    CHECK(faults({Declare{Type::f32, "a", kOne}, Assign{f32("a"), kOne}}) ==
          "k: `a` is stored to, but not declared for it");
    CHECK(faults({Declare{Type::f32, "a", kOne, true}, Assign{f32("a"), kOne}}) == "");
    CHECK(faults({DeclarePointer{Type::f32, "row", address_of("u", 4, Type::f32)},
                  Assign{element("row", {0}, Type::f32), kOne}}) ==
          "k: `row` is stored to, but not declared for it");
    CHECK(faults({Assign{kOne, kOne}}) == "k: a value is stored to what is no place");
    const Expr start = address_of("u", 4, Type::f32);
    CHECK(faults({DeclarePointer{Type::f32, "row", start, true}, AdvancePointer{"row", 4}}) == "");
    CHECK(faults({DeclarePointer{Type::f32, "row", start}, AdvancePointer{"row", 4}}) ==
          "k: `row` advances, but is no pointer that may change");
    CHECK(faults({DeclareArray{Type::f64, "view", {4}, Memory::dynamic_shared, 0, 0, false, start}}) != "");
    Program input = kernel_of(
        {Assign{u(0), kOne}, DeclarePointer{Type::f32, "row", address_of("u", 0, Type::f32), true}});
    input.functions[0].parameters[0].kind = Parameter::Kind::input;
    CHECK(verify(input).size() == 2);
}

TEST_CASE("helpers are the prelude's, or defined above") {
    const Expr d = real_literal(1, Type::f64);
    CHECK(faults({Declare{Type::f64, "a", call_helper(Helper::keep_min, {d, d})}}) == "");
    CHECK(faults({Declare{Type::f64, "a", call_helper(Helper::keep_min, {d})}}) ==
          "k: `keep_min` takes 2 arguments, not 1");
    CHECK(faults({Declare{Type::f64, "keep_min", d},
                  Declare{Type::f64, "a", call_helper(Helper::keep_min, {d, d})}}) ==
          "k: helper `keep_min` is hidden by another name");
    CHECK(faults({RunHelper{Helper::keep_min, {d, d}}}) == "k: the value of `keep_min` is not used");

    Program program = kernel_of({CallFunction{"store", {address_of("u", 0, Type::f32), i32("n")}}});
    CHECK(all(verify(program)) == "k: function `store` is not defined above");
    KernelFunction helper = program.functions[0];
    helper.kind = KernelFunction::Kind::helper;
    helper.name = "store";
    helper.body = {Assign{u(i32("n")), kOne}};
    program.functions.push_back(helper);
    CHECK(all(verify(program)) == "k: function `store` is not defined above");
    std::swap(program.functions[0], program.functions[1]);
    CHECK(all(verify(program)) == "");
}

TEST_CASE("lambdas with a body take what they declare, and neither return nor wait for all threads") {
    const auto fetch = [](Block body) {
        return DeclareLambda{"fetch", {{"k"}, {"from", Type::i64}}, {}, std::move(body)};
    };
    const Expr k = i32("k"), long_one = int_literal(1, Type::i64);
    const Block store{Assign{u(k), kOne}};
    CHECK(faults({fetch(store), RunLambda{"fetch", {1, long_one}}, RunLambda{"fetch", {2, long_one}}}) == "");
    CHECK(faults({fetch(store), RunLambda{"fetch", {1}}}) == "k: `fetch` takes 2 arguments, not 1");
    CHECK(faults({fetch(store), RunLambda{"fetch", {1, kOne}}}) ==
          "k: an argument of `fetch` is f32, not i64");
    CHECK(faults({RunLambda{"fetch", {1, long_one}}}) == "k: `fetch` is no lambda with a body");
    CHECK(faults({fetch(store), Declare{Type::i32, "a", k}}) == "k: `k` is not declared here");
    CHECK(faults({fetch({Barrier{}}), RunLambda{"fetch", {1, long_one}}}) ==
          "k: a barrier stands where not all threads come");
    CHECK(faults({fetch({Return{}}), RunLambda{"fetch", {1, long_one}}}) == "k: `fetch` returns");
    CHECK(faults({fetch({})}) == "k: `fetch` has neither a value nor a body");
    CHECK(faults({DeclareLambda{"both", {{"k"}}, k, store}}) == "k: `both` has a value and a body");
}

TEST_CASE("lambdas with a value give one of its type") {
    const DeclareLambda value{"value", {{"k"}}, u(i32("k")), {}};
    const auto read = [](Type type) { return Declare{type, "a", call_lambda("value", {1}, type)}; };
    CHECK(faults({value, read(Type::f32)}) == "");
    CHECK(faults({value, read(Type::f64)}) == "k: `value` is read as f64");
    CHECK(faults({value, Declare{Type::f32, "a", call_lambda("value", {1, 2}, Type::f32)}}) ==
          "k: `value` takes 1 arguments, not 2");
    CHECK(faults({DeclareLambda{"value", {}, i32("other"), {}}}) == "k: `other` is not declared here");
}

TEST_CASE("a shuffle moves a value of 4 or 8 bytes between lanes") {
    using From = Shuffle::From;
    const auto moved = [](const Expr& value, const Expr& lane) {
        return faults({Declare{value.type(), "a", shuffle(From::before, value, lane)}});
    };
    CHECK(moved(kOne, 1) == "");
    CHECK(moved(real_literal(1, Type::f64), i32("n")) == "");
    CHECK(moved(i32("n") < 4, 1) == "k: a shuffle moves boolean");
    CHECK(moved(kOne, kOne) == "k: a shuffle's lane is f32, not i32");
    CHECK(moved(kOne, Expr()) == "k: a shuffle's lane is missing");
    // Its value may differ between threads, so no barrier may depend on it.
    CHECK(faults({If{shuffle(From::lane, i32("n"), 0) < 4, {Barrier{}}, {}}}) ==
          "k: a barrier stands where not all threads come");
    CHECK(faults({If{shuffle(From::lane, 3, 0) < 4, {Barrier{}}, {}}}) == "");
    CHECK(faults({If{thread() < 32, {Barrier{Barrier::Of::warp}}, {}}}) == "");
}

TEST_CASE("all threads of a block come to its barriers") {
    const Expr d = real_literal(1, Type::f64);
    const std::string divided = "stands where not all threads come";
    CHECK(faults({If{thread() < 4, {Barrier{}}, {}}}) == "k: a barrier " + divided);
    CHECK(faults({If{thread() < 4, {}, {Barrier{}}}}) == "k: a barrier " + divided);
    CHECK(faults({If{i32("n") < 4, {Barrier{}}, {}}}) == "");
    CHECK(faults({If{builtin(Builtin::block_x) < 4, {Barrier{}}, {}}}) == "");
    CHECK(faults({Declare{Type::i32, "i", thread() * 4}, Declare{Type::i32, "j", i32("i") + 1},
                  If{i32("j") < i32("n"), {Scope{{Barrier{}}}}, {}}}) == "k: a barrier " + divided);
    CHECK(faults({For{"x", thread(), 64, 32, Unroll::leave, {Barrier{}}}}) == "k: a barrier " + divided);
    CHECK(faults({If{u(0) < kOne, {Barrier{}}, {}}}) == "k: a barrier " + divided);
    // What is read from memory that the kernel does not change is the same for all threads of one index.
    const auto faults_of_input = [](const Expr& read, Block before = {}) {
        before.push_back(If{read < kOne, {Barrier{}}, {}});
        Program program = kernel_of(std::move(before));
        program.functions[0].parameters[0].kind = Parameter::Kind::input;
        return all(verify(program));
    };
    CHECK(faults_of_input(u(i32("n"))) == "");
    CHECK(faults_of_input(u(thread())) == "k: a barrier " + divided);
    // A pointer may be another one in each thread.
    CHECK(faults_of_input(element("row", {0}, Type::f32),
                          {DeclarePointer{Type::f32, "row", address_of("u", thread(), Type::f32)}}) ==
          "k: a barrier " + divided);
    CHECK(faults({If{thread() < 4, {Return{}}, {}}, Barrier{}}) ==
          "k: a barrier comes after some threads may have returned");
    CHECK(faults({If{i32("n") < 4, {Return{}}, {}}, Barrier{}}) == "");
    CHECK(faults({If{thread() == 0, {Declare{Type::f64, "s", call_helper(Helper::block_sum, {d})}}, {}}}) ==
          "k: `block_sum` " + divided);
}

TEST_CASE("what is missing is a fault, too") {
    CHECK(faults({Declare{Type::i32, "a", Expr()}}) == "k: the value of `a` is missing");
    CHECK(faults({Assign{Expr(), kOne}}) == "k: an expression is missing");
    CHECK(faults({If{Expr(), {}, {}}}) == "k: a condition is missing");
    CHECK(faults({For{"x", Expr(), 4, 1, Unroll::leave, {}}}) == "k: the first value of loop `x` is missing");
}

TEST_CASE("the first fault is thrown where a valid program is required") {
    CHECK_THROWS_AS(require_valid(kernel_of({Assign{i32("n"), 1}})), InternalError);
    require_valid(kernel_of({Return{}}));
}
