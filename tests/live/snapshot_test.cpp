#include "compiler/driver/live/snapshot.h"

#include <cmath>
#include <limits>

#include "catch.h"
#include "compiler/driver/console/exit_code.h"
#include "contains.h"

using namespace halo::driver;
using namespace halo::driver::live;
using halo::rt::json::Value;

namespace {

Snapshot snapshot_of(std::vector<std::string> axes, Extent extent, const std::vector<double>& values) {
    Snapshot snapshot;
    snapshot.request.name = "test";
    snapshot.request.axes = std::move(axes);
    snapshot.request.extent = extent;
    snapshot.output.field.name = "u";
    snapshot.values = FieldValues::rounded(halo::rt::ElementType::f64, values);
    snapshot.state = Value::object({{"step", 7}});
    return snapshot;
}

struct Frame {
    Value header;
    std::string bytes;
};

Frame taken_apart(const std::string& frame) {
    std::size_t length = 0;
    for (std::size_t i = 4; i-- > 0;)
        length = length << 8 | static_cast<unsigned char>(frame.at(i));
    return {Value::parse(frame.substr(4, length)), frame.substr(4 + length)};
}

std::string trouble_of(const std::map<std::string, std::string>& query) {
    try {
        read_view(query);
    } catch (const CommandError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("what a page asks to see is read, or refused in its words") {
    const AskedView asked = read_view(
        {{"field", "u"}, {"axis", "z"}, {"index", "10"}, {"map", "grey"}, {"low", "-1.5"}, {"high", "2e3"}});
    CHECK(asked.place.field == "u");
    CHECK(asked.place.axis == "z");
    CHECK(asked.place.index == 10);
    CHECK(asked.map == halo::rt::PictureMap::grey);
    CHECK(asked.range == std::pair(-1.5, 2000.0));
    CHECK(contains(trouble_of({}), "of which field"));
    CHECK(contains(trouble_of({{"field", "u"}, {"index", "ten"}}), "`ten` of index is no number"));
    CHECK(contains(trouble_of({{"field", "u"}, {"index", "1e30"}}), "no number"));
    CHECK(contains(trouble_of({{"field", "u"}, {"low", "nan"}, {"high", "1"}}), "no number"));
    CHECK(contains(trouble_of({{"field", "u"}, {"low", "1"}}), "a low and a high end"));
    CHECK(contains(trouble_of({{"field", "u"}, {"low", "2"}, {"high", "1"}}), "must lie below"));
    CHECK(contains(trouble_of({{"field", "u"}, {"map", "rainbow"}}), "no colour map `rainbow`"));
}

TEST_CASE("a plane's pixels are those of the picture, the top row first, also where cells are not finite") {
    const double nan = std::nan("");
    Snapshot snapshot = snapshot_of({"x", "y"}, {3, 2, 1}, {0, 1, 2, nan, 4, 5});
    const Frame frame = taken_apart(frame_bytes(snapshot));
    CHECK(frame.header.at("kind").text() == "plane");
    CHECK(frame.header.at("step").get<int>() == 7);
    CHECK(frame.header.at("not_finite").get<int>() == 1);
    CHECK(frame.header.at("low").get<double>() == 0);
    CHECK(frame.header.at("high").get<double>() == 5);
    REQUIRE(frame.bytes.size() == 3 * (256 + 6));
    const auto colour = [&](std::size_t i) { return frame.bytes.substr(3 * i, 3); };
    CHECK(colour(256) == std::string("\xff\x00\xc8", 3));
    CHECK(colour(256 + 2) == colour(255));  // 5: the upper end of the bar
    CHECK(colour(256 + 3) == colour(0));    // 0, lower left
    snapshot.map = halo::rt::PictureMap::grey;
    const Frame grey = taken_apart(frame_bytes(snapshot));
    CHECK(grey.bytes.substr(3 * (256 + 2), 3) == "\xff\xff\xff");
    CHECK(png_bytes(snapshot).starts_with("\x89PNG"));
}

TEST_CASE("of too many cells squares are averaged") {
    const Snapshot snapshot = snapshot_of({"x", "y"}, {4000, 2, 1}, std::vector<double>(8000, 1));
    const Frame frame = taken_apart(frame_bytes(snapshot));
    CHECK(frame.header.at("cells_per_pixel").get<int>() == 3);
    CHECK(frame.header.at("width").get<int>() == 1334);
    CHECK(frame.header.at("height").get<int>() == 1);
}

TEST_CASE("a line has its values, of long ones the least and the greatest of each column") {
    std::vector<double> values(5000, 1);
    values[100] = 9;
    values[4999] = std::numeric_limits<double>::infinity();
    Snapshot snapshot = snapshot_of({"x"}, {5000, 1, 1}, values);
    const Frame frame = taken_apart(frame_bytes(snapshot));
    CHECK(frame.header.at("kind").text() == "line");
    CHECK(frame.header.at("cells_per_pixel").get<int>() == 3);
    CHECK(frame.header.at("not_finite").get<int>() == 1);
    const auto& greatest = frame.header.at("greatest").items();
    REQUIRE(greatest.size() == 1667);
    CHECK(greatest[33].get<double>() == 9);
    CHECK(frame.header.at("least").at(33).get<double>() == 1);
    CHECK(frame.header.at("high").get<double>() == 9);
    CHECK(frame.bytes.empty());

    snapshot = snapshot_of({"x"}, {2, 1, 1}, {std::nan(""), std::nan("")});
    CHECK(taken_apart(frame_bytes(snapshot)).header.at("least").at(0).is_null());
}
