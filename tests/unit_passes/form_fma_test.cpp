#include "compiler/passes/form_fma.h"
#include "catch.h"
#include "printed.h"

using namespace halo;
using namespace halo::ir;
using passes::form_fma;

namespace {

template <class Make>
std::string fused(Make&& value) {
    ProgramMaker make(1);
    const FieldId a = make.field("a", Role::input);
    const FieldId b = make.field("b", Role::input);
    const FieldId d = make.field("d", Role::input);
    const FieldId v = make.field("v", Role::output);
    make.assign(v, value(make, make.read(a), make.read(b), make.read(d)));
    Program program = make.finish();
    const Program before = program;
    form_fma(program);
    CHECK(verify(program).empty());
    CHECK(difference(run(before, Arithmetic::declared), run(program, Arithmetic::declared)) <= 1e-6);
    CHECK(difference(run(before, Arithmetic::f64), run(program, Arithmetic::f64)) <= 1e-15);
    return statements_of(program);
}

}  // namespace

TEST_CASE("a product that meets a sum is fused") {
    CHECK(fused([](ProgramMaker&, Term a, Term b, Term d) { return a * b + d; }) == "v = fma(a, b, d)\n");
    CHECK(fused([](ProgramMaker&, Term a, Term b, Term d) { return d + a * b; }) == "v = fma(a, b, d)\n");
    CHECK(fused([](ProgramMaker&, Term a, Term b, Term d) { return a * b - d; }) == "v = fma(a, b, -d)\n");
    CHECK(fused([](ProgramMaker&, Term a, Term b, Term d) { return d - a * b; }) == "v = fma(-a, b, d)\n");
    CHECK(fused([](ProgramMaker&, Term a, Term b, Term d) { return d - -a * b; }) == "v = fma(a, b, d)\n");
}

TEST_CASE("constants and uniform factors take the minus") {
    CHECK(fused([](ProgramMaker& m, Term a, Term b, Term) { return b - m.number(6) * a; }) ==
          "v = fma(-6, a, b)\n");
    CHECK(fused([](ProgramMaker& m, Term a, Term b, Term) { return b - a * m.number(6); }) ==
          "v = fma(a, -6, b)\n");
    CHECK(fused([](ProgramMaker& m, Term a, Term b, Term) { return b - m.convert(m.param("c", 2)) * a; }) ==
          "v = fma(f32(-c), a, b)\n");
}

TEST_CASE("a sum of products is a chain") {
    CHECK(fused([](ProgramMaker& m, Term a, Term b, Term d) {
              return m.number(2) * a + m.number(3) * b + m.number(5) * d;
          }) == "v = fma(5, d, fma(3, b, 2 * a))\n");
}

TEST_CASE("a sum over a table takes in products") {
    const auto formed = [](auto&& term) {
        ProgramMaker make(1);
        Table& table = make.program.tables.emplace_back();
        table.name = "atoms";
        table.columns = {{"q", Scalar::f32, {}}};
        const FieldId a = make.field("a", Role::input);
        const FieldId v = make.field("v", Role::output);
        const Term q{&make.builder(), make.builder().add({Scalar::f32, TableColumn{{0}, 0}, {}})};
        const ExprId sum = make.builder().add({Scalar::f32, TableSum{{0}, term(make.read(a), q).id, {}}, {}});
        make.assign(v, Term{&make.builder(), sum});
        Program program = make.finish();
        form_fma(program);
        CHECK(verify(program).empty());
        return statements_of(program);
    };
    CHECK(formed([](Term a, Term q) { return a * q; }) == "v = fused sum(row in atoms) (a * row.q)\n");
    CHECK(formed([](Term a, Term q) { return a + q; }) == "v = sum(row in atoms) (a + row.q)\n");
    CHECK(formed([](Term a, Term q) { return (a - q) * (a + q); }) ==
          "v = fused sum(row in atoms) ((a - row.q) * (a + row.q))\n");
}

TEST_CASE("a product used elsewhere stays, and so do uniform expressions") {
    CHECK(fused([](ProgramMaker&, Term a, Term b, Term d) { return (a * b + d) * (a * b); }) ==
          "%1 = a * b\nv = (%1 + d) * %1\n");
    CHECK(fused([](ProgramMaker& m, Term a, Term, Term) {
              const Term c = m.param("c", 2);
              return a * m.convert(c * c + m.number(1, Scalar::f64));
          }) == "v = a * f32(c * c + 1)\n");
}
