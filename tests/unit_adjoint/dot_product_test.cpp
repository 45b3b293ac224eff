// <y, J x> = <J^T y, x> to rounding, for every boundary, operator and place, on grids that are thinner than
// the reach, too; and again for what is read back from the text.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "check_transposed.h"

using namespace halo;
using test::Extent;

namespace {

std::vector<Extent> lines(int least) {
    std::vector<Extent> grids;
    for (const int cells : {1, 2, 3, 4, 5, 6, 9, 17})
        if (cells >= least) grids.push_back({cells, 1, 1});
    return grids;
}

struct Face {
    std::string words;
    int least = 1;  // cells that a reach of 3 needs
};
const std::vector<Face> kFaces{{"fixed 0.5"},
                               {"fixed 0.25 * idx(x)", 3},
                               {"clamp"},
                               {"mirror"},
                               {"free"},
                               {"symmetric", 3},
                               {"antimirror", 4},
                               {"antisymmetric", 3},
                               {"extrapolate 0", 3},
                               {"extrapolate 2", 4},
                               {"gradient 0.7", 4},
                               {"robin 0.4, 1.5, 0.3", 4}};

}  // namespace

TEST_CASE("every pair of boundaries is transposed, on every small grid") {
    for (const Face& low : kFaces) {
        for (const Face& high : kFaces) {
            const bool is_computed = low.least > 1 || high.least > 1;
            const std::string text = fmt::format(
                "stencil s(x) {{\n spacing x = 0.5\n field u: f64 {{ boundary x.low {}, x.high {} }}\n"
                " u[t+1] = 0.3*u + 0.2*u[x-1] - 0.7*u[x+1] + 0.11*u[x-3] + 0.13*u[x+2] + 0.17*u[x+3]\n}}\n",
                low.words, high.words);
            INFO(text);
            const Analyzed spec = analyze_text(text);
            INFO(spec.messages);
            REQUIRE(spec.kinds.empty());
            test::check_transposed(spec.program(), {{"u"}, {"u"}}, lines(is_computed ? 4 : 1));
        }
    }
}

TEST_CASE("periodic axes wrap backwards, however thin they are") {
    const Analyzed spec = stencil(
        "field u: f64 { boundary x periodic, y.low clamp, y.high mirror }\n"
        "u[t+1] = u + 0.2*u[x-3, y+1] - 0.4*u[x+2, y-2] + 0.3*u[y+2]*u[x+1]");
    test::check_transposed(spec.program(), {{"u"}, {"u"}},
                           {{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {3, 3, 1}, {7, 5, 1}});
}

TEST_CASE("corners are transposed") {
    for (const char* x : {"fixed 1", "clamp", "mirror", "antisymmetric", "periodic"}) {
        for (const char* y : {"fixed 2", "clamp", "mirror", "symmetric", "free", "extrapolate 1"}) {
            const Analyzed spec = stencil(
                fmt::format("field u: f64 {{ boundary x {}, y {} }}\n"
                            "u[t+1] = 0.5*u + sum(i in -1..1, j in -2..1) (1 + i + 3*j) / 10 * u[x+i, y+j]",
                            x, y));
            INFO(x << ", " << y);
            test::check_transposed(spec.program(), {{"u"}, {"u"}}, {{3, 3, 1}, {4, 6, 1}});
        }
    }
}

TEST_CASE("functions and branches have their derivatives") {
    test::Start start;
    start.middle = 0.5;
    start.spread = 0.4;
    for (const char* value : {"sqrt(u)",
                              "rsqrt(u)",
                              "cbrt(u)",
                              "exp(u)",
                              "log(u)",
                              "sin(u)",
                              "cos(u)",
                              "tan(u)",
                              "asin(u)",
                              "acos(u)",
                              "atan(u)",
                              "sinh(u)",
                              "cosh(u)",
                              "tanh(u)",
                              "abs(u - 0.5)",
                              "pow(u, c)",
                              "u^3",
                              "u^(1/2)",
                              "atan2(u, c)",
                              "u / c",
                              "c / (1 + u[x-1])",
                              "min(u, c)",
                              "max(u[x+1], c, 0.3)",
                              "if u > 0.5 then u*c else -u",
                              "-u * u[x+1] / c",
                              "((if u > 0.5 then log(u - 0.5) else 2) * c)",
                              "u^0.5 * c^(-2)"}) {
        INFO(value);
        const Analyzed spec = stencil(fmt::format("field u, c: f64 {{ boundary mirror }}\nfield g: f64\n"
                                                  "g = {} + 0.1*c\nreduce R = sum(g * u)",
                                                  value),
                                      "x");
        test::check_transposed(spec.program(), {{"R", "g"}, {"u", "c"}}, {{1, 1, 1}, {2, 1, 1}, {9, 1, 1}}, 1,
                               start);
    }
}

TEST_CASE("levels, stages, staggered fields, masks and reductions are transposed") {
    const std::vector<Extent> grids{{1, 1, 1}, {2, 3, 1}, {8, 6, 1}};
    SECTION("leapfrog with a coefficient") {
        const Analyzed spec = stencil(
            "param dt = 0.1\nfield c: f64 { boundary clamp }\nfield u: f64 { boundary x fixed 0, y clamp }\n"
            "u[t+1] = 2*u - u[t-1] + (c*dt)^2 * laplacian(u, order=4)\nreduce R = sum(u[t+1]^2) where idx(x) "
            "< 5");
        test::check_transposed(spec.program(), {{"R"}, {"u", "c", "dt"}}, grids, 4);
        test::check_transposed(spec.program(), {{"R"}, {"c"}, true}, grids, 4);
    }
    SECTION("several stages and a let with a boundary") {
        const Analyzed spec = stencil(
            "param M = 1, gamma = 0.5, dt = 0.01\nfield c: f64 { boundary clamp }\n"
            "let mu { boundary x mirror, y fixed 1 } = c^3 - c - gamma * laplacian(c)\n"
            "c[t+1] = c + dt * M * laplacian(mu)\nreduce R = norm2(c[t+1])\nreduce S = mean(c * mu)");
        test::check_transposed(spec.program(), {{"R", "S"}, {"c", "M", "dt", "gamma"}}, grids);
    }
    SECTION("staggered") {
        const Analyzed spec = stencil(
            "param dt = 0.1, bulk = 2\nspacing x = 0.5\norigin y = -1\n"
            "field p, b: f64 { boundary x clamp, y mirror }\n"
            "field vx: f64 at x+1/2 { boundary x fixed 0, y symmetric }\n"
            "field vy: f64 at y+1/2 { boundary x clamp, y antimirror }\n"
            "vx[t+1] = vx - dt * interpolate(b, x) * d(p, x, order=4) * pos(x)\n"
            "vy[t+1] = vy - dt * interpolate(b, y) * d(p, y) * vy\n"
            "p[t+1] = p - dt * bulk * (d(vx[t+1], x, order=4) + d(vy[t+1], y)) * pos(y)\nreduce R = "
            "sum(p[t+1]^2)");
        test::check_transposed(spec.program(), {{"R", "vx"}, {"p", "b", "vx", "vy", "bulk", "dt"}},
                               {{4, 4, 1}, {8, 6, 1}});
    }
    SECTION("some cells alone, in place and in colours") {
        const Analyzed spec = stencil(
            "field m: f64\nfield u: f64 { boundary x mirror, y fixed 0 }\nfield k: f64\n"
            "def average(v) = (v[x-1] + v[x+1] + v[y-1] + v[y+1]) / 4\n"
            "where mod(idx(x) + idx(y), 2) == 0 { u[t+1] = average(u) * m }\n"
            "where mod(idx(x) + idx(y), 2) == 1 { u[t+1] = average(u[t+1])^2 }\n"
            "on x.low, y in 1..-1 { u[t+1] = 3*u[t+1] * u[x+1] }\n"
            "where m > 0 { k = u[t+1] * m }\n");
        CHECK_THROWS_AS(adjoint::make_adjoint(spec.program(), {{"k"}, {"u"}}), adjoint::RefusedError);
        test::check_transposed(spec.program(), {{"u"}, {"u", "m"}}, grids, 2);
    }
    SECTION("free faces") {
        const Analyzed spec = stencil(
            "field c, u, g: f64\n let flux = c * (u[x+1] - u)\n u[t+1] = u + c[y-1] * (flux - flux[x-1])\n"
            "g = u[t+1, x-1]^2\nreduce R = mean(u[t+1, x+1] * g[y+1])");
        test::check_transposed(spec.program(), {{"R", "g"}, {"u", "c"}}, {{5, 4, 1}, {8, 6, 1}});
    }
    SECTION("components and complex numbers") {
        const Analyzed spec = stencil(
            "param dt = 0.02, beta = -1.2\nfield a: c128 { boundary periodic }\n"
            "field v: (x: f64, y: f64) { boundary mirror, v.x x antimirror }\n"
            "v[t+1] = v + dt * laplacian(v) - 0.1 * norm(v) * v\n"
            "a[t+1] = a + dt * (a + (1 + 1i) * laplacian(a) - (1 + 1i*beta) * abs(a)^2 * a) + v.x\n"
            "reduce R = sum(abs(a[t+1])^2)");
        test::check_transposed(spec.program(), {{"R"}, {"a", "v", "beta"}}, {{3, 3, 1}, {6, 5, 1}});
    }
    SECTION("the time") {
        const Analyzed spec = stencil(
            "param dt = 0.1, omega = 2\nfield u: f64 { boundary clamp }\n"
            "u[t+1] = u * cos(omega * time) + 0.1 * laplacian(u) * step\nreduce R = sum(u[t+1])");
        test::check_transposed(spec.program(), {{"R"}, {"u", "omega"}}, grids, 4);
    }
    SECTION("a reduction of neighbours, and launch-time weights") {
        const Analyzed spec = stencil(
            "param coef w[1..2] = [0.5, -0.25]\nfield u: f64 { boundary x clamp, y periodic }\n"
            "reduce R = sum(u[x+1])\nreduce S = norm1(sum(r in 1..2) w[r] * (u[x+r] - u[y-r])) on x in "
            "1..-1");
        test::check_transposed(spec.program(), {{"R", "S"}, {"u"}}, grids, 1);
    }
}

TEST_CASE("what is injected is sampled backwards, and what is sampled is injected") {
    const std::vector<Extent> grids{{1, 1, 1}, {3, 2, 1}, {8, 6, 1}};
    const Analyzed spec = stencil(
        "param dt = 0.1, h = 2\nfield v: f64\nfield p: f64 { boundary x mirror, y fixed 0 }\n"
        "points shots, phones: sinc 2\n"
        "p[t+1] = 2*p - p[t-1] + (v * dt)^2 * laplacian(p)\n"
        "inject p[t+1] at shots += (v * dt / h)^2 * shots.wavelet[t]\n"
        "let twice = p[t+1]^2\n"
        "sample p at phones into phones.seen[t]\n"
        "sample twice * v at shots into shots.felt[t]\n"
        "reduce R = sum(p[t+1]^2)");
    for (const std::vector<std::string>& of : std::vector<std::vector<std::string>>{
             {"phones.seen"}, {"shots.felt"}, {"R"}, {"R", "phones.seen", "shots.felt", "p"}}) {
        INFO(of.front());
        test::check_transposed(spec.program(), {of, {"p", "v", "shots.wavelet", "dt"}}, grids, 4);
        test::check_transposed(spec.program(), {of, {"v"}}, grids, 3);
    }
    SECTION("a number of each point, and a trace that is squared") {
        const Analyzed other = stencil(
            "field u, g: f64 { boundary clamp }\npoints a: linear\n"
            "u[t+1] = u + 0.1 * laplacian(u)\ninject u[t+1] at a += u * a.gain * a.force[t]\n"
            "g = u[t+1, x-1]\ninject g at a += u * a.push[t]\nreduce R = sum(g * u)");
        test::check_transposed(other.program(), {{"R", "g"}, {"u", "a.push"}}, grids, 3);
        CHECK_THROWS_AS(adjoint::make_adjoint(other.program(), {{"R"}, {"a.force"}}), adjoint::RefusedError);
        CHECK_THROWS_AS(adjoint::make_adjoint(other.program(), {{"R"}, {"a.gain"}}), adjoint::RefusedError);
    }
}

TEST_CASE("adjoints of waves that are damped, driven and seen, whose earlier steps carry a past") {
    const Analyzed spec = stencil(
        "param dt = 0.1\nfield damp, v, f: f64 { boundary clamp }\nfield u: f64 { boundary x fixed 0, y "
        "mirror }\n"
        "points shots, phones: linear\n"
        "u[t+1] = (2 * u - (1 - damp) * u[t-1] + (v * dt)^2 * laplacian(u, order=4) + f) / (1 + damp)\n"
        "inject u[t+1] at shots += v * shots.wavelet[t]\nsample u at phones into phones.seen[t]\n"
        "reduce R = sum(f * u[t+1]^2)");
    const std::vector<Extent> grids{{9, 7, 1}, {3, 1, 1}};
    for (const char* of : {"R", "phones.seen"}) {
        CHECK(adjoint::make_turns(spec.program(), {{of}, {"v", "u"}}).last.pasts.size() == 1);
        test::check_transposed(spec.program(), {{of}, {"v", "u", "damp", "f", "dt", "shots.wavelet"}}, grids,
                               4);
        test::check_transposed(spec.program(), {{of}, {"u", "f"}}, grids, 2);
        test::check_transposed(spec.program(), {{of}, {"u"}}, grids, 1);
    }
}

TEST_CASE("what the tangent leaves falls with the square of the step") {
    struct Case {
        std::string body;
        adjoint::Request request;
    };
    const std::vector<Case> cases{
        {"param k = 0.1\nfield u: f64 { boundary mirror }\nu[t+1] = u + k * (u^3 - u + laplacian(u))\n"
         "reduce R = sum(exp(u[t+1]))",
         {{"R"}, {"u", "k"}}},
        {"field c, u: f64 { boundary clamp }\nu[t+1] = 2*u - u[t-1] + 0.1 * c^2 * laplacian(u)\nreduce R = "
         "norm2(u[t+1])",
         {{"R", "u"}, {"u", "c"}}},
        {"field u: f64 { boundary robin 1, 2, 0.5 }\nlet f { boundary clamp } = u * sin(u[x+1])\n"
         "u[t+1] = u + 0.1 * (f - f[y-1]) / (2 + u^2)\nreduce R = mean(u[t+1]^2)",
         {{"R"}, {"u"}, true}}};
    for (const Case& each : cases) {
        INFO(each.body);
        const Analyzed spec = stencil(each.body);
        const ir::Program& program = spec.program();
        const Extent grid{9, 7, 1};
        const double slope =
            test::BothWaysRun(program, each.request, adjoint::make_tangent(program, each.request),
                              adjoint::make_adjoint(program, each.request), grid, 3, {})
                .run()
                .forward;
        const double here = test::moved_results(program, each.request, grid, 0);
        const auto rest = [&](double h) {
            return std::abs(test::moved_results(program, each.request, grid, h) - here - h * slope);
        };
        for (const double h : {1e-3, 1e-4}) {
            CHECK(rest(h) > 0);
            CHECK(rest(h) / rest(h / 2) == Approx(4).epsilon(0.05));
        }
    }
}
