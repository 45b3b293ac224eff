#include "compiler/schedule/fold.h"

#include "catch.h"
#include "compiler/schedule/pipeline.h"
#include "stencils.h"

using namespace halo;
using namespace halo::schedule;
using namespace halo::test;

namespace {

std::optional<Fold> fold_of(const ir::Program& program) {
    return form_fold(program, ir::form_stages(program).front(), ir::FieldId{0}, 0);
}

const Pipeline::Queue& queue_of(const std::variant<Pipeline, std::string>& formed) {
    return std::get<Pipeline>(formed).queues.front();
}

// The offsets, the slowest axis first or last.
std::vector<ir::Offset> box_by(bool planes) {
    std::vector<ir::Offset> offsets;
    for (int a = -1; a <= 1; ++a)
        for (int b = -1; b <= 1; ++b)
            for (int c = -1; c <= 1; ++c)
                offsets.push_back(planes ? ir::Offset{c, b, a} : ir::Offset{a, b, c});
    return offsets;
}

}  // namespace

TEST_CASE("a sum in the order of its planes carries one value for each plane to come", "[fold]") {
    const ir::Program program = sum_stencil(3, ir::Scalar::f32, box_by(true));
    const std::optional<Fold> fold = fold_of(program);
    REQUIRE(fold);
    CHECK(fold->low == -1);
    CHECK(fold->high == 1);
    CHECK(fold->before(0).size() == 1);
    CHECK(fold->after(0).size() == 1);
    CHECK(fold->values() == 2);
    const auto formed = form_pipeline(program, 2);
    CHECK(queue_of(formed).fold);
    CHECK_FALSE(queue_of(formed).keeps_windows());
    // A plane is kept for one iteration, until other warps' rows are there; then the next one overwrites it.
    CHECK(std::get<Pipeline>(formed).later_first);
    CHECK(queue_of(formed).slots == 1);
}

TEST_CASE("a reduction of a folded sum is folded with it", "[fold]") {
    ir::Program program = sum_stencil(3, ir::Scalar::f32, box_by(true));
    ir::ExprBuilder build(program);
    ir::Reduce change;
    change.name = "change";
    change.value = build.binary(ir::BinaryOp::sub, build.access(ir::FieldId{0}, 1, {}),
                                build.access(ir::FieldId{0}, 0, {}));
    program.statements.push_back(change);
    REQUIRE(ir::form_stages(program).size() == 1);
    const std::optional<Fold> fold = fold_of(program);
    REQUIRE(fold);
    CHECK(fold->after(-1).size() == 1);
    CHECK(fold->after(0).size() == 2);  // the cell's own value, too
    CHECK(queue_of(form_pipeline(program, 2)).fold);
}

TEST_CASE("in another order sums carry what they wait with, and planes are kept instead", "[fold]") {
    const ir::Program program = sum_stencil(3, ir::Scalar::f32, box_by(false));
    const std::optional<Fold> fold = fold_of(program);
    REQUIRE(fold);
    CHECK(fold->values() > 8);
    const auto formed = form_pipeline(program, 2);
    CHECK_FALSE(queue_of(formed).fold);
    CHECK_FALSE(std::get<Pipeline>(formed).later_first);
    CHECK(queue_of(formed).windows == 3);
}

TEST_CASE("a mirror shows planes that have gone by", "[fold]") {
    ir::Program program = sum_stencil(2, ir::Scalar::f64, {{-1, -1, 0}, {0, 0, 0}, {1, 1, 0}});
    CHECK(fold_of(program));
    for (const ir::BoundaryKind kind : {ir::BoundaryKind::clamp, ir::BoundaryKind::mirror}) {
        for (ir::Face& face : program.fields[0].boundary[1])
            face.kind = kind;
        CHECK(fold_of(program).has_value() == (kind == ir::BoundaryKind::clamp));
    }
}

TEST_CASE("a star reads neighbours in one plane: nothing is folded", "[fold]") {
    const auto formed = form_pipeline(sum_stencil(3, ir::Scalar::f32, star(3, 2)), 2);
    CHECK_FALSE(queue_of(formed).fold);
}
