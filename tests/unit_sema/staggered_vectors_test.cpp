// Components that lie at different places in the cells: the same programs as with fields of one number.
#include "analyze_text.h"

using halo::DiagnosticKind;
using Kinds = std::vector<DiagnosticKind>;

namespace {

std::string with_names(std::string text, const std::vector<std::pair<std::string, std::string>>& names) {
    for (const auto& [from, to] : names) {
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
            text.replace(at, from.size(), to);
    }
    return text;
}

// Statement by statement and place by place, the components' program is that of the fields.
void check_same(const Analyzed& vectors, const Analyzed& scalars,
                const std::vector<std::pair<std::string, std::string>>& names) {
    REQUIRE(vectors.program().statements.size() == scalars.program().statements.size());
    REQUIRE(vectors.program().fields.size() == scalars.program().fields.size());
    for (std::size_t i = 0; i < scalars.program().statements.size(); ++i)
        CHECK(with_names(vectors.value(i), names) == scalars.value(i));
    for (const halo::ir::Field& field : vectors.program().fields) {
        const halo::ir::Field& alone = scalars.field(with_names(field.name, names));
        CHECK(field.staggered == alone.staggered);
        CHECK(field.halo == alone.halo);
    }
}

}  // namespace

TEST_CASE("sound: the gradient at the velocities, the divergence at the pressure") {
    const std::string head =
        "accuracy 4\nparam dt = 0.1\nspacing x = 0.5, y = 0.25\nfield p, b: f32 { boundary periodic }\n";
    const Analyzed vectors = stencil(
        head +
        "field v: (x: f32 at x+1/2, y: f32 at y+1/2) { boundary periodic }\n"
        "v[t+1] = v - dt * grad(p) + dt * laplacian(v) + v[x-1] - d(v, y) + [interpolate(b, x), p[y+1/2]]\n"
        "p[t+1] = p - dt * div(v[t+1]) + d(v.x, x)");
    const Analyzed scalars =
        stencil(head +
                "field vx: f32 at x+1/2 { boundary periodic }\n"
                "field vy: f32 at y+1/2 { boundary periodic }\n"
                "vx[t+1] = vx - dt * d(p, x) + dt * laplacian(vx) + vx[x-1] - d(vx, y) + interpolate(b, x)\n"
                "vy[t+1] = vy - dt * d(p, y) + dt * laplacian(vy) + vy[x-1] - d(vy, y) + p[y+1/2]\n"
                "p[t+1] = p - dt * (d(vx[t+1], x) + d(vy[t+1], y)) + d(vx, x)");
    check_same(vectors, scalars, {{"v.x", "vx"}, {"v.y", "vy"}});
}

TEST_CASE("elastic waves: velocities and stresses") {
    const Analyzed vectors = stencil(
        "param dt = 0.1, mu = 2\naccuracy 4\n"
        "field v: (x: f32 at x+1/2, y: f32 at y+1/2) { boundary periodic }\n"
        "field s: (xx: f32, yy: f32, xy: f32 at x+1/2, y+1/2) { boundary periodic }\n"
        "v[t+1] = v + dt * [d(s.xx, x) + d(s.xy, y), d(s.xy, x) + d(s.yy, y)]\n"
        "s[t+1] = s + dt * mu * [d(v.x[t+1], x), d(v.y[t+1], y), d(v.x[t+1], y) + d(v.y[t+1], x)]");
    const Analyzed scalars = stencil(
        "param dt = 0.1, mu = 2\naccuracy 4\n"
        "field vx: f32 at x+1/2 { boundary periodic }\n"
        "field vy: f32 at y+1/2 { boundary periodic }\n"
        "field sxx, syy: f32 { boundary periodic }\n"
        "field sxy: f32 at x+1/2, y+1/2 { boundary periodic }\n"
        "vx[t+1] = vx + dt * (d(sxx, x) + d(sxy, y))\n"
        "vy[t+1] = vy + dt * (d(sxy, x) + d(syy, y))\n"
        "sxx[t+1] = sxx + dt * mu * d(vx[t+1], x)\n"
        "syy[t+1] = syy + dt * mu * d(vy[t+1], y)\n"
        "sxy[t+1] = sxy + dt * mu * (d(vx[t+1], y) + d(vy[t+1], x))");
    check_same(vectors, scalars,
               {{"v.x", "vx"}, {"v.y", "vy"}, {"s.xx", "sxx"}, {"s.yy", "syy"}, {"s.xy", "sxy"}});
}

TEST_CASE("light: curls of numbers and vectors") {
    const Analyzed vectors = stencil(
        "param dt = 0.1\n"
        "field e: f32 { boundary periodic }\n"
        "field h: (x: f32 at y+1/2, y: f32 at x+1/2) { boundary periodic }\n"
        "h[t+1] = h - dt * curl(e)\n"
        "e[t+1] = e + dt * curl(h[t+1])");
    const Analyzed scalars = stencil(
        "param dt = 0.1\n"
        "field e: f32 { boundary periodic }\n"
        "field hx: f32 at y+1/2 { boundary periodic }\n"
        "field hy: f32 at x+1/2 { boundary periodic }\n"
        "hx[t+1] = hx - dt * d(e, y)\n"
        "hy[t+1] = hy - dt * (-d(e, x))\n"
        "e[t+1] = e + dt * (d(hy[t+1], x) - d(hx[t+1], y))");
    check_same(vectors, scalars, {{"h.x", "hx"}, {"h.y", "hy"}});
    const std::string fields =
        "field b: (x: f32 at y+1/2, z+1/2, y: f32 at x+1/2, z+1/2, z: f32 at x+1/2, y+1/2) { boundary "
        "periodic }\n"
        "field a: (x: f32 at x+1/2, y: f32 at y+1/2, z: f32 at z+1/2) { boundary periodic }\n";
    const Analyzed space = stencil(fields + "b[t+1] = b - curl(a)\na[t+1] = a + curl(b[t+1])", "x, y, z");
    CHECK(space.value(0) == stencil(fields + "b.x[t+1] = b.x - (d(a.z, y) - d(a.y, z))", "x, y, z").value(0));
    CHECK(space.field("a.x").halo[1][0] == 0);
    CHECK(space.field("a.x").halo[1][1] == 1);
    CHECK(space.field("b.z").halo[1][0] == 1);
    CHECK(space.field("b.z").halo[1][1] == 0);
}

TEST_CASE("the gradient of a divergence lies where its vector does") {
    const std::string fields = "field v: (x: f32 at x+1/2, y: f32 at y+1/2) { boundary periodic }\n";
    const Analyzed nested = stencil(fields + "v[t+1] = grad(div(v))");
    const Analyzed named = stencil(fields + "let c at x = div(v)\nv[t+1] = grad(c)");
    CHECK(nested.field("v.x").halo ==
          std::array<std::array<int, 2>, halo::rt::kMaxRank>{{{1, 1}, {0, 1}, {0, 0}}});
    CHECK(named.field("c").halo ==
          std::array<std::array<int, 2>, halo::rt::kMaxRank>{{{0, 1}, {0, 1}, {0, 0}}});
}

TEST_CASE("a let of a vector lies where its parts do") {
    const Analyzed made = stencil(
        "field v: (x: f32 at x+1/2, y: f32 at y+1/2) { boundary periodic }\n"
        "field p: f32\n"
        "let w = 2 * v\n"
        "p = div(w)\n"
        "v[t+1] = w + v");
    CHECK(made.field("w.x").staggered[0]);
    CHECK_FALSE(made.field("w.x").staggered[1]);
    CHECK(made.field("w.y").staggered[1]);
}

TEST_CASE("components are looked for where they lie") {
    const std::string fields =
        "field v: (x: f32 at x+1/2, y: f32 at y+1/2) { boundary periodic }\n"
        "field f: f32[3] at x+1/2 { boundary periodic }\n"
        "field p: f32\n";
    const Analyzed made = stencil(fields +
                                  "let sums = sum(i in 0..2) f.i\n"
                                  "let speed = v.y^2 + v[x+1].y\n"
                                  "let parts at x+1/2 = sum(i in 0..0) v.i\n"
                                  "p = d(sums, x) + d(speed, y) + d(3 * v.x * f.0, x)\n"
                                  "v[t+1] = v");
    CHECK(made.field("sums").staggered[0]);
    CHECK(made.field("speed").staggered[1]);
    CHECK_FALSE(made.field("speed").staggered[0]);
    CHECK(made.field("parts").staggered[0]);
}

TEST_CASE("initial values are at each component's points") {
    const Analyzed made = analyze_text(
        "stencil s(x, y) {\nfield v: (x: f64 at x+1/2, y: f64) \nv[t+1] = v\n}\n"
        "run s {\ngrid 4, 4\nsteps 1\ninit v = [x, 2*x]\n}\n");
    INFO(made.messages);
    REQUIRE(made.kinds.empty());
    const halo::ir::Program& init = *made.analysis.runs.front().init;
    REQUIRE(init.statements.size() == 2);
    const auto text = [&](std::size_t i) {
        return halo::ir::print(init, std::get<halo::ir::Assign>(init.statements[i]).value);
    };
    CHECK(text(0).find("1/2") != std::string::npos);
    CHECK(text(1).find("1/2") == std::string::npos);
}

TEST_CASE("components that lie apart do not meet") {
    const auto with = [](const std::string& body) {
        return mistakes("field v: (x: f32 at x+1/2, y: f32 at y+1/2) { boundary periodic }\nfield p: f32\n" +
                        body);
    };
    CHECK(with("p = norm(v)\nv[t+1] = v") == Kinds{DiagnosticKind::position_mismatch});
    CHECK(with("v[t+1] = v + [p, p]") == Kinds{DiagnosticKind::position_mismatch});
    CHECK(with("v[t+1] = p * v") == Kinds{DiagnosticKind::position_mismatch});
    CHECK(with("v[t+1] = norm(v) * v") == Kinds{DiagnosticKind::position_mismatch});
    CHECK(with("v[t+1] = v[y+1/2]") == Kinds{DiagnosticKind::no_point_here});
    CHECK(with("where idx(x) > 2 {\nv[t+1] = v\n}") == Kinds{DiagnosticKind::not_built_yet});
    CHECK(with("where idx(x) > 2 {\nv.x[t+1] = v.x\n}").empty());
    CHECK(mistakes("field v: (x: f32 at z+1/2, y: f32)\nv[t+1] = v") == Kinds{DiagnosticKind::unknown_name});
}
