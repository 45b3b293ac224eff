#include "compiler/driver/live/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/running/pictures.h"

namespace halo::driver::live {

namespace {

using rt::json::Value;

constexpr std::int64_t kMostColumns = 2048;  // of a line

constexpr std::array<std::pair<std::string_view, rt::PictureMap>, 4> kMaps{
    {{"automatic", rt::PictureMap::automatic},
     {"sequential", rt::PictureMap::sequential},
     {"diverging", rt::PictureMap::diverging},
     {"grey", rt::PictureMap::grey}}};

template <class Number>
Number read_number(const std::string& text, const char* name) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || text.empty() ||
        !std::isfinite(static_cast<double>(number)))
        refuse_usage(fmt::format("`{}` of {} is no number", text, name));
    return number;
}

// What the picture shows along one of its axes.
Value axis_json(const RunRequest& request, const Output& output, int axis) {
    const auto a = static_cast<std::size_t>(axis);
    const auto [first, last] = request.ends(output, axis);
    return Value::object({{"axis", request.axes[a]},
                          {"label", with_unit(request.axes[a], request.axis_units[a])},
                          {"cells", output.grid.extent(request.extent)[a]},
                          {"first", number_or_null(first)},
                          {"last", number_or_null(last)},
                          {"flipped", output.flipped[a]}});
}

FieldPicture asked_picture(const Snapshot& snapshot) {
    FieldPicture picture = picture_of(snapshot.request, snapshot.output, snapshot.values, snapshot.steps);
    auto* const plane = std::get_if<rt::Picture>(&picture);
    if (plane != nullptr && snapshot.map != rt::PictureMap::automatic) plane->map = snapshot.map;
    return picture;
}

void add_range(Value& header, double low, double high) {
    header["low"] = number_or_null(low);
    header["high"] = number_or_null(high);
}

void add_plane(Value& header, std::string& bytes, const rt::Picture& picture) {
    const rt::ColouredCells cells = rt::colour_cells(picture);
    header["kind"] = "plane";
    header["width"] = cells.width;
    header["height"] = cells.height;
    header["cells_per_pixel"] = cells.cells_per_pixel;
    header["not_finite"] = cells.not_finite;
    add_range(header, cells.low, cells.high);
    for (const rt::Colour colour : cells.bar)
        for (const std::uint8_t part : {colour.red, colour.green, colour.blue})
            bytes += static_cast<char>(part);
    bytes.append(cells.rgb.begin(), cells.rgb.end());
}

// The least and the greatest value of each column; null where none is finite.
void add_line(Value& header, const rt::Curve& curve) {
    const auto cells = static_cast<std::int64_t>(curve.lines.front().values.size());
    const std::int64_t by = (cells + kMostColumns - 1) / kMostColumns;
    Value least = Value::list({}), greatest = Value::list({});
    double low = std::numeric_limits<double>::infinity(), high = -low;
    std::int64_t not_finite = 0;
    for (std::int64_t first = 0; first < cells; first += by) {
        double column_low = std::numeric_limits<double>::infinity(), column_high = -column_low;
        for (std::int64_t i = first; i < std::min(first + by, cells); ++i) {
            const double value = curve.lines.front().values[static_cast<std::size_t>(i)];
            if (!std::isfinite(value)) {
                ++not_finite;
                continue;
            }
            column_low = std::min(column_low, value);
            column_high = std::max(column_high, value);
        }
        least.push_back(number_or_null(column_low));
        greatest.push_back(number_or_null(column_high));
        low = std::min(low, column_low);
        high = std::max(high, column_high);
    }
    header["kind"] = "line";
    header["cells_per_pixel"] = by;
    header["not_finite"] = not_finite;
    header["least"] = std::move(least);
    header["greatest"] = std::move(greatest);
    if (low > high) low = high = 0;
    if (curve.range) std::tie(low, high) = *curve.range;
    add_range(header, low, high);
}

}  // namespace

Value number_or_null(double value) {
    return std::isfinite(value) ? Value(value) : Value();
}

AskedView read_view(const std::map<std::string, std::string>& query) {
    AskedView asked;
    std::optional<double> low, high;
    for (const auto& [name, text] : query) {
        if (name == "field") {
            asked.place.field = text;
        } else if (name == "axis") {
            asked.place.axis = text;
        } else if (name == "index") {
            asked.place.index = read_number<std::int64_t>(text, "index");
        } else if (name == "low") {
            low = read_number<double>(text, "low");
        } else if (name == "high") {
            high = read_number<double>(text, "high");
        } else if (name == "map") {
            const auto map = std::ranges::find(kMaps, text, &decltype(kMaps)::value_type::first);
            if (map == kMaps.end())
                refuse_usage(fmt::format("there is no colour map `{}`", text),
                             "it is one of automatic, sequential, diverging, grey");
            asked.map = map->second;
        }
    }
    if (asked.place.field.empty()) refuse_usage("of which field?");
    if (low.has_value() != high.has_value()) refuse_usage("a range has a low and a high end");
    if (low && !(*low < *high)) refuse_usage("the low end of the range must lie below the high one");
    if (low) asked.range = {*low, *high};
    return asked;
}

std::string frame_bytes(const Snapshot& snapshot) {
    Value header = snapshot.state;
    const RunRequest& request = snapshot.request;
    const Output& output = snapshot.output;
    header["field"] = output.field.name;
    header["label"] = with_unit(output.field.name, output.unit);
    Value& axes = header["shown"];
    for (int axis = 0; axis < request.rank(); ++axis)
        if (output.grid.has(axis) && std::ranges::find(output.cuts, axis, &Cut::axis) == output.cuts.end())
            axes.push_back(axis_json(request, output, axis));
    const FieldPicture picture = asked_picture(snapshot);
    std::string bytes;
    if (const auto* plane = std::get_if<rt::Picture>(&picture))
        add_plane(header, bytes, *plane);
    else
        add_line(header, std::get<rt::Curve>(picture));
    const std::string text = header.dump();
    std::string frame;
    for (int shift = 0; shift < 32; shift += 8)
        frame += static_cast<char>(text.size() >> shift & 0xff);
    return frame + text + bytes;
}

std::string png_bytes(const Snapshot& snapshot) {
    const std::vector<std::uint8_t> bytes =
        std::visit([](const auto& each) { return rt::draw(each); }, asked_picture(snapshot)).png();
    return {bytes.begin(), bytes.end()};
}

}  // namespace halo::driver::live
