#include "compiler/schedule/parse.h"
#include "catch.h"
#include "compiler/schedule/groupings.h"
#include "compiler/schedule/print.h"
#include "compiler/schedule/strategies.h"
#include "compiler/schedule/temporal.h"

using namespace halo::schedule;
using halo::rt::Lengths;

TEST_CASE("all words of a schedule are read", "[parse]") {
    const ParsedSchedule parsed = parse(
        "stream tile=128x8 threads=32x4, cells = 4x2\nplanes=32 # walk\n ahead=2 unroll=5 padding=4 "
        "min_blocks=2",
        3);
    REQUIRE(parsed.mistakes.empty());
    const Schedule schedule = apply(parsed.pins, {});
    CHECK(schedule.threads == Lengths{32, 4, 1});
    CHECK(schedule.cells == Lengths{4, 2, 1});
    CHECK(schedule.strategy == Strategy(Stream{.planes = 32, .ahead = 2, .unroll = 5, .padding = 4}));
    CHECK(schedule.min_blocks == 2);
    CHECK(parse("", 3).mistakes.empty());
    CHECK_FALSE(parse("", 3).pins.any());
    CHECK(parse("stream planes=all", 3).pins.planes == 0);
}

TEST_CASE("any two of tile, threads and cells give the third", "[parse]") {
    const Pins by_cells = parse("tile=64x8 cells=4x2", 2).pins;
    CHECK(by_cells.threads == Lengths{16, 4, 1});
    CHECK_FALSE(by_cells.tile);
    const Pins by_threads = parse("tile=64x8 threads=16x8", 2).pins;
    CHECK(by_threads.cells == Lengths{4, 1, 1});
    const Pins alone = parse("tile=64x8", 2).pins;
    CHECK(alone.tile == Lengths{64, 8, 1});
    Schedule base;
    base.cells = {4, 3, 1};
    CHECK(apply(alone, base).threads == Lengths{16, 8, 1});  // 3 does not divide 8
}

namespace {

struct Case {
    const char* text;
    int rank;
    const char* part;  // of the message
    const char* mend;
    const char* at;  // the text of the range
};

}  // namespace

TEST_CASE("each mistake has a place, a message and a mend", "[parse]") {
    const Case cases[] = {
        {"strem", 3, "no strategy `strem`", "stream", "strem"},
        {"spiral", 3, "no strategy `spiral`", "", "spiral"},
        {"temporl steps=4", 3, "stream, temporal and resident", "temporal", "temporl"},
        {"resdent cells=4", 3, "no strategy `resdent`", "resident", "resdent"},
        {"direct temporal steps=4", 3, "`temporal` stands first", "", "temporal"},
        {"direct stream", 3, "one strategy", "", "stream"},
        {"thread=32", 3, "no setting `thread`", "threads", "thread"},
        {"block=32", 3, "no setting `block`", "", "block"},
        {"cells", 3, "`cells` needs a value", "", "cells"},
        {"planes", 3, "as in `planes=2`", "", "planes"},
        {"threads=0x4", 2, "a length for each axis", "", "0x4"},
        {"threads=32x", 2, "a length for each axis", "", "32x"},
        {"threads=", 2, "a length for each axis", "", ""},
        {"threads=-3", 2, "a length for each axis", "", "-3"},
        {"cells=999999999999", 2, "a length for each axis", "", "999999999999"},
        {"threads=32x4x2", 2, "3 lengths; the program has 2 axes", "32x4", "32x4x2"},
        {"threads=32x4 threads=16", 2, "set twice", "", "threads=16"},
        {"planes=0", 3, "whole number from 1", "", "0"},
        {"padding=two", 3, "whole number from 0", "", "two"},
        {"tile=66x4 cells=4x2", 2, "no multiple of 4x2 cells", "tile=64x4", "tile=66x4"},
        {"tile=64x4 threads=32x4 cells=4x2", 2, "make a tile of 128x8", "tile=128x8", "tile=64x4"},
        {"direct =4", 2, "`direct` is a strategy and takes no value", "direct", "direct =4"},
        {"direct (4)", 2, "a list of words", "", "(4)"},
        {"dir\xc3\xa9"
         "ct",
         2, "no strategy", "direct",
         "dir\xc3\xa9"
         "ct"},
    };
    for (const Case& c : cases) {
        INFO(c.text);
        const ParsedSchedule parsed = parse(c.text, c.rank);
        REQUIRE(parsed.mistakes.size() == 1);
        const Mistake& mistake = parsed.mistakes[0];
        INFO(mistake.message);
        CHECK(mistake.message.find(c.part) != std::string::npos);
        CHECK(mistake.mend == c.mend);
        const std::string text = c.text;
        CHECK(text.substr(mistake.range.begin, mistake.range.end - mistake.range.begin) == c.at);
    }
    CHECK(parse("strem thread=3 cells=0", 3).mistakes.size() == 3);
}

TEST_CASE("a printed schedule reads back the same", "[parse]") {
    Schedule schedule;
    schedule.threads = {64, 2, 4};
    schedule.cells = {4, 2, 2};
    schedule.min_blocks = 3;
    CHECK(print(schedule, 3) == "direct threads=64x2x4 cells=4x2x2 min_blocks=3");
    CHECK(apply(parse(print(schedule, 3), 3).pins, {}) == schedule);
    CHECK(describe(schedule, 3) ==
          "direct: 64x2x4 threads, 4x2x2 cells a thread, registers for 3 blocks an SM");

    Schedule stream;
    stream.strategy = Stream{.planes = 16, .ahead = 2, .unroll = 3, .padding = 4};
    stream.threads = {32, 8, 1};
    stream.cells = {4, 1, 1};
    CHECK(print(stream, 3) == "stream threads=32x8 cells=4x1 planes=16 ahead=2 unroll=3 padding=4");
    CHECK(apply(parse(print(stream, 3), 3).pins, {}) == stream);
    CHECK(describe(stream, 3) ==
          "stream: 32x8 threads, 4x1 cells a thread, walking 16 planes, 2 planes ahead, unrolled by 3, rows "
          "padded by 4 elements");
    set_own(stream, Setting::planes, 0);
    CHECK(describe(stream, 2).find("walking all rows") != std::string::npos);
}

TEST_CASE("the settings of several steps are read", "[parse]") {
    CHECK(find_grouping(" # by hand\n temporal steps=4")->name == "temporal");
    CHECK(find_grouping("direct # temporal") == nullptr);
    CHECK(find_grouping("# all\nresident cells=4")->name == "resident");
    CHECK(parse_resident("# all\nresident cells=4", 2).mistakes.empty());
    const char* text =
        "temporal steps=4 warps=8 cells=4x2, ahead=3 # rows\nunroll=2; min_blocks=1 blocks=264";
    const ParsedTemporal parsed = parse_temporal(text, 3);
    REQUIRE(parsed.mistakes.empty());
    CHECK(parsed.pins.steps == 4);
    CHECK(parsed.pins.cells == std::array{4, 2});
    CHECK(print(TemporalSchedule{4, 8, {4, 2}, 3, 2, 1, 264}, 3) ==
          "temporal steps=4 warps=8 cells=4x2 ahead=3 unroll=2 min_blocks=1 blocks=264");

    const Case cases[] = {
        {"temporal step=4", 3, "no setting `step`", "", "step=4"},
        {"temporal steps=0", 3, "whole number from 1 to 64", "", "steps=0"},
        {"temporal steps=4 steps=8", 3, "`steps` is set twice", "", "steps=8"},
        {"temporal cells=3x2", 3, "1, 2 or 4 columns", "", "cells=3x2"},
        {"temporal cells=4x2", 2, "1, 2 or 4, as in", "", "cells=4x2"},
        {"temporal direct", 3, "no setting `direct`", "", "direct"},
        {"temporal temporal", 3, "no setting `temporal`", "", "temporal"},
    };
    for (const Case& c : cases) {
        INFO(c.text);
        const ParsedTemporal mistaken = parse_temporal(c.text, c.rank);
        REQUIRE(mistaken.mistakes.size() == 1);
        const Mistake& mistake = mistaken.mistakes[0];
        INFO(mistake.message);
        CHECK(mistake.message.find(c.part) != std::string::npos);
        CHECK(std::string_view(c.text).substr(mistake.range.begin, mistake.range.end - mistake.range.begin) ==
              c.at);
    }
}
