#include "compiler/ir/analysis.h"
#include "catch.h"

using halo::Rational;
using namespace halo::ir;

namespace {

// A two-axis program under construction; fields are free on all faces until told.
struct Fixture {
    Program program;
    ExprBuilder build{program};

    Fixture() {
        const ExprId one = build.constant(Rational(1), Scalar::f64);
        program.axes = {{"x", one, one}, {"y", one, one}};
    }
    FieldId field(const char* name, Role role) {
        Field made;
        made.name = name;
        made.role = role;
        program.fields.push_back(made);
        return FieldId{static_cast<std::uint32_t>(program.fields.size() - 1)};
    }
    void face(FieldId id, int axis, int side, BoundaryKind kind) {
        program.fields[id.index].boundary[axis][side].kind = kind;
    }
    void all_faces(FieldId id, BoundaryKind kind) {
        for (int axis = 0; axis < 2; ++axis) {
            for (int side = 0; side < 2; ++side)
                face(id, axis, side, kind);
        }
    }
    ExprId read(FieldId id, int x, int y = 0, int time = 0) { return build.access(id, time, {x, y, 0}); }
    ExprId sum(ExprId a, ExprId b) { return build.binary(BinaryOp::add, a, b); }
    void assign(FieldId target, ExprId value, int time = 0) {
        Assign made;
        made.target = target;
        made.time = time;
        made.value = value;
        program.statements.push_back(made);
    }
    Margins margins(std::size_t statement) {
        const Statement& node = program.statements[statement];
        if (const auto* reduce = std::get_if<Reduce>(&node)) return reduce->margins;
        return std::get<Assign>(node).margins;
    }
    std::vector<std::vector<int>> stages() {
        std::vector<std::vector<int>> result;
        for (const Stage& stage : form_stages(program))
            result.push_back(stage.statements);
        return result;
    }
};

using Stages = std::vector<std::vector<int>>;

}  // namespace

TEST_CASE("uniform expressions are those with one value per launch") {
    Fixture f;
    f.program.params.push_back({"dt", 0.5, {}});
    f.program.coefs.push_back({"c", Scalar::f64, {0}, {0}, {1.0}, {}});
    const FieldId u = f.field("u", Role::input);
    const ExprId dt = f.build.param(ParamId{0});
    const ExprId twice = f.sum(dt, dt);
    const ExprId extent = f.build.add({Scalar::f64, Coordinate{CoordinateKind::extent, 0}, {}});
    const ExprId index = f.build.add({Scalar::f64, Coordinate{CoordinateKind::index, 0}, {}});
    const ExprId weight = f.build.add({Scalar::f64, CoefElement{CoefId{0}, 0}, {}});
    const ExprId read = f.read(u, 0);
    const ExprId mixed = f.sum(read, f.build.convert(twice, Scalar::f32));
    const std::vector<bool> uniform = uniform_exprs(f.program);
    CHECK(uniform[twice.index]);
    CHECK(uniform[extent.index]);
    CHECK_FALSE(uniform[index.index]);
    CHECK_FALSE(uniform[weight.index]);
    CHECK_FALSE(uniform[read.index]);
    CHECK_FALSE(uniform[mixed.index]);
}

TEST_CASE("reachable expressions are the roots and all they need") {
    Fixture f;
    const FieldId u = f.field("u", Role::input);
    const ExprId left = f.read(u, -1), right = f.read(u, 1), other = f.read(u, 2);
    const ExprId root = f.sum(left, right);
    const std::vector<bool> reachable = reachable_exprs(f.program, {root});
    CHECK(reachable[left.index]);
    CHECK(reachable[right.index]);
    CHECK(reachable[root.index]);
    CHECK_FALSE(reachable[other.index]);
    CHECK(reachable_exprs(f.program, {other})[other.index]);
}

TEST_CASE("halos reach as far as any statement reads past a face that is not free") {
    Fixture f;
    const FieldId u = f.field("u", Role::input), w = f.field("w", Role::output);
    f.all_faces(u, BoundaryKind::clamp);
    f.face(u, 1, 1, BoundaryKind::free);
    f.assign(w, f.sum(f.sum(f.read(u, -3), f.read(u, 1, 2)), f.read(u, 2, -1)));
    infer_halos(f.program);
    const Field& field = f.program[u];
    CHECK(field.halo[0][0] == 3);
    CHECK(field.halo[0][1] == 2);
    CHECK(field.halo[1][0] == 1);
    CHECK(field.halo[1][1] == 0);  // free
    CHECK(f.program[w].halo[0][0] == 0);
}

TEST_CASE("margins are where a statement would read past a free face") {
    Fixture f;
    const FieldId u = f.field("u", Role::state), v = f.field("v", Role::input);
    f.all_faces(v, BoundaryKind::periodic);
    f.face(u, 1, 0, BoundaryKind::fixed);
    f.assign(u, f.sum(f.sum(f.read(u, -2), f.read(u, 1, -1)), f.read(v, 4, 4)), 1);
    infer_margins(f.program);
    const Margins margins = f.margins(0);
    CHECK(margins[0][0] == 2);
    CHECK(margins[0][1] == 1);
    CHECK(margins[1][0] == 0);  // fixed
    CHECK(margins[1][1] == 0);
}

TEST_CASE("margins of what is made within the step pass to its readers") {
    Fixture f;
    const FieldId u = f.field("u", Role::state), mu = f.field("mu", Role::intermediate);
    f.assign(mu, f.sum(f.read(u, -1), f.read(u, 1)));
    f.assign(u, f.sum(f.read(mu, -1), f.sum(f.read(mu, 0), f.read(mu, 2))), 1);
    Reduce reduce;
    reduce.value = f.read(mu, 0);
    f.program.statements.push_back(reduce);
    infer_margins(f.program);
    CHECK(f.margins(0)[0][0] == 1);
    CHECK(f.margins(1)[0][0] == 2);
    CHECK(f.margins(1)[0][1] == 3);
    CHECK(f.margins(1)[1][0] == 0);
    CHECK(f.margins(2)[0][1] == 1);
}

TEST_CASE("a state's new level has a value everywhere: its readers take no margin from its own") {
    Fixture f;
    const FieldId u = f.field("u", Role::state), w = f.field("w", Role::output);
    f.assign(u, f.sum(f.read(u, -1), f.read(u, 1)), 1);
    f.assign(w, f.sum(f.read(u, 0, 0, 1), f.read(u, 0, 0, 0)));
    infer_margins(f.program);
    CHECK(f.margins(0)[0][0] == 1);
    CHECK(f.margins(1) == Margins{});
}

TEST_CASE("a grid has the cells that a boundary shows of a let with a margin opposite") {
    Fixture f;
    const FieldId u = f.field("u", Role::state), mu = f.field("mu", Role::intermediate);
    f.face(mu, 0, 1, BoundaryKind::mirror);
    f.face(mu, 1, 1, BoundaryKind::clamp);
    f.assign(mu, f.read(u, -3, -2));
    f.assign(u, f.read(mu, 2, 1), 1);
    infer_margins(f.program);
    CHECK(f.program[mu].boundary[0][1].reach == 6);  // mu[n+1] is mu[n-3], and mu[2] has no value
    CHECK(f.program[mu].boundary[1][1].reach == 3);
    CHECK(f.program[mu].boundary[0][0].reach == 0);
    CHECK(f.program[u].boundary[0][1].reach == 0);
}

TEST_CASE("a boundary shows no value that a let does not have") {
    Fixture f;
    const FieldId u = f.field("u", Role::state), mu = f.field("mu", Role::intermediate);
    f.all_faces(mu, BoundaryKind::periodic);
    f.face(u, 0, 0, BoundaryKind::clamp);  // mu has a margin at the high face alone
    f.assign(mu, f.sum(f.read(u, -1), f.read(u, 1)));
    f.assign(u, f.sum(f.read(mu, -1), f.read(mu, 1)), 1);
    infer_margins(f.program);
    CHECK(f.margins(0)[0][0] == 0);
    CHECK(f.margins(0)[0][1] == 1);
    CHECK(f.margins(1)[0][0] == 1);  // mu[-1] is mu[n-1], which has no value
    CHECK(f.margins(1)[0][1] == 2);
}

TEST_CASE("a read at an offset of what the step wrote begins a stage; a pointwise read does not") {
    Fixture f;
    const FieldId u = f.field("u", Role::state), a = f.field("a", Role::intermediate),
                  b = f.field("b", Role::intermediate);
    f.assign(a, f.sum(f.read(u, -1), f.read(u, 1)));
    f.assign(b, f.sum(f.read(a, 0), f.read(u, 0)));
    f.assign(u, f.sum(f.read(b, -1), f.read(b, 1)), 1);
    CHECK(f.stages() == Stages{{0, 1}, {2}});
    const std::vector<bool> stored = stored_fields(f.program, form_stages(f.program));
    CHECK(stored[u.index]);
    CHECK_FALSE(stored[a.index]);
    CHECK(stored[b.index]);
}

TEST_CASE("independent chains share their stages, and lets wait for their readers") {
    Fixture f;
    const FieldId u = f.field("u", Role::state), mu = f.field("mu", Role::intermediate),
                  lap = f.field("lap", Role::intermediate), half = f.field("half", Role::intermediate),
                  p = f.field("p", Role::output), q = f.field("q", Role::output);
    f.assign(mu, f.read(u, 1));                             // 0
    f.assign(p, f.read(mu, 1));                             // 1
    f.assign(half, f.sum(f.read(u, 2), f.read(u, 0)));      // 2: needed by 3 alone
    f.assign(lap, f.sum(f.read(half, 0), f.read(u, -1)));   // 3: needed by 4 alone
    f.assign(u, f.sum(f.read(mu, -1), f.read(lap, 0)), 1);  // 4
    f.assign(q, f.read(u, 1, 0, 1));                        // 5: the new level, at an offset
    CHECK(f.stages() == Stages{{0}, {1, 2, 3, 4}, {5}});
    const std::vector<bool> stored = stored_fields(f.program, form_stages(f.program));
    CHECK(stored[mu.index]);
    CHECK_FALSE(stored[lap.index]);
    CHECK_FALSE(stored[half.index]);
}

TEST_CASE("reads of the old level do not wait for the new one") {
    Fixture f;
    const FieldId u = f.field("u", Role::state), w = f.field("w", Role::output);
    f.assign(u, f.sum(f.read(u, -1), f.read(u, 1)), 1);
    f.assign(w, f.read(u, 1));
    CHECK(f.stages() == Stages{{0, 1}});
}

TEST_CASE("a program without statements has no stages") {
    Fixture f;
    CHECK(f.stages().empty());
}
