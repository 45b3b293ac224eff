// Wrong text: one message for each mistake, at its place, with the mend where there is one.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.h"
#include "compiler/syntax/parser.h"

using namespace halo;
using namespace halo::syntax;

namespace {

// "line:column kind [-> mend]" of each message, in order, joined by "; ".
std::string mistakes(const std::string& text, File* out = nullptr) {
    const SourceFile source("test.halo", text);
    DiagnosticSink sink;
    File file = parse(source, sink);
    if (out != nullptr) *out = std::move(file);
    std::string all;
    for (const Diagnostic& diagnostic : sink.sorted()) {
        const LineColumn at = source.line_column(diagnostic.where.begin);
        if (!all.empty()) all += "; ";
        all += std::to_string(at.line) + ":" + std::to_string(at.column) + " " +
               std::string(name_of(diagnostic.kind));
        if (diagnostic.mend_text) all += " -> '" + diagnostic.mend_text->replacement + "'";
    }
    return all;
}

// Of one statement on line 2 of a stencil; the next statement must be read, and the stencil be whole.
std::string in_stencil(const std::string& line) {
    File file;
    std::string all = mistakes("stencil s(x, y) {\n" + line + "\nlast[t+1] = 1\n}\nrun s { }\n", &file);
    INFO(line);
    REQUIRE(file.stencils.size() == 1);
    REQUIRE_FALSE(file.stencils[0].statements.empty());
    CHECK(std::holds_alternative<Assignment>(file.stencils[0].statements.back()));
    CHECK(file.runs.size() == 1);
    return all;
}

std::string in_run(const std::string& line) {
    File file;
    std::string all = mistakes("run s {\n" + line + "\nlast = 1\n}\n", &file);
    INFO(line);
    REQUIRE(file.runs.size() == 1);
    REQUIRE_FALSE(file.runs[0].statements.empty());
    CHECK(std::holds_alternative<OverrideStatement>(file.runs[0].statements.back()));
    return all;
}

}  // namespace

TEST_CASE("mistakes in words") {
    CHECK(in_stencil("v = 0.16f") == "2:5 malformed-number -> '0.16'");
    CHECK(in_stencil("v = 2x") == "2:5 malformed-number -> '2 * x'");
    CHECK(in_stencil("v = 1.2.3") == "2:5 malformed-number");
    CHECK(in_stencil("v = 0x1F") == "2:5 malformed-number");
    CHECK(in_stencil("v = 1e999") == "2:5 number-out-of-range");
    CHECK(in_stencil("param λ = 3") == "2:7 invalid-character -> 'lambda'");
    CHECK(in_stencil("v = é") == "2:5 invalid-character");
    CHECK(in_stencil("v = $a") == "2:5 invalid-character");
    CHECK(in_stencil(std::string("v = \0", 5)) == "2:5 invalid-character");
    CHECK(in_stencil("v = a 'x'") == "2:7 invalid-character");
    CHECK(in_run("save u to \"u.npy") == "2:11 unterminated-string");
    CHECK(in_run("save u to \"a\tb\"") == "2:11 invalid-character");
    CHECK(in_run("save u to 'u.npy'") == "2:11 invalid-character");
}

TEST_CASE("operators of other languages") {
    CHECK(in_stencil("v = u ** 2") == "2:7 foreign-operator -> '^'");
    CHECK(in_stencil("v = if a && b || !c then 1 else 2") ==
          "2:10 foreign-operator -> 'and'; 2:15 foreign-operator -> 'or'; 2:18 foreign-operator -> 'not '");
    CHECK(in_stencil("v = u × 2") == "2:7 foreign-operator -> '*'");
    CHECK(in_stencil("v = if a ≤ b then 1 else 2") == "2:10 foreign-operator -> '<='");
    CHECK(in_stencil("u += 1") == "2:3 foreign-operator");
    CHECK(in_stencil("v = a % 2") == "2:7 foreign-operator");
    CHECK(in_stencil("v = a ? b : c") == "2:7 foreign-operator");
    CHECK(in_stencil("v = if a & b then 1 else 2") == "2:10 foreign-operator -> 'and'");
    CHECK(in_stencil("v = if a = b then 1 else 2") == "2:10 foreign-operator -> '=='");
    CHECK(in_stencil("v = sum(i in 1...3) u") == "2:15 foreign-operator -> '..'");
    CHECK(in_stencil("v = 1 // why") == "2:7 foreign-operator");
}

TEST_CASE("mistakes in brackets") {
    CHECK(in_stencil("v = (a + b") == "2:11 missing-bracket");
    CHECK(in_stencil("v = f(a, b") == "2:11 missing-bracket");
    CHECK(in_stencil("v = u[x+1") == "2:10 missing-bracket");
    CHECK(in_stencil("v = (a]") == "2:7 missing-bracket");
    CHECK(in_stencil("v = a + b)") == "2:10 unmatched-bracket");
    CHECK(in_stencil("v = a]") == "2:6 unmatched-bracket");
    CHECK(in_stencil("coef c[1..2] = [1, 2") == "2:21 missing-bracket");
    CHECK(in_stencil("v = f(a,\n b\n c)") == "3:3 missing-bracket");
    CHECK(in_stencil("v = u[]") == "2:7 unexpected-token");
    CHECK(in_stencil("v = ()") == "2:6 unexpected-token");
}

TEST_CASE("mistakes in expressions") {
    CHECK(in_stencil("v = 2 u") == "2:7 unexpected-token");
    CHECK(in_stencil("v = (2 u)") == "2:8 unexpected-token");
    CHECK(in_stencil("v = a < b < c") == "2:11 chained-comparison");
    CHECK(in_stencil("v = a + * b") == "2:9 unexpected-token");
    CHECK(in_stencil("v = [1, 2") == "2:10 missing-bracket");
    CHECK(in_stencil("v = [i for i 1..2]") == "2:14 unexpected-token");
    CHECK(in_stencil("v = u.") == "2:7 unexpected-token");
    CHECK(in_stencil("v = u.(1") == "2:9 missing-bracket");
    CHECK(in_stencil("v = if a then b") == "2:16 unexpected-token");
    CHECK(in_stencil("v = if a b") == "2:10 unexpected-token");
    CHECK(in_stencil("v = \"text\"") == "2:5 unexpected-token");
    CHECK(in_stencil("v = sum(i in 1) u") == "2:15 unexpected-token");
    CHECK(in_stencil("v = a.") == "2:7 unexpected-token");
    CHECK(in_stencil("v = a == b = c") == "2:12 unexpected-token");
    CHECK(in_stencil("v = f(order=)") == "2:13 unexpected-token");
}

TEST_CASE("a statement without its end does not take the next one along") {
    CHECK(in_stencil("v = a +") == "2:7 unexpected-token");
    CHECK(in_stencil("v =") == "2:3 unexpected-token");
    CHECK(in_stencil("param a = 1,") == "2:12 unexpected-token");
    CHECK(in_stencil("v = a *\nfield u: f32") == "2:8 unexpected-token");
    CHECK(in_stencil("let v =\nlet w = 2") == "2:8 unexpected-token");
}

TEST_CASE("mistakes in statements") {
    CHECK(in_stencil("parm a = 1") == "2:1 unknown-statement -> 'param'");
    CHECK(in_stencil("something odd") == "2:1 unknown-statement");
    CHECK(in_stencil("grid 3, 4") == "2:1 misplaced-statement");
    CHECK(in_stencil("boundary periodic") == "2:1 misplaced-statement");
    CHECK(in_stencil("f(u) = 3") == "2:1 invalid-target");
    CHECK(in_stencil("param run = 1") == "2:7 unexpected-token");
    CHECK(in_stencil("param = ") == "2:7 unexpected-token");
    CHECK(in_stencil("const k") == "2:8 unexpected-token");
    CHECK(in_stencil("field u") == "2:8 unexpected-token");
    CHECK(in_stencil("reduce c = max abs(u)") == "2:16 unexpected-token");
    CHECK(in_stencil("accuracy = 8") == "2:10 unexpected-token -> ''");
    CHECK(in_stencil("* a") == "2:1 unexpected-token");
    CHECK(in_stencil("3 = a") == "2:1 unexpected-token");
    CHECK(in_stencil("v = a w = b") == "2:7 unexpected-token");
    CHECK(in_run("initt u = 1") == "2:1 unknown-statement -> 'init'");
    CHECK(in_run("field u: f32") == "2:1 misplaced-statement");
    CHECK(in_run("grid = 3, 4") == "2:6 unexpected-token -> ''");
    CHECK(in_run("save u \"u.npy\"") == "2:8 unexpected-token");
    CHECK(in_run("save u to u.npy") == "2:11 unexpected-token");
    CHECK(in_run("movie u every 5") == "2:16 unexpected-token");
    CHECK(in_run("save u every 5 to \"u.npy\" every 5") == "2:27 unexpected-token");
    CHECK(in_run("movie u every 5 from to \"u.mp4\"") == "2:25 unexpected-token");
    CHECK(in_run("movie u every 5 to u.mp4") == "2:20 unexpected-token");
    CHECK(in_run("plot u at z to \"u.png\"") == "2:13 unexpected-token");
    CHECK(in_run("u[t+1] = 1") == "2:1 unknown-statement");
}

TEST_CASE("mistakes in tables and in sums over them") {
    CHECK(in_stencil("table atoms { x, y }") == "2:20 unexpected-token");
    CHECK(in_stencil("table atoms : f32") == "2:13 unexpected-token");
    CHECK(in_stencil("u = sum(a in atoms) { let b = a.q b }\nv = 1 +") ==
          "2:35 unexpected-token; 3:7 unexpected-token");
    CHECK(in_stencil("u = sum(a in atoms) { a.q b }") == "2:27 unexpected-token");
    CHECK(in_stencil("u = max(a in atoms) a.q") == "2:5 not-built-yet");
    CHECK(in_stencil("fast 3") == "2:6 unexpected-token");
    CHECK(in_run("rows atoms 4") == "2:12 unexpected-token");
}

TEST_CASE("statements on one line are separated") {
    CHECK(in_stencil("field v: f32 { halo 1 boundary clamp }") == "2:23 unexpected-token -> '; boundary'");
    CHECK(in_stencil("param a = 1 param b = 2") == "2:13 unexpected-token -> '; param'");
}

TEST_CASE("a condition compares") {
    CHECK(in_stencil("u = if v = 1 then 1 else 2") == "2:10 foreign-operator -> '=='");
    CHECK(in_stencil("where v = 1 {\n u = 1\n}") == "2:9 foreign-operator -> '=='");
    CHECK(in_stencil("reduce r = sum(u) where v = 1") == "2:27 foreign-operator -> '=='");
}

TEST_CASE("mistakes in points") {
    CHECK(in_stencil("points 3") == "2:8 unexpected-token");
    CHECK(in_stencil("points a: 4") == "2:11 unexpected-token");
    CHECK(in_stencil("inject p[t+1] at shots = 2") == "2:24 unexpected-token");
    CHECK(in_stencil("inject p[t+1] += 2") == "2:15 foreign-operator");
    CHECK(in_stencil("inject p[t+1] at shots += ]") == "2:27 unmatched-bracket");
    CHECK(in_stencil("sample p at phones") == "2:19 unexpected-token");
    CHECK(in_stencil("sample p into phones.trace[t]") == "2:10 unexpected-token");
    CHECK(in_stencil("on x.low { inject p at shots += 1 }") == "2:12 misplaced-statement");
    CHECK(in_stencil("for i in 0..1 { inject p at shots += 1 }") == "2:17 misplaced-statement");
    CHECK(in_run("phones at [1, 2] for i in 3") == "2:28 unexpected-token");
    CHECK(in_run("phones at [1, 2], 3") == "2:19 unexpected-token");
    CHECK(in_run("inject p at shots += 1") == "2:1 misplaced-statement");
}

TEST_CASE("a field has one layout, and a let none") {
    CHECK(in_stencil("field v: f32[2] { layout aos }") == "");
    CHECK(in_stencil("field v: f32[2] { layout aos; layout soa }") == "2:31 duplicate-setting");
    CHECK(in_stencil("field v: f32[2] { layout = aos }") == "2:26 unexpected-token -> ''");
    CHECK(in_stencil("field v: f32[2] { layout }") == "2:26 unexpected-token");
    CHECK(in_stencil("let v { layout aos } = 1") == "2:9 misplaced-statement");
}

TEST_CASE("mistakes in a loop stay there") {
    CHECK(in_stencil("for i in 0..18 {\n f.i = 1 +\n g.i = 2\n}\nv = @") ==
          "3:10 unexpected-token; 6:5 invalid-character");
    CHECK(in_stencil("for i in 0..18 {\n param a = 1\n}") == "3:2 misplaced-statement");
    CHECK(in_stencil("for i in 0..18 {\n reduce a = sum(u)\n}") == "3:2 misplaced-statement");
    CHECK(in_stencil("for i in 18 { f = 1 }") == "2:13 unexpected-token");
    CHECK(in_stencil("for i in 0..1 f = 1") == "2:15 unexpected-token");
    CHECK(in_run("for i in 0..8 { save u to \"u.npy\" }") == "2:17 unexpected-token");
}

TEST_CASE("mistakes in a field's block stay there") {
    CHECK(in_stencil("field u: f32 {\n boundry periodic\n halo 1\n}") ==
          "3:2 unknown-statement -> 'boundary'");
    CHECK(in_stencil("field u: f32 { halo 1 boundary periodic }") == "2:23 unexpected-token -> '; boundary'");
    CHECK(in_stencil("field u: f32 { boundary x.lo fixed 1 }") == "2:27 unexpected-token");
    CHECK(in_stencil("field u: f32 {\n halo 1\nfield v: f32") == "2:14 missing-bracket");
    CHECK(in_stencil("field u: f32 {\n halo 1") == "2:14 missing-bracket");
    CHECK(in_stencil("field u: f32 { halo = 1 }") == "2:21 unexpected-token -> ''");
}

TEST_CASE("mistakes between blocks") {
    CHECK(mistakes("stencl s(x) {\n v = 1\n}\nrun s { }") == "1:1 unknown-statement -> 'stencil'");
    CHECK(mistakes("field u: f32\nfield v: f32\nstencil s(x) { }") == "1:1 misplaced-statement");
    CHECK(mistakes("grid 3") == "1:1 misplaced-statement");
    CHECK(mistakes("}\nstencil s(x) { }") == "1:1 unmatched-bracket");
    CHECK(mistakes("stencil s(x) {\n v = 1\n}\n w = 2\n}\nrun s { }") == "4:2 unknown-statement");
    CHECK(mistakes("stencil s {\n v = +\n}\nrun s { }") == "1:11 unexpected-token; 2:7 unexpected-token");
    CHECK(mistakes("stencil (x) {\n}\nstencil s(x) { v = + }") ==
          "1:9 unexpected-token; 3:22 unexpected-token");
    CHECK(mistakes("stencil s(x) {\n v = 1\nrun s { }") == "1:14 missing-bracket");
    CHECK(mistakes("stencil s(x) {\n field u: f32 {\n halo 1") == "2:15 missing-bracket");
    CHECK(mistakes("stencil s(x) {") == "1:14 missing-bracket");
    CHECK(mistakes("stencil s(x)") == "1:13 unexpected-token");
    CHECK(mistakes("stencil") == "1:8 unexpected-token");
    CHECK(mistakes("run s") == "1:6 unexpected-token");
    CHECK(mistakes("run s {\n schedule { a }\n}") == "2:2 misplaced-statement");
    CHECK(mistakes("hello") == "1:1 unknown-statement");
}

TEST_CASE("all mistakes of a file come at once") {
    const std::string text =
        "stencil s(x) {\n"
        "    parm a = 1\n"
        "    field u: f32 { boundry periodic }\n"
        "    v = (a +\n"
        "    w = 2 ** 3\n"
        "}\n"
        "run s {\n"
        "    stepps 3\n"
        "}\n";
    CHECK(mistakes(text) ==
          "2:5 unknown-statement -> 'param'; 3:20 unknown-statement -> 'boundary'; 4:13 missing-bracket; "
          "5:11 foreign-operator -> '^'; "
          "8:5 unknown-statement -> 'steps'");
}

TEST_CASE("names of statements that could not be read are left for sema") {
    File file;
    mistakes("stencil s(x) {\n field uu: f31 3\n let w = +\n}", &file);
    REQUIRE(file.stencils.size() == 1);
    const std::vector<std::string>& unread = file.stencils[0].unread_names;
    const auto has = [&](const char* name) {
        return std::find(unread.begin(), unread.end(), name) != unread.end();
    };
    CHECK(has("uu"));
    CHECK(has("w"));
    mistakes("stencil s(x) {\n field uu: f32 { boundry periodic }\n}", &file);
    REQUIRE(file.stencils.size() == 1);
    CHECK(std::find(file.stencils[0].unread_names.begin(), file.stencils[0].unread_names.end(), "uu") !=
          file.stencils[0].unread_names.end());
    mistakes("stencil s {\n}\nrun s { }", &file);
    CHECK_FALSE(file.is_complete);
}
