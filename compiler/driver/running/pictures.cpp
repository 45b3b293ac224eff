#include "compiler/driver/running/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "runtime/io/image.h"

namespace halo::driver {

namespace {

rt::PictureAxis picture_axis(const RunRequest& request, const Output& output, int axis) {
    auto a = static_cast<std::size_t>(axis);
    rt::PictureAxis result;
    result.label = with_unit(request.axes[a], request.axis_units[a]);
    std::tie(result.first, result.last) = request.ends(output, axis);
    if (output.flipped[a]) std::swap(result.first, result.last);
    return result;
}

rt::CurveLine line_of(const RunRequest& request, const Output& output, const FieldValues& values, int axis) {
    const rt::PictureAxis along = picture_axis(request, output, axis);
    rt::CurveLine line{with_unit(output.field.name, output.unit), {}, along.first, along.last};
    for (std::int64_t i = 0; i < values.size(); ++i)
        line.values.push_back(
            values.at(output.flipped[static_cast<std::size_t>(axis)] ? values.size() - 1 - i : i));
    return line;
}

rt::Curve curve_of(const std::string& title, const RunRequest& request, const Output& output,
                   const FieldValues& values, int axis) {
    rt::Curve curve;
    curve.title = title;
    curve.across = picture_axis(request, output, axis);
    curve.value_label = with_unit(output.field.name, output.unit);
    curve.lines.push_back(line_of(request, output, values, axis));
    curve.range = output.range;
    curve.logarithmic = output.logarithmic;
    return curve;
}

// The axes that a picture of a field shows.
std::vector<int> shown_axes(const RunRequest& request, const Output& output) {
    std::vector<int> shown;
    for (int axis = 0; axis < request.rank(); ++axis)
        if (output.grid.has(axis) && std::ranges::find(output.cuts, axis, &Cut::axis) == output.cuts.end())
            shown.push_back(axis);
    return shown;
}

// The cells of a plane, the row at the low end of the picture first.
rt::PlaneValues plane_values(const RunRequest& request, const Output& output, const FieldValues& values,
                             int across, int up) {
    rt::PlaneValues plane;
    const Extent extent = output.grid.extent(request.extent);
    plane.width = extent[static_cast<std::size_t>(across)];
    plane.height = extent[static_cast<std::size_t>(up)];
    plane.values.reserve(static_cast<std::size_t>(plane.width * plane.height));
    const bool flips_across = output.flipped[static_cast<std::size_t>(across)];
    const bool flips_up = output.flipped[static_cast<std::size_t>(up)];
    for (std::int64_t row = 0; row < plane.height; ++row) {
        const std::int64_t from = flips_up ? plane.height - 1 - row : row;
        for (std::int64_t i = 0; i < plane.width; ++i)
            plane.values.push_back(values.at(from * plane.width + (flips_across ? plane.width - 1 - i : i)));
    }
    return plane;
}

void show_layers(rt::Curve& curve, const RunRequest& request, const Output& output,
                 const std::vector<FieldValues>& layers) {
    const int axis = shown_axes(request, output).front();
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const Output& layer = output.layers[i];
        curve.lines.push_back(line_of(request, layer, layers[i], axis));
        // Half a cell further where it lies between the cells of the first.
        const auto [low, high] = std::minmax(
            {curve.across.first, curve.across.last, curve.lines.back().first, curve.lines.back().last});
        const bool is_flipped = curve.across.last < curve.across.first;
        curve.across.first = is_flipped ? high : low;
        curve.across.last = is_flipped ? low : high;
        curve.value_label.clear();  // each line has its name
    }
}

void show_layers(rt::Picture& picture, const RunRequest& request, const Output& output,
                 const std::vector<FieldValues>& layers) {
    using Kind = sema::PlotLayer::Kind;
    const std::vector<int> shown = shown_axes(request, output);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const Output& layer = output.layers[i];
        // The unit of an arrow is said behind its second component.
        const bool has_unit = layer.layer != Kind::arrows_across;
        rt::PlaneLayer plane{has_unit ? with_unit(layer.field.name, layer.unit) : layer.field.name,
                             plane_values(request, layer, layers[i], shown.front(), shown.back()),
                             picture_axis(request, layer, shown.front()),
                             picture_axis(request, layer, shown.back())};
        if (layer.layer == Kind::contours) picture.contours = {std::move(plane), layer.levels};
        if (layer.layer == Kind::arrows_across) picture.arrows.emplace().across = std::move(plane);
        if (layer.layer == Kind::arrows_up) picture.arrows->up = std::move(plane);
    }
}

}  // namespace

void write_trace_picture(const std::string& path, const RunRequest& request, const Output& output,
                         const std::vector<double>& values, std::int64_t done) {
    const std::int64_t points = static_cast<std::int64_t>(values.size()) / done;
    const std::string title = fmt::format("{}: {}, {} steps", request.name, output.field.name, done);
    rt::PictureAxis time;
    time.label = request.time_step ? with_unit("time", request.time_unit) : "step";
    time.last = static_cast<double>(done - 1) * request.time_step.value_or(1);
    const bool flips_points = output.flipped[0], flips_time = output.flipped[1];
    if (flips_time) std::swap(time.first, time.last);
    if (points == 1) {
        rt::Curve curve;
        curve.title = title;
        curve.lines.push_back({with_unit(output.field.name, output.unit), values, time.first, time.last});
        if (flips_time) std::ranges::reverse(curve.lines.front().values);
        curve.across = time;
        curve.range = output.range;
        curve.logarithmic = output.logarithmic;
        curve.value_label = with_unit(output.field.name, output.unit);
        return rt::write_picture(path, curve);
    }
    // Traces are much longer than points are many, or the other way round: each is drawn as wide as makes a
    // picture of both.
    const std::int64_t wide = std::max<std::int64_t>(1, done / points),
                       high = std::max<std::int64_t>(1, points / done);
    rt::Picture picture;
    picture.title = title;
    picture.width = points * wide;
    picture.height = done * high;
    for (std::int64_t row = picture.height; row-- > 0;) {
        const std::int64_t step = (flips_time ? picture.height - 1 - row : row) / high;
        for (std::int64_t column = 0; column < picture.width; ++column) {
            const std::int64_t point = (flips_points ? picture.width - 1 - column : column) / wide;
            picture.values.push_back(values[static_cast<std::size_t>(step * points + point)]);
        }
    }
    picture.across = {output.trace->points, 0, static_cast<double>(points - 1)};
    if (flips_points) std::swap(picture.across.first, picture.across.last);
    picture.up = {time.label, time.last, time.first};
    picture.value_label = with_unit(output.trace->trace, output.unit);
    picture.range = output.range;
    picture.logarithmic = output.logarithmic;
    rt::write_picture(path, picture);
}

rt::Box plane_of(const RunRequest& request, const Output& output) {
    rt::Box plane = rt::box_of_field(output.grid, rt::whole_box(request.extent));
    for (const Cut& cut : output.cuts) {
        const auto axis = static_cast<std::size_t>(cut.axis);
        plane.begin[axis] = cut.index;
        plane.end[axis] = cut.index + 1;
    }
    return plane;
}

FieldPicture picture_of(const RunRequest& request, const Output& output, const FieldValues& values,
                        std::int64_t done) {
    std::string where;
    const std::vector<int> shown = shown_axes(request, output);
    for (const Cut& cut : output.cuts)
        where += fmt::format("{}{} = {}", where.empty() ? " at " : ", ",
                             request.axes[static_cast<std::size_t>(cut.axis)], cut.index);
    std::string names = output.field.name;
    for (const Output& layer : output.layers)
        if (layer.layer == sema::PlotLayer::Kind::curve) names += ", " + layer.field.name;
    const std::string title = fmt::format("{}: {}{}, step {}", request.name, names, where, done);
    if (shown.size() == 1) return curve_of(title, request, output, values, shown.front());
    const int across = shown.front(), up = shown.back();
    rt::Picture picture;
    picture.title = title;
    rt::PlaneValues plane = plane_values(request, output, values, across, up);
    picture.width = plane.width;
    picture.height = plane.height;
    picture.values = std::move(plane.values);
    picture.across = picture_axis(request, output, across);
    picture.up = picture_axis(request, output, up);
    picture.value_label = with_unit(output.field.name, output.unit);
    if (values.type == rt::ElementType::u8) {  // greys, and the same ones in every picture
        picture.map = rt::PictureMap::grey;
        picture.range = {0.0, 255.0};
    }
    if (values.type == rt::ElementType::boolean) picture.range = {0.0, 1.0};
    if (output.range) picture.range = output.range;
    picture.logarithmic = output.logarithmic;
    // A scale of the type, from zero, has no logarithm.
    if (output.logarithmic && !output.range) picture.range.reset();
    return picture;
}

rt::Canvas draw_field(const RunRequest& request, const Output& output, const ShownValues& values,
                      std::int64_t done, int colours) {
    FieldPicture picture = picture_of(request, output, values.first, done);
    std::visit([&](auto& each) { show_layers(each, request, output, values.layers); }, picture);
    if (auto* plane = std::get_if<rt::Picture>(&picture)) plane->colours = colours;
    return std::visit([](const auto& each) { return rt::draw(each); }, picture);
}

void write_field_picture(const std::string& path, const RunRequest& request, const Output& output,
                         const ShownValues& values, std::int64_t done) {
    draw_field(request, output, values, done).write_png(path);
}

}  // namespace halo::driver
