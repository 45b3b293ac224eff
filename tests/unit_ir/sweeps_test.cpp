// Statements that go along an axis cell after cell.
#include "compiler/ir/sweeps.h"
#include "catch.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/interpreter.h"
#include "compiler/ir/verify.h"
#include "program_maker.h"

using namespace halo;
using namespace halo::ir;

namespace {

// An input u, and two outputs of a sweep along y with a fixed boundary: a = u + a[y-1] + b[y-1], b = a + 1.
struct Swept {
    ProgramMaker make{2};
    FieldId u = make.field("u", Role::input, BoundaryKind::clamp);
    FieldId a = make.field("a", Role::output, BoundaryKind::fixed);
    FieldId b = make.field("b", Role::output, BoundaryKind::fixed);

    Term before(FieldId field) { return make.read(field, {0, -1, 0}); }
    void assign(FieldId field, Term value) {
        make.assign(field, value);
        last().sweep = LineSweep{1, true, 0};
    }
    Assign& last() { return std::get<Assign>(make.program.statements.back()); }
    void finish() {
        assign(a, make.read(u) + before(a) + before(b));
        assign(b, make.read(a) + make.number(1));
    }
};

using Kind = SweepMistake::Kind;

// The mistake of a sweep whose one statement gives `a` that value; `spoil` changes the program before.
template <class Value, class Spoil>
std::optional<Kind> mistake(const Value& value, const Spoil& spoil, bool is_written = false) {
    Swept swept;
    swept.assign(swept.a, value(swept));
    spoil(swept.make.program);
    const auto found = find_sweep_mistake(swept.make.program, 0, [&](FieldId) { return is_written; });
    return found ? std::optional(found->kind) : std::nullopt;
}

}  // namespace

TEST_CASE("the statements of a sweep are done together, cell after cell") {
    Swept swept;
    swept.finish();
    const Program program = swept.make.finish();
    CHECK(verify(program).empty());
    CHECK(form_stages(program).size() == 1);
    CHECK(end_of_sweep(program, 0) == 2);
    Interpreter interpreter(program, {1, 3, 1}, Arithmetic::declared);
    interpreter.field("u") = {1, 2, 3};
    interpreter.step();  // 1 is past each face
    CHECK(interpreter.field("a") == std::vector<double>{3, 9, 22});
    CHECK(interpreter.field("b") == std::vector<double>{4, 10, 23});
}

TEST_CASE("a sweep with statements that need different stages waits for the last") {
    Swept swept;
    const FieldId let = swept.make.field("m", Role::intermediate, BoundaryKind::clamp);
    swept.make.assign(let, swept.make.read(swept.u) * swept.make.number(2));
    swept.assign(swept.a, swept.make.read(swept.u));
    swept.assign(swept.b, swept.make.read(let, {1, 0, 0}) + swept.before(swept.b));
    const Program program = swept.make.finish();
    const std::vector<Stage> stages = form_stages(program);
    REQUIRE(stages.size() == 2);
    CHECK(stages[0].statements == std::vector<int>{0});
    CHECK(stages[1].statements == std::vector<int>{1, 2});
}

TEST_CASE("what a sweep reads of what it writes is told by place, order and boundary") {
    const auto nothing = [](Program&) {};
    const auto at = [](Offset offset) {
        return [offset](Swept& swept) { return swept.make.read(swept.a, offset); };
    };
    CHECK(mistake(at({0, -1, 0}), nothing) == std::nullopt);
    CHECK(mistake(at({0, -3, 0}), nothing) == std::nullopt);
    CHECK(mistake(at({1, -1, 0}), nothing) == Kind::across);
    CHECK(mistake(at({0, 1, 0}), nothing) == Kind::ahead);
    CHECK(mistake(at({0, 0, 0}), nothing) == Kind::ahead);
    CHECK(mistake(at({0, 1, 0}), nothing, true) == std::nullopt);
    CHECK(mistake(at({0, 0, 0}), nothing, true) == std::nullopt);
    const auto with_face = [](BoundaryKind kind) {
        return [kind](Program& program) { program.fields[1].boundary[1][0].kind = kind; };
    };
    CHECK(mistake(at({0, -1, 0}), with_face(BoundaryKind::free)) == Kind::no_start);
    CHECK(mistake(at({0, -1, 0}), with_face(BoundaryKind::free), true) == std::nullopt);
    for (const BoundaryKind kind : {BoundaryKind::clamp, BoundaryKind::periodic, BoundaryKind::formula}) {
        CHECK(mistake(at({0, -1, 0}), with_face(kind)) == Kind::shows);
        CHECK(mistake(at({0, -1, 0}), with_face(kind), true) == Kind::shows);
    }
}

TEST_CASE("the verifier notices sweeps that promise too much") {
    const auto says = [](const std::string& words, const auto& spoil) {
        Swept swept;
        swept.finish();
        Program program = swept.make.finish();
        spoil(program);
        for (const std::string& sentence : verify(program))
            if (sentence.find(words) != std::string::npos) return true;
        return false;
    };
    const auto statement = [](Program& program, std::size_t i) -> Assign& {
        return std::get<Assign>(program.statements[i]);
    };
    CHECK(says("along no axis", [&](Program& p) { statement(p, 0).sweep->axis = 2; }));
    CHECK(says("out of order", [&](Program& p) {
        for (std::size_t i = 0; i < 2; ++i)
            statement(p, i).sweep->upwards = false;
    }));
    CHECK(says("swept over other cells",
               [&](Program& p) { statement(p, 1).region.ranges[0].begin = {false, 1}; }));
    CHECK(says("writes a twice", [&](Program& p) { statement(p, 1).target = statement(p, 0).target; }));
    CHECK(says("given no value", [&](Program& p) {
        p.fields[1].role = Role::state;
        statement(p, 0).time = 1;
        statement(p, 0).region.ranges[0].begin = statement(p, 1).region.ranges[0].begin = {false, 1};
    }));
}

TEST_CASE("a sweep in a sweep does whole lines, and fronts of cells are slanted as its reads need it") {
    LineSweep rows{1, true, 0};
    rows.inner = {0, false};  // each row from its high face
    CHECK(order_of(rows, {1, 0, 0}) < 0);
    CHECK(order_of(rows, {-1, 0, 0}) > 0);
    CHECK(order_of(rows, {-5, -1, 0}) < 0);
    CHECK(order_of(rows, {5, 1, 0}) > 0);
    CHECK(order_of(rows, {0, 0, 2}) == 0);
    CHECK(places_of(rows, {3, 2, 7}) == 6);
    CHECK(place_of(rows, {3, 2, 7}, 0) == Place{2, 0, -1});
    CHECK(place_of(rows, {3, 2, 7}, 5) == Place{0, 1, -1});

    const auto slant = [&](const std::vector<Offset>& offsets) {
        Swept swept;
        Term sum = swept.make.read(swept.u, {-9, -1, 0});  // of what the sweep does not write
        for (const Offset& offset : offsets)
            sum = sum + swept.make.read(swept.a, offset);
        swept.make.assign(swept.a, sum);
        swept.last().sweep = rows;
        return slant_of(swept.make.program, 0);
    };
    CHECK(slant({{1, 0, 0}, {0, -1, 0}, {4, -1, 0}}) == 1);
    CHECK(slant({{-1, -1, 0}}) == 2);
    CHECK(slant({{-3, -2, 0}}) == 2);
    CHECK(slant({{-4, -2, 0}, {0, -1, 0}}) == 3);
    CHECK(slant({{3, 1, 0}}) == 4);  // it is to remain as it was
}
