// Movies that a run writes: their frames are the pictures of the same steps.
#include <png.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "catch.h"
#include "process.h"

#ifdef HALO_GIF
#include <gif_lib.h>
#endif

using namespace halo::test;

namespace {

#ifdef HALO_HAS_LLVM
const std::string kDevice = "cpu";
#else
const std::string kDevice = "interpreter";
#endif

std::string spec(const std::string& movie, const std::string& steps = "8") {
    return "stencil wave(x, y) {\n    field u: f32 { boundary fixed 0 }\n"
           "    u[t+1] = 2*u - u[t-1] + 0.2 * laplacian(u)\n}\n"
           "run wave {\n    grid 24, 17\n    steps " +
           steps + "\n    init u = exp(-((x - 8)^2 + (y - 9)^2) / 8)\n    " + movie + "\n}\n";
}

struct Frame {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgb;
    const std::uint8_t* at(int x, int y) const {
        return &rgb[(static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + x) * 3];
    }
};

Frame read_png(const std::string& bytes) {
    png_image image = {};
    image.version = PNG_IMAGE_VERSION;
    REQUIRE(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) != 0);
    image.format = PNG_FORMAT_RGB;
    Frame frame{static_cast<int>(image.width), static_cast<int>(image.height), {}};
    frame.rgb.resize(PNG_IMAGE_SIZE(image));
    REQUIRE(png_image_finish_read(&image, nullptr, frame.rgb.data(), 0, nullptr) != 0);
    return frame;
}

// How a frame differs from a picture in its upper left corner; white is beside that.
struct Difference {
    int largest = 0;          // of a channel
    double equal_pixels = 0;  // part of all
};

Difference compare(const Frame& frame, const Frame& picture) {
    REQUIRE(frame.width >= picture.width);
    REQUIRE(frame.height >= picture.height);
    static constexpr std::array<std::uint8_t, 3> kWhite{255, 255, 255};
    Difference difference;
    std::int64_t equal = 0;
    for (int y = 0; y < frame.height; ++y) {
        for (int x = 0; x < frame.width; ++x) {
            const bool is_inside = x < picture.width && y < picture.height;
            const std::uint8_t* const wanted = is_inside ? picture.at(x, y) : kWhite.data();
            int most = 0;
            for (int channel = 0; channel < 3; ++channel)
                most = std::max(most, std::abs(frame.at(x, y)[channel] - wanted[channel]));
            difference.largest = std::max(difference.largest, most);
            equal += most == 0;
        }
    }
    difference.equal_pixels = static_cast<double>(equal) / (static_cast<double>(frame.width) * frame.height);
    return difference;
}

// A program that stands in for ffmpeg. It is put into the folder `bin`.
void write_ffmpeg(const Folder& folder, const std::string& script) {
    std::filesystem::create_directory(folder.path() + "/bin");
    folder.write("bin/ffmpeg", "#!/bin/sh\n" + script);
    REQUIRE(::chmod((folder.path() + "/bin/ffmpeg").c_str(), 0755) == 0);
}
const std::string kRecorder =
    "printf '%s\\n' \"$@\" > args.txt\nfor last; do :; done\ncat > \"${last#file:}\"\n";

Outcome run_with_ffmpeg(const Folder& folder, std::vector<std::string> arguments) {
    Invocation invocation;
    invocation.arguments = {"run", "p.halo", "--device", kDevice};
    invocation.arguments.insert(invocation.arguments.end(), arguments.begin(), arguments.end());
    invocation.folder = folder.path();
    invocation.set = {"PATH=" + folder.path() + "/bin:/usr/bin:/bin"};
    return run_haloc(invocation);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

std::vector<Frame> raw_frames(const std::string& bytes, int width, int height) {
    const std::size_t size = static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3;
    REQUIRE(bytes.size() % size == 0);
    std::vector<Frame> frames;
    for (std::size_t at = 0; at < bytes.size(); at += size)
        frames.push_back({width,
                          height,
                          {bytes.begin() + static_cast<std::ptrdiff_t>(at),
                           bytes.begin() + static_cast<std::ptrdiff_t>(at + size)}});
    return frames;
}

std::vector<std::string> unfinished(const Folder& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
        if (entry.path().extension() == ".part") names.push_back(entry.path().filename());
    return names;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

#ifdef HALO_GIF
struct Gif {
    std::vector<Frame> frames;
    std::vector<int> hundredths;  // of a second, that each is shown
    bool is_repeated = false;
};

Gif read_gif(const std::string& path) {
    int error = 0;
    GifFileType* const file = DGifOpenFileName(path.c_str(), &error);
    REQUIRE(file != nullptr);
    REQUIRE(DGifSlurp(file) == GIF_OK);
    Gif gif;
    for (int i = 0; i < file->ImageCount; ++i) {
        const SavedImage& image = file->SavedImages[i];
        const ColorMapObject* const map = image.ImageDesc.ColorMap;
        REQUIRE(map != nullptr);
        CHECK(image.ImageDesc.Width == file->SWidth);
        CHECK(image.ImageDesc.Height == file->SHeight);
        Frame frame{file->SWidth, file->SHeight, {}};
        for (int pixel = 0; pixel < frame.width * frame.height; ++pixel) {
            const GifColorType& colour = map->Colors[image.RasterBits[pixel]];
            frame.rgb.insert(frame.rgb.end(), {colour.Red, colour.Green, colour.Blue});
        }
        gif.frames.push_back(std::move(frame));
        GraphicsControlBlock block;
        REQUIRE(DGifSavedExtensionToGCB(file, i, &block) == GIF_OK);
        gif.hundredths.push_back(block.DelayTime);
        for (int e = 0; e < image.ExtensionBlockCount; ++e) {
            const ExtensionBlock& extension = image.ExtensionBlocks[e];
            gif.is_repeated |=
                extension.Function == APPLICATION_EXT_FUNC_CODE &&
                std::string(reinterpret_cast<const char*>(extension.Bytes), 11) == "NETSCAPE2.0";
        }
    }
    DGifCloseFile(file, &error);
    return gif;
}
#endif

}  // namespace

#ifdef HALO_GIF
TEST_CASE("the frames of a GIF are the pictures of its steps") {
    const Folder folder;
    folder.write("p.halo", spec("movie u every 2 from 0 to \"u.gif\" range -0.4..1 fps 30\n"
                                "    plot u to \"u.png\" range -0.4..1 every 2 from 0"));
    const Outcome outcome = folder.haloc({"run", "p.halo", "--device", kDevice});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(has(outcome.out, "wrote u.gif\n"));
    CHECK_FALSE(has(outcome.err, "note: each frame"));
    const Gif gif = read_gif(folder.path() + "/u.gif");
    CHECK(gif.is_repeated);
    REQUIRE(gif.frames.size() == 5);
    CHECK(gif.hundredths == std::vector<int>{3, 4, 3, 3, 4});
    for (std::size_t i = 0; i < 5; ++i) {
        INFO(i);
        const auto picture = [&](std::size_t step) {
            return read_png(folder.read("u-00000" + std::to_string(step) + ".png"));
        };
        // A palette has a quarter of the colours that a picture can have.
        const Difference same = compare(gif.frames[i], picture(2 * i));
        CHECK(same.largest <= 6);
        CHECK(same.equal_pixels > 0.5);
        CHECK(compare(gif.frames[i], picture(i == 0 ? 2 : 2 * i - 2)).largest > 20);
    }
}

TEST_CASE("a movie without a range says so once, and has room for longer numbers") {
    const Folder folder;
    folder.write("p.halo",
                 spec("movie u every 4 to \"u.gif\" flip y\n    plot u to \"u.png\" flip y every 4"));
    const Outcome outcome = folder.haloc({"run", "p.halo", "--device", kDevice});
    REQUIRE(outcome.code == 0);
    const std::size_t note = outcome.err.find("note: each frame of u.gif has a range of values of its own");
    REQUIRE(note != std::string::npos);
    CHECK(outcome.err.find("note: each frame", note + 1) == std::string::npos);
    const Gif gif = read_gif(folder.path() + "/u.gif");
    REQUIRE(gif.frames.size() == 2);
    for (const int step : {4, 8}) {
        const Frame picture = read_png(folder.read("u-00000" + std::to_string(step) + ".png"));
        CHECK(compare(gif.frames[step / 4 - 1], picture).largest <= 6);
    }
}

TEST_CASE("a movie of a line and one of a plane of three axes") {
    const Folder folder;
    folder.write("p.halo",
                 "stencil line(x) {\n    field u: f64 { boundary periodic }\n    u[t+1] = u[x-1]\n}\n"
                 "run line { grid 40; steps 3; init u = exp(-(x - 9)^2 / 9); movie u every 1 to \"u.gif\" "
                 "range 0..1 }\n");
    REQUIRE(folder.haloc({"run", "p.halo", "--device", kDevice}).code == 0);
    CHECK(read_gif(folder.path() + "/u.gif").frames.size() == 3);
    folder.write("q.halo",
                 "stencil box(x, y, z) {\n    field u: f64 { boundary periodic }\n    u[t+1] = u[x-1]\n}\n"
                 "run box { grid 8, 9, 5; steps 4; init u = z\n"
                 "movie u at pos(z) = 3.2 every 1 to \"u.gif\" range 0..4 fps 50 }\n");
    REQUIRE(folder.haloc({"run", "q.halo", "--device", kDevice}).code == 0);
    REQUIRE(folder
                .haloc({"run", "q.halo", "--device", kDevice, "--movie", "u@z=1=v.gif", "--movie-every", "3",
                        "--plot", "u@z=1=v.png"})
                .code == 0);
    const Gif block = read_gif(folder.path() + "/u.gif"), line = read_gif(folder.path() + "/v.gif");
    CHECK(block.frames.size() == 4);
    CHECK(block.hundredths == std::vector<int>{2, 2, 2, 2});
    CHECK(line.frames.size() == 1);
    CHECK_FALSE(block.frames[0].rgb == line.frames[0].rgb);
}

TEST_CASE("a run that goes on from a checkpoint has a movie of its own") {
    const Folder folder;
    folder.write("p.halo", spec("movie u every 2 to \"u.gif\" range -1..1"));
    REQUIRE(folder.haloc({"run", "p.halo", "--device", kDevice, "--checkpoint", "ck"}).code == 0);
    const std::string before = folder.read("u.gif");
    const Outcome outcome =
        folder.haloc({"run", "p.halo", "--device", kDevice, "--restart", "ck", "--steps", "14"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(
        has(outcome.err, "note: a movie cannot be continued: the frames after step 8 are in u-000008.gif\n"));
    CHECK((folder.read("u.gif") == before));
    CHECK(read_gif(folder.path() + "/u-000008.gif").frames.size() == 3);
}

TEST_CASE("Ctrl-C leaves a movie of the frames so far") {
    if (!has_terminals()) {
        WARN("not run: there are no pseudo-terminals");
        return;
    }
    const Folder folder;
    folder.write("p.halo", spec("movie u every 1 to \"u.gif\" range -1..1", "1e9"));
    Invocation invocation;
    invocation.arguments = {"run", "p.halo", "--device", kDevice};
    invocation.folder = folder.path();
    invocation.on_terminal = true;  // the progress line says that steps are being done
    bool is_sent = false;
    invocation.watch = [&](int pid, const std::string& err) {
        if (!is_sent && has(err, "left")) is_sent = ::kill(pid, SIGINT) == 0;
    };
    const Outcome outcome = run_haloc(invocation);
    INFO(outcome.err);
    REQUIRE(outcome.code == 130);
    CHECK(read_gif(folder.path() + "/u.gif").frames.size() > 0);
    CHECK(unfinished(folder).empty());
}
#endif

TEST_CASE("ffmpeg is given the pictures of a movie as they are") {
    const Folder folder;
    folder.write("p.halo", spec("movie u every 2 to \"u.mp4\" range -0.4..1 fps 30\n"
                                "    plot u to \"u.png\" range -0.4..1 every 2"));
    write_ffmpeg(folder, kRecorder);
    const Outcome outcome = run_with_ffmpeg(folder, {});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(has(outcome.out, "wrote u.mp4\n"));
    CHECK(unfinished(folder).empty());
    const Frame first = read_png(folder.read("u-000002.png"));
    const int width = first.width + first.width % 2, height = (first.height + 24) + first.height % 2;
    const std::vector<Frame> frames = raw_frames(folder.read("u.mp4"), width, height);
    REQUIRE(frames.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        const Difference same =
            compare(frames[i], read_png(folder.read("u-00000" + std::to_string(2 * i + 2) + ".png")));
        CHECK(same.largest == 0);
    }
    std::vector<std::string> arguments = lines_of(folder.read("args.txt"));
    REQUIRE(arguments.size() > 2);
    CHECK(arguments.back().starts_with("file:./.u.mp4."));
    arguments.pop_back();
    CHECK(arguments == std::vector<std::string>{"-hide_banner",
                                                "-loglevel",
                                                "error",
                                                "-y",
                                                "-f",
                                                "rawvideo",
                                                "-pixel_format",
                                                "rgb24",
                                                "-video_size",
                                                std::to_string(width) + "x" + std::to_string(height),
                                                "-framerate",
                                                "30",
                                                "-i",
                                                "pipe:0",
                                                "-pix_fmt",
                                                "yuv420p",
                                                "-movflags",
                                                "+faststart",
                                                "-f",
                                                "mp4"});
}

TEST_CASE("a movie of the command line has at most 250 frames") {
    const Folder folder;
    folder.write("p.halo", spec("movie u every 1 to \"other.webm\"", "501"));
    write_ffmpeg(folder, "for last; do :; done\nwc -c > \"${last#file:}\"\necho \"$@\" > args.txt\n");
    const Outcome outcome = run_with_ffmpeg(folder, {"--movie", "u=u.webm"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(has(outcome.out, "wrote u.webm\n"));
    CHECK_FALSE(has(outcome.out, "other.webm"));
    const std::string arguments = folder.read("args.txt");
    CHECK(has(arguments, "-framerate 25 "));
    CHECK(has(arguments, "-f webm "));
    int width = 0, height = 0;
    REQUIRE(std::sscanf(arguments.c_str() + arguments.find("-video_size"), "-video_size %dx%d", &width,
                        &height) == 2);
    CHECK(std::stoll(folder.read("u.webm")) ==
          std::int64_t{167} * 3 * width * height);  // every 3 of 501 steps
}

TEST_CASE("the last thing that ffmpeg says is the reason of its failure") {
    const auto said = [](const std::string& script) {
        const Folder folder;
        folder.write("p.halo", spec("movie u every 1 to \"u.mp4\" range -1..1", "40"));
        write_ffmpeg(folder, script);
        const Outcome outcome = run_with_ffmpeg(folder, {});
        CHECK(outcome.code == 4);
        CHECK(folder.read("u.mp4").empty());
        CHECK(unfinished(folder).empty());
        return outcome.err;
    };
    const std::string words = "echo first >&2\necho 'no such encoder' >&2\n";
    const std::string failed = "cannot write \"u.mp4\": ffmpeg ended with code 3: no such encoder\n";
    CHECK(has(said(words + "exit 3\n"), failed));                                    // at once
    CHECK(has(said("head -c 1000000 > /dev/null\n" + words + "exit 3\n"), failed));  // in a frame
    CHECK(has(said("cat > /dev/null\n" + words + "exit 3\n"), failed));              // at the end
    CHECK(has(said("cat > /dev/null\nkill -9 $$\n"), "ffmpeg was ended by signal 9\n"));
    CHECK(has(said("exec 0<&-\nexit 0\n"), "ffmpeg ended with code 0"));  // without reading
}

TEST_CASE("a movie is not taken for whole where the end of ffmpeg cannot be seen") {
    const Folder folder;
    folder.write("p.halo", spec("movie u every 1 to \"u.mp4\" range -1..1"));
    write_ffmpeg(folder, kRecorder);
    Invocation invocation;
    invocation.launcher = {"bash", "-c", "trap '' CHLD; exec \"$0\" \"$@\""};
    invocation.arguments = {"run", "p.halo", "--device", "interpreter"};
    invocation.folder = folder.path();
    invocation.set = {"PATH=" + folder.path() + "/bin:/usr/bin:/bin"};
    const Outcome outcome = run_haloc(invocation);
    CHECK(outcome.code == 4);
    CHECK(has(outcome.err, "whether it succeeded is unknown (SIGCHLD is ignored)"));
    CHECK(folder.read("u.mp4").empty());
}

TEST_CASE("what a movie cannot be written with is said before the run begins") {
    const Folder folder;
    folder.write("p.halo", spec("movie u every 2 to \"u.mp4\""));
    std::filesystem::create_directory(folder.path() + "/bin");
    Invocation invocation;
    invocation.arguments = {"run", "p.halo", "--device", kDevice};
    invocation.folder = folder.path();
    invocation.set = {"PATH=" + folder.path() + "/bin"};
    const Outcome outcome = run_haloc(invocation);
    CHECK(outcome.code == 4);
    CHECK(has(outcome.err, "error: cannot write u.mp4: it needs ffmpeg, which is not on the PATH\n"));
    CHECK(has(outcome.err, "install ffmpeg\n"));
    CHECK_FALSE(has(outcome.err, "cells"));
    CHECK(folder.names() == std::vector<std::string>{"bin", "p.halo"});
    invocation.arguments.push_back("--no-files");
    CHECK(run_haloc(invocation).code == 0);
}

TEST_CASE("a movie of which no frame is due is not written, and that is said") {
    const Folder folder;
    folder.write("p.halo", spec("movie u every 50 to \"u.mp4\""));
    write_ffmpeg(folder, kRecorder);
    const Outcome outcome = run_with_ffmpeg(folder, {});
    CHECK(outcome.code == 0);
    CHECK(has(outcome.err, "note: u.mp4 is not written: none of its frames is due in this run\n"));
    CHECK(folder.read("u.mp4").empty());
}

TEST_CASE("movies of the command line that are refused") {
    const Folder folder;
    folder.write("p.halo", spec(""));
    write_ffmpeg(folder, kRecorder);
    const auto refused = [&](std::vector<std::string> arguments, const std::string& words) {
        const Outcome outcome = run_with_ffmpeg(folder, std::move(arguments));
        INFO(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(has(outcome.err, words));
    };
    refused({"--movie", "u=u.avi"}, "must end in .mp4, .webm or .gif, and u.avi does not");
    refused({"--movie", "u@x=3=u.mp4"}, "a picture of wave shows the whole grid, not a slice");
    refused({"--movie", "u@x=u.mp4"}, "--movie wants FIELD@AXIS=INDEX=FILE");
    refused({"--movie", "w=u.mp4"}, "wave has no field `w`");
    refused({"--movie", "u=u.mp4", "--movie-every", "0"}, "--movie-every");
    refused({"--movie-every", "3"}, "--movie-every requires --movie");
    refused({"--movie", "u=u.mp4", "--movie", "u=u.mp4"}, "two outputs would be written to u.mp4");
}

TEST_CASE("ffmpeg itself writes movies") {
    if (std::system("ffmpeg -version > /dev/null 2>&1") != 0) {
        WARN("not run: ffmpeg is not on the PATH");
        return;
    }
    const Folder folder;
    folder.write("p.halo", spec("movie u every 1 to \"u.mp4\" range -1..1"));
    const Outcome outcome = folder.haloc({"run", "p.halo", "--device", kDevice});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    const std::string count =
        "cd '" + folder.path() + "' && ffmpeg -loglevel error -i u.mp4 -f rawvideo -pix_fmt rgb24 raw.bin";
    REQUIRE(std::system(count.c_str()) == 0);
    CHECK(folder.read("raw.bin").size() % 8 == 0);
    CHECK(folder.read("raw.bin").size() / 8 > 500 * 300 * 3);
}
