// What is gone from a kernel that reads as if written by hand, and what stays.
#include "compiler/kernel/tidy.h"

#include "catch.h"
#include "compiler/kernel/build.h"
#include "compiler/kernel/print.h"
#include "variables.h"

using namespace halo::kernel;
using namespace halo::kernel::variables;

namespace {

const Expr x = variable("x", Type::i32);

Statement store_value(const Expr& at, double value) {
    return Assign{element("u", {at}, Type::f32), real_literal(value, Type::f32)};
}

std::string tidied(Block body) {
    KernelFunction function;
    function.name = "kernel";
    function.threads = 32;
    function.body = std::move(body);
    tidy(function);
    Program program;
    program.functions.push_back(function);
    const std::string text = print(program);
    const std::size_t begin = text.find("{\n") + 2;
    return text.substr(begin, text.rfind('}') - begin);
}

}  // namespace

TEST_CASE("conditions that are asked twice in a row are asked once") {
    CHECK(tidied({If{i < n, {store_value(i, 1)}, {}}, If{i < n, {store_value(i, 2)}, {}}}) ==
          "    if (i < n) {\n        u[i] = 1.0f;\n        u[i] = 2.0f;\n    }\n");
    // Within each other, on both sides, and with what is said of the second.
    const Block nested{If{i < n, {If{n > 3, {store_value(i, 1)}, {store_value(0, 1)}}}, {}},
                       Comment{"Again."},
                       If{i < n, {If{n > 3, {store_value(i, 2)}, {store_value(0, 2)}}}, {}}};
    CHECK(tidied(nested) ==
          "    if (i < n) {\n        if (n > 3) {\n            u[i] = 1.0f;\n            // Again.\n"
          "            u[i] = 2.0f;\n        } else {\n            u[0] = 1.0f;\n            u[0] = 2.0f;\n"
          "        }\n    }\n");
}

TEST_CASE("conditions stay apart where the first may change what the second asks, or names would meet") {
    const Expr far = variable("far", Type::i32);
    const auto count = [](const std::string& text) {
        std::size_t found = 0;
        for (std::size_t at = 0; (at = text.find("if (", at)) != std::string::npos; ++at)
            ++found;
        return found;
    };
    CHECK(count(tidied({Declare{Type::i32, "far", 0, true}, If{far < n, {Assign{far, n}}, {}},
                        If{far < n, {store_value(i, 2)}, {}}})) == 2);
    const Expr read = element("flags", {i}, Type::i32);
    CHECK(count(tidied({If{read > 0, {store_value(i, 1)}, {}}, If{read > 0, {store_value(i, 2)}, {}}})) == 2);
    CHECK(count(tidied(
              {If{i < n, {Declare{Type::i32, "at", i + 1}, store_value(variable("at", Type::i32), 1)}, {}},
               If{i < n, {store_value(i, 2)}, {}}})) == 2);
    CHECK(count(tidied(
              {If{i < n, {store_value(i, 1)}, {}}, BlankLine{}, If{i < n, {store_value(i, 2)}, {}}})) == 2);
    CHECK(count(tidied({If{i < n, {store_value(i, 1)}, {}}, If{n > i, {store_value(i, 2)}, {}}})) == 2);
}

TEST_CASE("a constant that nothing reads is left out, and what only it reads") {
    const Expr at = variable("at", Type::i32);
    CHECK(tidied({Declare{Type::i32, "at", i + 1}, Declare{Type::i32, "after", at + 1}, store_value(i, 1)}) ==
          "    u[i] = 1.0f;\n");
    CHECK(tidied({Declare{Type::i32, "at", i + 1}, If{i < n, {store_value(at, 1)}, {}}}).find("at = i + 1") !=
          std::string::npos);
    // What is called may do something.
    CHECK(tidied({Declare{Type::i32, "at", shuffle(Shuffle::From::before, i, 1)}, store_value(i, 1)}) ==
          "    const int at = lane_before(i, 1);\n    u[i] = 1.0f;\n");
}

TEST_CASE("a loop of one turn is its body, with the number in it") {
    const Block once{For{"x", 2, 3, 1, Unroll::none, {store_value(i + x + 1, 1)}}};
    CHECK(tidied(once) == "    u[i + 3] = 1.0f;\n");
    CHECK(tidied({For{"x", 0, 8, 8, Unroll::none, {store_value(x, 1)}}}) == "    u[0] = 1.0f;\n");
    CHECK(tidied({For{"x", 0, 2, 1, Unroll::leave, {store_value(x, 1)}}}).find("for (") != std::string::npos);
    CHECK(tidied({For{"x", 0, n, 1, Unroll::leave, {store_value(x, 1)}}}).find("for (") != std::string::npos);
    // Its names stay its own.
    const Expr at = variable("at", Type::i32);
    CHECK(tidied({For{"x", 0, 1, 1, Unroll::leave, {Declare{Type::i32, "at", i + x}, store_value(at, 1)}},
                  store_value(0, 2)}) ==
          "    {\n        const int at = i;\n        u[at] = 1.0f;\n    }\n    u[0] = 2.0f;\n");
}

TEST_CASE("braces that hold what other braces hold are left out") {
    const Expr at = variable("at", Type::i32);
    CHECK(tidied({If{i < n, {Scope{{Declare{Type::i32, "at", i}, store_value(at, 1)}}}, {}}}) ==
          "    if (i < n) {\n        const int at = i;\n        u[at] = 1.0f;\n    }\n");
}

TEST_CASE("a constant that is only stored at once has no name") {
    const Expr sum = variable("sum", Type::f32);
    const Expr value = element("u", {i}, Type::f32) + real_literal(1, Type::f32);
    const Declare declare{Type::f32, "sum", value};
    const Assign to_v{element("v", {i}, Type::f32), sum}, to_w{element("w", {i}, Type::f32), sum};
    CHECK(tidied({declare, to_v}) == "    v[i] = u[i] + 1.0f;\n");
    CHECK(tidied({For{"x", 0, n, 1, Unroll::leave, {declare, to_v}}}).find("sum") == std::string::npos);
    // It stays where it is read twice, changed later, stored only after something else, or part of a value.
    const auto keeps_name = [](Block body) {
        return tidied(std::move(body)).find("float sum = u[i] + 1.0f;") != std::string::npos;
    };
    CHECK(keeps_name({declare, to_v, to_w}));
    CHECK(keeps_name({declare, to_v, If{i < n, {to_w}, {}}}));
    CHECK(keeps_name({Declare{Type::f32, "sum", value, true}, to_v}));
    CHECK(keeps_name({declare, store_value(i, 1), to_v}));
    CHECK(keeps_name({declare, Assign{element("v", {i}, Type::f32), sum + real_literal(1, Type::f32)}}));
}
