#include "compiler/kernel/print.h"

#include <limits>
#include <sstream>

#include "catch.h"
#include "compiler/kernel/wrap.h"
#include "printed.h"

using namespace halo::kernel;

TEST_CASE("parentheses stand where they are needed, and only there") {
    const Expr a = f32("a"), b = f32("b"), c = f32("c");
    CHECK(printed(a + b + c) == "a + b + c");
    CHECK(printed(a + (b + c)) == "a + (b + c)");
    CHECK(printed(a - (b - c)) == "a - (b - c)");
    CHECK(printed(a * b + c) == "a * b + c");
    CHECK(printed((a + b) * c) == "(a + b) * c");
    CHECK(printed(a / (b * c)) == "a / (b * c)");
    CHECK(printed(a * b / c) == "a * b / c");
    CHECK(printed(-(a + b)) == "-(a + b)");
    CHECK(printed(-(-a)) == "-(-a)");
    CHECK(printed(-a * b) == "-a * b");
    CHECK(printed(a - -b) == "a - -b");
    CHECK(printed(a < b && b < c) == "a < b && b < c");
    CHECK(printed((a < b && b < c) || a < c) == "(a < b && b < c) || a < c");
    CHECK(printed((a < b || b < c) && a < c) == "(a < b || b < c) && a < c");
    CHECK(printed(logical_not(a < b)) == "!(a < b)");
    CHECK(printed(select(a < b, a, select(b < c, b, c))) == "a < b ? a : b < c ? b : c");
    CHECK(printed(select(a < b, a, b) + c) == "(a < b ? a : b) + c");
    CHECK(printed(call(Function::fma, {a + b, b, c})) == "fmaf(a + b, b, c)");
    CHECK(printed(i32("i") % 4 + 1) == "i % 4 + 1");
    const Expr word = variable("word", Type::u32);
    const auto bits = [](std::int64_t value) { return int_literal(value, Type::u32); };
    CHECK(printed(operation(Operator::bit_and, operation(Operator::shift_right, word, bits(3)),
                            bits(0x1f1f1f1f))) == "(word >> 3u) & 0x1f1f1f1fu");
    CHECK(printed(operation(Operator::add, word, bits(0x4140))) == "word + 0x4140u");
}

TEST_CASE("literals read back as what they are") {
    CHECK(printed(real_literal(2, Type::f32)) == "2.0f");
    CHECK(printed(real_literal(2, Type::f64)) == "2.0");
    CHECK(printed(real_literal(-0.5, Type::f64)) == "-0.5");
    CHECK(printed(real_literal(double{0.1f}, Type::f32)) == "0.1f");
    CHECK(printed(real_literal(0.1, Type::f64)) == "0.1");
    CHECK(printed(real_literal(1e300, Type::f64)) == "1e+300");
    CHECK(printed(real_literal(-0.0, Type::f64)) == "-0.0");
    CHECK(printed(real_literal(std::numeric_limits<double>::infinity(), Type::f64)) == "INFINITY");
    CHECK(printed(real_literal(-std::numeric_limits<double>::infinity(), Type::f64)) == "-INFINITY");
    CHECK(printed(f32("a") - real_literal(-1, Type::f32)) == "a - -1.0f");
}

TEST_CASE("statements") {
    const Expr i = i32("i"), value = real_literal(1, Type::f32);
    const Expr u = element("u", {i}, Type::f32);
    CHECK(printed(Block{Declare{Type::i32, "i", 3}}) == "    const int i = 3;\n");
    CHECK(printed(Block{Declare{Type::f32, "s", value, true}}) == "    float s = 1.0f;\n");
    CHECK(printed(Block{Assign{u, value}}) == "    u[i] = 1.0f;\n");
    CHECK(printed(Block{DeclareArray{Type::f32, "t", {4, 8}, Memory::shared, 0, 16}}) ==
          "    alignas(16) shared float t[4][8];\n");
    CHECK(printed(Block{DeclarePointer{Type::f32, "row", address_of("u", i * 2, Type::f32)}}) ==
          "    const float* row = u + i * 2;\n");
    CHECK(printed(Block{AdvancePointer{"row", i * 2}}) == "    row += i * 2;\n");
    DeclareArray view{Type::f32, "t", {4, 8}};
    view.from = address_of("u", i, Type::f32);
    CHECK(printed(Block{view}) == "    auto& t = *reinterpret_cast<float(*)[4][8]>(u + i);\n");
    CHECK(printed(Block{LoadVector{element("t", {0}, Type::f32), address_of("u", 0, Type::f32), 4}}) ==
          "    load4(t, u);\n");
    CHECK(printed(Block{If{i >= 4, {Return{}}, {}}}) == "    if (i >= 4) return;\n");
    CHECK(printed(Block{If{i < 4, {Assign{u, value}}, {}}}) == "    if (i < 4) u[i] = 1.0f;\n");
    CHECK(printed(Block{If{i < 4, {Barrier{}}, {Return{}}}}) ==
          "    if (i < 4)\n        barrier();\n    else\n        return;\n");
    CHECK(printed(Block{For{"x", 0, 4, 1, Unroll::full, {Barrier{}}}}) ==
          "#pragma unroll\n    for (int x = 0; x < 4; ++x)\n        barrier();\n");
    CHECK(printed(Block{For{"x", 0, i, 2, Unroll::leave, {Barrier{}}}}) ==
          "    for (int x = 0; x < i; x += 2)\n        barrier();\n");
    CHECK(printed(Block{Comment{"Why."}, BlankLine{}, Scope{{Barrier{}}}}) ==
          "    // Why.\n\n    {\n        barrier();\n    }\n");
}

TEST_CASE("one statement needs no braces, except where an else would find another if") {
    const Expr i = variable("i", Type::i32);
    const Statement shown = Barrier{}, left = Return{};
    const auto if_below = [&](int bound, Block then, Block otherwise = {}) {
        return If{i < bound, std::move(then), std::move(otherwise)};
    };
    const auto loop = [](Block body) { return For{"x", 0, 4, 1, Unroll::leave, std::move(body)}; };
    CHECK(printed(Block{loop({loop({shown})})}) ==
          "    for (int x = 0; x < 4; ++x)\n        for (int x = 0; x < 4; ++x)\n            barrier();\n");
    CHECK(printed(Block{loop({shown, left})}) ==
          "    for (int x = 0; x < 4; ++x) {\n        barrier();\n        return;\n    }\n");
    CHECK(printed(Block{loop({Declare{Type::i32, "j", i}})}) ==
          "    for (int x = 0; x < 4; ++x) {\n        const int j = i;\n    }\n");
    CHECK(printed(Block{loop({if_below(1, {shown}, {left})})}) ==
          "    for (int x = 0; x < 4; ++x)\n        if (i < 1)\n            barrier();\n        else\n"
          "            return;\n");
    CHECK(printed(Block{if_below(2, {if_below(1, {shown})})}) ==
          "    if (i < 2)\n        if (i < 1) barrier();\n");
    CHECK(printed(Block{if_below(2, {if_below(1, {shown})}, {left})}) ==
          "    if (i < 2) {\n        if (i < 1) barrier();\n    } else {\n        return;\n    }\n");
    CHECK(printed(Block{if_below(2, {loop({if_below(1, {shown})})}, {left})}) ==
          "    if (i < 2) {\n        for (int x = 0; x < 4; ++x)\n            if (i < 1) barrier();\n"
          "    } else {\n        return;\n    }\n");
    CHECK(printed(Block{if_below(2, {if_below(1, {shown}, {left})})}) ==
          "    if (i < 2) {\n        if (i < 1)\n            barrier();\n        else\n            return;\n"
          "    }\n");
    // A guard in place of another goes on where it stands; braces of one branch are the next one's, too.
    CHECK(printed(Block{if_below(1, {shown}, {if_below(2, {shown}, {left})})}) ==
          "    if (i < 1)\n        barrier();\n    else if (i < 2)\n        barrier();\n    else\n"
          "        return;\n");
    CHECK(printed(Block{if_below(1, {shown, shown}, {if_below(2, {shown})})}) ==
          "    if (i < 1) {\n        barrier();\n        barrier();\n    } else if (i < 2) {\n"
          "        barrier();\n    }\n");
    CHECK(printed(Block{if_below(1, {shown}, {shown, left})}) ==
          "    if (i < 1) {\n        barrier();\n    } else {\n        barrier();\n        return;\n    }\n");
}

TEST_CASE("lambdas are declared by reference and called by name") {
    const Expr k = i32("k"), n = i32("n");
    const Block body{DeclareLambda{"place", {{"k"}}, k * n + 1, {}},
                     Declare{Type::i32, "at", call_lambda("place", {n - 1})}};
    CHECK(printed(body) ==
          "    const auto place = [&](int k) {\n        return k * n + 1;\n    };\n"
          "    const int at = place(n - 1);\n");
    const Expr from = variable("from", Type::i64);
    const CopyAsync copy{element("ring", {k}, Type::f32), address_of("u", from, Type::f32), 4};
    const Block run{DeclareLambda{"fetch", {{"k"}, {"from", Type::i64}}, {}, {copy, CommitCopies{}}},
                    RunLambda{"fetch", {n, convert(n, Type::i64) * 8}}};
    CHECK(printed(run) ==
          "    const auto fetch = [&](int k, long long from) {\n        copy4_async(ring, k, u + from);\n"
          "        commit_copies();\n    };\n    fetch(n, static_cast<long long>(n) * 8);\n");
}

TEST_CASE("cells of registers are copied and filled by so many at once") {
    const Expr s = i32("s"), a = element("a", {s, 0, 0}, Type::f32), b = element("b", {1, 1}, Type::f32);
    const Block body{CopyCells{a, b, i32("kCells")}, FillCells{b, real_literal(10, Type::f32), 6},
                     FillCells{a, real_literal(1, Type::f32), 4, 6}};
    CHECK(printed(body) ==
          "    copy_cells<kCells>(a[s][0], &b[1][1]);\n    fill_cells<6>(&b[1][1], 10.0f);\n"
          "    fill_cells<4, 6>(a[s][0], 1.0f);\n");
}

TEST_CASE("a note beside the only statement of a body needs no braces") {
    const Block noted{Comment{"a note"}, Barrier{}};
    CHECK(printed(Block{For{"i", 0, 4, 1, Unroll::leave, noted}}) ==
          "    for (int i = 0; i < 4; ++i)\n        // a note\n        barrier();\n");
    CHECK(printed(Block{For{"i", 0, 4, 1, Unroll::leave, {Comment{"a note"}}}}) ==
          "    for (int i = 0; i < 4; ++i) {\n        // a note\n    }\n");
}

TEST_CASE("functions have their comments, parameters and constants above the body") {
    Program program = kernel_of({Return{}});
    program.header = {"A program.", "", "Its end."};
    program.constant_arrays = {{Type::f64, "w", 3, "weights"}};
    program.functions[0].comment = {"One kernel."};
    program.functions[0].constants = {{"kCellsX", 4, "of a thread"}, {"kCellsY", 2, ""}};
    CHECK(print(program) ==
          "// A program.\n//\n// Its end.\n\nconstant double w[3];  // weights\n\n// One kernel.\n"
          "kernel k(float* u, int n) {\n    constexpr int kCellsX = 4;  // of a thread\n"
          "    constexpr int kCellsY = 2;\n\n    return;\n}\n");
}

TEST_CASE("no line passes the limit, and nothing is lost by wrapping") {
    for (int depth : {1, 3}) {
        Expr long_sum = f32("term_0");
        for (int term = 1; term < 40; ++term)
            long_sum = long_sum + f32("term_" + std::to_string(term));
        Block body{Assign{f32("total"), long_sum}};
        for (int level = 1; level < depth; ++level)
            body = {Scope{std::move(body)}};
        const std::string text = printed(body);
        std::istringstream lines(text);
        std::string joined;
        int count = 0;
        for (std::string line; std::getline(lines, line); ++count) {
            CHECK(line.size() <= kColumnLimit);
            CHECK((line.empty() || line.back() != ' '));
            joined += line.substr(std::min(line.find_first_not_of(' '), line.size())) + " ";
        }
        CHECK(count > 3);
        std::string whole = "total = term_0";
        for (int term = 1; term < 40; ++term)
            whole += " + term_" + std::to_string(term);
        CHECK(joined.find(whole + ";") != std::string::npos);
    }
}

TEST_CASE("a wrapped line goes on behind its innermost parenthesis, or four columns in") {
    const std::string name(60, 'a'), other(60, 'b');
    CHECK(wrap_line("call(" + name + ", " + other + ");", 4) ==
          "    call(" + name + ",\n         " + other + ");\n");
    CHECK(wrap_line("x = " + name + " + " + other + ";", 4) ==
          "    x = " + name + " +\n        " + other + ";\n");
    CHECK(wrap_line("short;", 8) == "        short;\n");
    CHECK(fits(std::string(106, 'a'), 4));
    CHECK_FALSE(fits(std::string(107, 'a'), 4));
}

TEST_CASE("comments are wrapped between words") {
    const std::string word(50, 'w');
    CHECK(wrap_comment("A comment.", 4) == "    // A comment.\n");
    CHECK(wrap_comment(word + " " + word + " " + word, 4) ==
          "    // " + word + " " + word + "\n    // " + word + "\n");
}
