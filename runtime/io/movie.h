// Movies: frames of one size, one after another in a file. A .gif is written by giflib, where the build found
// it; .mp4 and .webm by ffmpeg, a program that gets the frames through a pipe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/io/canvas.h"

namespace halo::rt {

enum class MovieKind : std::uint8_t { none, gif, mp4, webm };
MovieKind movie_kind(const std::string& path);  // by the file's ending

// The colours of a palette of a GIF that are left for a colour map, beside those of words and frames.
inline constexpr int kGifMapColours = 248;

// What is missing for writing such a file, and what helps; both empty where nothing is.
struct MovieLack {
    std::string what, mend;
};
MovieLack movie_lack(const std::string& path);

// A file that appears whole at finish(), or not at all. All throw Error (io).
class Movie {
public:
    Movie() = default;
    virtual ~Movie() = default;  // without finish(): nothing is left behind
    Movie(const Movie&) = delete;
    Movie& operator=(const Movie&) = delete;

    virtual void add(const Canvas& frame) = 0;  // of the size that it was made with
    virtual void finish() = 0;
};

// For frames of this size, of which so many are shown in a second.
std::unique_ptr<Movie> make_movie(const std::string& path, int width, int height, int rate);

// The path of ffmpeg on the PATH; empty where there is none.
std::string find_ffmpeg();
bool has_giflib();

}  // namespace halo::rt
