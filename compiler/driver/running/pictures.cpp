#include "compiler/driver/running/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/io/image.h"

namespace halo::driver {

namespace {

rt::PictureAxis picture_axis(const RunRequest& request, const Output& output, int axis) {
    auto a = static_cast<std::size_t>(axis);
    rt::PictureAxis result;
    result.label = request.axes[a];
    result.first = request.first_point(output)[a];
    result.last = result.first + static_cast<double>(request.extent[a] - 1) * request.spacing[a];
    if (output.flipped[a]) std::swap(result.first, result.last);
    return result;
}

rt::Curve curve_of(const std::string& title, const RunRequest& request, const Output& output,
                   const FieldValues& values, int axis) {
    rt::Curve curve;
    curve.title = title;
    curve.across = picture_axis(request, output, axis);
    curve.value_label = output.field.name;
    for (std::int64_t i = 0; i < values.size(); ++i)
        curve.values.push_back(
            values.at(output.flipped[static_cast<std::size_t>(axis)] ? values.size() - 1 - i : i));
    curve.range = output.range;
    return curve;
}

}  // namespace

void write_trace_picture(const std::string& path, const RunRequest& request, const Output& output,
                         const std::vector<double>& values, std::int64_t done) {
    const std::int64_t points = static_cast<std::int64_t>(values.size()) / done;
    const std::string title = fmt::format("{}: {}, {} steps", request.name, output.field.name, done);
    rt::PictureAxis time;
    time.label = request.time_step ? "time" : "step";
    time.last = static_cast<double>(done - 1) * request.time_step.value_or(1);
    const bool flips_points = output.flipped[0], flips_time = output.flipped[1];
    if (flips_time) std::swap(time.first, time.last);
    if (points == 1) {
        rt::Curve curve;
        curve.title = title;
        curve.values = values;
        if (flips_time) std::ranges::reverse(curve.values);
        curve.across = time;
        curve.range = output.range;
        curve.value_label = output.field.name;
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
    picture.value_label = output.trace->trace;
    picture.range = output.range;
    rt::write_picture(path, picture);
}

rt::Box plane_of(const RunRequest& request, const Output& output) {
    rt::Box plane = rt::box_of_field(output.grid, rt::whole_box(request.extent));
    if (!output.cut) return plane;
    const auto axis = static_cast<std::size_t>(output.cut->axis);
    plane.begin[axis] = output.cut->index;
    plane.end[axis] = output.cut->index + 1;
    return plane;
}

FieldPicture picture_of(const RunRequest& request, const Output& output, const FieldValues& values,
                        std::int64_t done) {
    std::string where;
    std::vector<int> shown;  // axes
    for (int axis = 0; axis < request.rank(); ++axis)
        if (output.grid.has(axis) && (!output.cut || output.cut->axis != axis)) shown.push_back(axis);
    if (output.cut)
        where = fmt::format(" at {} = {}", request.axes[static_cast<std::size_t>(output.cut->axis)],
                            output.cut->index);
    std::string title = fmt::format("{}: {}{}, step {}", request.name, output.field.name, where, done);
    if (shown.size() == 1) return curve_of(title, request, output, values, shown.front());
    const int across = shown.front(), up = shown.back();
    rt::Picture picture;
    picture.title = title;
    picture.width = request.extent[static_cast<std::size_t>(across)];
    picture.height = request.extent[static_cast<std::size_t>(up)];
    picture.values.reserve(static_cast<std::size_t>(picture.width * picture.height));
    const bool flips_across = output.flipped[static_cast<std::size_t>(across)];
    const bool flips_up = output.flipped[static_cast<std::size_t>(up)];
    for (std::int64_t row = 0; row < picture.height; ++row) {
        const std::int64_t from = flips_up ? picture.height - 1 - row : row;
        for (std::int64_t i = 0; i < picture.width; ++i)
            picture.values.push_back(
                values.at(from * picture.width + (flips_across ? picture.width - 1 - i : i)));
    }
    picture.across = picture_axis(request, output, across);
    picture.up = picture_axis(request, output, up);
    picture.value_label = output.field.name;
    if (values.type == rt::ElementType::u8) {  // greys, and the same ones in every picture
        picture.map = rt::PictureMap::grey;
        picture.range = {0.0, 255.0};
    }
    if (values.type == rt::ElementType::boolean) picture.range = {0.0, 1.0};
    if (output.range) picture.range = output.range;
    return picture;
}

rt::Canvas draw_field(const RunRequest& request, const Output& output, const FieldValues& values,
                      std::int64_t done, int colours) {
    FieldPicture picture = picture_of(request, output, values, done);
    if (auto* plane = std::get_if<rt::Picture>(&picture)) plane->colours = colours;
    return std::visit([](const auto& each) { return rt::draw(each); }, picture);
}

void write_field_picture(const std::string& path, const RunRequest& request, const Output& output,
                         const FieldValues& values, std::int64_t done) {
    draw_field(request, output, values, done).write_png(path);
}

}  // namespace halo::driver
