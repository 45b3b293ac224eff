// Points in the interpreter, the verifier and the stages.
#include <algorithm>

#include "catch.h"
#include "compiler/ir/interpreter.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "program_maker.h"

using namespace halo::ir;
using Cells = std::vector<double>;

namespace {

// Points `taps` with the column gain, the trace force, and the sampled trace seen.
PointsId add_taps(ProgramMaker& make) {
    Points points;
    points.name = "taps";
    points.columns = {"gain"};
    points.traces = {{"force", false}, {"seen", true}};
    make.program.points.push_back(points);
    return {0};
}

Term number_of(ProgramMaker& make, int column, Scalar type = Scalar::f32) {
    return {&make.builder(), make.builder().add({type, PointColumn{{0}, column}, {}})};
}

void inject(ProgramMaker& make, FieldId target, const Term& value) {
    Inject made;
    made.target = target;
    made.time = make.program[target].role == Role::state ? 1 : 0;
    made.value = value.id;
    make.program.statements.emplace_back(made);
}

void sample(ProgramMaker& make, const Term& value) {
    Sample made;
    made.trace = 1;
    made.value = value.id;
    make.program.statements.emplace_back(made);
}

bool is_broken(const ProgramMaker& make, const std::string& what) {
    const std::vector<std::string> broken = verify(make.program);
    return std::any_of(broken.begin(), broken.end(),
                       [&](const std::string& each) { return each.find(what) != std::string::npos; });
}

}  // namespace

TEST_CASE("what is injected is added point by point, and sampled where its statement stands") {
    ProgramMaker make(1);
    add_taps(make);
    const FieldId u = make.field("u", Role::state), v = make.field("v", Role::input);
    make.assign(u, make.read(u));
    inject(make, u, make.read(v) * number_of(make, 0) * number_of(make, 1));
    sample(make, make.read(u, {}, 1));
    const FieldId after = make.field("after", Role::output);
    make.assign(after, make.read(u, {1}, 1));
    CHECK(verify(make.program).empty());
    const std::vector<Stage> stages = form_stages(make.program);
    REQUIRE(stages.size() == 4);
    for (int i = 0; i < 4; ++i)
        CHECK(stages[i].statements == std::vector<int>{i});

    Interpreter interpreter(make.program, {4, 1, 1}, Arithmetic::declared);
    interpreter.field("v") = {1, 2, 3, 4};
    interpreter.set_points("taps", {{{{1, 0, 0}, 0.25}, {{2, 0, 0}, 0.75}}, {{{2, 0, 0}, 1}}});
    interpreter.set_column("taps", "gain", {1, 10});
    interpreter.set_trace("taps", "force", {8, 1});  // of the first step; 0 after it
    interpreter.step();
    CHECK(interpreter.field("u") == Cells{0, 4, 48, 0});  // 1/4 * 2 * 8, 3/4 * 3 * 8 + 3 * 10
    CHECK(interpreter.field("after") == Cells{4, 48, 0, 0});
    interpreter.step();
    CHECK(interpreter.field("u") == Cells{0, 4, 48, 0});
    CHECK(interpreter.trace("taps", "seen") == Cells{37, 48, 37, 48});
}

TEST_CASE("sums round in the type of the field, after the weight and after the sum") {
    ProgramMaker make(1);
    add_taps(make);
    const FieldId u = make.field("u", Role::output);
    make.assign(u, make.number(1));
    inject(make, u, make.number(halo::Rational(1) / halo::Rational(3)));
    Interpreter interpreter(make.program, {1, 1, 1}, Arithmetic::declared);
    interpreter.set_points("taps", {{{{0, 0, 0}, 0.1}}, {{{0, 0, 0}, 0.7}}, {{{0, 0, 0}, 1e-9}}});
    interpreter.step();
    float sum = 1;
    const float third = 1.0f / 3.0f;
    for (const double weight : {0.1, 0.7, 1e-9}) {
        const float product = static_cast<float>(weight) * third;
        sum = sum + product;
    }
    CHECK(interpreter.field("u")[0] == sum);
}

TEST_CASE("narrow fields are rounded when all points of a cell are done") {
    ProgramMaker make(1);
    add_taps(make);
    const FieldId u = make.field("u", Role::output);
    make.program.fields[u.index].storage = Storage::bf16;
    make.assign(u, make.number(1));
    inject(make, u, make.number(1));
    Interpreter interpreter(make.program, {1, 1, 1}, Arithmetic::declared);
    // Each by itself would be lost: bf16 has 8 bits.
    interpreter.set_points("taps",
                           {{{{0, 0, 0}, 1.0 / 512}}, {{{0, 0, 0}, 1.0 / 512}}, {{{0, 0, 0}, 1.0 / 256}}});
    interpreter.step();
    CHECK(interpreter.field("u")[0] == 1 + 1.0 / 128);
}

TEST_CASE("lets that a statement at points alone reads are in its stage, others before it") {
    ProgramMaker make(1);
    add_taps(make);
    const FieldId u = make.field("u", Role::state), mine = make.field("mine", Role::intermediate),
                  shared = make.field("shared", Role::intermediate);
    make.assign(u, make.read(u));
    make.assign(mine, make.read(u, {1}) - make.read(u));
    make.assign(shared, make.read(u, {-1}));
    inject(make, u, make.read(mine) + make.read(shared));
    const FieldId out = make.field("out", Role::output);
    make.assign(out, make.read(shared));
    infer_halos(make.program);
    CHECK(verify(make.program).empty());
    const std::vector<Stage> stages = form_stages(make.program);
    const auto stage_of = [&](int statement) {
        for (std::size_t s = 0; s < stages.size(); ++s)
            for (const int each : stages[s].statements)
                if (each == statement) return static_cast<int>(s);
        return -1;
    };
    CHECK(stage_of(1) == stage_of(3));
    CHECK(stage_of(2) < stage_of(3));
    CHECK(stage_of(4) > stage_of(3));
    const std::vector<bool> stored = stored_fields(make.program, stages);
    CHECK_FALSE(stored[mine.index]);
    CHECK(stored[shared.index]);
}

TEST_CASE("a let of what was there before an injection keeps it") {
    ProgramMaker make(1);
    add_taps(make);
    const FieldId u = make.field("u", Role::output), before = make.field("before", Role::intermediate),
                  out = make.field("out", Role::output);
    make.assign(u, make.number(1));
    make.assign(before, make.read(u));
    inject(make, u, make.number(1));
    make.assign(out, make.read(u) - make.read(before));
    Interpreter interpreter(make.program, {2, 1, 1}, Arithmetic::declared);
    interpreter.set_points("taps", {{{{1, 0, 0}, 0.5}}});
    interpreter.step();
    CHECK(interpreter.field("out") == Cells{0, 0.5});
    CHECK(stored_fields(make.program, form_stages(make.program))[before.index]);
}

TEST_CASE("the verifier keeps statements at points to what they promise") {
    const auto broken = [](const std::string& what, const auto& damage) {
        ProgramMaker make(1);
        add_taps(make);
        const FieldId u = make.field("u", Role::output), v = make.field("v", Role::input);
        make.assign(u, make.read(v));
        damage(make, u, v);
        INFO(what);
        return is_broken(make, what);
    };
    using Maker = ProgramMaker;
    CHECK(broken("reads beside its cell",
                 [](Maker& m, FieldId u, FieldId v) { inject(m, u, m.read(v, {1})); }));
    CHECK(broken("reads what it adds to", [](Maker& m, FieldId u, FieldId) { inject(m, u, m.read(u)); }));
    CHECK(broken("before it is written", [](Maker& m, FieldId, FieldId v) { inject(m, v, m.number(1)); }));
    CHECK(broken("of another type",
                 [](Maker& m, FieldId u, FieldId) { inject(m, u, m.number(1, Scalar::f64)); }));
    CHECK(broken("no such column", [](Maker& m, FieldId u, FieldId) { inject(m, u, number_of(m, 3)); }));
    CHECK(broken("numbers of other points", [](Maker& m, FieldId, FieldId) { sample(m, number_of(m, 0)); }));
    CHECK(broken("no sampled trace", [](Maker& m, FieldId, FieldId v) {
        sample(m, m.read(v));
        std::get<Sample>(m.program.statements.back()).trace = 0;
    }));
    CHECK(broken("at no points", [](Maker& m, FieldId u, FieldId) {
        inject(m, u, m.number(1));
        std::get<Inject>(m.program.statements.back()).points = {4};
    }));
}
