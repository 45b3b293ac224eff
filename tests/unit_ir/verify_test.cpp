#include "catch.h"
#include "program_maker.h"

using namespace halo;
using namespace halo::ir;

namespace {

// True where breaking a promise of a good program by `spoil` is noticed with a sentence that says `words`.
template <class Spoil>
bool notices(const std::string& words, Spoil&& spoil) {
    Program program = heat_program(2);
    spoil(program);
    for (const std::string& sentence : verify(program)) {
        if (sentence.find(words) != std::string::npos) return true;
    }
    return false;
}

Assign& first_assign(Program& program) {
    return std::get<Assign>(program.statements[0]);
}

template <class Node>
std::uint32_t first_of(const Program& program) {
    for (std::uint32_t i = 0; i < program.exprs.size(); ++i)
        if (std::holds_alternative<Node>(program.exprs[i].node)) return i;
    return ~0U;
}

}  // namespace

TEST_CASE("a good program keeps all promises") {
    CHECK(verify(heat_program(3)).empty());
}

TEST_CASE("the arena is in order and its handles name something") {
    CHECK(notices("before its operand", [](Program& p) {
        const std::uint32_t i = first_of<Binary>(p);
        std::get<Binary>(p.exprs[i].node).left.index = i;
    }));
    CHECK(notices("no such param", [](Program& p) { p.params.clear(); }));
    CHECK(notices("no such field", [](Program& p) { p.fields.clear(); }));
    CHECK(notices("no such coef", [](Program& p) { p.exprs[0].node = CoefElement{{7}, 0}; }));
    CHECK(notices("given no expression", [](Program& p) { first_assign(p).value.index = 1000000; }));
    CHECK(notices("one to 4 axes", [](Program& p) { p.axes.clear(); }));
}

TEST_CASE("types are as each node asks") {
    CHECK(notices("a param is f64", [](Program& p) { p.exprs[first_of<ParamRef>(p)].type = Scalar::f32; }));
    CHECK(notices("the field's type", [](Program& p) { p.exprs[first_of<Access>(p)].type = Scalar::f64; }));
    CHECK(notices("changes the type", [](Program& p) { p.exprs[first_of<Unary>(p)].type = Scalar::f64; }));
    CHECK(notices("a condition is boolean",
                  [](Program& p) { p.exprs.push_back({Scalar::f64, Select{{0}, {0}, {0}}, {}}); }));
    CHECK(notices("the arguments it takes",
                  [](Program& p) { p.exprs.push_back({Scalar::f64, Call{Function::pow, {{0}}}, {}}); }));
    CHECK(notices("booleans for logic", [](Program& p) {
        p.exprs.push_back({Scalar::boolean, Binary{BinaryOp::logical_and, {0}, {0}}, {}});
    }));
}

TEST_CASE("a statement's value has its field's type") {
    ProgramMaker make(1);
    make.assign(make.field("v", Role::output), make.number(1, Scalar::f64));
    CHECK(verify(make.program) == std::vector<std::string>{"v is given a value of another type"});
}

TEST_CASE("reads are of levels and axes that are there") {
    CHECK(notices("levels that are kept",
                  [](Program& p) { std::get<Access>(p.exprs[first_of<Access>(p)].node).time = -1; }));
    CHECK(notices("before it is written",
                  [](Program& p) { std::get<Access>(p.exprs[first_of<Access>(p)].node).time = 1; }));
    CHECK(notices("axis that is not there",
                  [](Program& p) { std::get<Access>(p.exprs[first_of<Access>(p)].node).offset[2] = 1; }));
}

TEST_CASE("writes fit the roles") {
    CHECK(notices("input u is written", [](Program& p) { p.fields[0].role = Role::input; }));
    CHECK(notices("written at time +0", [](Program& p) { first_assign(p).time = 0; }));
    // Written again in place, from neighbours that are written, too.
    CHECK(notices("in place", [](Program& p) {
        Assign again = std::get<Assign>(p.statements[0]);
        ExprBuilder builder(p);
        again.value = builder.access(again.target, again.time, {1, 0, 0});
        p.statements.push_back(again);
    }));
    CHECK(notices("never written", [](Program& p) { p.statements.clear(); }));
    CHECK(notices("is negative", [](Program& p) { first_assign(p).margins[0][0] = -1; }));
    CHECK(notices("not there", [](Program& p) { first_assign(p).margins[2][0] = 1; }));
}

TEST_CASE("spacing and fixed values are uniform, periodic faces come in pairs") {
    CHECK(notices("spacing of x is not uniform",
                  [](Program& p) { p.axes[0].spacing = {first_of<Access>(p)}; }));
    CHECK(notices("fixed value of u is not uniform",
                  [](Program& p) { p.fields[0].boundary[0][0].value = {first_of<Access>(p)}; }));
    CHECK(notices("one face of an axis alone",
                  [](Program& p) { p.fields[0].boundary[0][0].kind = BoundaryKind::periodic; }));
}

TEST_CASE("fields that lie side by side are alike, and stand one after the other") {
    const auto with_group = [](std::uint32_t first, std::uint32_t second, bool interleaved) {
        ProgramMaker make(1);
        const FieldId u = make.field("u", Role::input);
        make.field("v", Role::output);
        make.assign(FieldId{1}, make.read(u));
        Group group;
        group.name = "pair";
        group.members = {"0", "1"};
        group.fields = {FieldId{first}, FieldId{second}};
        group.interleaved = interleaved;
        make.program.groups.push_back(group);
        return verify(make.program);
    };
    CHECK(with_group(0, 1, false).empty());
    CHECK(with_group(0, 1, true) == std::vector<std::string>{"u and v cannot lie side by side"});
    CHECK(with_group(1, 0, false) ==
          std::vector<std::string>{"the fields of pair do not stand one after the other"});
    CHECK(with_group(0, 2, false).size() == 1);
}
