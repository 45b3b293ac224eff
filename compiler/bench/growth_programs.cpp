#include "compiler/bench/growth_programs.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/error.h"

namespace halo::bench {

namespace {

std::string fields(int count) {
    std::string text;
    for (int n = 0; n < count; ++n)
        text += fmt::format("    field u{}: f32 {{ boundary fixed 1 }}\n", n);
    return text;
}

std::string chain(int statements) {
    std::string text = fields(statements) + "    u0[t+1] = u0 + c * (u0[x-1] - 2*u0 + u0[x+1])\n";
    for (int n = 1; n < statements; ++n)
        text +=
            fmt::format("    u{0}[t+1] = u{0} + c * (u{1}[t+1, x-1] - 2*u{0} + u{1}[t+1, x+1])\n", n, n - 1);
    return text;
}

std::string wide(int statements) {
    std::string text = fields(statements);
    for (int n = 0; n < statements; ++n)
        text += fmt::format("    u{0}[t+1] = u{0} + c * (u{0}[x-1] - 2*u{1} + u{0}[y+1])\n", n,
                            n == 0 ? statements - 1 : n - 1);
    return text;
}

std::string lets(int statements) {
    std::string text = fields(1) + "    let a0 = u0 + c * u0[x-1]\n";
    for (int n = 1; n < statements; ++n)
        text +=
            fmt::format("    let a{0} = a{1} + c * a{1} * u0[{2}]\n", n, n - 1, n % 2 == 0 ? "x+1" : "y-1");
    return text + fmt::format("    u0[t+1] = a{} / 4\n", statements - 1);
}

}  // namespace

const std::vector<std::string>& growth_shapes() {
    static const std::vector<std::string> shapes{"chain", "wide", "lets"};
    return shapes;
}

std::string growth_program(const std::string& shape, int statements) {
    std::string body;
    if (shape == "chain") body = chain(statements);
    if (shape == "wide") body = wide(statements);
    if (shape == "lets") body = lets(statements);
    if (body.empty()) throw InternalError("programs of this shape are not made: " + shape);
    return fmt::format("stencil {}{}(x, y) {{\n    param c = 0.1\n{}}}\n", shape, statements, body);
}

}  // namespace halo::bench
