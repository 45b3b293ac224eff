#include "analyze_text.h"
#include "compiler/ir/analysis.h"

using halo::DiagnosticKind;
using Kinds = std::vector<DiagnosticKind>;

TEST_CASE("f32 and f64 round numbers exactly, and values from there on") {
    const Analyzed made = stencil(
        "param k = 0.1\n"
        "const c = f32(0.1), d = f64(1/3)\n"
        "field u: f32 { boundary clamp }\n"
        "field a, b, e: f64\n"
        "a = c - d\n"
        "b = f64(u) * 0.1 - f32(f64(u) / 3)\n"
        "e = f32(k) + u");
    CHECK(made.messages.empty());
    const auto constant = [](double value) { return halo::Rational::from_double(value); };
    const auto& first = std::get<halo::ir::Assign>(made.program().statements[0]);
    const auto& number = std::get<halo::ir::Constant>(made.program()[first.value].node);
    CHECK(number.value == constant(static_cast<double>(0.1F)) - constant(1.0 / 3.0));
    CHECK(made.value(1) == "f64(u) * (1/10) - f64(f32(f64(u) / 3))");
    CHECK(made.value(2) == "f64(f32(f64(f32(k))) + u)");
    CHECK(mistakes("field u: f64 { boundary clamp }\nu[t+1] = f32(u > 0)") ==
          Kinds{DiagnosticKind::type_mismatch});
    CHECK(stencil("def f32(a) = 2*a\nfield u: f64 { boundary clamp }\nu[t+1] = f32(u)").value(0) == "2 * u");
    CHECK(stencil("field f32: f64 { boundary clamp }\nf32[t+1] = f32 + f32(f32)").messages.empty());
}

TEST_CASE("a mean is the sum of shares of the cells that it is over") {
    const Analyzed made = stencil(
        "field u: f32 { boundary free }\n"
        "u[t+1] = u\n"
        "reduce all = mean(u)\n"
        "reduce inner = mean(u[x+1] - u[x-2])\n"
        "reduce some = mean(u) on x in 2..-3\n"
        "reduce size = norm1(u)");
    CHECK(made.messages.empty());
    CHECK(made.value(4) == "abs(u)");
    CHECK(made.margins(2)[0][0] == 2);
    CHECK(made.value(1).find("f64(u) * (1 / ") == 0);
    CHECK(mistakes("field u: f32\nu[t+1] = u\nreduce m = mean(u) where u > 0") ==
          Kinds{DiagnosticKind::not_built_yet});
}

TEST_CASE("numbers are exact until they meet a type") {
    const Analyzed made = stencil(
        "const third = 1/3, r = 4\n"
        "field u: f32\n"
        "u[t+1] = u * (third * 3 + 1/10 + 2/10) + r^2 * u / 4/5");
    CHECK(made.value(0) == "u * (13/10) + 16 * u / 4 / 5");
}

TEST_CASE("uniform arithmetic is done in f64 and rounded where it meets a field") {
    const Analyzed made = stencil(
        "param a = 1, b = 2\n"
        "field u: f32\nfield w: f64\n"
        "u[t+1] = a * b * u\n"
        "w[t+1] = a * w + u");
    CHECK(made.value(0) == "f32(a * b) * u");
    CHECK(made.value(1) == "a * w + f64(u)");
}

TEST_CASE("a wider value is rounded where it is assigned") {
    const Analyzed made = stencil("field u: f32\nfield w: f64\nu[t+1] = u + w\nw[t+1] = 1/3");
    CHECK(made.value(0) == "f32(f64(u) + w)");
    CHECK(made.value(1) == "1/3");
}

TEST_CASE(
    "what is written is read, also where its weight is zero; identities that keep each bit leave no "
    "operation") {
    const Analyzed made = stencil(
        "coef w[-1..1] = [0, 1, -1]\n"
        "field u: f32 { boundary clamp }\n"
        "u[t+1] = sum(i in -1..1) w[i] * u[x+i]");
    CHECK(made.value(0) == "0 * u[x-1] + u + -u[x+1]");
    CHECK(made.field("u").halo[0][0] == 1);
    CHECK(made.field("u").halo[0][1] == 1);
    CHECK(stencil("field u: f32\nu[t+1] = u * 1 / 1 - 0").value(0) == "u");
    CHECK(stencil("field u: f32\nu[t+1] = u + 0").value(0) == "u + 0");  // of -0 it is 0
}

TEST_CASE("integer powers are multiplications") {
    CHECK(stencil("field u: f32\nu[t+1] = u^3").value(0) == "u * u * u");
    CHECK(stencil("field u: f32\nu[t+1] = u^0 * 2").value(0) == "pow(u, 0) * 2");
    CHECK(stencil("field u: f32\nu[t+1] = u^-1").value(0) == "1 / u");
    CHECK(stencil("field u: f32\nu[t+1] = u^(1/2)").value(0) == "sqrt(u)");
    CHECK(stencil("field u: f32\nu[t+1] = u^17").value(0) == "pow(u, 17)");
    CHECK(stencil("field u: f32\nu[t+1] = 2^0.5 * u").value(0) == "f32(sqrt(2)) * u");
    CHECK(stencil("field u: f32\nu[t+1] = u^16").program().exprs.size() ==
          3 + 4);  // 3: the axes' constants and u
}

TEST_CASE("conditions that are known choose; others select") {
    CHECK(stencil("const n = 2\nfield u: f32\nu[t+1] = if n > 1 and not (n == 3) then u else 2*u").value(0) ==
          "u");
    CHECK(stencil("field u: f32\nu[t+1] = if u > 0 or u < -1 then 1 else 0").value(0) ==
          "if u > 0 or u < -1 then 1 else 0");
    CHECK(stencil("param a = 1\nfield u: f32\nu[t+1] = if a > 0 then a else u").value(0) ==
          "if a > 0 then f32(a) else u");
}

TEST_CASE("functions compute in the type of what varies") {
    const Analyzed made = stencil(
        "param a = 1\nfield u: f32\n"
        "u[t+1] = atan2(u, a) + sin(a) * min(u, 1/3, a) + abs(-2) + floor(-7/2) + ceil(7/2)");
    CHECK(made.value(0) == "atan2(u, f32(a)) + f32(sin(a)) * min(min(u, 1/3), f32(a)) + 2 + -4 + 4");
}

TEST_CASE("sums, products, minima and maxima are written out in order") {
    CHECK(stencil("field u: f32\nu[t+1] = sum(i in -1..1, j in 0..1) u[x+i, y+j]").value(0) ==
          "u[x-1] + u[x-1, y+1] + u + u[y+1] + u[x+1] + u[x+1, y+1]");
    CHECK(stencil("field u: f32\nu[t+1] = prod(i in 1..3) (u + i)").value(0) ==
          "(u + 1) * (u + 2) * (u + 3)");
    CHECK(stencil("field u: f32\nu[t+1] = max(i in 0..2) u[x+i]").value(0) == "max(max(u, u[x+1]), u[x+2])");
    CHECK(stencil("field u: f32\nu[t+1] = u + sum(i in 1..0) u").value(0) == "u + 0");
    CHECK(stencil("field u: f32\nu[t+1] = sum(i in 1..3, j in i..2) u[x+i, y+j]").value(0) ==
          "u[x+1, y+1] + u[x+1, y+2] + u[x+2, y+2]");
}

TEST_CASE("defs are hygienic: a body sees its parameters and the stencil, not its caller") {
    const Analyzed made = stencil(
        "const i = 5\n"
        "def mean(f) = (f[x-1] + f[x+1]) / 2\n"
        "def scaled(a) = i * a\n"
        "def step(f) = f[t+1] - f\n"
        "field u: f32 { boundary clamp }\n"
        "u[t+1] = mean(u * u) + sum(i in 1..2) scaled(u[x+i])\n"
        "reduce m = max(abs(step(u)))");
    CHECK(made.value(0) == "(u[x-1] * u[x-1] + u[x+1] * u[x+1]) / 2 + (5 * u[x+1] + 5 * u[x+2])");
    CHECK(made.value(1) == "abs(u[t+1] - u)");
}

TEST_CASE("coefs are folded; launch-time coefs stay in the program") {
    const Analyzed made = stencil(
        "param h = 2\n"
        "coef c[-1..1] = [1/h, 2, 1/3]\n"
        "param coef w[0..1, 0..1] = [[1, 2], [3, 1/4]]\n"
        "field u: f32\n"
        "u[t+1] = c[-1] * u + c[1] * u[x+1] + w[1, 0] * u[y+1]");
    CHECK(made.value(0) == "f32(1 / h) * u + 1/3 * u[x+1] + w#2 * u[y+1]");
    REQUIRE(made.program().coefs.size() == 1);
    CHECK(made.program().coefs[0].defaults == std::vector<double>{1, 2, 3, 0.25});
    CHECK(made.program().coefs[0].low == std::vector<int>{0, 0});
}

TEST_CASE("offsets are computed when the program is compiled") {
    const Analyzed made = stencil("const r = 2\nfield u: f32\nu[t+1] = u[x+r-1, y-2*r] + u[1+x] + u[x, t]");
    CHECK(made.value(0) == "u[x+1, y-4] + u[x+1] + u");
}

TEST_CASE("consts are found in any order") {
    CHECK(stencil("const a = 2*b, b = 3\nfield u: f32\nu[t+1] = a * u").value(0) == "6 * u");
    CHECK(stencil("const a = sqrt(b), b = 4\nparam p = a / 8\nfield u: f32\nu[t+1] = p * u")
              .program()
              .params[0]
              .default_value == 0.25);
}

TEST_CASE("coordinates of a neighbour are those of the neighbour") {
    const Analyzed made = stencil(
        "param h = 2\nspacing x = h, y = 1/2\nfield u: f32\n"
        "u[t+1] = d(pos(x) * idx(y), x) + (pos(y) + u)[y+1]");
    CHECK(made.value(0) ==
          "f32(1/2 / h) * ((pos(x) + f32(h)) * idx(y) - (pos(x) + f32(-h)) * idx(y)) + (pos(y) + 1/2 + "
          "u[y+1])");
}

TEST_CASE("step and time are uniform; time needs a dt") {
    const Analyzed made = stencil(
        "param dt = 0.1\n"
        "field u: f32 { boundary periodic }\n"
        "let force = sin(time)\n"  // of one value: a name, no field
        "u[t+1] = u + force * u[x+1] + step");
    CHECK(made.value(0) == "u + f32(sin(step * dt)) * u[x+1] + f32(step)");
    CHECK(stencil("const dt = 1/4\nfield u: f64\nu[t+1] = u + time").value(0) == "u + step * (1/4)");
    CHECK(stencil("param time = 2\nfield u: f64\nu[t+1] = u + time").value(0) == "u + time");
    CHECK(mistakes("field u: f32\nu[t+1] = u + time") == Kinds{DiagnosticKind::unknown_name});
    CHECK(mistakes("field dt, u: f32\nu[t+1] = dt + time") == Kinds{DiagnosticKind::unknown_name});
    CHECK(mistakes("field u: f32\nu[t+1] = u + t") == Kinds{DiagnosticKind::misused_name});
    CHECK(mistakes("origin x = step\nfield u: f32\nu[t+1] = u") == Kinds{DiagnosticKind::varies_in_time});
}

TEST_CASE("a reduction is this step's value after its statement, and the last step's before it") {
    const Analyzed made = stencil(
        "field u: f32 { boundary periodic }\n"
        "let old = 2 * top\n"
        "u[t+1] = u - old\n"
        "reduce top = max(u) start 1/2\n"
        "field v: f32\n"
        "v = top * u");
    CHECK(made.value(0) == "u - f32(2 * reduction#0)");
    CHECK(made.value(2) == "f32(reduction#0) * u");
    CHECK(std::get<halo::ir::Reduce>(made.program().statements[1]).initial == 0.5);
    CHECK(halo::ir::form_stages(made.program()).size() == 2);
    CHECK(mistakes("field u: f32\nu[t+1] = u / m\nreduce m = max(u)") ==
          Kinds{DiagnosticKind::read_before_written});
    CHECK(mistakes("field u, v: f32\nlet a = m + 1\nreduce m = max(u) start 1\nu[t+1] = u / a") ==
          Kinds{DiagnosticKind::read_before_written});
    CHECK(mistakes("field u: f32\nu[t+1] = u\nreduce m = max(u) start u") ==
          Kinds{DiagnosticKind::not_uniform});
    CHECK(mistakes("field u: f32\nspacing x = m\nu[t+1] = u\nreduce m = max(u)") ==
          Kinds{DiagnosticKind::misused_name});
}

TEST_CASE("each call of random and normal is a stream of its own") {
    const Analyzed made = stencil(
        "const seed = 7\n"
        "field u: f32 { boundary periodic }\n"
        "def jump() = random() - 1/2\n"
        "let flux { boundary periodic } = normal()\n"
        "u[t+1] = u + jump() + jump() + flux[x+1] - flux");
    CHECK(made.value(0) == "normal#0()");
    CHECK(made.value(1) == "u + (random#1() - 1/2) + (random#2() - 1/2) + flux[x+1] - flux");
    CHECK(made.program().noise_seed == 7);
    CHECK(mistakes("field u: f32\nu[t+1] = (u + random())[x+1]") == Kinds{DiagnosticKind::invalid_offset});
    CHECK(mistakes("const seed = 1/2\nfield u: f32\nu[t+1] = random()") ==
          Kinds{DiagnosticKind::not_an_integer});
    CHECK(mistakes("spacing x = random()\nfield u: f32\nu[t+1] = u") == Kinds{DiagnosticKind::not_uniform});
    CHECK(mistakes("field u: f32 { boundary fixed normal() }\nu[t+1] = u[x+1]") ==
          Kinds{DiagnosticKind::not_built_yet});
    CHECK(mistakes("field u: f32\nu[t+1] = u * random(3)") == Kinds{DiagnosticKind::wrong_argument_count});
}
