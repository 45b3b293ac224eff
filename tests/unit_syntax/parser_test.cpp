// What is read from right text.
#include "compiler/syntax/parser.h"

#include <string>

#include "catch.h"
#include "dump.h"

using namespace halo;
using namespace halo::syntax;

namespace {

File parsed(const std::string& text) {
    const SourceFile source("test.halo", text);
    DiagnosticSink sink;
    File file = parse(source, sink);
    INFO(render(sink.sorted(), source));
    REQUIRE_FALSE(sink.has_errors());
    CHECK(file.is_complete);
    return file;
}

File parsed_stencil(const std::string& body) {
    return parsed("stencil s(x, y) {\n" + body + "\n}\n");
}

std::string expression(const std::string& text) {
    INFO(text);
    const File file = parsed_stencil("v = " + text);
    REQUIRE(file.stencils.size() == 1);
    REQUIRE(file.stencils[0].statements.size() == 1);
    return dump(file, std::get<Assignment>(file.stencils[0].statements[0]).value);
}

template <class Statement>
Statement only_statement(const File& file) {
    REQUIRE(file.stencils.size() == 1);
    REQUIRE(file.stencils[0].statements.size() == 1);
    return std::get<Statement>(file.stencils[0].statements[0]);
}

template <class Statement>
Statement only_run_statement(const File& file) {
    REQUIRE(file.runs.size() == 1);
    REQUIRE(file.runs[0].statements.size() == 1);
    return std::get<Statement>(file.runs[0].statements[0]);
}

}  // namespace

TEST_CASE("operators bind as in a paper") {
    CHECK(expression("a + b * c") == "(+ a (* b c))");
    CHECK(expression("a - b - c") == "(- (- a b) c)");
    CHECK(expression("a / b * c") == "(* (/ a b) c)");
    CHECK(expression("-a^2") == "(neg (^ a 2))");
    CHECK(expression("a^b^c") == "(^ a (^ b c))");
    CHECK(expression("2^-3^2") == "(^ 2 (neg (^ 3 2)))");
    CHECK(expression("a * -b") == "(* a (neg b))");
    CHECK(expression("a - -b") == "(- a (neg b))");
    CHECK(expression("+a") == "(plus a)");
    CHECK(expression("(a + b) * c") == "(* (+ a b) c)");
    CHECK(expression("((a))^2") == "(^ a 2)");
    CHECK(expression("a < b + 1 and c or not d == e") == "(or (and (< a (+ b 1)) c) (not (== d e)))");
    CHECK(expression("not not a") == "(not (not a))");
    CHECK(expression("(a < b) == (c >= d)") == "(== (< a b) (>= c d))");
    CHECK(expression("a != b") == "(!= a b)");
    CHECK(expression("a <= b") == "(<= a b)");
}

TEST_CASE("conditionals reach to the end of their last value") {
    CHECK(expression("if a < b then c else d + 1") == "(if (< a b) c (+ d 1))");
    CHECK(expression("1 + if a then b else c") == "(+ 1 (if a b c))");
    CHECK(expression("if a then b else if c then d else e") == "(if a b (if c d e))");
    CHECK(expression("if a\n  then b\n  else c") == "(if a b c)");
}

TEST_CASE("numbers are exact") {
    CHECK(expression("4/5") == "(/ 4 5)");
    CHECK(expression("0.1") == "1/10");
    CHECK(expression("1e-3 + 2.") == "(+ 1/1000 2)");
}

TEST_CASE("accesses, calls and components") {
    CHECK(expression("u[t+1, x-1]") == "(at u (+ t 1) (- x 1))");
    CHECK(expression("f.3 + v.x[x+1]") == "(+ (. f 3) (at (. v x) (+ x 1)))");
    CHECK(expression("d(u, x, order=8)") == "(call d u x order=8)");
    CHECK(expression("now()") == "(call now)");
    CHECK(expression("max(a, b)") == "(call max a b)");
    CHECK(expression("f(\n  a,\n  b\n)") == "(call f a b)");
}

TEST_CASE("a fold takes products and ends at a sum") {
    CHECK(expression("sum(r in 1..4) c[r] * (f[x+r] - f[x-r]) / dx") ==
          "(sum r:1..4 (/ (* (at c r) (- (at f (+ x r)) (at f (- x r)))) dx))");
    CHECK(expression("sum(r in 1..4) c[r] + 1") == "(+ (sum r:1..4 (at c r)) 1)");
    CHECK(expression("2 * max(i in -n..n-1, j in 0..1) u^2 - 1") ==
          "(- (* 2 (max i:(neg n)..(- n 1) j:0..1 (^ u 2))) 1)");
    CHECK(expression("prod(i in 1..2) sum(j in 1..2) a") == "(prod i:1..2 (sum j:1..2 a))");
    CHECK(expression("-sum(i in 1..2) a") == "(neg (sum i:1..2 a))");
    CHECK(expression("sum(a in atoms) a.q * b + 1") == "(+ (rows a:atoms (* (. a q) b)) 1)");
    CHECK(expression("2 * sum(a in atoms) { let d = a.x; let e = d*d\n e / a.q } - 1") ==
          "(- (* 2 (rows a:atoms d=(. a x) e=(* d d) (/ e (. a q)))) 1)");
    CHECK(expression("sum(a in atoms) { a.q }") == "(rows a:atoms (. a q))");
}

TEST_CASE("lines go on in brackets and after or before an operator") {
    CHECK(expression("a +\n b") == "(+ a b)");
    CHECK(expression("a\n + b\n - c") == "(- (+ a b) c)");
    CHECK(expression("(a\n)\n * b") == "(* a b)");
    CHECK(expression("\n a") == "a");
    CHECK(expression("a # comment\n + b") == "(+ a b)");
    const File file = parsed_stencil("v = a\nw = b; z = c");
    CHECK(file.stencils[0].statements.size() == 3);
}

TEST_CASE("params and constants") {
    const File file = parsed_stencil("param dt = 0.1, lambda: f64, m: f64 = 2");
    const auto decl = only_statement<ParamDecl>(file);
    REQUIRE(decl.params.size() == 3);
    CHECK(decl.params[0].name.text == "dt");
    CHECK(dump(file, *decl.params[0].value) == "1/10");
    CHECK_FALSE(decl.params[1].value.has_value());
    CHECK(decl.params[1].type->storage.text == "f64");
    CHECK(dump(file, *decl.params[2].value) == "2");
    CHECK(only_statement<ConstDecl>(parsed_stencil("const r = 4, s = r^2")).consts.size() == 2);
    CHECK(only_statement<SpacingDecl>(parsed_stencil("spacing x = 1/63, y = 1")).values[1].axis.text == "y");
    CHECK(only_statement<OriginDecl>(parsed_stencil("origin x = -1")).values.size() == 1);
    const File accuracy = parsed_stencil("accuracy 8");
    CHECK(dump(accuracy, only_statement<AccuracyDecl>(accuracy).order) == "8");
}

TEST_CASE("coefficients have ranges and lists") {
    const File one = parsed_stencil("coef c[1..4] = [4/5, -1/5, 4/105, -1/280,]");
    const auto c = only_statement<CoefDecl>(one);
    CHECK_FALSE(c.is_param);
    CHECK(dump(one, c.value) == "[ (/ 4 5) (/ (neg 1) 5) (/ 4 105) (/ (neg 1) 280) ]");
    const File two = parsed_stencil("param coef w[-1..1, 0..1]: f32 = [[1, 2],\n [3, 4], [5, 6]]");
    const auto w = only_statement<CoefDecl>(two);
    CHECK(w.is_param);
    REQUIRE(w.ranges.size() == 2);
    CHECK(dump(two, w.ranges[0].low) == "(neg 1)");
    CHECK(w.type->storage.text == "f32");
    CHECK(dump(two, w.value) == "[ [ 1 2 ] [ 3 4 ] [ 5 6 ] ]");
}

TEST_CASE("fields have halos and boundaries") {
    const File file = parsed_stencil(
        "field u, v: f16 as f32 {\n halo 1\n halo x 4, y.low 2\n boundary periodic\n"
        " boundary x fixed 10, y.low fixed a, y.high free\n boundary fixed (1 + a)\n}");
    const auto field = only_statement<FieldDecl>(file);
    REQUIRE(field.names.size() == 2);
    CHECK(field.type.storage.text == "f16");
    CHECK(field.type.arithmetic->text == "f32");
    REQUIRE(field.halos.size() == 3);
    CHECK_FALSE(field.halos[0].face.has_value());
    CHECK(field.halos[1].face->axis.text == "x");
    CHECK_FALSE(field.halos[1].face->side.has_value());
    CHECK(field.halos[2].face->side == Side::low);
    CHECK(dump(file, field.halos[2].width) == "2");
    REQUIRE(field.boundaries.size() == 5);
    CHECK(field.boundaries[0].kind.text == "periodic");
    CHECK(field.boundaries[0].values.empty());
    CHECK(field.boundaries[1].face->axis.text == "x");
    CHECK(dump(file, field.boundaries[1].values.at(0)) == "10");
    CHECK(dump(file, field.boundaries[2].values.at(0)) == "a");
    CHECK(field.boundaries[3].kind.text == "free");
    CHECK(dump(file, field.boundaries[4].values.at(0)) == "(+ 1 a)");
    const File constant = parsed_stencil("field u: f32 { halo R }");
    CHECK(dump(constant, only_statement<FieldDecl>(constant).halos[0].width) == "R");
    CHECK(only_statement<FieldDecl>(parsed_stencil("field u: f32 { }")).boundaries.empty());
    CHECK(only_statement<FieldDecl>(parsed_stencil("field u: f32\n{ boundary clamp }")).boundaries.size() ==
          1);
}

TEST_CASE("a misspelt boundary is kept for sema") {
    const auto kind = [](const std::string& text) {
        const auto field =
            only_statement<FieldDecl>(parsed_stencil("field u: f32 { boundary " + text + " }"));
        REQUIRE(field.boundaries.size() == 1);
        const BoundaryEntry& entry = field.boundaries[0];
        return (entry.face ? entry.face->axis.text + ":" : "") + entry.kind.text +
               (entry.values.empty() ? "" : "=");
    };
    CHECK(kind("perodic") == "perodic");
    CHECK(kind("fixd 10") == "fixd=");
    CHECK(kind("x perodic") == "x:perodic");
    CHECK(kind("w periodic") == "w:periodic");
    CHECK(kind("fixed a") == "fixed=");
    CHECK(kind("fixed -1") == "fixed=");
}

TEST_CASE("definitions, lets, reductions and assignments") {
    const File def = parsed_stencil("def avg(a, b) = (a + b) / 2");
    CHECK(only_statement<DefDecl>(def).parameters.size() == 2);
    CHECK(only_statement<DefDecl>(parsed_stencil("def one() = 1")).parameters.empty());
    const File let = parsed_stencil("let mu { boundary clamp } = c^3 - c");
    CHECK(only_statement<LetDecl>(let).boundaries.size() == 1);
    CHECK(dump(let, only_statement<LetDecl>(let).value) == "(- (^ c 3) c)");
    const File reduce = parsed_stencil("reduce change = max(abs(u[t+1] - u))");
    CHECK(only_statement<ReduceDecl>(reduce).operation.text == "max");
    CHECK(dump(reduce, only_statement<ReduceDecl>(reduce).value) == "(call abs (- (at u (+ t 1)) u))");
    const File assignment = parsed_stencil("u[t+1] = u");
    CHECK(dump(assignment, only_statement<Assignment>(assignment).target) == "(at u (+ t 1))");
}

TEST_CASE("words that begin statements are names elsewhere") {
    const File file =
        parsed_stencil("field let: f32\nlet[t+1] = let + field\nfield = param\nreduce sum = sum(load)");
    CHECK(file.stencils[0].statements.size() == 4);
    CHECK(parsed("run s {\n init = 3\n load = 4\n}").runs[0].statements.size() == 2);
    CHECK(is_reserved("stencil"));
    CHECK(is_reserved("and"));
    CHECK_FALSE(is_reserved("field"));
}

TEST_CASE("a schedule is kept as words") {
    const File file = parsed_stencil("schedule { stream tile=64x4  # why\n   cells=4x2 }");
    CHECK(only_statement<ScheduleBlock>(file).text == "stream tile=64x4 cells=4x2");
    CHECK(only_statement<ScheduleBlock>(parsed_stencil("schedule {}")).text.empty());
}

TEST_CASE("runs") {
    const auto run = [](const std::string& line) { return parsed("run heat {\n" + line + "\n}"); };
    const File grid = run("grid 128, 2^7,\n 64");
    CHECK(only_run_statement<GridStatement>(grid).extents.size() == 3);
    const File steps = run("steps 5000 until change < 1e-6");
    CHECK(dump(steps, only_run_statement<StepsStatement>(steps).count) == "5000");
    CHECK(dump(steps, *only_run_statement<StepsStatement>(steps).until) == "(< change 1/1000000)");
    CHECK_FALSE(only_run_statement<StepsStatement>(run("steps 10")).until.has_value());
    const File filled = run("init v.x = exp(-x^2)");
    CHECK(dump(filled, only_run_statement<InitStatement>(filled).field) == "(. v x)");
    CHECK(only_run_statement<LoadStatement>(run("load u from \"a b.npy\"")).path.text == "a b.npy");
    const File save = run("save u to \"u.npy\" every 100");
    CHECK(dump(save, only_run_statement<SaveStatement>(save).every->steps) == "100");
    const File plot = run("plot u at z = 64 to \"u.png\"");
    const auto plotted = only_run_statement<PlotStatement>(plot);
    CHECK(plotted.cut->axis.text == "z");
    CHECK(plotted.cut->kind == CutKind::index);
    CHECK_FALSE(plotted.every.has_value());
    CHECK(only_run_statement<PlotStatement>(run("plot u at pos(z) = 0.5 to \"u.png\" every 2")).cut->kind ==
          CutKind::position);
    CHECK_FALSE(only_run_statement<PlotStatement>(run("plot u to \"u.png\"")).cut.has_value());
    const File movie =
        run("movie u at z = 64 every 50 from 0 to 900 to \"u.mp4\" range -1..1 flip x, y fps 10");
    const auto shown = only_run_statement<MovieStatement>(movie);
    CHECK(shown.cut->axis.text == "z");
    CHECK(dump(movie, shown.every->steps) == "50");
    CHECK(dump(movie, *shown.every->from) == "0");
    CHECK(dump(movie, *shown.every->to) == "900");
    CHECK(shown.path.text == "u.mp4");
    CHECK(dump(movie, shown.range->high) == "1");
    CHECK(shown.flipped.size() == 2);
    CHECK(dump(movie, *shown.fps) == "10");
    const File endless = run("movie u every 50 from 10 to \"u.mp4\"");
    CHECK(dump(endless, *only_run_statement<MovieStatement>(endless).every->from) == "10");
    CHECK_FALSE(only_run_statement<MovieStatement>(endless).every->to.has_value());
    CHECK_FALSE(only_run_statement<MovieStatement>(endless).fps.has_value());
    const File as_plots = run("movie u to \"u.mp4\" fps 30 every 50 from 0 to 10");
    CHECK(dump(as_plots, *only_run_statement<MovieStatement>(as_plots).every->to) == "10");
    CHECK(only_run_statement<OverrideStatement>(run("movie = 2")).name.text == "movie");
    CHECK(only_run_statement<OverrideStatement>(run("dt = 0.1")).name.text == "dt");
    const File coef = run("c = [1, 2]");
    CHECK(dump(coef, only_run_statement<OverrideStatement>(coef).value) == "[ 1 2 ]");
}

TEST_CASE("a run chains stencils, each on a line of its own") {
    const File file = parsed(
        "run a {\n steps 10\n every 2 from 1 to 7 do b\n then c for 2*3\n init u = if x > 1\n then 1 else 0\n"
        " then d for 1; every = 2 }");
    const auto& statements = file.runs.at(0).statements;
    REQUIRE(statements.size() == 6);
    const auto& each = std::get<ChainStatement>(statements[1]);
    CHECK(each.stencil.text == "b");
    CHECK(dump(file, each.every->steps) == "2");
    CHECK(dump(file, *each.every->from) == "1");
    CHECK(dump(file, *each.every->to) == "7");
    CHECK_FALSE(each.count.has_value());
    const auto& phase = std::get<ChainStatement>(statements[2]);
    CHECK(phase.stencil.text == "c");
    CHECK(dump(file, *phase.count) == "(* 2 3)");
    CHECK_FALSE(phase.every.has_value());
    CHECK(std::get<ChainStatement>(statements[4]).stencil.text == "d");
    CHECK(std::get<OverrideStatement>(statements[5]).name.text == "every");
}

TEST_CASE("a file may hold several stencils and runs, and nothing") {
    CHECK(parsed("").stencils.empty());
    CHECK(parsed("# only a comment").comments.size() == 1);
    const File file = parsed("stencil a(x) { }\nstencil b(x) { v = 1 } run a { grid 3 }\r\nrun b { }");
    CHECK(file.stencils.size() == 2);
    CHECK(file.runs.size() == 2);
}

TEST_CASE("places cover what they name") {
    const std::string text = "stencil s(x) {\n    u[t+1] = (a + b) * c  # why\n}\n";
    const SourceFile source("f", text);
    DiagnosticSink sink;
    const File file = parse(source, sink);
    const auto& statement = std::get<Assignment>(file.stencils[0].statements[0]);
    CHECK(source.text(statement.where) == "u[t+1] = (a + b) * c");
    CHECK(source.text(file[statement.target].where) == "u[t+1]");
    CHECK(source.text(file[statement.value].where) == "(a + b) * c");
    const auto& product = std::get<BinaryExpr>(file[statement.value].node);
    CHECK(source.text(file[product.left].where) == "a + b");
    CHECK(file[product.left].parenthesised);
    CHECK(source.text(product.operator_where) == "*");
    CHECK(source.text(file.comments[0].where) == "# why");
    CHECK(source.text(file.stencils[0].where) == text.substr(0, text.size() - 1));
}
