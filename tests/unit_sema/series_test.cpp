// Series: how they are declared, read and given by a run.
#include "analyze_text.h"
#include "compiler/ir/analysis.h"

using halo::DiagnosticKind;
using Kinds = std::vector<DiagnosticKind>;
namespace ir = halo::ir;

TEST_CASE("a series is read at a number that is the same in all cells") {
    const Analyzed made = stencil(
        "param dt = 1/8, hour = 2\n"
        "series wind, tide\n"
        "field v: f32\n"
        "v = wind[step] + tide[time / hour] * pos(x)");
    REQUIRE(made.program().tables.size() == 2);
    CHECK(made.program().tables[1].name == "tide");
    CHECK(made.program().tables[1].is_series);
    CHECK(made.value(0) == "f32(wind[step]) + f32(tide[step * dt / hour]) * pos(x)");
}

TEST_CASE("tables and series are counted together") {
    const Analyzed made = stencil(
        "series wind\n"
        "table atoms { q: f64 }\n"
        "series tide\n"
        "field v: f64\n"
        "v = sum(a in atoms) a.q * tide[1]");
    CHECK(made.program().tables[1].name == "atoms");
    CHECK(made.value(0) == "sum(row in atoms) (row.q * tide[1])");
}

TEST_CASE("what lies past a face may be a series, and is no constant then") {
    const Analyzed made = stencil(
        "series tide\n"
        "field u: f64 { boundary x.low fixed tide[step], x.high clamp }\n"
        "u[t+1] = u[x-1]");
    const ir::Face& face = made.field("u").boundary[0][0];
    CHECK(face.kind == ir::BoundaryKind::formula);
    CHECK(ir::print(made.program(), face.ghosts.at(0)) == "tide[step]");
}

TEST_CASE("a run gives a series its values row by row, or from a file") {
    const Analyzed made = analyze_text(
        "stencil s(x) {\n    series wind, tide\n    field v: f64\n    v = wind[step] + tide[step]\n}\n"
        "run s {\n    grid 4\n    rows wind = 5\n    init wind = row^2\n    load tide from "
        "\"tide.csv\"\n}\n");
    CHECK(made.messages.empty());
    const halo::sema::RunSpec& run = made.analysis.runs.front();
    REQUIRE(run.tables.size() == 1);
    CHECK(run.tables[0].table == "wind");
    CHECK(run.tables[0].rows == 5);
    REQUIRE(run.table_loads.size() == 1);
    CHECK(run.table_loads[0].field == "tide");
}

TEST_CASE("series are refused where a number must stay the same") {
    const auto kinds = [](const std::string& text) { return mistakes("series wind\n" + text); };
    CHECK(kinds("field v: f64\nv = wind") == Kinds{DiagnosticKind::misused_name});
    CHECK(kinds("field v: f64\nv = wind[t]") == Kinds{DiagnosticKind::misused_name});
    CHECK(kinds("field v: f64\nv = wind[1, 2]") == Kinds{DiagnosticKind::misused_name});
    CHECK(kinds("field v: f64\nv = wind[idx(x)]") == Kinds{DiagnosticKind::not_uniform});
    CHECK(kinds("param p = wind[0]\nfield v: f64\nv = p") == Kinds{DiagnosticKind::varies_in_time});
    CHECK(kinds("spacing x = wind[0]\nfield v: f64\nv = 1") == Kinds{DiagnosticKind::varies_in_time});
    CHECK(kinds("table a { q: f64; r = q * wind[0] }\nfield v: f64\nv = sum(s in a) s.q") ==
          Kinds{DiagnosticKind::misused_name});
}
