#include "compiler/passes/group_coefficients.h"
#include "catch.h"
#include "compiler/ir/finite_difference.h"
#include "printed.h"

using namespace halo;
using namespace halo::ir;
using passes::group_coefficients;

namespace {

std::string grouped(Program program) {
    const Program before = program;
    group_coefficients(program);
    CHECK(verify(program).empty());
    CHECK(difference(run(before, Arithmetic::declared), run(program, Arithmetic::declared)) <= 2e-6);
    CHECK(difference(run(before, Arithmetic::f64), run(program, Arithmetic::f64)) <= 1e-14);
    const std::string once = statements_of(program);
    group_coefficients(program);
    CHECK(statements_of(program) == once);
    return once;
}

// A program with inputs a, b, d and params c, k (f32 by convert) whose output is what `value` makes.
struct Ingredients {
    ProgramMaker& make;
    Term a, b, d, c, k;
    Term number(Rational value) const { return make.number(std::move(value)); }
};
template <class Make>
std::string grouped_value(Make&& value) {
    ProgramMaker make(2);
    const FieldId a = make.field("a", Role::input);
    const FieldId b = make.field("b", Role::input);
    const FieldId d = make.field("d", Role::input);
    const FieldId v = make.field("v", Role::output);
    const Term c = make.convert(make.param("c", 0.7)), k = make.convert(make.param("k", 1.3));
    make.assign(v, value(Ingredients{make, make.read(a), make.read(b), make.read(d), c, k}));
    return grouped(make.finish());
}

}  // namespace

TEST_CASE("heat in 3D is seven points with one factor in front") {
    CHECK(grouped(heat_program(3)) ==
          "u[t+1] = u + f32(lambda * dt) * (u[x-1] + u[x+1] + u[y-1] + u[y+1] + u[z-1] + u[z+1] - 6 * u)\n");
}

TEST_CASE("a derivative of order 8 is four weighted differences") {
    ProgramMaker make(1);
    const FieldId f = make.field("f", Role::input);
    const FieldId df = make.field("df", Role::output);
    const Term dx = make.param("dx", 0.5);
    std::optional<Term> sum;
    for (const Tap& tap : centred_difference(1, 8)) {
        if (tap.weight.is_zero()) continue;
        const Term weight = make.convert(make.number(tap.weight, Scalar::f64) / dx);
        const Term term = weight * make.read(f, {tap.offset, 0, 0});
        sum = sum ? *sum + term : term;
    }
    make.assign(df, *sum);
    const Program program = make.finish();
    CHECK(grouped(program) ==
          "df = f32(4/105 / dx) * (f[x+3] - f[x-3]) - f32(1/280 / dx) * (f[x+4] - f[x-4]) - "
          "f32(1/5 / dx) * (f[x+2] - f[x-2]) + f32(4/5 / dx) * (f[x+1] - f[x-1])\n");
}

TEST_CASE("uniform factors of a product become one") {
    CHECK(grouped_value([](const Ingredients& i) { return i.c * (i.a - i.b) / i.k; }) ==
          "v = f32(c / k) * (a - b)\n");
    CHECK(grouped_value([](const Ingredients& i) { return i.a / i.number(3); }) == "v = 1/3 * a\n");
    CHECK(grouped_value([](const Ingredients& i) { return (i.a * i.c) * (i.a * i.c) * i.b; }) ==
          "v = f32(c * c) * (a * a * b)\n");
    CHECK(grouped_value([](const Ingredients& i) { return i.c * i.a / (i.k * i.b); }) ==
          "v = f32(c / k) * (a / b)\n");
    CHECK(grouped_value([](const Ingredients& i) { return i.c / (i.k * i.b); }) == "v = f32(c / k) / b\n");
    CHECK(grouped_value([](const Ingredients& i) { return -(i.c * i.a) * i.k; }) ==
          "v = f32(-(c * k)) * a\n");
}

TEST_CASE("like terms are one, and terms that cancel are gone") {
    CHECK(grouped_value([](const Ingredients& i) { return i.number(2) * i.a + i.b + i.a; }) ==
          "v = 3 * a + b\n");
    CHECK(grouped_value([](const Ingredients& i) { return i.a + i.b - i.a; }) == "v = b\n");
    CHECK(grouped_value([](const Ingredients& i) { return i.c * i.a + i.b + i.c * i.a; }) ==
          "v = f32(2 * c) * a + b\n");
    CHECK(grouped_value([](const Ingredients& i) { return i.a - i.a; }) == "v = 0\n");
    CHECK(grouped_value([](const Ingredients& i) { return i.c * i.a + i.k * i.a; }) ==
          "v = f32(c + k) * a\n");
}

TEST_CASE("terms with equal or opposite coefficients share it") {
    CHECK(grouped_value([](const Ingredients& i) { return i.c * i.a + i.c * i.b - i.c * i.d; }) ==
          "v = f32(c) * (a + b - d)\n");
    CHECK(grouped_value([](const Ingredients& i) { return i.a - i.c * i.b - i.c * i.d; }) ==
          "v = a - f32(c) * (b + d)\n");
    CHECK(grouped_value([](const Ingredients& i) { return i.b - i.c * (i.a - i.d) + i.c * i.b; }) ==
          "v = b + f32(c) * (d - a + b)\n");
}

TEST_CASE("uniform terms are one and stay where they were") {
    CHECK(grouped_value([](const Ingredients& i) { return i.c + i.a + i.k; }) == "v = f32(c + k) + a\n");
    CHECK(grouped_value([](const Ingredients& i) { return i.number(1) - i.a - i.number(3); }) ==
          "v = -2 - a\n");
    CHECK(grouped_value([](const Ingredients& i) { return i.a - i.number(Rational(1, 2)); }) ==
          "v = a - 1/2\n");
}

TEST_CASE("a factor in front of a sum stays in front") {
    CHECK(grouped_value([](const Ingredients& i) { return i.a + i.c * (i.b - i.number(6) * i.a); }) ==
          "v = a + f32(c) * (b - 6 * a)\n");
    CHECK(grouped_value([](const Ingredients& i) {
              const Term inner = i.number(2) * i.a + i.number(3) * i.b;
              return i.k * (i.c * inner);
          }) == "v = f32(c * k) * (2 * a + 3 * b)\n");
}

TEST_CASE("parenthesised sums with the same factor are merged") {
    CHECK(grouped_value([](const Ingredients& i) {
              const Term first = i.a - i.number(2) * i.b, second = i.d - i.number(2) * i.b;
              return i.k * (first / i.number(9) + second / i.number(9));
          }) == "v = f32(1/9 * k) * (a + d - 4 * b)\n");
}

TEST_CASE("sums and products that are used twice are computed once") {
    CHECK(grouped_value([](const Ingredients& i) {
              const Term sum = i.a + i.b;
              return sum * sum + i.number(3) * sum;
          }) == "%1 = a + b\nv = %1 * %1 + 3 * %1\n");
    CHECK(grouped_value([](const Ingredients& i) {
              const Term scaled = i.c * i.a;
              return i.make.call(Function::exp, {scaled * i.b}) + i.make.call(Function::exp, {scaled * i.d});
          }) == "%1 = f32(c) * a\nv = exp(%1 * b) + exp(%1 * d)\n");
}

TEST_CASE("sums begin with a positive term, and with all of its group") {
    CHECK(grouped_value([](const Ingredients& i) { return i.number(-6) * i.a + i.b + i.d; }) ==
          "v = b + d - 6 * a\n");
    CHECK(grouped_value([](const Ingredients& i) { return -i.a + i.b; }) == "v = b - a\n");
    CHECK(grouped_value([](const Ingredients& i) { return -i.a - i.b; }) == "v = -(a + b)\n");
    CHECK(grouped_value([](const Ingredients& i) { return i.number(-6) * i.a + i.b; }) == "v = b - 6 * a\n");
}

TEST_CASE("division by what varies stays, and by zero") {
    CHECK(grouped_value([](const Ingredients& i) { return i.a / (i.b + i.d); }) == "v = a / (b + d)\n");
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::input);
    make.assign(make.field("v", Role::output), make.read(u) / make.number(0));
    Program program = make.finish();
    group_coefficients(program);
    CHECK(statements_of(program) == "v = u / 0\n");
}

TEST_CASE("a very long sum is grouped without recursion") {
    ProgramMaker make(2);
    const FieldId u = make.field("u", Role::input);
    const FieldId v = make.field("v", Role::output);
    Term sum = make.read(u);
    for (int i = 1; i < 50000; ++i)
        sum = sum + make.number(i % 5 + 1) * make.read(u, {i % 300, i / 300, 0});
    make.assign(v, sum);
    Program program = make.finish();
    group_coefficients(program);
    CHECK(verify(program).empty());
    std::size_t products = 0;
    for (const Expr& expr : program.exprs) {
        const Binary* binary = std::get_if<Binary>(&expr.node);
        products += binary && binary->op == BinaryOp::mul;
    }
    CHECK(products == 4);
}
