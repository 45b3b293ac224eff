#include "analyze_text.h"
#include "compiler/ir/analysis.h"

using halo::DiagnosticKind;
using Kinds = std::vector<DiagnosticKind>;
namespace ir = halo::ir;

TEST_CASE("a sum over a table names its row, its columns and what it computes on the way") {
    const Analyzed made = stencil(
        "table atoms { x, y: f32; q: f64 }\n"
        "field v: f64\n"
        "v = 2 * sum(a in atoms) {\n"
        "    let dx = pos(x) - a.x\n"
        "    let dy = pos(y) - a.y; let r2 = dx*dx + dy*dy\n"
        "    a.q / r2\n"
        "} + 1");
    CHECK(made.program().tables.front().columns.size() == 3);
    CHECK(made.program().tables.front().columns[2].type == ir::Scalar::f64);
    const std::string text = made.value(0);
    CHECK(text.find("sum(row in atoms)") != std::string::npos);
    CHECK(text.starts_with("2 * "));
    CHECK(text.ends_with(" + 1"));
}

TEST_CASE("computed columns see the columns before them and take their type") {
    const Analyzed made = stencil(
        "param scale = 2\n"
        "table samples { r, i: f32; s = scale*r*r + i; t: f64 = s }\n"
        "field v: f32\n"
        "v = sum(s in samples) s.t");
    const std::vector<ir::Table::Column>& columns = made.program().tables.front().columns;
    REQUIRE(columns.size() == 4);
    CHECK(ir::print(made.program(), *columns[2].value) == "f32(scale) * row.r * row.r + row.i");
    CHECK(columns[2].type == ir::Scalar::f32);
    CHECK(columns[3].type == ir::Scalar::f64);
    CHECK(ir::print(made.program(), *columns[3].value) == "f64(row.s)");
    CHECK(made.value(0) == "f32(sum(row in samples) (row.t))");
}

TEST_CASE("a def takes a row") {
    const Analyzed made = stencil(
        "table atoms { x, q: f32 }\n"
        "def near(a) = a.q * (pos(x) - a.x)\n"
        "field v: f32\n"
        "v = sum(b in atoms) near(b)");
    CHECK(made.value(0) == "sum(row in atoms) (row.q * (pos(x) - row.x))");
}

TEST_CASE("a let that sums over a table is computed once") {
    const Analyzed made = stencil(
        "table atoms { q: f32 }\n"
        "let total = sum(a in atoms) a.q\n"
        "field v: f32\n"
        "v = sum(a in atoms) a.q / total");
    CHECK(made.field("total").role == ir::Role::intermediate);
    CHECK(ir::form_stages(made.program()).size() == 2);
}

TEST_CASE("fast is a property of calls in f32 that differ from cell to cell") {
    const Analyzed made = stencil(
        "fast sin, rsqrt\nparam a = 1\n"
        "field u: f32\nfield w: f64\n"
        "u[t+1] = sin(u) * rsqrt(u) * cos(u) * sin(a)\n"
        "w[t+1] = sin(w)");
    CHECK(made.value(0) == "fast sin(u) * fast rsqrt(u) * cos(u) * f32(sin(a))");
    CHECK(made.value(1) == "sin(w)");
}

TEST_CASE("a run fills a table row by row, or loads it") {
    const Analyzed made = analyze_text(
        "stencil s(x) {\n table atoms { x, q: f32 }\n field u: f32\n u = sum(a in atoms) a.x * a.q\n}\n"
        "run s { grid 4; rows atoms = 2*8; init atoms.x = row/2; init atoms.q = x + 1 }\n");
    INFO(made.messages);
    REQUIRE(made.kinds.empty());
    const halo::sema::RunSpec& run = made.analysis.runs.front();
    REQUIRE(run.tables.size() == 1);
    CHECK(run.tables[0].table == "atoms");
    CHECK(run.tables[0].rows == 16);
    CHECK(ir::verify(run.tables[0].init).empty());
    CHECK(run.tables[0].init.fields.size() == 2);

    const Analyzed loaded = analyze_text(
        "stencil s(x) {\n table atoms { x, q: f32 }\n field u: f32\n u = sum(a in atoms) a.x * a.q\n}\n"
        "run s { grid 4; load atoms from \"atoms.csv\" }\n");
    REQUIRE(loaded.kinds.empty());
    CHECK(loaded.analysis.runs.front().table_loads.front().path == "atoms.csv");
}

TEST_CASE("mistakes about tables") {
    const std::string table = "table atoms { q: f32 }\nfield u: f32\n";
    CHECK(mistakes(table + "u = sum(a in atoms) a.r") == Kinds{DiagnosticKind::unknown_column});
    CHECK(mistakes(table + "u = sum(a in atoms) a") == Kinds{DiagnosticKind::type_mismatch});
    CHECK(mistakes(table + "u = sum(a in atoms) (if a.q > 0 then a else a)") ==
          Kinds{DiagnosticKind::type_mismatch});
    CHECK(mistakes(table + "u = sum(a in atoms) sum(b in atoms) b.q") ==
          Kinds{DiagnosticKind::nested_table_sum});
    CHECK(mistakes(table + "u = sum(x in atoms) x.q") == Kinds{DiagnosticKind::reserved_name});
    CHECK(mistakes("param p = sum(a in atoms) a.q\n" + table + "u = p") ==
          Kinds{DiagnosticKind::misused_name});
}
