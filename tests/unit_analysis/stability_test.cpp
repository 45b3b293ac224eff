// Bounds that are known in closed form.
#include <fmt/format.h>

#include <cmath>

#include "analyze_text.h"
#include "compiler/analysis/stability.h"

using namespace halo;
using namespace halo::analysis;

namespace {

using Kind = StabilityAnswer::Kind;

struct Asked {
    std::variant<StabilityAnswer, Refusal> result;
    std::string text;
    std::string wave;

    StabilityAnswer answer() const {
        if (const auto* refusal = std::get_if<Refusal>(&result)) FAIL(refusal->reason);
        return std::get<StabilityAnswer>(result);
    }
    double bound() const {
        CHECK(answer().kind == Kind::bounded);
        return answer().bound;
    }
    // What is refused: the place in the text and the reason.
    std::string refusal() const {
        const auto* refusal = std::get_if<Refusal>(&result);
        if (refusal == nullptr) return "not refused";
        return text.substr(refusal->where.begin, refusal->where.end - refusal->where.begin) + ": " +
               refusal->reason;
    }
};

Asked ask(const std::string& body, const std::string& axes = "x",
          const std::vector<std::vector<double>>& cells = {}) {
    Asked asked;
    asked.text = "stencil s(" + axes + ") {\n" + body + "\n}\n";
    const Analyzed analyzed = analyze_text(asked.text);
    INFO(analyzed.messages);
    REQUIRE(analyzed.kinds.empty());
    const ir::Program& program = analyzed.program();
    std::variant<LinearScheme, Refusal> made = LinearScheme::make(program);
    if (auto* refusal = std::get_if<Refusal>(&made)) {
        asked.result = *refusal;
        return asked;
    }
    StabilityQuestion question;
    for (std::size_t i = 0; i < program.params.size(); ++i) {
        question.values.params.push_back(program.params[i].default_value);
        if (program.params[i].name == "dt") question.searched = ir::ParamId{static_cast<std::uint32_t>(i)};
    }
    for (const ir::Coef& coef : program.coefs)
        question.values.coefs.push_back(coef.defaults);
    question.values.extent = {64, 64, 64};
    for (const std::vector<double>& values : cells) {
        FrozenCell cell;
        cell.inputs.resize(program.fields.size());
        std::copy(values.begin(), values.end(), cell.inputs.begin());
        question.cells.push_back(cell);
    }
    if (cells.empty())
        question.cells.push_back({{}, std::vector<std::optional<double>>(program.fields.size())});
    LinearScheme& scheme = std::get<LinearScheme>(made);
    asked.result = find_stability(scheme, question);
    if (const auto* answer = std::get_if<StabilityAnswer>(&asked.result))
        asked.wave = describe_wave(answer->wave, program, scheme);
    return asked;
}

Approx about(double value) {
    return Approx(value).epsilon(2e-7);
}

}  // namespace

TEST_CASE("heat conduction: dt up to h^2 / (2 d lambda)") {
    const std::string body =
        "param lambda = 0.7, dt = 0.01, h = 0.3\nspacing {} = h\nfield u: f32 {{ boundary fixed 1 }}\n"
        "u[t+1] = u + lambda * dt * laplacian(u) + 3";
    const double one = 0.3 * 0.3 / (2 * 0.7);
    CHECK(ask(fmt::format(fmt::runtime(body), "x"), "x").bound() == about(one));
    CHECK(ask(fmt::format(fmt::runtime(body), "x = h, y"), "x, y").bound() == about(one / 2));
    const Asked three = ask(fmt::format(fmt::runtime(body), "x = h, y = h, z"), "x, y, z");
    CHECK(three.bound() == about(one / 3));
    CHECK(three.wave == "alternates from cell to cell along x, y, z");
    CHECK(three.answer().growth == about(1));
}

TEST_CASE("waves by leapfrog: the Laplacian's own bound at each order") {
    // The second difference's size for the wave that alternates: of orders 2, 4, 6, 8.
    const double sizes[] = {4, 16.0 / 3, 272.0 / 45, 2048.0 / 315};
    for (int order = 2; order <= 8; order += 2) {
        const std::string body = fmt::format(
            "accuracy {}\nparam c = 1500, dt = 1e-3\nspacing x = 10{{0}}\nfield u: f32 {{{{ boundary "
            "periodic }}}}\n"
            "u[t+1] = 2*u - u[t-1] + (c * dt)^2 * laplacian(u)",
            order);
        INFO(order);
        const double one = 2 * 10 / (1500 * std::sqrt(sizes[order / 2 - 1]));
        CHECK(ask(fmt::format(fmt::runtime(body), ""), "x").bound() == about(one));
        CHECK(ask(fmt::format(fmt::runtime(body), ", y = 10"), "x, y").bound() == about(one / std::sqrt(2)));
        if (order > 4) continue;
        CHECK(ask(fmt::format(fmt::runtime(body), ", y = 10, z = 10"), "x, y, z").bound() ==
              about(one / std::sqrt(3)));
    }
}

TEST_CASE("advection: upwind up to h / v, centred with Euler never") {
    const std::string field = "param v = 2, dt = 0.01\nspacing x = 0.5\nfield u: f64 { boundary periodic }\n";
    CHECK(ask(field + "u[t+1] = u - v * dt * (u - u[x-1]) / 0.5").bound() == about(0.25));
    CHECK(ask(field + "u[t+1] = u - v * dt * (u[x+1] - u) / 0.5").answer().kind == Kind::never);
    const Asked centred = ask(field + "u[t+1] = u - v * dt * d(u, x)");
    CHECK(centred.answer().kind == Kind::never);
    CHECK(centred.answer().growth == about(std::sqrt(1 + 0.04 * 0.04)));
    CHECK(centred.wave == "has 4 cells a wavelength along x");
    // With two stages waves grow still, by (v dt / h)^4 / 8; four stages hold them.
    CHECK(ask(field + "let m = u - v * dt / 2 * d(u, x)\nu[t+1] = u - v * dt * d(m, x)").answer().kind ==
          Kind::never);
    CHECK(ask(field + "def f(c) = -v * d(c, x)\nlet a = f(u)\nlet b = f(u + dt/2*a)\nlet e = f(u + dt/2*b)\n"
                      "let g = f(u + dt*e)\nu[t+1] = u + dt * (a + 2*b + 2*e + g) / 6")
              .bound() == about(2 * std::sqrt(2.0) / 4));
    // The wave that breaks leapfrog with differences of fourth order lies between the sampled ones.
    const Asked leapfrog = ask(field + "u[t+1] = u[t-1] - 2 * v * dt * d(u, x, order=4)");
    const double angle = std::acos(1 - std::sqrt(1.5));
    CHECK(leapfrog.bound() == about(0.25 * 6 / (8 * std::sin(angle) - std::sin(2 * angle))));
    CHECK(std::abs(leapfrog.answer().wave[0]) == Approx(angle).margin(0.01));
}

TEST_CASE("advection with diffusion: the smaller of two bounds") {
    const std::string body =
        "param v = 1, nu = {}, dt = 0.001\nspacing x = 0.1\nfield u: f64 {{ boundary periodic }}\n"
        "u[t+1] = u - v * dt * d(u, x) + nu * dt * d2(u, x)";
    CHECK(ask(fmt::format(fmt::runtime(body), 0.5)).bound() == about(0.01 / (2 * 0.5)));
    // The longest waves break first, and grow by little: the bound is found less exactly.
    CHECK(ask(fmt::format(fmt::runtime(body), 0.01)).bound() == Approx(2 * 0.01).epsilon(2e-4));
}

TEST_CASE("several fields of different units") {
    const std::string body =
        "param dt = 1e-4, rho = 1000, K = 2.25e9\nspacing x = 5, y = 5\nfield p, vx, vy: f32 { boundary "
        "periodic }\n"
        "vx[t+1] = vx - dt / rho * (p[x+1] - p) / 5\nvy[t+1] = vy - dt / rho * (p[y+1] - p) / 5\n"
        "p[t+1] = p - dt * K * ((vx[t+1] - vx[t+1, x-1]) + (vy[t+1] - vy[t+1, y-1])) / 5";
    CHECK(ask(body, "x, y").bound() == about(5 / (1500 * std::sqrt(2.0))));
}

TEST_CASE("stages and levels of diffusion: the methods' real bounds") {
    const std::string field =
        "param dt = 0.01\nfield u: f64 { boundary periodic }\ndef f(c) = d2(c, x)\n";  // f is at most 4 in
                                                                                       // size
    CHECK(ask(field + "let a = f(u)\nlet b = f(u + dt/2*a)\nlet e = f(u + dt/2*b)\nlet g = f(u + dt*e)\n"
                      "u[t+1] = u + dt * (a + 2*b + 2*e + g) / 6")
              .bound() == about(2.785293563405282 / 4));
    CHECK(ask(field + "u[t+1] = u + dt * (3*f(u) - f(u[t-1])) / 2").bound() == about(1.0 / 4));
    CHECK(ask(field + "u[t+1] = u + dt * (23*f(u) - 16*f(u[t-1]) + 5*f(u[t-2])) / 12").bound() ==
          about(6.0 / 11 / 4));
    CHECK(ask(field + "u[t+1] = u[t-1] + 2 * dt * f(u)").answer().kind == Kind::never);
}

TEST_CASE("what varies from cell to cell is frozen, and the worst cell counts") {
    const std::string body =
        "param dt = 0.01\nfield k, u: f64 { boundary periodic }\n"
        "let flux = (k + k[x+1]) / 2 * (u[x+1] - u)\nu[t+1] = u + dt * (flux - flux[x-1])";
    CHECK(ask(body, "x", {{0.5}, {4}, {1}}).bound() == about(1.0 / 8));
    CHECK(ask(body).refusal() == "k: the values of `k` are not known");
    CHECK(ask("param dt = 0.1\nfield u: f64\nu[t+1] = u - dt * idx(x) * (u - u[x-1])").answer().kind ==
          Kind::always);
    // A source that varies is no factor.
    CHECK(ask("param dt = 0.01, far\nfield q, u: f64 { boundary fixed far }\nu[t+1] = u + dt * (d2(u, x) + "
              "q^2)")
              .bound() == about(0.5));
    // Upwind by the sign of a field.
    const std::string upwind =
        "param dt = 0.01\nfield v, u: f64 { boundary periodic }\n"
        "u[t+1] = u - dt * v * (if v > 0 then u - u[x-1] else u[x+1] - u)";
    CHECK(ask(upwind, "x", {{0.5}, {-2}}).bound() == about(0.5));
}

TEST_CASE("no bound, or nothing to bound") {
    CHECK(ask("param dt = 0.01\nfield u: f64\nu[t+1] = u / (1 + dt)").answer().kind == Kind::always);
    CHECK(ask("param dt = 0.01\nfield u: f64\nu[t+1] = u * (1 + dt)").answer().kind == Kind::never);
    const Asked smooth = ask("field u: f64 { boundary clamp }\nu[t+1] = (u[x-1] + u[x+1]) / 2");
    CHECK(smooth.answer().kind == Kind::as_it_is);
    CHECK(smooth.answer().is_stable());
    CHECK_FALSE(ask("field u: f64 { boundary clamp }\nu[t+1] = u[x-1] + u[x+1]").answer().is_stable());
    CHECK(ask("field u, v: f64\nv = u^2").refusal() == ": nothing goes on from step to step");
}

TEST_CASE("what is not linear is refused at its place") {
    CHECK(ask("param dt = 0.01\nfield c: f32 { boundary periodic }\nlet mu = c^3 - c - laplacian(c)\n"
              "c[t+1] = c + dt * laplacian(mu)")
              .refusal() == "c^3: this multiplies values that both change from step to step");
    CHECK(ask("field u: f64\nu[t+1] = 1 / (2 + u)").refusal() ==
          "1 / (2 + u): this divides by a value that changes from step to step");
    CHECK(ask("field u: f64\nu[t+1] = exp(-u)").refusal() ==
          "exp(-u): this function of a value that changes from step to step is not linear");
    CHECK(ask("field u: f64\nu[t+1] = if u > 0 then u else -u").refusal() ==
          "u > 0: this compares a value that changes from step to step");
    CHECK(ask("field u: f64\nu[t+1] = max(u, 0)").refusal() ==
          "max(u, 0): `min` and `max` of a value that changes from step to step are not linear");
    // Only what a state comes of counts.
    CHECK(ask("param dt = 0.01\nfield u, e: f64 { boundary periodic }\nu[t+1] = u + dt * d2(u, x)\ne = u^2\n"
              "reduce total = sum(u^2)")
              .bound() == about(0.5));
}

TEST_CASE("a step beyond the work that is allowed is refused") {
    const Analyzed analyzed =
        stencil("param dt = 0.1\nfield u: f64 { boundary periodic }\nu[t+1] = u + dt * laplacian(u)");
    LinearScheme scheme = std::get<LinearScheme>(LinearScheme::make(analyzed.program()));
    StabilityQuestion question;
    question.values.params = {0.1};
    question.cells = {{{}, {std::nullopt}}};
    question.searched = ir::ParamId{0};
    question.max_work = 1000;
    CHECK(std::holds_alternative<Refusal>(find_stability(scheme, question)));
}
