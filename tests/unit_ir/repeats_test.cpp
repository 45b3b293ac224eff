// Statements that are done several times in a step.
#include "compiler/ir/repeats.h"
#include "catch.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/interpreter.h"
#include "compiler/ir/unread_steps.h"
#include "compiler/ir/verify.h"
#include "program_maker.h"

using namespace halo;
using namespace halo::ir;

namespace {

// twice = 2u once; then three times next = a[x-1] + twice, last = max(next) and a = next; then out = a.
struct Repeated {
    ProgramMaker make{1};
    FieldId u = make.field("u", Role::input);
    FieldId twice = make.field("twice", Role::intermediate);
    FieldId a = make.field("a", Role::state);
    FieldId next = make.field("next", Role::intermediate);
    FieldId out = make.field("out", Role::output);

    Repeated() {
        make.assign(twice, make.read(u) * make.number(2));
        make.assign(a, make.read(a));
        make.assign(next, make.read(a, {-1, 0, 0}, 1) + make.read(twice));
        repeat();
        Reduce reduce;
        reduce.name = "last";
        reduce.op = ReduceOp::max;
        reduce.value = make.read(next).id;
        make.program.statements.emplace_back(reduce);
        std::get<Reduce>(make.program.statements.back()).repeats = {Repeat{0, 3}};
        make.assign(a, make.read(next));
        repeat();
        make.assign(out, make.read(a, {0, 0, 0}, 1));
    }
    void repeat() { std::get<Assign>(make.program.statements.back()).repeats = {Repeat{0, 3}}; }
};

}  // namespace

TEST_CASE("the statements of a repeat are done together, several times") {
    Repeated repeated;
    const Program program = repeated.make.finish();
    CHECK(verify(program).empty());
    CHECK(end_of_repeat(program, 2) == 5);
    CHECK(first_of_repeat(program, 4) == 2);
    CHECK(end_of_repeat(program, 0) == 1);
    CHECK(times_in_step(program.statements[3]) == 3);
    Interpreter interpreter(program, {2, 1, 1}, Arithmetic::declared);
    interpreter.field("u") = {1, 10};
    interpreter.step();  // a: {0, 0}, {2, 20}, {22, 22}, {24, 42}
    CHECK(interpreter.field("a") == std::vector<double>{24, 42});
    CHECK(interpreter.field("out") == std::vector<double>{24, 42});
    CHECK(interpreter.reduction("last") == 42);
}

TEST_CASE("a repeat within a repeat is done each time that that one is") {
    Repeated repeated;
    for (const std::size_t i : {2, 3, 4})
        std::visit(
            [](auto& node) {
                if constexpr (requires { node.repeats; }) node.repeats = {Repeat{0, 2}, Repeat{1, 3}};
            },
            repeated.make.program.statements[i]);
    std::get<Assign>(repeated.make.program.statements[5]).repeats = {Repeat{0, 2}};
    const Program program = repeated.make.finish();
    CHECK(verify(program).empty());
    CHECK(end_of_repeat(program, 2) == 6);
    CHECK(end_of_repeat(program, 2, 1) == 5);
    CHECK(first_of_repeat(program, 5) == 2);
    CHECK(first_of_repeat(program, 5, 1) == 5);
    CHECK(times_in_step(program.statements[3]) == 6);
    CHECK(times_in_step(program.statements[5]) == 2);
    for (const Stage& stage : form_stages(program))
        for (const int statement : stage.statements)
            CHECK(repeats_of(program.statements[static_cast<std::size_t>(statement)]) ==
                  repeats_of(program.statements[static_cast<std::size_t>(stage.statements.front())]));
    Interpreter interpreter(program, {2, 1, 1}, Arithmetic::declared);
    interpreter.field("u") = {1, 10};
    interpreter.step();  // a: {0, 0}, {2, 20}, {22, 22}, {24, 42}, {44, 44}, {46, 64}, {66, 66}
    CHECK(interpreter.field("a") == std::vector<double>{66, 66});
    // An inner repeat that begins again, after a statement of the outer one, is another one.
    Program apart = program;
    std::get<Assign>(apart.statements[5]).repeats = {Repeat{0, 2}, Repeat{2, 1}};
    CHECK(verify(apart).empty());
    std::get<Reduce>(apart.statements[3]).repeats = {Repeat{0, 2}};
    CHECK_FALSE(verify(apart).empty());
}

TEST_CASE("what the step's number chooses is left out of steps whose results nobody reads") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::state), let = make.field("let", Role::intermediate);
    make.assign(u, make.read(u));
    make.assign(let, make.read(u, {1, 0, 0}, 1));
    make.assign(u, make.read(let));
    const auto condition = [&](CoordinateKind kind) {
        return make.binary(BinaryOp::equal, make.coordinate(kind, 0, Scalar::f64),
                           make.number(3, Scalar::f64));
    };
    const Term by_step = condition(CoordinateKind::step), by_cell = condition(CoordinateKind::index);
    auto& last = std::get<Assign>(make.program.statements.back());
    last.condition = by_step.id;
    const std::vector<bool> first_alone{true, false, false}, all{true, true, true};
    CHECK(needed_in_unread_steps(make.program) == first_alone);
    CHECK(conditions_of_steps(make.program) == std::vector<ExprId>{by_step.id});
    CHECK(needed_in_unread_steps(make.program, {false, true, false}) == std::vector<bool>{true, true, false});
    last.condition = by_cell.id;  // some cells in each step
    CHECK(needed_in_unread_steps(make.program) == all);
    CHECK(conditions_of_steps(make.program).empty());
    // The first statement gives all cells a value, those of other steps, too.
    std::get<Assign>(make.program.statements.front()).condition = by_step.id;
    CHECK(conditions_of_steps(make.program).empty());
    CHECK(needed_in_unread_steps(make.program) == all);
}

TEST_CASE("a stage is of one repeat or of none, and lets before it are stored") {
    Repeated repeated;
    const Program program = repeated.make.finish();
    const std::vector<Stage> stages = form_stages(program);
    for (const Stage& stage : stages)
        for (const int statement : stage.statements)
            CHECK((repeat_of(program.statements[static_cast<std::size_t>(statement)]) != nullptr) ==
                  (repeat_of(program.statements[static_cast<std::size_t>(stage.statements.front())]) !=
                   nullptr));
    CHECK(stored_fields(program, stages)[repeated.twice.index]);
}

TEST_CASE("steps that nobody reads leave out what a repeat reduces, and keep what its next iteration reads") {
    Repeated repeated;
    const std::vector<bool> needed = needed_in_unread_steps(repeated.make.finish());
    CHECK(needed == std::vector<bool>{true, true, true, false, true, false});
}

TEST_CASE("the verifier sees repeats that are torn apart") {
    Repeated apart;
    std::get<Reduce>(apart.make.program.statements[3]).repeats.clear();
    CHECK_FALSE(verify(apart.make.program).empty());
    Repeated unlike;
    std::get<Reduce>(unlike.make.program.statements[3]).repeats.front().count = 4;
    CHECK_FALSE(verify(unlike.make.program).empty());
}

TEST_CASE("a condition ends a repeat, counts its iterations and keeps what it reads") {
    Repeated repeated;
    const auto expr = [&](Scalar type, auto node) {
        repeated.make.program.exprs.push_back({type, node, {}});
        return ExprId{static_cast<std::uint32_t>(repeated.make.program.exprs.size() - 1)};
    };
    const ExprId last = expr(Scalar::f64, ReductionRef{ReductionId{0}});
    const ExprId bound = expr(Scalar::f64, Constant{Rational(20)});
    const ExprId until = expr(Scalar::boolean, Binary{BinaryOp::greater_equal, last, bound});
    repeated.make.program.repeat_ends.push_back({0, until, "last >= 20", {}});
    const Program program = repeated.make.finish();
    CHECK(verify(program).empty());
    CHECK(own_reductions(program, program.repeat_ends[0]) == std::vector<std::string>{"last"});
    CHECK(most_iterations(program, program.repeat_ends[0]) == 3);
    CHECK(needed_in_unread_steps(program)[3]);  // the reduction, though nobody reads it
    Interpreter interpreter(program, {2, 1, 1}, Arithmetic::declared);
    interpreter.field("u") = {1, 10};
    interpreter.step();  // a: {0, 0}, {2, 20}: the condition holds
    CHECK(interpreter.field("a") == std::vector<double>{2, 20});
    CHECK(interpreter.reduction("last") == 20);
    interpreter.field("u") = {0, 0};
    interpreter.field("a") = {1, 2};
    interpreter.step();  // never
    CHECK(interpreter.iterations(0).total == 4);
    CHECK(interpreter.iterations(0).most == 3);
    CHECK(interpreter.iterations(0).unfinished == 1);

    Program without = program;  // what it reads is not of the repeat
    std::get<Reduce>(without.statements[3]).repeats.front().number = 1;
    CHECK_FALSE(verify(without).empty());
    Program number = program;
    number.repeat_ends[0].until = last;
    CHECK_FALSE(verify(number).empty());
}
