#include "compiler/passes/fold_constants.h"
#include "catch.h"
#include "printed.h"

using namespace halo;
using namespace halo::ir;
using passes::fold_constants;

namespace {

// The folded value of one output, printed, given what makes it of an input u and a param p in f64.
template <class Make>
std::string folded(Make&& value, passes::FoldConstants config = {}) {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::input);
    const FieldId v = make.field("v", Role::output);
    make.assign(v, value(make, make.read(u)));
    Program program = make.finish();
    const Program before = program;
    fold_constants(program, config);
    CHECK(verify(program).empty());
    CHECK(difference(run(before, Arithmetic::declared), run(program, Arithmetic::declared)) == 0);
    CHECK(difference(run(before, Arithmetic::f64), run(program, Arithmetic::f64)) <= 1e-15);
    return statements_of(program);
}

}  // namespace

TEST_CASE("arithmetic on constants is done exactly") {
    CHECK(folded([](ProgramMaker& m, Term u) {
              return u * (m.number(Rational(1, 3)) + m.number(Rational(1, 6)) * m.number(4));
          }) == "v = u\n");
    CHECK(folded([](ProgramMaker& m, Term u) {
              return u * m.convert(m.number(Rational(2, 3), Scalar::f64) / m.number(7, Scalar::f64));
          }) == "v = u * (2/21)\n");
    CHECK(folded([](ProgramMaker& m, Term u) { return u + m.call(Function::abs, {m.number(-3)}); }) ==
          "v = u + 3\n");
    CHECK(folded([](ProgramMaker& m, Term u) { return u + m.call(Function::exp, {m.number(1)}); }) ==
          "v = u + exp(1)\n");
    CHECK(folded([](ProgramMaker& m, Term u) { return u / (m.number(1) - m.number(1)); }) == "v = u / 0\n");
}

TEST_CASE("what does nothing is dropped") {
    CHECK(folded([](ProgramMaker& m, Term u) { return m.number(1) * u / m.number(1) - m.number(0); }) ==
          "v = u\n");
    CHECK(folded([](ProgramMaker& m, Term u) { return u * m.number(-1); }) == "v = -u\n");
    CHECK(folded([](ProgramMaker&, Term u) { return -(-u); }) == "v = u\n");
    CHECK(folded([](ProgramMaker& m, Term u) { return u + -(u * u) - -m.number(2); }) ==
          "v = u - u * u + 2\n");
    CHECK(folded([](ProgramMaker&, Term u) { return -u + u * u; }) == "v = u * u - u\n");
    CHECK(folded([](ProgramMaker&, Term u) { return -u * -u; }) == "v = u * u\n");
    CHECK(folded([](ProgramMaker& m, Term u) { return u + m.number(-2); }) == "v = u - 2\n");
}

TEST_CASE("a whole number less itself is nothing, and a real one may be no number") {
    CHECK(folded([](ProgramMaker&, Term u) { return u - u; }) == "v = u - u\n");
    CHECK(folded([](ProgramMaker& m, Term u) {
              const Term index = m.coordinate(CoordinateKind::index, 0, Scalar::i32);
              return u + m.convert(index - index);
          }) == "v = u + 0\n");
}

TEST_CASE("only a power of two is divided by as a multiplication") {
    CHECK(folded([](ProgramMaker& m, Term u) { return u / m.number(4); }) == "v = 1/4 * u\n");
    CHECK(folded([](ProgramMaker& m, Term u) { return u / m.number(Rational(-1, 2)); }) == "v = -2 * u\n");
    CHECK(folded([](ProgramMaker& m, Term u) { return u / m.number(3); }) == "v = u / 3\n");
}

TEST_CASE("zeros keep their sign unless told otherwise") {
    const auto plus = [](ProgramMaker& m, Term u) { return u + m.number(0); };
    const auto minus = [](ProgramMaker& m, Term u) { return m.number(0) - u; };
    CHECK(folded(plus) == "v = u + 0\n");
    CHECK(folded(minus) == "v = 0 - u\n");
    CHECK(folded(plus, {.ignore_zero_signs = true}) == "v = u\n");
    CHECK(folded(minus, {.ignore_zero_signs = true}) == "v = -u\n");
}

TEST_CASE("factors of zero stay unless told otherwise; x^0 is 1, of NaN, too") {
    const auto product = [](ProgramMaker& m, Term u) { return u * m.number(0) + m.number(1); };
    const auto power = [](ProgramMaker& m, Term u) { return m.call(Function::pow, {u, m.number(0)}); };
    CHECK(folded(product) == "v = u * 0 + 1\n");
    CHECK(folded(product, {.ignore_zero_factors = true}) == "v = 1\n");
    CHECK(folded(power) == "v = 1\n");
}

TEST_CASE("logic and conditions on what is known") {
    const auto chosen = [](BinaryOp op, std::int64_t left) {
        return folded([=](ProgramMaker& m, Term u) {
            const Term known = m.binary(BinaryOp::less, m.number(left), m.number(2));
            const Term open = m.binary(BinaryOp::less, u, m.number(2));
            return m.select(m.binary(op, known, open), u, -u);
        });
    };
    CHECK(chosen(BinaryOp::logical_or, 1) == "v = u\n");
    CHECK(chosen(BinaryOp::logical_and, 3) == "v = -u\n");
    CHECK(chosen(BinaryOp::logical_and, 1) == "v = if u < 2 then u else -u\n");
    CHECK(folded([](ProgramMaker& m, Term u) {
              return m.select(m.binary(BinaryOp::less, u, m.number(1)), u, u);
          }) == "v = u\n");
}

TEST_CASE("a number widened and rounded back is itself") {
    CHECK(folded([](ProgramMaker& m, Term u) { return m.convert(m.convert(u, Scalar::f64), Scalar::f32); }) ==
          "v = u\n");
}

TEST_CASE("dead expressions leave the arena") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::input);
    const FieldId v = make.field("v", Role::output);
    (void)(make.read(u, {3, 0, 0}) * make.number(17));
    make.assign(v, make.read(u) * make.number(1));
    Program program = make.finish();
    fold_constants(program);
    CHECK(program.exprs.size() == 3);  // u, and the spacing and origin of x
}
