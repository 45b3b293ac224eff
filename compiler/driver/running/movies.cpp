#include "compiler/driver/running/movies.h"

#include <fmt/format.h>

#include "compiler/driver/running/pictures.h"
#include "compiler/ir/analysis.h"

namespace halo::driver {

namespace {

// Pixels that a later frame may need and the first does not: below for the number of cells that are not
// finite; where each frame has a range of its own also to the right, for longer numbers at the colour bar.
constexpr int kRoomBelow = 24, kRoomAcross = 72;
constexpr rt::Colour kWhite{255, 255, 255};

// Bytes and truth values have the same range in all pictures.
bool has_range(const Output& output, const ir::Program& program) {
    const ir::Storage storage = find_field(program, output.field.fields.front())->storage;
    return output.range || storage == ir::Storage::u8 || storage == ir::Storage::boolean;
}

}  // namespace

void prepare_movies(RunRequest& request, const ir::Program& program, std::int64_t before,
                    const Console& console) {
    for (Output& output : request.outputs) {
        if (output.kind != Output::Kind::movie) continue;
        const std::optional<std::int64_t> wait =
            before == 0 && output.frames.from == 0 ? 0 : output.frames.steps_to_next(before);
        if (!wait || before + *wait > request.steps) {
            console.message(
                fmt::format("note: {} is not written: none of its frames is due in this run", output.path));
            continue;
        }
        if (before > 0) {
            output.path = frame_path(output.path, before, request.steps);
            console.message(
                fmt::format("note: a movie cannot be continued: the frames after step {} are in {}", before,
                            output.path));
        }
        if (!has_range(output, program))
            console.message(
                fmt::format("note: each frame of {} has a range of values of its own; `range LOW..HIGH` "
                            "after the name of the file, in the run block, gives all frames the same",
                            output.path));
    }
}

void FieldMovie::add(const ShownValues& values, std::int64_t done) {
    const bool is_gif = rt::movie_kind(output_.path) == rt::MovieKind::gif;
    const rt::Canvas picture = draw_field(request_, output_, values, done, is_gif ? rt::kGifMapColours : 0);
    if (!file_) {
        const rt::ElementType type = values.first.type;
        const bool keeps_range =
            output_.range || type == rt::ElementType::u8 || type == rt::ElementType::boolean;
        width_ = picture.width() + (keeps_range ? 0 : kRoomAcross);
        height_ = picture.height() + kRoomBelow;
        file_ = rt::make_movie(output_.path, width_, height_, static_cast<int>(output_.fps));
    }
    file_->add(picture.resized(width_, height_, kWhite));
}

void FieldMovie::finish() {
    file_->finish();
    file_.reset();
}

}  // namespace halo::driver
