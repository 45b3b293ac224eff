#include "analyze_text.h"
#include "compiler/ir/interpreter.h"

using halo::DiagnosticKind;

TEST_CASE("derivatives are sums over pairs with exact weights") {
    CHECK(stencil("field u: f32\nu[t+1] = d(u, x)").value(0) == "1/2 * (u[x+1] - u[x-1])");
    CHECK(stencil("spacing y = 1/10\nfield u: f32\nu[t+1] = d2(u, y)").value(0) ==
          "-200 * u + 100 * (u[y-1] + u[y+1])");
    CHECK(stencil("field u: f32\nu[t+1] = d(u, x, order=4)").value(0) ==
          "2/3 * (u[x+1] - u[x-1]) + -1/12 * (u[x+2] - u[x-2])");
    CHECK(stencil("accuracy 4\nfield u: f32\nu[t+1] = d2(u, x) - d2(u, y, order=2)").value(0) ==
          "-5/2 * u + 4/3 * (u[x-1] + u[x+1]) + -1/12 * (u[x-2] + u[x+2]) - (-2 * u + (u[y-1] + u[y+1]))");
}

TEST_CASE("the laplacian gathers the centre weights of all axes") {
    CHECK(stencil("field u: f32\nu[t+1] = laplacian(u)", "x, y, z").value(0) ==
          "-6 * u + (u[x-1] + u[x+1]) + (u[y-1] + u[y+1]) + (u[z-1] + u[z+1])");
    CHECK(stencil("param h = 1\nspacing x = h, y = 1/2\nfield u: f32\nu[t+1] = laplacian(u)").value(0) ==
          "f32(-2 / (h * h) + -8) * u + f32(1 / (h * h)) * (u[x-1] + u[x+1]) + 4 * (u[y-1] + u[y+1])");
}

TEST_CASE("operands of derivatives are taken at the neighbours") {
    CHECK(stencil("field u, k: f32\nu[t+1] = d(k * u^2, x)").value(0) ==
          "1/2 * (k[x+1] * (u[x+1] * u[x+1]) - k[x-1] * (u[x-1] * u[x-1]))");
    CHECK(stencil("param a = 1\nfield u: f32\nu[t+1] = u + d(3 * a, x) + laplacian(2)").value(0) ==
          "u + 0 + 0");
}

TEST_CASE("mixed and repeated derivatives") {
    CHECK(stencil("field u: f32\nu[t+1] = d(u, x, y)").value(0) ==
          "1/2 * (1/2 * (u[x+1, y+1] - u[x-1, y+1]) - 1/2 * (u[x+1, y-1] - u[x-1, y-1]))");
    CHECK(stencil("field u: f32\nu[t+1] = d(u, x, x)").value(0) == "-2 * u + (u[x-1] + u[x+1])");
    CHECK(stencil("field u: f32\nu[t+1] = d(u, x, x, x)").value(0) ==
          "-(u[x+1] - u[x-1]) + 1/2 * (u[x+2] - u[x-2])");
}

TEST_CASE("derivatives have the order they are asked for") {
    // The error on a period of a sine falls by 2^order when the grid is twice as fine.
    for (int order = 2; order <= 8; order += 2) {
        double errors[2] = {};
        for (int fine = 0; fine < 2; ++fine) {
            const std::int64_t n = fine ? 32 : 16;
            const Analyzed made = stencil(
                "param h = 1\nspacing x = h\nfield u: f64 { boundary periodic }\nfield du: f64\n"
                "du = d(u, x, order=" +
                    std::to_string(order) + ")",
                "x");
            halo::ir::Interpreter run(made.program(), {n, 1, 1}, halo::ir::Arithmetic::f64);
            const double h = 2 * 3.14159265358979323846 / static_cast<double>(n);
            run.set_param("h", h);
            for (std::int64_t i = 0; i < n; ++i)
                run.field("u")[i] = std::sin(h * static_cast<double>(i));
            run.step();
            for (std::int64_t i = 0; i < n; ++i) {
                const double error = std::abs(run.field("du")[i] - std::cos(h * static_cast<double>(i)));
                errors[fine] = std::max(errors[fine], error);
            }
        }
        INFO("order " << order);
        CHECK(std::log2(errors[0] / errors[1]) == Approx(order).margin(0.2));
    }
}
