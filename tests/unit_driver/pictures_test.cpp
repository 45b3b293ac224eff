#include "compiler/driver/running/pictures.h"

#include <fstream>
#include <functional>
#include <sstream>

#include "catch.h"
#include "temporary_folder.h"

using namespace halo;
using namespace halo::driver;

namespace {

std::string bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

// Of 6 by 5 cells, or 6 in a line.
std::string picture(const RunRequest& request, const Output& output,
                    const std::function<double(int, int)>& value) {
    std::vector<double> values;
    for (int y = 0; y < request.extent[1]; ++y)
        for (int x = 0; x < request.extent[0]; ++x)
            values.push_back(value(x, y));
    const TemporaryFolder folder;
    const std::string path = folder / "u.png";
    write_field_picture(path, request, output, {FieldValues::rounded(rt::ElementType::f64, values), {}}, 3);
    return bytes_of(path);
}

RunRequest request_of(std::int64_t high) {
    RunRequest request;
    request.name = "s";
    request.axes = high > 1 ? std::vector<std::string>{"x", "y"} : std::vector<std::string>{"x"};
    request.extent = {6, high, 1};
    return request;
}

}  // namespace

TEST_CASE("a flipped axis runs from high to low, and its cells with it") {
    Output output;
    output.kind = Output::Kind::plot;
    output.field = {"u", {"u"}, false};
    for (const std::int64_t high : {std::int64_t{5}, std::int64_t{1}}) {
        RunRequest request = request_of(high);
        // The same cells as if they lay the other way round along an axis of negative spacing.
        RunRequest turned = request;
        turned.origin[0] = 5;
        turned.spacing[0] = -1;
        Output flipped = output;
        flipped.flipped[0] = true;
        const auto value = [](int x, int y) { return x * x + 7.0 * y; };
        const auto mirrored = [&](int x, int y) { return value(5 - x, y); };
        const bool is_mirrored = picture(request, flipped, value) == picture(turned, output, mirrored);
        CHECK(is_mirrored);
        const bool is_changed = picture(request, flipped, value) != picture(request, output, value);
        CHECK(is_changed);
    }
    RunRequest request = request_of(5), turned = request;
    turned.origin = {5, 4, 0};
    turned.spacing = {-1, -1, 1};
    Output flipped = output;
    flipped.flipped = {true, true, false};
    const auto value = [](int x, int y) { return x * x + 7.0 * y; };
    const bool is_mirrored = picture(request, flipped, value) ==
                             picture(turned, output, [&](int x, int y) { return value(5 - x, 4 - y); });
    CHECK(is_mirrored);
}

TEST_CASE("the range of a picture is that of its colours, whatever the cells hold") {
    Output output;
    output.kind = Output::Kind::plot;
    output.field = {"u", {"u"}, false};
    output.range = {0.0, 6.0};
    for (const std::int64_t high : {std::int64_t{5}, std::int64_t{1}}) {
        const RunRequest request = request_of(high);
        const bool is_equal = picture(request, output, [](int, int) { return 7.0; }) ==
                              picture(request, output, [](int x, int) { return 8.0 + x; });
        CHECK(is_equal);
    }
}

namespace {

// Of a trace of 3 steps at so many points.
std::string trace_picture(const Output& output, const std::vector<double>& values) {
    const TemporaryFolder folder;
    const std::string path = folder / "trace.png";
    write_trace_picture(path, request_of(1), output, values, 3);
    return bytes_of(path);
}

}  // namespace

TEST_CASE("the picture of a trace has a range and is flipped") {
    Output plain;
    plain.kind = Output::Kind::plot;
    plain.field.name = "ears.heard";
    plain.trace = TraceName{"ears", "heard"};
    Output within = plain, wide = plain, flipped = plain, upwards = plain;
    within.range = {0.0, 5.0};
    wide.range = {0.0, 9.0};
    flipped.flipped[0] = true;
    upwards.flipped[1] = true;
    const std::vector<double> two{0, 1, 2, 3, 4, 5}, one{0, 2, 5};
    for (const std::vector<double>& values : {two, one}) {
        const bool finds_range = trace_picture(plain, values) == trace_picture(within, values);
        const bool takes_range = trace_picture(plain, values) != trace_picture(wide, values);
        const bool turns_time = trace_picture(plain, values) != trace_picture(upwards, values);
        CHECK((finds_range || values.size() == 3));  // a curve's range is rounded where none is given
        CHECK(takes_range);
        CHECK(turns_time);
    }
    // What is the same from both ends changes with the numbers at the axis alone, and so not with the values.
    const std::vector<double> other{3, 1, 2, 0, 4, 5};
    const bool turns_points = trace_picture(flipped, two) != trace_picture(plain, two);
    CHECK(turns_points);
    const bool has_one_point = trace_picture(flipped, one) == trace_picture(plain, one);
    CHECK(has_one_point);
    const bool shows_values = trace_picture(flipped, two) != trace_picture(flipped, other);
    CHECK(shows_values);
}
