// What is not differentiated is refused, with the place and what to do.
#include <string>

#include "analyze_text.h"
#include "compiler/adjoint/adjoint.h"
#include "compiler/adjoint/tangent.h"

using namespace halo;

namespace {

// The message, its place in the text and its mend.
std::string refusal(const std::string& body, const adjoint::Request& request) {
    const std::string head = "stencil s(x, y) {\n";
    const Analyzed spec = stencil(body);
    try {
        adjoint::make_adjoint(spec.program(), request);
    } catch (const adjoint::RefusedError& refused) {
        CHECK(!refused.mend().empty());
        const std::string text = head + body + "\n}\n";
        const auto [begin, end] = std::pair(refused.where().begin, refused.where().end);
        return std::string(refused.what()) + " | " + text.substr(begin, end - begin);
    }
    return "accepted";
}

const std::string kField = "field u: f64 { boundary clamp }\n";

}  // namespace

TEST_CASE("names that are not there") {
    const std::string body = kField + "u[t+1] = u[x-1]\nreduce R = max(u)";
    CHECK(refusal(body, {{"J"}, {"u"}}).starts_with("there is no reduction, state or output `J`"));
    CHECK(refusal(body, {{"u"}, {"v"}}).starts_with("there is no input, state or param `v`"));
    CHECK(
        refusal("field a: f64\na = 3", {{"a"}, {"b"}}).starts_with("there is no input, state or param `b`"));
    CHECK(refusal(body, {{"R"}, {"u"}}).starts_with("`R` is a max, which has no derivative"));
}

TEST_CASE("constructs without a derivative") {
    const adjoint::Request request{{"u"}, {"u"}};
    CHECK(refusal(kField + "u[t+1] = u + random()", request).starts_with("noise is not differentiated yet"));
    CHECK(refusal(kField + "u[t+1] = floor(u)", request) == "`floor` has no derivative | floor(u)");
    CHECK(refusal(kField + "u[t+1] = mod(u, 2)", request).find("has no derivative") != std::string::npos);
    CHECK(refusal("field u: f64 { boundary fixed 0 }\nsweep y up { u[t+1] = u + u[t+1, y-1] }", request)
              .find("sweep") != std::string::npos);
    CHECK(
        refusal("field u: f64\nfield p: f64 { boundary fixed 0 }\nrepeat k to 3 { p[k+1] = p[k, x-1] + u }\n"
                "u[t+1] = u + p",
                request)
            .starts_with("an inner iteration is not differentiated yet"));
    CHECK(refusal("field u: f64\nfield p: f64 { boundary fixed 0 }\n"
                  "repeat k until m < 1, at most 3 { p[k+1] = p[k, x-1] + u; reduce m = max(p[k+1]) }\n"
                  "u[t+1] = u + p",
                  request)
              .starts_with("an inner iteration that ends by a condition is not differentiated yet"));
    CHECK(refusal(kField + "reduce m = max(u)\nu[t+1] = u / m", request)
              .starts_with("a statement that reads a reduction is not differentiated yet"));
    CHECK(refusal(kField + "points p\nu[t+1] = u\ninject u[t+1] at p += p.g * p.w[t]", {{"u"}, {"p.w"}})
              .starts_with("`p.w` is multiplied with numbers of its points"));
    CHECK(refusal(kField + "points p\nu[t+1] = u\ninject u[t+1] at p += p.g * p.w[t]", {{"u"}, {"p.g"}})
              .starts_with("`p.g` is a number of each point"));
    CHECK(refusal("field n: i32\nn[t+1] = n + 1", {{"n"}, {"n"}}).starts_with("`n` holds no real numbers"));
    CHECK(refusal("param b = 1\nfield u: f64 { boundary fixed b }\nu[t+1] = u[x-1]", {{"u"}, {"b"}})
              .starts_with("`b` is in the boundary of `u`"));
    CHECK(refusal("param b = 1\nspacing x = b\n" + kField + "u[t+1] = u * pos(x)", {{"u"}, {"b"}})
              .starts_with("`b` moves the cells"));
    CHECK(refusal("param dt = 1\nfield u: f64 { boundary fixed time }\nu[t+1] = u[x-1]", request)
              .starts_with("the boundary of `u` changes with time"));
    CHECK(refusal(kField + "field v: f64\nu[t+1] = u\nv[t+1] = v", {{"u"}, {"v"}})
              .starts_with("nothing that is asked for depends on `v`"));
}

TEST_CASE("what has no derivative and does not change is no obstacle") {
    CHECK(refusal(kField + "field c: f64\nu[t+1] = u * floor(c)", {{"u"}, {"u"}}) == "accepted");
    CHECK(refusal(kField + "field solid: u8\nwhere solid == 0 { u[t+1] = u[x-1] }", {{"u"}, {"u"}}) ==
          "accepted");
}
