#include "runtime/io/movie.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>

#include "catch.h"
#include "runtime/core/error.h"
#include "runtime/io/image.h"
#include "runtime/io/palette.h"
#include "temporary_folder.h"

#ifdef HALO_GIF
#include <gif_lib.h>
#endif

using namespace halo::rt;

namespace {

// A smooth picture with more colours than a palette has; of the colour map, at most so many.
Canvas smooth_picture(int colours) {
    Picture picture;
    picture.title = "waves";
    picture.width = 80;
    picture.height = 60;
    for (int y = 0; y < 60; ++y)
        for (int x = 0; x < 80; ++x)
            picture.values.push_back(x + y / 60.0);
    picture.range = {-40.0, 90.0};
    picture.colours = colours;
    return draw(picture);
}

std::string reason_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::io);
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a palette has all colours of a picture where they are few") {
    Canvas canvas(40, 20, {1, 2, 3});
    for (int i = 0; i < 255; ++i)
        canvas.fill(i % 40, i / 40, 1, 1, {static_cast<std::uint8_t>(i), 200, 100});
    const Palette palette(canvas);
    REQUIRE(palette.colours().size() == 256);
    CHECK(palette.colours().front() == Colour{1, 2, 3});  // the most frequent
    for (int y = 0; y < 20; ++y)
        for (int x = 0; x < 40; ++x)
            REQUIRE(palette.colours()[palette.index(canvas.at(x, y))] == canvas.at(x, y));
}

TEST_CASE("a palette has the most frequent colours, and the nearest of them for the others") {
    Canvas canvas(100, 10, {9, 9, 9});
    for (int i = 0; i < 255; ++i)
        canvas.fill(2 * (i % 50), i / 50, 2, 1, {static_cast<std::uint8_t>(i), 255, 0});
    canvas.fill(0, 9, 1, 1, {30, 252, 0});
    canvas.fill(1, 9, 1, 1, {9, 8, 10});
    const Palette palette(canvas);
    CHECK(palette.colours().size() == 256);
    CHECK(palette.colours()[palette.index({30, 252, 0})] == Colour{30, 255, 0});
    CHECK(palette.colours()[palette.index({9, 8, 10})] == Colour{9, 9, 9});
}

TEST_CASE("a picture with the colours that a GIF has room for needs no others") {
    const Canvas all = smooth_picture(0), few = smooth_picture(kGifMapColours);
    const Palette palette(few);
    CHECK(palette.colours().size() <= 256);
    const Palette of_all(all);
    bool loses = false;
    int largest = 0;
    for (int y = 0; y < all.height(); ++y) {
        for (int x = 0; x < all.width(); ++x) {
            REQUIRE(palette.colours()[palette.index(few.at(x, y))] == few.at(x, y));
            loses |= of_all.colours()[of_all.index(all.at(x, y))] != all.at(x, y);
            const Colour one = all.at(x, y), other = few.at(x, y);
            largest = std::max({largest, std::abs(one.red - other.red), std::abs(one.green - other.green),
                                std::abs(one.blue - other.blue)});
        }
    }
    CHECK(loses);  // with all its colours it would need more
    CHECK(largest <= 6);
}

TEST_CASE("a canvas is cut or continued at its right and lower side") {
    Canvas canvas(3, 2, {7, 7, 7});
    canvas.fill(1, 1, 1, 1, {1, 2, 3});
    const Canvas wide = canvas.resized(5, 3, {0, 0, 9});
    CHECK(wide.at(1, 1) == Colour{1, 2, 3});
    CHECK(wide.at(2, 1) == Colour{7, 7, 7});
    CHECK(wide.at(3, 1) == Colour{0, 0, 9});
    CHECK(wide.at(0, 2) == Colour{0, 0, 9});
    const Canvas narrow = canvas.resized(2, 2, {0, 0, 9});
    CHECK(narrow.width() == 2);
    CHECK(narrow.at(1, 1) == Colour{1, 2, 3});
}

TEST_CASE("the ending of its name says what writes a movie") {
    CHECK(movie_kind("a/u.gif") == MovieKind::gif);
    CHECK(movie_kind("u.mp4") == MovieKind::mp4);
    CHECK(movie_kind("u.webm") == MovieKind::webm);
    CHECK(movie_kind(".gif") == MovieKind::none);
    CHECK(movie_kind("u.png") == MovieKind::none);
}

TEST_CASE("ffmpeg is a program on the PATH, no folder and no text") {
    const TemporaryFolder folder;
    const char* const before = std::getenv("PATH");
    const std::string path = before != nullptr ? before : "";
    ::setenv("PATH", (folder / "one" + ":" + folder / "two" + ":" + folder / "three").c_str(), 1);
    std::filesystem::create_directories(folder / "one/ffmpeg");
    std::filesystem::create_directories(folder / "two");
    std::filesystem::create_directories(folder / "three");
    std::filesystem::copy_file("/bin/sh", folder / "two/ffmpeg");
    ::chmod((folder / "two/ffmpeg").c_str(), 0644);
    if (::geteuid() != 0) CHECK(find_ffmpeg().empty());
    CHECK(movie_lack("u.mp4").what == "it needs ffmpeg, which is not on the PATH");
    std::filesystem::copy_file("/bin/sh", folder / "three/ffmpeg");
    ::chmod((folder / "three/ffmpeg").c_str(), 0755);
    CHECK(find_ffmpeg() == folder / "three/ffmpeg");
    CHECK(movie_lack("u.mp4").what.empty());
    ::setenv("PATH", path.c_str(), 1);
}

TEST_CASE("a movie cannot be written where its folder is missing") {
    if (has_giflib())
        CHECK(reason_of([] { make_movie("/no/such/u.gif", 8, 8, 25); }).find("does not exist") !=
              std::string::npos);
    CHECK(reason_of([] { make_movie("/no/such/u.mp4", 8, 8, 25); }).find("does not exist") !=
          std::string::npos);
}

#ifdef HALO_GIF
TEST_CASE("a GIF has the pixels of its frames, and none is left without finish()") {
    const TemporaryFolder folder;
    const Canvas picture = smooth_picture(kGifMapColours);
    const Canvas other = Canvas(2, 2, {1, 200, 3}).resized(picture.width(), picture.height(), {0, 0, 0});
    const std::string path = folder / "u.gif";
    {
        const std::unique_ptr<Movie> movie = make_movie(path, picture.width(), picture.height(), 25);
        movie->add(picture);
    }
    CHECK(std::filesystem::is_empty(folder.path()));
    const std::unique_ptr<Movie> movie = make_movie(path, picture.width(), picture.height(), 25);
    movie->add(picture);
    movie->add(other);
    CHECK_FALSE(std::filesystem::exists(path));
    movie->finish();
    int error = 0;
    GifFileType* const file = DGifOpenFileName(path.c_str(), &error);
    REQUIRE(file != nullptr);
    REQUIRE(DGifSlurp(file) == GIF_OK);
    REQUIRE(file->ImageCount == 2);
    for (int i = 0; i < 2; ++i) {
        const Canvas& wanted = i == 0 ? picture : other;
        const SavedImage& image = file->SavedImages[i];
        bool are_equal = true;
        for (int y = 0; y < wanted.height(); ++y) {
            for (int x = 0; x < wanted.width(); ++x) {
                const GifColorType& colour =
                    image.ImageDesc.ColorMap->Colors[image.RasterBits[y * wanted.width() + x]];
                are_equal &= Colour{colour.Red, colour.Green, colour.Blue} == wanted.at(x, y);
            }
        }
        CHECK(are_equal);
    }
    DGifCloseFile(file, &error);
    CHECK(reason_of([&] { make_movie(path, 70000, 3, 25); }).find("too many for a GIF") != std::string::npos);
    CHECK(std::filesystem::file_size(path) > 0);
}

TEST_CASE("a full disk ends a GIF with its reason") {
    const TemporaryFolder folder;
    std::filesystem::create_symlink("/dev/full", folder / "u.gif");
    const Canvas picture = smooth_picture(kGifMapColours);
    const std::string reason = reason_of([&] {
        const std::unique_ptr<Movie> movie =
            make_movie(folder / "u.gif", picture.width(), picture.height(), 25);
        movie->add(picture);
        movie->finish();
    });
    CHECK(reason.find("the disk is full") != std::string::npos);
}
#endif
