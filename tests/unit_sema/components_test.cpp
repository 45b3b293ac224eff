// Fields and values of several components, complex numbers, loops.
#include "analyze_text.h"
#include "compiler/ir/interpreter.h"

using halo::DiagnosticKind;
using halo::ir::Role;
using Kinds = std::vector<DiagnosticKind>;

namespace {

std::vector<std::string> field_names(const Analyzed& made) {
    std::vector<std::string> names;
    for (const halo::ir::Field& field : made.program().fields)
        names.push_back(field.name);
    return names;
}

}  // namespace

TEST_CASE("a field of several components is several fields and a group") {
    const Analyzed made = stencil(
        "const n = 2\n"
        "field v: (x: f32, y: f64) { halo 1\nboundary periodic }\n"
        "field f: f32[n+1]\n"
        "field psi: c128\n"
        "v[t+1] = v[x+1]\n"
        "f = [1, 2, 3]\n"
        "psi[t+1] = psi");
    CHECK(field_names(made) ==
          std::vector<std::string>{"v.x", "v.y", "f.0", "f.1", "f.2", "psi.re", "psi.im"});
    CHECK(made.field("v.x").type == halo::ir::Scalar::f32);
    CHECK(made.field("v.y").type == halo::ir::Scalar::f64);
    CHECK(made.field("psi.im").type == halo::ir::Scalar::f64);
    CHECK(made.field("v.y").boundary[1][1].kind == halo::ir::BoundaryKind::periodic);
    CHECK(made.field("v.y").role == Role::state);
    CHECK(made.field("f.2").role == Role::output);
    REQUIRE(made.program().groups.size() == 3);
    CHECK(made.program().groups[0].members == std::vector<std::string>{"x", "y"});
    CHECK(made.program().groups[1].kind == halo::ir::Group::Kind::array);
    CHECK(made.program().groups[2].kind == halo::ir::Group::Kind::complex);
    CHECK(made.value(0) == "v.x[x+1]");
    CHECK(made.value(4) == "3");
}

TEST_CASE("components lie in arrays of their own, or side by side") {
    const Analyzed made = stencil(
        "field v: (x: f32, y: f32) { layout aos }\n"
        "field f: c64[2] { layout aos }\n"
        "field g: f32[2] { layout soa }\n"
        "v[t+1] = v + g\n"
        "f[t+1] = 2*f");
    REQUIRE(made.program().groups.size() == 5);  // the parts of f are groups, too
    CHECK(made.program().groups[0].interleaved);
    CHECK(made.program().groups[1].interleaved);
    CHECK_FALSE(made.program().groups[2].interleaved);
    CHECK_FALSE(made.program().groups[4].interleaved);
    const halo::ir::Interleave place = halo::ir::interleave(made.program(), halo::ir::FieldId{4});
    CHECK(place.component == 2);
    CHECK(place.count() == 4);
    CHECK(halo::ir::interleave(made.program(), halo::ir::FieldId{6}).group == nullptr);
}

TEST_CASE("components are named before and after the offsets") {
    const Analyzed made = stencil(
        "field v: (x: f32, y: f32) { boundary periodic }\n"
        "field a, b, c, d: f32\n"
        "a = v.y[x+1]\n"
        "b = v[x+1].y\n"
        "c = v.1[x+1]\n"
        "d = (v + v[y-1]).y[x+1]");
    CHECK(made.value(0) == "v.y[x+1]");
    CHECK(made.value(1) == "v.y[x+1]");
    CHECK(made.value(2) == "v.y[x+1]");
    CHECK(made.value(3) == "v.y[x+1] + v.y[x+1, y-1]");
}

TEST_CASE("a component alone can be assigned, and others be read") {
    const Analyzed made = stencil(
        "field v: (x: f32, y: f32)\n"
        "v.x[t+1] = v.x + v.y\n"
        "v[t+1].y = v[t+1].x");
    CHECK(made.value(0) == "v.x + v.y");
    CHECK(made.value(1) == "v.x[t+1]");
}

TEST_CASE("vectors are added and scaled, and have products") {
    const Analyzed made = stencil(
        "field v, w: (x: f32, y: f32)\n"
        "field a, b, c: f32\n"
        "v[t+1] = 2 * (v - w) + w / 4 + [1, 0] - -w\n"
        "a = dot(v, [w.y, 3])\n"
        "b = cross(v, w)\n"
        "c = norm(v)");
    CHECK(made.value(0) == "2 * (v.x - w.x) + w.x / 4 + 1 - -w.x");
    CHECK(made.value(1) == "2 * (v.y - w.y) + w.y / 4 + 0 - -w.y");
    CHECK(made.value(2) == "v.x * w.y + v.y * 3");
    CHECK(made.value(3) == "v.x * w.y - v.y * w.x");
    CHECK(made.value(4) == "sqrt(v.x * v.x + v.y * v.y)");
}

TEST_CASE("complex numbers are computed with as on paper") {
    const Analyzed made = stencil(
        "param k = 2\n"
        "field z, w: c64 { boundary periodic }\n"
        "field r: f32\n"
        "z[t+1] = 1i * z\n"
        "w[t+1] = z * w - 3\n"
        "r = abs(z) + re(conj(z)) * im(z^2) + arg(w) + re(exp(2i * k)) + z.im");
    CHECK(made.value(0) == "-z.im");
    CHECK(made.value(1) == "z.re");
    CHECK(made.value(2) == "z.re * w.re - z.im * w.im - 3");
    CHECK(made.value(3) == "z.re * w.im + z.im * w.re");
    CHECK(made.value(4) ==
          "sqrt(z.re * z.re + z.im * z.im) + z.re * (z.re * z.im + z.im * z.re) + atan2(w.im, w.re) + "
          "f32(cos(2 * k)) + z.im");
}

TEST_CASE("complex division is by the conjugate") {
    const Analyzed made = stencil("field z: c64\nz[t+1] = 1 / z + (1 + 1i) / (1 - 1i)");
    CHECK(made.value(0) == "z.re / (z.re * z.re + z.im * z.im)");
    CHECK(made.value(1) == "-z.im / (z.re * z.re + z.im * z.im) + 1");
}

TEST_CASE("conditions, lets, defs and sums take vectors") {
    const Analyzed made = stencil(
        "field f: f32[3] { boundary periodic }\n"
        "field s: f32\n"
        "def twice(v) = 2 * v[x+1]\n"
        "let g = if f.0 > 0 then twice(f) else f\n"
        "s = sum(i in 0..2) g.i\n"
        "f[t+1] = g - [1 for i in 0..2]");
    CHECK(made.field("g.2").role == Role::intermediate);
    CHECK(made.value(2) == "if f.0 > 0 then 2 * f.2[x+1] else f.2");
    CHECK(made.value(3) == "g.0 + g.1 + g.2");
    CHECK(made.value(6) == "g.2 - 1");
}

TEST_CASE("a for writes its statements out, with weights as offsets and components") {
    const Analyzed made = stencil(
        "coef cx[0..2] = [0, 1, -1]\n"
        "coef opposite[0..2] = [0, 2, 1]\n"
        "field f: f32[3] { boundary periodic }\n"
        "for i in 0..2 {\n"
        "    let m = f.i - f.(opposite[i])\n"
        "    f.i[t+1] = f.i[x-cx[i]] + m\n"
        "}");
    CHECK(made.value(1) == "f.0 + m.0");
    CHECK(made.value(2) == "f.1 - f.2");
    CHECK(made.value(3) == "f.1[x-1] + m.1");
    CHECK(made.value(5) == "f.2[x+1] + m.2");
}

TEST_CASE("loops nest, and inner lets see outer ones") {
    const Analyzed made = stencil(
        "field f: f32[4]\n"
        "for i in 0..1 {\n let a = f.i\n for j in 0..1 { f.(2*i+j)[t+1] = a + j }\n}");
    CHECK(made.value(1) == "a.0 + 0");
    CHECK(made.value(2) == "a.0 + 1");
    CHECK(made.value(5) == "a.1 + 1");
}

TEST_CASE("what has several components takes a boundary of several values") {
    const Analyzed made = stencil(
        "field v: (x: f32, y: f32) { boundary x fixed [1, 2], y fixed 0 }\n"
        "field z: c64 { boundary fixed 3 }\n"
        "v[t+1] = laplacian(v)\n"
        "z[t+1] = z[x+1]");
    CHECK(halo::ir::print(made.program(), made.field("v.y").boundary[0][0].value) == "2");
    CHECK(halo::ir::print(made.program(), made.field("v.y").boundary[1][0].value) == "0");
    CHECK(halo::ir::print(made.program(), made.field("z.im").boundary[1][0].value) == "0");
}

TEST_CASE("mistakes with components have their messages") {
    const std::string fields = "field v: (x: f32, y: f32)\nfield f: f32[3]\nfield z: c64\nfield u: f32\n";
    CHECK(mistakes(fields + "u = v") == Kinds{DiagnosticKind::component_mismatch});
    CHECK(mistakes(fields + "u = v + 1") == Kinds{DiagnosticKind::component_mismatch});
    CHECK(mistakes(fields + "v = u * u") == Kinds{DiagnosticKind::component_mismatch});
    CHECK(mistakes(fields + "f[t+1] = v + f") == Kinds{DiagnosticKind::component_mismatch});
    CHECK(mistakes(fields + "u = sin(v)") == Kinds{DiagnosticKind::component_mismatch});
    CHECK(mistakes(fields + "u = if z > 1 then 1 else 2") == Kinds{DiagnosticKind::component_mismatch});
    CHECK(mistakes(fields + "u = v.z") == Kinds{DiagnosticKind::unknown_component});
    CHECK(mistakes(fields + "u = f.3") == Kinds{DiagnosticKind::unknown_component});
    CHECK(mistakes(fields + "u = u.x") == Kinds{DiagnosticKind::unknown_component});
    CHECK(mistakes(fields + "for i in 0..5 { f.i[t+1] = 0 }") == Kinds{DiagnosticKind::unknown_component});
    CHECK(mistakes(fields + "f[t+1] = f\nf.1[t+1] = 0") == Kinds{DiagnosticKind::written_twice});
    CHECK(mistakes(fields + "for x in 0..2 { f.x[t+1] = 0 }") == Kinds{DiagnosticKind::reserved_name});
    CHECK(mistakes(fields + "for i in 0..2 { let a = f.i\nf.i[t+1] = a }\nu = a") ==
          Kinds{DiagnosticKind::read_before_written});
    CHECK(mistakes(fields + "u = [1 for i in 1..0]") == Kinds{DiagnosticKind::empty_range});
    CHECK(mistakes("field v: (x: f32, x: f32)\nv[t+1] = v") == Kinds{DiagnosticKind::duplicate_name});
    CHECK(mistakes("field v: f32[0]\nv[t+1] = v") == Kinds{DiagnosticKind::out_of_range});
    CHECK(mistakes("param a: c64 = 1\nfield u: f32\nu = a") == Kinds{DiagnosticKind::component_mismatch});
}

TEST_CASE("runs fill and name components") {
    const Analyzed made = analyze_text(
        "stencil s(x) { field f: f32[3]\nfield z: c64\nf[t+1] = f\nz[t+1] = z }\n"
        "run s { grid 8\nsteps 1\nfor i in 0..2 { init f.i = i * x }\ninit z = exp(1i * x)\n"
        "save f to \"f.npy\"\nsave z to \"z.npy\"\nplot f.1 to \"f.png\" }");
    CHECK(made.messages == "");
    const halo::sema::RunSpec& run = made.analysis.runs.front();
    CHECK(run.init->fields.size() == 5);
    CHECK(run.saves[0].field == "f");
    CHECK(run.plots[0].field == "f.1");
    CHECK(mistakes("field v: f32[2]\nv[t+1] = v", "run s { init v = x\nplot v to \"v.png\" }") ==
          Kinds{DiagnosticKind::component_mismatch, DiagnosticKind::component_mismatch});
    CHECK(mistakes("field v: f32[2]\nv[t+1] = v", "run s { init v = 0\ninit v.1 = 2 }") ==
          Kinds{DiagnosticKind::duplicate_setting});
}

TEST_CASE("vector operators are made of derivatives along the axes") {
    const Analyzed made = stencil(
        "field p, q: f32 { boundary periodic }\n"
        "field v: (x: f32, y: f32) { boundary periodic }\n"
        "field w: (y: f32, x: f32) { boundary periodic }\n"
        "field a, b, c: f32\n"
        "a = grad(p).y - d(p, y)\n"
        "b = div(v) - d(w.x, x) + div(w)\n"
        "c = curl(v)\n"
        "v[t+1] = curl(p)\n"
        "w[t+1] = laplacian(w, order=4)");
    CHECK(made.value(0) == "1/2 * (p[y+1] - p[y-1]) - 1/2 * (p[y+1] - p[y-1])");
    CHECK(made.value(1) ==
          "1/2 * (v.x[x+1] - v.x[x-1]) + 1/2 * (v.y[y+1] - v.y[y-1]) - 1/2 * (w.x[x+1] - w.x[x-1]) + "
          "(1/2 * (w.x[x+1] - w.x[x-1]) + 1/2 * (w.y[y+1] - w.y[y-1]))");
    CHECK(made.value(2) == "1/2 * (v.y[x+1] - v.y[x-1]) - 1/2 * (v.x[y+1] - v.x[y-1])");
    CHECK(made.value(3) == "1/2 * (p[y+1] - p[y-1])");
    CHECK(made.value(4) == "-(1/2 * (p[x+1] - p[x-1]))");
    CHECK(mistakes("field v: f32[3]\nfield u: f32\nu = div(v)") == Kinds{DiagnosticKind::component_mismatch});
    CHECK(mistakes("field v: f32[2]\nfield u: f32\nu = grad(v)") ==
          Kinds{DiagnosticKind::component_mismatch});
}

TEST_CASE("the curl of a vector in space is a vector") {
    const Analyzed made = stencil(
        "field v, w: (x: f64, y: f64, z: f64) { boundary periodic }\nw = curl(v)\n"
        "v[t+1] = v + curl(w)",
        "x, y, z");
    CHECK(made.value(0) == "1/2 * (v.z[y+1] - v.z[y-1]) - 1/2 * (v.y[z+1] - v.y[z-1])");
    CHECK(made.value(1) == "1/2 * (v.x[z+1] - v.x[z-1]) - 1/2 * (v.z[x+1] - v.z[x-1])");
}

TEST_CASE("a component's own boundary comes before that of all, then the more specific face") {
    const Analyzed made = stencil(
        "field v, w: (x: f32, y: f32) {\n"
        "    boundary v.x mirror, x.low fixed [1, 2], clamp, v.y x clamp, v.y x.high fixed pos(y), w.0 fixed "
        "3\n"
        "}\n"
        "field z: c64[2] { boundary z.1 clamp, z.1.im mirror, periodic }\n"
        "v[t+1] = laplacian(v)\n"
        "w[t+1] = laplacian(w)\n"
        "z[t+1] = laplacian(z)");
    const auto kind = [&](const char* field, int axis, int side) {
        return made.field(field).boundary[axis][side].kind;
    };
    using halo::ir::BoundaryKind;
    for (const int axis : {0, 1}) {
        for (const int side : {0, 1}) {
            CHECK(kind("v.x", axis, side) == BoundaryKind::mirror);
            CHECK(kind("w.x", axis, side) == BoundaryKind::fixed);
            CHECK(kind("z.0.im", axis, side) == BoundaryKind::periodic);
            CHECK(kind("z.1.re", axis, side) == BoundaryKind::clamp);
            CHECK(kind("z.1.im", axis, side) == BoundaryKind::mirror);
        }
    }
    CHECK(kind("v.y", 0, 0) == BoundaryKind::clamp);
    CHECK(kind("v.y", 0, 1) == BoundaryKind::formula);
    CHECK(kind("v.y", 1, 0) == BoundaryKind::clamp);
    CHECK(kind("w.y", 0, 0) == BoundaryKind::fixed);
    CHECK(kind("w.y", 0, 1) == BoundaryKind::clamp);
    CHECK(halo::ir::print(made.program(), made.field("w.y").boundary[0][0].value) == "2");
}

TEST_CASE("a let's components have boundaries of their own, too") {
    const Analyzed made = stencil(
        "field v: (x: f32, y: f32) { boundary clamp }\n"
        "let q { boundary q.x mirror, q.y x clamp, q.y y fixed 0 } = 2 * v\n"
        "v[t+1] = laplacian(q)");
    CHECK(made.field("q.x").boundary[1][0].kind == halo::ir::BoundaryKind::mirror);
    CHECK(made.field("q.y").boundary[0][0].kind == halo::ir::BoundaryKind::clamp);
    CHECK(made.field("q.y").boundary[1][0].kind == halo::ir::BoundaryKind::fixed);
}

TEST_CASE("mistakes in a component's boundary") {
    const auto with = [](const std::string& boundary) {
        return mistakes("field v: (x: f32, y: f32) { boundary " + boundary +
                        " }\nfield w: f32\nv[t+1] = laplacian(v) + [w, 0]");
    };
    CHECK(with("v.z mirror") == Kinds{DiagnosticKind::unknown_component});
    CHECK(with("v.x fixed [1, 2]") == Kinds{DiagnosticKind::component_mismatch});
    CHECK(with("v.x clamp, v.0 mirror") == Kinds{DiagnosticKind::duplicate_setting});
    CHECK(with("v.x x.low periodic") == Kinds{DiagnosticKind::one_sided_periodic});
    CHECK(with("w.x clamp") == Kinds{DiagnosticKind::unexpected_token});
    CHECK(with("v.x z clamp") == Kinds{DiagnosticKind::unknown_axis});
}

TEST_CASE("walls let a flow along them and none through: as with fields of one number") {
    const Analyzed vector = stencil(
        "param dt = 0.1\n"
        "field v: (x: f32, y: f32) { boundary mirror; boundary v.x x antimirror, v.y y antimirror }\n"
        "v[t+1] = v + dt * laplacian(v) - dt * v.x * d(v, x)");
    const Analyzed scalars = stencil(
        "param dt = 0.1\n"
        "field vx: f32 { boundary x antimirror, y mirror }\n"
        "field vy: f32 { boundary x mirror, y antimirror }\n"
        "vx[t+1] = vx + dt * laplacian(vx) - dt * vx * d(vx, x)\n"
        "vy[t+1] = vy + dt * laplacian(vy) - dt * vx * d(vy, x)");
    using halo::ir::Interpreter;
    Interpreter a(vector.program(), {7, 5, 1}, halo::ir::Arithmetic::declared);
    Interpreter b(scalars.program(), {7, 5, 1}, halo::ir::Arithmetic::declared);
    for (const auto& [part, alone] : {std::pair{"v.x", "vx"}, std::pair{"v.y", "vy"}}) {
        for (std::size_t cell = 0; cell < 35; ++cell)
            a.field(part)[cell] = b.field(alone)[cell] =
                static_cast<float>(std::sin(static_cast<double>(cell) * (part[2] == 'x' ? 1.3 : 2.1)));
    }
    for (int steps = 0; steps < 4; ++steps) {
        a.step();
        b.step();
    }
    CHECK(a.field("v.x") == b.field("vx"));
    CHECK(a.field("v.y") == b.field("vy"));
    CHECK(a.field("v.x") != a.field("v.y"));
}
