#include "catch.h"
#include "stencils.h"

using namespace halo;
using namespace halo::test;

TEST_CASE("a 7-point stencil reads each cell once and adds six times", "[footprint]") {
    const schedule::Footprint f = footprint_of(sum_stencil(3, ir::Scalar::f32, star(3, 1)));
    REQUIRE(f.reads.size() == 1);
    CHECK(f.reads[0].offsets.size() == 7);
    CHECK(f.reads[0].star);
    CHECK(f.reads[0].at_neighbours());
    CHECK(f.radius[0] == std::array<int, 2>{1, 1});
    CHECK(f.radius[2] == std::array<int, 2>{1, 1});
    CHECK(f.bytes_read() == 4);
    CHECK(f.bytes_written() == 4);
    CHECK(f.operations.adds == 6);
    CHECK(f.operations.flops() == 6);
    CHECK(f.flops_per_byte() == Approx(0.75));
}

TEST_CASE("a box is no star, and sides count apart", "[footprint]") {
    CHECK_FALSE(footprint_of(sum_stencil(2, ir::Scalar::f64, box(2, 1))).star);
    const schedule::Footprint upwind =
        footprint_of(sum_stencil(1, ir::Scalar::f64, {{0, 0, 0}, {-1, 0, 0}, {-2, 0, 0}}));
    CHECK(upwind.star);
    CHECK(upwind.radius[0] == std::array<int, 2>{2, 0});
    CHECK(upwind.bytes() == 16);
    CHECK(upwind.widest_bytes() == 8);
}

namespace {

// let mu = u * u;  u[t+1] = u + mu[x+1] (or mu);  reduce r = sum(u[t+1])
ir::Program two_statements(int offset) {
    ir::Program program = sum_stencil(1, ir::Scalar::f32, {{0, 0, 0}});
    program.statements.clear();
    ir::Field mu = program.fields[0];
    mu.name = "mu";
    mu.role = ir::Role::intermediate;
    program.fields.push_back(mu);
    ir::ExprBuilder build(program);
    const ir::ExprId u = build.access(ir::FieldId{0}, 0, {});
    ir::Assign square;
    square.target = ir::FieldId{1};
    square.value = build.binary(ir::BinaryOp::mul, u, u);
    ir::Assign step;
    step.target = ir::FieldId{0};
    step.time = 1;
    step.value = build.binary(ir::BinaryOp::add, u, build.access(ir::FieldId{1}, 0, {offset, 0, 0}));
    ir::Reduce sum;
    sum.name = "r";
    sum.value = build.access(ir::FieldId{0}, 1, {});
    program.statements = {square, step, sum};
    return program;
}

}  // namespace

TEST_CASE("what a stage makes and reads in place costs no bytes", "[footprint]") {
    const ir::Program program = two_statements(0);
    REQUIRE(ir::form_stages(program).size() == 1);
    const schedule::Footprint f = footprint_of(program);
    CHECK(f.reads.size() == 1);   // u, not mu and not u[t+1]
    CHECK(f.writes.size() == 1);  // u[t+1]
    CHECK(f.operations.multiplies == 1);
    CHECK(f.operations.adds == 2);  // one of them the reduction's
}

TEST_CASE("a let that another stage reads is written and read", "[footprint]") {
    const ir::Program program = two_statements(1);
    const std::vector<ir::Stage> stages = ir::form_stages(program);
    REQUIRE(stages.size() == 2);
    const schedule::Footprint first = schedule::footprint(program, stages[0]);
    REQUIRE(first.writes.size() == 1);
    CHECK(first.writes[0].field == ir::FieldId{1});
    const schedule::Footprint second = schedule::footprint(program, stages[1]);
    REQUIRE(second.reads.size() == 2);
    CHECK_FALSE(second.reads[0].at_neighbours());
    CHECK(second.reads[1].at_neighbours());
    CHECK(second.bytes() == 12);
}

TEST_CASE("what is uniform costs nothing, and shared nodes count once", "[footprint]") {
    ir::Program program = sum_stencil(1, ir::Scalar::f32, {{0, 0, 0}});
    program.params.push_back({"a", 2.0, {}});
    ir::ExprBuilder build(program);
    const ir::ExprId a = build.param(ir::ParamId{0});
    const ir::ExprId weight = build.convert(build.binary(ir::BinaryOp::mul, a, a), ir::Scalar::f32);
    const ir::ExprId u = build.access(ir::FieldId{0}, 0, {});
    const ir::ExprId root = build.call(ir::Function::sqrt, {u});
    const ir::ExprId scaled = build.fma(weight, root, root);
    std::get<ir::Assign>(program.statements[0]).value = build.binary(ir::BinaryOp::div, scaled, root);
    const schedule::Operations operations = footprint_of(program).operations;
    CHECK(operations.multiplies == 0);
    CHECK(operations.roots == 1);
    CHECK(operations.fmas == 1);
    CHECK(operations.divisions == 1);
    CHECK(operations.flops() == 4);
}

TEST_CASE("what neighbours compute, too, counts once", "[footprint]") {
    ir::Program program = sum_stencil(2, ir::Scalar::f32, {{0, 0, 0}});
    ir::ExprBuilder build(program);
    const auto row = [&](int y) {
        return build.binary(ir::BinaryOp::add, build.access(ir::FieldId{0}, 0, {-1, y, 0}),
                            build.access(ir::FieldId{0}, 0, {1, y, 0}));
    };
    const ir::ExprId sides = build.binary(ir::BinaryOp::add, row(-1), row(1));
    std::get<ir::Assign>(program.statements[0]).value = build.binary(ir::BinaryOp::sub, sides, row(0));
    const schedule::Footprint f = footprint_of(program);
    CHECK(f.operations.adds == 3);
    CHECK(f.operations.flops() == 3);
    CHECK(f.flops_alone == 5);
    CHECK(footprint_of(sum_stencil(3, ir::Scalar::f32, star(3, 1))).flops_alone == 6);
}
