#include "compiler/passes/skip_copies.h"
#include "catch.h"
#include "printed.h"

using namespace halo;
using namespace halo::ir;
using passes::skip_copies;

namespace {

// u and its copy, which `u[t+1]` reads at neighbours.
struct CopyMaker : ProgramMaker {
    explicit CopyMaker(BoundaryKind kind = BoundaryKind::periodic) : CopyMaker(kind, kind) {}
    CopyMaker(BoundaryKind of_state, BoundaryKind of_copy) : ProgramMaker(1) {
        u = field("u", Role::state, of_state);
        copy = field("copy", Role::intermediate, of_copy);
    }
    void step() { assign(u, read(copy, {-1, 0, 0}) + read(copy) + read(copy, {1, 0, 0})); }
    FieldId u, copy;
};

// The copy's own statement is left, and makes no stage, as nothing reads it.
constexpr const char* kSkipped = "copy = u\nu[t+1] = u[x-1] + u + u[x+1]";

void check_copy_stays(const Program& program) {
    Program skipped = program;
    skip_copies(skipped);
    CHECK(print(skipped) == print(program));
}

}  // namespace

TEST_CASE("what reads a copy reads what it is a copy of") {
    for (const BoundaryKind kind : {BoundaryKind::periodic, BoundaryKind::fixed, BoundaryKind::clamp,
                                    BoundaryKind::mirror, BoundaryKind::free}) {
        CopyMaker make(kind);
        make.assign(make.copy, make.read(make.u));
        make.step();
        const Program raw = make.finish();
        Program program = raw;
        skip_copies(program);
        CHECK(verify(program).empty());
        CHECK(statements_of(program).starts_with(kSkipped));
        CHECK(form_stages(program).size() == 1);
        CHECK(run(program, Arithmetic::declared).front() == run(raw, Arithmetic::declared).front());
    }
}

TEST_CASE("a copy of a copy is skipped as well, and a level of the past is read where it is") {
    CopyMaker make;
    make.program.fields[make.u.index].history = 1;
    const FieldId second = make.field("second", Role::intermediate, BoundaryKind::periodic);
    make.assign(make.copy, make.read(make.u, {}, -1));
    make.assign(second, make.read(make.copy));
    make.assign(make.u, make.read(second, {1, 0, 0}) - make.read(make.u));
    Program program = make.finish();
    skip_copies(program);
    CHECK(verify(program).empty());
    CHECK(statements_of(program) == "copy = u[t-1]\nsecond = u[t-1]\nu[t+1] = u[t-1, x+1] - u\n");
    CHECK(form_stages(program).size() == 1);
}

TEST_CASE("a copy stays that shows something else past a face") {
    CopyMaker make(BoundaryKind::periodic, BoundaryKind::fixed);
    make.assign(make.copy, make.read(make.u));
    make.step();
    check_copy_stays(make.finish());
}

TEST_CASE("a copy stays of what the step has made, and what is more than a copy") {
    CopyMaker late;
    late.assign(late.u, late.read(late.u) * late.number(2));
    late.assign(late.copy, late.read(late.u, {}, 1));
    late.step();
    check_copy_stays(late.finish());

    CopyMaker moved;
    moved.assign(moved.copy, moved.read(moved.u, {1, 0, 0}));
    moved.step();
    check_copy_stays(moved.finish());

    CopyMaker sum;
    sum.assign(sum.copy, sum.read(sum.u) + sum.number(1));
    sum.step();
    check_copy_stays(sum.finish());
}
