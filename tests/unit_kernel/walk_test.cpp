#include "compiler/kernel/walk.h"

#include <vector>

#include "catch.h"
#include "printed.h"

using namespace halo::kernel;

TEST_CASE("every statement is visited, outer ones first") {
    const Block body{Scope{{For{"x", 0, 4, 1, Unroll::leave, {If{i32("x") < 2, {Barrier{}}, {Return{}}}}}}},
                     BlankLine{}};
    std::vector<std::size_t> kinds;
    for_each_statement(body, [&](const Statement& statement) { kinds.push_back(statement.kind.index()); });
    const std::vector<std::size_t> expected{
        Statement(Scope{}).kind.index(),  Statement(For{}).kind.index(),
        Statement(If{}).kind.index(),     Statement(Barrier{}).kind.index(),
        Statement(Return{}).kind.index(), Statement(BlankLine{}).kind.index()};
    CHECK(kinds == expected);
}

TEST_CASE("every variable of a body is visited") {
    const auto v = [](const char* name) { return f32(name); };
    const auto at = [](const char* name) { return element("array", {i32(name)}, Type::f32); };
    const auto to = [](const char* name) { return address_of("u", i32(name), Type::f32); };
    const Block body{
        Declare{Type::f32, "new", select(v("a") < v("b"), -v("c"), call(Function::sqrt, {v("d")}))},
        DeclarePointer{Type::f32, "row", to("e")},
        DeclareArray{Type::f32, "array", {i32("f")}},
        Assign{at("g"), call_helper(Helper::keep_min, {convert(v("h"), Type::f64), v("i")})},
        LoadVector{at("j"), to("k")},
        CopyVector{at("l"), to("m")},
        StoreVector{to("n"), at("o")},
        For{"x", i32("p"), i32("q"), i32("r"), Unroll::leave, {If{logical_not(v("s") < v("t")), {}, {}}}},
        CallFunction{"helper", {i32("u")}},
        CopyCells{at("v"), at("w"), i32("x")},
        FillCells{at("y"), v("z"), i32("A")},
        AdvancePointer{"row", i32("B")},
        DeclareArray{Type::f32, "view", {4}, Memory::dynamic_shared, 0, 0, false, to("C")},
    };
    std::string names;
    for_each_expr(body, [&](const Expr& expr) {
        if (const auto* variable = std::get_if<Variable>(&expr->kind)) names += variable->name;
    });
    CHECK(names == "abcdefghijklmnopqrstuvwxyzABC");
}

TEST_CASE("an expression comes before its operands, and missing ones are passed over") {
    std::vector<std::string> seen;
    for_each_expr(i32("a") * i32("b"), [&](const Expr& expr) { seen.push_back(printed(expr)); });
    CHECK(seen == std::vector<std::string>{"a * b", "a", "b"});
    int visited = 0;
    for_each_expr(Expr(), [&](const Expr&) { ++visited; });
    CHECK(visited == 0);
}
