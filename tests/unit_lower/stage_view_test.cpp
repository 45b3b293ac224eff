#include "compiler/lower/shared/stage_view.h"

#include "catch.h"
#include "compare_engines.h"

using namespace halo;
using namespace halo::lower;

TEST_CASE("a stage reads levels at offsets and writes the next") {
    const ir::Program program = test::load_program(R"(
stencil s(x, y) {
    field u: f32 { boundary periodic }
    field v: f64
    u[t+1] = u[x-2] + u[y+1] + u[t-1] + v
})");
    const StageViews views = view_stages(program);
    REQUIRE(views.stages.size() == 1);
    const StageView& stage = views.stages[0];
    CHECK(stage.name == "s_step");
    CHECK(stage.rank() == 2);
    CHECK(stage.low() == ir::Offset{-2, 0, 0});
    CHECK(stage.high() == ir::Offset{0, 1, 0});
    CHECK(views.halo[0][0] == 2);
    CHECK(views.halo[0][1] == 0);
    CHECK(views.halo[1][1] == 1);
    REQUIRE(stage.reads.size() == 3);
    int at_offsets = 0;
    for (const Read& read : stage.reads) {
        at_offsets += read.at_offsets();
        if (read.at_offsets()) CHECK(stage.field(read.level).name == "u");
        if (read.level.time == -1) CHECK(stage.field(read.level).name == "u");
    }
    CHECK(at_offsets == 1);
    REQUIRE(stage.writes.size() == 1);
    CHECK(stage.writes[0].level.time == 1);
    CHECK_FALSE(stage.writes[0].is_partial());
    CHECK(stage.assigns_level(stage.writes[0].level));
    CHECK_FALSE(stage.assigns_level({stage.writes[0].level.field, 0}));
}

TEST_CASE("a let that is read beside the cell is a stage of its own with an array") {
    const ir::Program program = test::load_program(R"(
stencil s(x, y) {
    field u: f32 { boundary periodic }
    let near = u * u
    let far = u[x-1] * u[x+1]
    u[t+1] = near + far[y-1] + far[y+1]
})");
    const StageViews views = view_stages(program);
    REQUIRE(views.stages.size() == 2);
    CHECK(views.stages[0].name == "s_far");
    CHECK(views.stages[1].name == "s_u");
    for (std::size_t f = 0; f < program.fields.size(); ++f) {
        INFO(program.fields[f].name);
        CHECK(views.stored[f] == (program.fields[f].name != "near"));
    }
}

TEST_CASE("a state with margins reads what it keeps") {
    const ir::Program program = test::load_program(R"(
stencil s(x) {
    field u: f32
    field w: f32
    w[t+1] = u[x-1] + u[x+1]
})");
    const StageViews views = view_stages(program);
    REQUIRE(views.stages.size() == 1);
    const StageView& stage = views.stages[0];
    REQUIRE(stage.writes.size() == 1);
    CHECK(stage.writes[0].is_partial());
    bool reads_old = false;
    for (const Read& read : stage.reads)
        reads_old = reads_old || (stage.field(read.level).name == "w" && !read.at_offsets());
    CHECK(reads_old);
}
