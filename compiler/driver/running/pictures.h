// Pictures of fields: a field of one axis as a curve, of two as a plane, of three as a slice.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "compiler/driver/running/request.h"
#include "runtime/core/box.h"
#include "runtime/io/canvas.h"
#include "runtime/io/image.h"

namespace halo::driver {

// The cells that an output's picture shows.
rt::Box plane_of(const RunRequest& request, const Output& output);

// The values that a picture shows: of plane_of() of the output, and of each of its layers.
struct ShownValues {
    FieldValues first;
    std::vector<FieldValues> layers;
};

// What a picture of the field alone, after step `done`, shows.
using FieldPicture = std::variant<rt::Picture, rt::Curve>;
FieldPicture picture_of(const RunRequest& request, const Output& output, const FieldValues& values,
                        std::int64_t done);

// The picture after step `done`. `colours`: at most so many of the colour map; 0: all.
rt::Canvas draw_field(const RunRequest& request, const Output& output, const ShownValues& values,
                      std::int64_t done, int colours = 0);

// Writes it under the name `path`. Throws rt::Error (io).
void write_field_picture(const std::string& path, const RunRequest& request, const Output& output,
                         const ShownValues& values, std::int64_t done);

// The picture of a trace, [step][point] of `done` steps, 1 or more, at 1 point or more: points across, the
// time downwards; of one point a curve.
void write_trace_picture(const std::string& path, const RunRequest& request, const Output& output,
                         const std::vector<double>& values, std::int64_t done);

}  // namespace halo::driver
