// The ways in which movies are written. Not for other rooms.
#pragma once

#include <memory>
#include <string>

#include "runtime/io/movie.h"

namespace halo::rt {

std::unique_ptr<Movie> make_gif(const std::string& path, int width, int height, int rate);
// format: one that ffmpeg knows, "mp4".
std::unique_ptr<Movie> make_ffmpeg_movie(const std::string& path, const std::string& format, int width,
                                         int height, int rate);

}  // namespace halo::rt
