// Movies by ffmpeg: frames go to its standard input as they are, and it writes the file under a temporary
// name.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/movie_kinds.h"

namespace halo::rt {

namespace {

class Descriptor {
public:
    explicit Descriptor(int value = -1) : value_(value) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return value_; }
    void set(int value) {
        close();
        value_ = value;
    }
    void close() {
        if (value_ >= 0) ::close(value_);
        value_ = -1;
    }

private:
    int value_;
};

int even(int side) {
    return side + side % 2;
}

// How ffmpeg is started: its files and signals.
class SpawnSettings {
public:
    SpawnSettings(int input, int words) {
        ::posix_spawn_file_actions_init(&files_);
        ::posix_spawnattr_init(&attributes_);
        sigset_t none, usual;
        ::sigemptyset(&none);
        ::sigemptyset(&usual);
        for (const int number : {SIGINT, SIGTERM, SIGPIPE})
            ::sigaddset(&usual, number);
        ::posix_spawn_file_actions_adddup2(&files_, input, 0);
        ::posix_spawn_file_actions_addopen(&files_, 1, "/dev/null", O_WRONLY, 0);
        ::posix_spawn_file_actions_adddup2(&files_, words, 2);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setsigdefault(&attributes_, &usual);
        // A session of its own: Ctrl-C is for the run alone, which then ends the movie.
        ::posix_spawnattr_setflags(&attributes_,
                                   POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~SpawnSettings() {
        ::posix_spawn_file_actions_destroy(&files_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;

    // 0, or what errno says.
    int start(const std::string& program, const std::vector<std::string>& arguments, pid_t& child) const {
        std::vector<char*> words{const_cast<char*>(program.c_str())};
        for (const std::string& argument : arguments)
            words.push_back(const_cast<char*>(argument.c_str()));
        words.push_back(nullptr);
        return ::posix_spawn(&child, program.c_str(), &files_, &attributes_, words.data(), environ);
    }

private:
    posix_spawn_file_actions_t files_{};
    posix_spawnattr_t attributes_{};
};

class FfmpegMovie final : public Movie {
public:
    FfmpegMovie(const std::string& path, const std::string& format, int width, int height, int rate)
        : path_(path), width_(even(width)), height_(even(height)), file_(path) {
        if (file_.temporary().empty()) fail("ffmpeg writes plain files alone");
        const std::string program = find_ffmpeg();
        if (program.empty()) fail("ffmpeg is not on the PATH");
        std::array<int, 2> ends{};
        // A pair of sockets and no pipe: a write to one that nobody reads gives an error and no signal.
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
            fail(std::strerror(errno));
        const Descriptor input(ends[0]);
        frames_.set(ends[1]);
        words_.set(::memfd_create("ffmpeg", MFD_CLOEXEC));
        if (words_.get() < 0) fail(std::strerror(errno));
        const SpawnSettings settings(input.get(), words_.get());
        const int error = settings.start(program, arguments(format, rate), child_);
        if (error != 0) {
            child_ = -1;
            fail(fmt::format("{} cannot be started: {}", program, std::strerror(error)));
        }
    }
    ~FfmpegMovie() override {
        frames_.close();
        if (child_ <= 0) return;
        ::kill(child_, SIGKILL);
        wait();
    }

    void add(const Canvas& frame) override {
        std::vector<std::uint8_t> bytes;
        bytes.reserve(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_) * 3);
        for (int y = 0; y < height_; ++y) {
            for (int x = 0; x < width_; ++x) {
                const Colour colour =
                    frame.at(std::min(x, frame.width() - 1), std::min(y, frame.height() - 1));
                bytes.insert(bytes.end(), {colour.red, colour.green, colour.blue});
            }
        }
        for (std::size_t sent = 0; sent < bytes.size();) {
            const ssize_t count =
                ::send(frames_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) end_early(errno);
            sent += static_cast<std::size_t>(count);
        }
    }

    void finish() override {
        frames_.close();
        const std::optional<int> status = wait();
        if (!status || !WIFEXITED(*status) || WEXITSTATUS(*status) != 0) fail(ending(status));
        file_.commit();
    }

private:
    std::vector<std::string> arguments(const std::string& format, int rate) const {
        std::vector<std::string> all{"-hide_banner", "-loglevel", "error", "-y"};
        all.insert(all.end(), {"-f", "rawvideo", "-pixel_format", "rgb24"});
        all.insert(all.end(), {"-video_size", fmt::format("{}x{}", width_, height_)});
        all.insert(all.end(), {"-framerate", std::to_string(rate), "-i", "pipe:0"});
        all.insert(all.end(), {"-pix_fmt", "yuv420p"});
        if (format == "mp4") all.insert(all.end(), {"-movflags", "+faststart"});
        all.insert(all.end(), {"-f", format, "file:" + file_.temporary()});
        return all;
    }

    // It no longer reads frames.
    [[noreturn]] void end_early(int error_number) {
        frames_.close();
        fail(error_number == EPIPE || error_number == ECONNRESET ? ending(wait())
                                                                 : std::strerror(error_number));
    }

    // How it ended; nullopt where that cannot be known, as where whoever started this process ignores
    // SIGCHLD.
    std::optional<int> wait() {
        int status = 0;
        pid_t ended = -1;
        do {
            ended = ::waitpid(child_, &status, 0);
        } while (ended < 0 && errno == EINTR);
        child_ = -1;
        return ended < 0 ? std::nullopt : std::optional(status);
    }

    std::string ending(std::optional<int> status) const {
        const std::string how =
            !status                ? "ffmpeg ended, and whether it succeeded is unknown (SIGCHLD is ignored)"
            : WIFSIGNALED(*status) ? fmt::format("ffmpeg was ended by signal {}", WTERMSIG(*status))
                                   : fmt::format("ffmpeg ended with code {}", WEXITSTATUS(*status));
        const std::string line = last_line();
        return line.empty() ? how : fmt::format("{}: {}", how, line);
    }

    // Of what ffmpeg said; control characters are left out.
    std::string last_line() const {
        std::string text(4096, '\0');
        const off_t size = ::lseek(words_.get(), 0, SEEK_END);
        const off_t from = std::max<off_t>(0, size - static_cast<off_t>(text.size()));
        const ssize_t count = ::pread(words_.get(), text.data(), text.size(), from);
        text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ')
            text.pop_back();
        text.erase(0, text.find_last_of("\n\r") + 1);
        std::erase_if(text, [](char letter) { return static_cast<unsigned char>(letter) < ' '; });
        return text;
    }

    [[noreturn]] void fail(const std::string& why) const {
        throw Error(ErrorCode::io, fmt::format("cannot write \"{}\": {}", path_, why));
    }

    std::string path_;
    int width_, height_;
    AtomicFile file_;
    Descriptor frames_, words_;
    pid_t child_ = -1;
};

}  // namespace

std::unique_ptr<Movie> make_ffmpeg_movie(const std::string& path, const std::string& format, int width,
                                         int height, int rate) {
    return std::make_unique<FfmpegMovie>(path, format, width, height, rate);
}

}  // namespace halo::rt
