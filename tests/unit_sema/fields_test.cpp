#include "analyze_text.h"
#include "compiler/ir/analysis.h"

using halo::DiagnosticKind;
using halo::ir::BoundaryKind;
using halo::ir::Role;
using Kinds = std::vector<DiagnosticKind>;

TEST_CASE("roles and histories are found from the statements") {
    const Analyzed made = stencil(
        "field p, v, e: f32\n"
        "let k = v * v\n"
        "p[t+1] = 2*p - p[t-1] + k\n"
        "e = p[t+1] * k");
    CHECK(made.field("p").role == Role::state);
    CHECK(made.field("p").history == 1);
    CHECK(made.field("v").role == Role::input);
    CHECK(made.field("e").role == Role::output);
    CHECK(made.field("k").role == Role::intermediate);
}

TEST_CASE("as many levels of the past are kept as are read, in any order") {
    const Analyzed made = stencil(
        "field p, v: f32\n"
        "def rate(c) = v * c\n"
        "p[t+1] = rate(p) + p[t-3]\n"
        "v[t+1] = v[t-2, x+1] - rate(p[t-8])");
    CHECK(made.messages == "");
    CHECK(made.field("p").history == 8);
    CHECK(made.field("v").history == 2);
}

TEST_CASE("boundaries: the more specific clause wins, whatever the order") {
    const Analyzed made = stencil(
        "param hot = 20\n"
        "field u: f32 { boundary x.high fixed hot\nboundary x clamp, mirror }\n"
        "u[t+1] = laplacian(u)",
        "x, y");
    const halo::ir::Field& u = made.field("u");
    CHECK(u.boundary[0][0].kind == BoundaryKind::clamp);
    CHECK(u.boundary[0][1].kind == BoundaryKind::fixed);
    CHECK(halo::ir::print(made.program(), u.boundary[0][1].value) == "f32(hot)");
    CHECK(u.boundary[1][0].kind == BoundaryKind::mirror);
    CHECK(u.boundary[1][1].kind == BoundaryKind::mirror);
}

TEST_CASE("faces without a boundary are free: cells near them keep their value") {
    const Analyzed made = stencil("field u: f32 { boundary y periodic }\nu[t+1] = u[x-2] + u[x+1] + u[y+3]");
    CHECK(made.margins(0)[0][0] == 2);
    CHECK(made.margins(0)[0][1] == 1);
    CHECK(made.margins(0)[1][1] == 0);
    CHECK(made.field("u").halo[0][0] == 0);
    CHECK(made.field("u").halo[1][1] == 3);
}

TEST_CASE("lets take the boundary of what they read") {
    const Analyzed periodic =
        stencil("field u: f32 { boundary periodic }\nlet g = u^2\nu[t+1] = laplacian(g)");
    CHECK(periodic.field("g").boundary[0][0].kind == BoundaryKind::periodic);
    CHECK(periodic.field("g").halo[1][1] == 1);
    CHECK(halo::ir::form_stages(periodic.program()).size() == 2);

    const Analyzed free = stencil("field u: f32\nlet g = laplacian(u)\nu[t+1] = u + g[x+1] + g[y-1]");
    CHECK(free.field("g").boundary[0][1].kind == BoundaryKind::free);
    CHECK(free.margins(0)[0][1] == 1);
    CHECK(free.margins(1)[0][1] == 2);
    CHECK(free.margins(1)[1][0] == 2);
    CHECK(free.margins(1)[0][0] == 1);  // g[x+1] is away from that face, g[y-1] is 1 within it
}

TEST_CASE("a let is asked for a boundary only where it is read past a face that needs one") {
    const std::string field = "field u: f32 { boundary x periodic, y clamp }\n";
    CHECK(mistakes(field + "let g = u^2\nu[t+1] = g[x+1]").empty());
    CHECK(mistakes(field + "let g = u^2\nu[t+1] = g[y+1] + g[y-1]") ==
          Kinds{DiagnosticKind::boundary_needed});
    const Analyzed given = stencil(field + "let g { boundary y mirror } = u^2\nu[t+1] = g[y+1] + g[x-1]");
    CHECK(given.field("g").boundary[0][0].kind == BoundaryKind::periodic);
    CHECK(given.field("g").boundary[1][1].kind == BoundaryKind::mirror);
    // A coordinate is no period of its own axis, and no obstacle on the other.
    const std::string all = "field u: f32 { boundary periodic }\nlet g = u * pos(x)\n";
    CHECK(mistakes(all + "u[t+1] = g[y+1]").empty());
    CHECK(mistakes(all + "u[t+1] = g[x+1]") == Kinds{DiagnosticKind::boundary_needed});
    // A let of such a let needs one, too.
    CHECK(mistakes(all + "let h = g + u\nu[t+1] = h[x+1]") == Kinds{DiagnosticKind::boundary_needed});
}

TEST_CASE("lets of one value, of coordinates alone and of conditions are names for expressions") {
    const Analyzed made = stencil(
        "param a = 1\nfield u: f32 { boundary clamp }\n"
        "let k = 2 * a\nlet r = idx(x) + idx(y)\nlet hot = u > 1\n"
        "u[t+1] = k[x+1] * u + r[x+1] + (if hot then 1 else 0)[y-1]");
    CHECK(made.program().fields.size() == 1);
    CHECK(made.value(0) == "f32(2 * a) * u + (idx(x) + 1 + idx(y)) + (if u[y-1] > 1 then 1 else 0)");
}

TEST_CASE("written halos are contracts") {
    CHECK(mistakes("field u: f32 { halo 1, x.high 2; boundary clamp }\nu[t+1] = u[x+2] + u[y-1]").empty());
    CHECK(mistakes("field u: f32 { halo 1; boundary clamp }\nu[t+1] = u[x+2] + u[y-2]") ==
          Kinds{DiagnosticKind::past_halo, DiagnosticKind::past_halo});
    CHECK(mistakes("field u: f32 { halo 1 }\nu[t+1] = u + d(u, x, order=4)") ==
          Kinds{DiagnosticKind::past_halo});
    // Also through a memory of the same shift.
    CHECK(mistakes("field u: f32 { halo 0 }\nfield a, b: f32\na = (2*u)[x+1]\nb = (2*u)[x+1]") ==
          Kinds{DiagnosticKind::past_halo, DiagnosticKind::past_halo});
}

TEST_CASE("mixed types: coordinates are f64 as soon as one field is") {
    const Analyzed made = stencil("field u: f32\nfield w: f64\nu[t+1] = u + pos(x)\nw[t+1] = w");
    CHECK(made.value(0) == "f32(f64(u) + pos(x))");
}

TEST_CASE("reductions") {
    const Analyzed made =
        stencil("field u: f32\nu[t+1] = u\nreduce n = norm2(u)\nreduce m = min(u)\nreduce cells = sum(1)");
    CHECK(made.value(1) == "f64(u) * f64(u)");
    CHECK(std::get<halo::ir::Reduce>(made.program().statements[1]).square_root);
    CHECK(made.value(2) == "u");
    CHECK(made.value(3) == "1");
}

TEST_CASE("one mistake gives one message") {
    CHECK(mistakes("field u: f32\nlet g = nope\nlet h = g + 1\nu[t+1] = h[x+1] + laplacian(g)") ==
          Kinds{DiagnosticKind::unknown_name});
    CHECK(mistakes("const n = nope\ncoef c[1..n] = [1, 2]\nfield u: f32 { boundary fixed n }\nu[t+1] = sum(i "
                   "in 1..n) c[i] * u[x+n]") == Kinds{DiagnosticKind::unknown_name});
    CHECK(mistakes("field u: flat\nu[t+1] = u + laplacian(u)") == Kinds{DiagnosticKind::unknown_type});
    CHECK(mistakes("field u: f32\nu = u + laplacian(u)") == Kinds{DiagnosticKind::read_before_written});
    CHECK(mistakes("field u: f32 {\nboundary ??\n}\nu[t+1] = u[x+1]").size() == 1);
    CHECK(mistakes("field u: f32\nu[t+1] = q * u + q").size() == 1);
    CHECK(mistakes("param dt = = 3\nfield u: f32\nu[t+1] = u * dt").size() == 1);
}

TEST_CASE("a schedule block is kept as text") {
    const Analyzed made = stencil("field u: f32\nu[t+1] = u\nschedule { stream tile=64x4 }");
    REQUIRE(made.analysis.stencils[0].schedule.has_value());
    CHECK(made.analysis.stencils[0].schedule->text == "stream tile=64x4");
}

TEST_CASE("a cell that an iteration leaves out needs no value to be kept") {
    const Analyzed made = analyze_text(
        "stencil s(x) { field a: f32; field p: f32; field w: f32\n"
        "p = a[x+2]\n"
        "repeat k to 2 { where a > 0 { p[k+1] = p[k, x-1] + a[x-1] } }\n"
        "w = p }\n");
    CHECK(made.messages.empty());
    CHECK(made.margins(0) == halo::ir::Margins{{{0, 2}}});
    CHECK(made.margins(1) == halo::ir::Margins{{{1, 1}}});  // p[x-1] has a value, p need not have one
    CHECK(made.margins(2) == halo::ir::Margins{{{1, 1}}});
    CHECK(made.margins(3) == halo::ir::Margins{{{0, 2}}});  // some cells may still be what they were
}

TEST_CASE("what a sweep reads of its later statements has no value where these have none") {
    const Analyzed made = analyze_text(
        "stencil s(x, y) { field u: f32; field p, q, r: f32 { boundary x.high fixed 1 }\n"
        "sweep x down { p = q[x+1]; q = r[x+1] + u; r = u[x-3, y+1] + p[x+2] } }\n");
    CHECK(made.messages.empty());
    CHECK(made.margins(0) == halo::ir::Margins{{{1, 0}, {0, 1}}});
    CHECK(made.margins(1) == halo::ir::Margins{{{2, 0}, {0, 1}}});
    CHECK(made.margins(2) == halo::ir::Margins{{{3, 0}, {0, 1}}});
}
