// Which programs of single bytes can do several steps at once, and what their pipelines carry.
#include <fmt/format.h>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/lower/packed/packed.h"
#include "compiler/schedule/pipeline.h"
#include "compiler/schedule/temporal.h"

using namespace halo;
using namespace halo::schedule;

namespace {

ir::Program bytes(const std::string& statements,
                  const std::string& fields = "field a, b: u8 { boundary clamp }") {
    return test::load_program(fmt::format("stencil bytes(x, y) {{\n{}\n{}\n}}\n", fields, statements));
}

std::string not_in_words(const ir::Program& program) {
    const auto formed = form_pipeline(program, 2);
    const auto* why = std::get_if<std::string>(&formed);
    return why == nullptr ? "" : *why;
}

const char* const kBox = "a[t+1] = div(sum(i in -1..1, j in -1..1) a[x+i, y+j], 16)";

}  // namespace

TEST_CASE("of a box of bytes a row's sums are carried, and no rows with the columns beside them") {
    const ir::Program program = bytes(kBox);
    const auto formed = form_pipeline(program, 3);
    REQUIRE(std::holds_alternative<Pipeline>(formed));
    const auto& pipeline = std::get<Pipeline>(formed);
    CHECK(pipeline.cells_of_word == lower::kPackedCells);
    REQUIRE(pipeline.queues.size() == 1);
    const Pipeline::Queue& queue = pipeline.queues.front();
    REQUIRE(queue.row_sums.size() == 1);
    CHECK(queue.row_sums.front().shifts == std::vector<int>{-1, 0, 1});
    CHECK(lower::words_of_sum(program, queue.row_sums.front()) == 2);  // 0 to 765
    CHECK_FALSE(queue.keeps_windows());
}

TEST_CASE("rows are kept where neighbours are read by other values than sums, or a face is a mirror") {
    const auto keeps = [](const ir::Program& program) {
        const auto pipeline = std::get<Pipeline>(form_pipeline(program, 3));
        return pipeline.queues.front().keeps_windows() && pipeline.queues.front().row_sums.empty();
    };
    CHECK(keeps(bytes("a[t+1] = min(a[x-1, y-1], a[x+1, y+1])")));
    CHECK(keeps(bytes(std::string(kBox) + " + min(a[x-1, y-1], 3)")));
    CHECK(keeps(bytes(kBox, "field a: u8 { boundary mirror }")));
}

TEST_CASE("what words cannot hold is refused as before") {
    const std::string refused = "`a` is not stored as f32 or f64 as it is computed";
    CHECK(not_in_words(bytes("a[t+1] = a + b")).empty());
    CHECK(not_in_words(bytes("a[t+1] = div(a * b, 2)")) == refused);
    CHECK(not_in_words(bytes("a[t+1] = div(300 * a + b, 300)")) == refused);
    CHECK(not_in_words(bytes("a[t+1] = div(a, 3)")) == refused);
    CHECK(not_in_words(bytes("a[t+1] = a + idx(x)")) == refused);
    CHECK(not_in_words(bytes("a[t+1] = a + 1\nc[t+1] = c[x-1] / 2",
                             "field a: u8 { boundary clamp }\nfield c: f32 { boundary clamp }")) == refused);
    CHECK(not_in_words(bytes("a[t+1] = a[x-1]\nreduce most = sum(a[t+1])")) ==
          "reductions of single bytes are found by single steps");
}

TEST_CASE("a thread has whole words of a row") {
    const auto why_not = [](const ir::Program& program, int cells) {
        const auto pipeline = std::get<Pipeline>(form_pipeline(program, 2));
        TemporalSchedule schedule;
        schedule.steps = 2;
        schedule.cells = {cells, 1};
        const auto shaped = temporal_shape(program, pipeline, schedule, Target{});
        const auto* why = std::get_if<std::string>(&shaped);
        return why == nullptr ? "" : *why;
    };
    const ir::Program program = bytes(kBox);
    for (const int cells : {4, 8, 16})
        CHECK(why_not(program, cells) == "");
    CHECK(why_not(program, 2) == "of single bytes a thread has 4, 8 or 16 cells of a row, not 2");
    const ir::Program real = bytes("a[t+1] = a[x-1]", "field a: f32 { boundary clamp }");
    CHECK(why_not(real, 8) == "a thread has 8 cells of a row only of single bytes");
    CHECK(parse_temporal("temporal cells=16", 2).pins.cells == std::array{16, 1});
    CHECK_FALSE(parse_temporal("temporal cells=16x2", 3).mistakes.empty());
}
