#include "runtime/io/movie.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "runtime/io/movie_kinds.h"

namespace halo::rt {

namespace {

bool ends(const std::string& path, std::string_view ending) {
    return path.size() > ending.size() && path.ends_with(ending);
}

}  // namespace

MovieKind movie_kind(const std::string& path) {
    if (ends(path, ".gif")) return MovieKind::gif;
    if (ends(path, ".mp4")) return MovieKind::mp4;
    if (ends(path, ".webm")) return MovieKind::webm;
    return MovieKind::none;
}

std::string find_ffmpeg() {
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::filesystem::path program = std::filesystem::path(folder.empty() ? "." : folder) / "ffmpeg";
        std::error_code ignored;
        if (std::filesystem::is_regular_file(program, ignored) && ::access(program.c_str(), X_OK) == 0)
            return program.string();
    }
    return "";
}

MovieLack movie_lack(const std::string& path) {
    switch (movie_kind(path)) {
        case MovieKind::gif:
            if (has_giflib()) return {};
            return {"it needs giflib, without which this program was built",
                    "name an .mp4, which ffmpeg writes, or install libgif-dev and build again"};
        case MovieKind::mp4:
        case MovieKind::webm:
            if (!find_ffmpeg().empty()) return {};
            return {"it needs ffmpeg, which is not on the PATH",
                    has_giflib() ? "name a .gif, or install ffmpeg" : "install ffmpeg"};
        case MovieKind::none:
            break;
    }
    return {"its name ends in none of .mp4, .webm and .gif", "name one of these"};
}

std::unique_ptr<Movie> make_movie(const std::string& path, int width, int height, int rate) {
    switch (movie_kind(path)) {
        case MovieKind::gif:
            return make_gif(path, width, height, rate);
        case MovieKind::mp4:
            return make_ffmpeg_movie(path, "mp4", width, height, rate);
        case MovieKind::webm:
            return make_ffmpeg_movie(path, "webm", width, height, rate);
        case MovieKind::none:
            break;
    }
    throw std::logic_error("make_movie: the name has no ending of a movie");
}

}  // namespace halo::rt
