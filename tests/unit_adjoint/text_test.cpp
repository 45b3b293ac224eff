// The derived programs, as people read them.
#include <string>
#include <vector>

#include "analyze_text.h"
#include "compiler/adjoint/adjoint.h"
#include "compiler/adjoint/spec_text.h"
#include "compiler/adjoint/tangent.h"
#include "compiler/adjoint/turns.h"

using namespace halo;

namespace {

std::string adjoint_text(const std::string& body, const adjoint::Request& request) {
    return adjoint::spec_text(adjoint::make_adjoint(stencil(body, "x").program(), request).program, "");
}

}  // namespace

TEST_CASE("the adjoint of diffusion") {
    CHECK(adjoint_text("param k = 0.1\nfield u: f64 { boundary x.low clamp, x.high fixed 2 }\n"
                       "u[t+1] = u + k * d2(u, x)\nreduce R = sum(u[t+1]^2)",
                       {{"R"}, {"u"}}) ==
          R"(stencil s_adjoint(x) {
    param k = 0.1
    param R_adj = 1
    field u: f64 { boundary x.low clamp, x.high fixed 2 }
    field u_adj: f64

    let u_new = u + k * ((-2) * u + (u[x-1] + u[x+1]))
    let u_new_adj { boundary fixed 0 } = u_adj + 2 * (if step == 0 then R_adj else 0) * u_new
    u_adj[t+1] = k * u_new_adj[x-1] + k * u_new_adj[x+1] + (1 + (-2) * k) * u_new_adj + (if idx(x) == 0 then k * u_new_adj else 0)
}
)");
}

TEST_CASE("a wrapped axis wraps, and what is linear asks for no state") {
    CHECK(adjoint_text("param a = 0.5\nfield u: f32 { boundary periodic }\nu[t+1] = u - a * (u - u[x-1])",
                       {{"u"}, {"u"}}) ==
          R"(stencil s_adjoint(x) {
    param a = 0.5
    field u_adj: f32 { boundary periodic }

    u_adj[t+1] = a * u_adj[x+1] + (1 - a) * u_adj
}
)");
}

TEST_CASE("of a step as a function each level has a gradient, and what nothing depends on has none") {
    const std::string body =
        "param k = 0.1, unread = 1\nfield c, u: f64 { boundary periodic }\nfield other: f64\n"
        "u[t+1] = 2 * u - u[t-1] + k * c * d2(u, x)\nother[t+1] = unread * other";
    const adjoint::Adjoint made = adjoint::make_adjoint(stencil(body, "x").program(),
                                                        {{"u"}, {"u", "c", "other", "unread"}, false, true});
    std::vector<std::string> found;
    for (const adjoint::Adjoint::Gradient& each : made.gradients)
        found.push_back(each.with + " " + std::to_string(each.time) + " " + each.name);
    CHECK(found == std::vector<std::string>{"u 0 u_adj", "u -1 u_adj1", "c 0 c_adj"});
    // What all levels at the start have in common is not computed.
    CHECK(adjoint::spec_text(made.program, "").find("u_gradient") == std::string::npos);
}

TEST_CASE("earlier steps carry the past of an adjoint, also of a damped wave") {
    const std::string wave =
        "param dt = 0.1\nfield damp, v: f64\nfield u: f64 { boundary fixed 0 }\n"
        "u[t+1] = (2 * u - (1 - damp) * u[t-1] + (v * dt)^2 * d2(u, x)) / (1 + damp)\nreduce R = "
        "sum(u[t+1]^2)";
    const adjoint::Turns turns = adjoint::make_turns(stencil(wave, "x").program(), {{"R"}, {"v"}});
    REQUIRE(turns.earlier);
    CHECK(adjoint::spec_text(turns.earlier->program, "") == R"(stencil s_adjoint(x) {
    param dt = 0.1
    field damp: f64
    field v: f64
    field u: f64 { boundary fixed 0 }
    field u_adj: f64
    field u_adj1: f64
    field v_adj: f64

    let u_new_adj_term { boundary fixed 0 } = v * dt * (v * dt) * (u_adj / (1 + damp))
    u_adj[t+1] = -((1 - damp) * (u_adj[t-1] / (1 + damp))) + (u_new_adj_term[x-1] + u_new_adj_term[x+1] + (-2) * u_new_adj_term + 2 * (u_adj / (1 + damp)))
    u_adj1 = -((1 - damp) * (u_adj / (1 + damp)))
    v_adj[t+1] = v_adj + 2 * dt * (v * dt * (((-2) * u + (u[x-1] + u[x+1])) * (u_adj / (1 + damp))))
}
)");
    REQUIRE(turns.last.pasts.size() == 1);
    CHECK(turns.last.pasts.front().now == "u_adj");
    CHECK(turns.last.pasts.front().level == "u_adj1");
    CHECK(turns.last.pasts.front().before == "u_adj_before");
    // What points add is in the state before neighbours read it: what the step was left is not its past.
    const adjoint::Turns seen = adjoint::make_turns(
        stencil("param dt = 0.1\nfield u: f64 { boundary fixed 0 }\npoints phones: linear\n"
                "u[t+1] = 2 * u - u[t-1] + dt * d2(u, x)\nsample u[t+1] at phones into phones.seen[t]",
                "x")
            .program(),
        {{"phones.seen"}, {"u"}});
    CHECK_FALSE(seen.earlier);
}

TEST_CASE("the tangent of a step in place") {
    const Analyzed spec = stencil(
        "param k = 0.1\nfield u: f64 { boundary x.low robin 1, 2, 0.3, x.high extrapolate 1 }\n"
        "u[t+1] = u + k * u * u[x-1]\non x.low { u[t+1] = u[t+1]^2 }\nreduce R = norm2(u[t+1])",
        "x");
    CHECK(adjoint::spec_text(adjoint::make_tangent(spec.program(), {{"R"}, {"u", "k"}}), "# why\n") ==
          R"(# why
stencil s_tangent(x) {
    param k = 0.1
    param k_dot = 0
    field u: f64 { boundary x.low robin 1, 2, (3/10) }
    field u_dot: f64 { boundary x.low robin 1, 2, 0 }

    u_dot[t+1] = u_dot + (u[x-1] * (u * k_dot + k * u_dot) + k * u * u_dot[x-1])
    u[t+1] = u + k * u * u[x-1]
    on x in 0..0 {
        u_dot[t+1] = 2 * (u[t+1] * u_dot[t+1])
    }
    on x in 0..0 {
        u[t+1] = u[t+1] * u[t+1]
    }
    reduce R = norm2(u[t+1])
    reduce R_dot = sum(2 * (u[t+1] * u_dot[t+1]) / (2 * R))
}
)");
}
