#include "compiler/driver/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "compiler/driver/exit_code.h"

namespace halo::driver {

namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path, int error) {
    throw CommandError(ExitCode::file, fmt::format("{} {}: {}", what, path, std::strerror(error)));
}

// A file descriptor that is closed when it goes out of scope.
class Descriptor {
public:
    explicit Descriptor(int value) : value_(value) {}
    ~Descriptor() {
        if (value_ > STDERR_FILENO) ::close(value_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int value() const { return value_; }

private:
    int value_;
};

void write_all(int descriptor, std::string_view text, const std::string& path) {
    while (!text.empty()) {
        ssize_t count = ::write(descriptor, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail("cannot write", path, errno);
        text.remove_prefix(static_cast<std::size_t>(count));
    }
}

}  // namespace

std::string display_name(const std::string& path) {
    return path == "-" ? "<stdin>" : path;
}

std::string read_text(const std::string& path, std::size_t max_bytes) {
    bool standard_input = path == "-";
    Descriptor file(standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.value() < 0) fail("cannot read", path, errno);
    std::string text;
    std::string block(std::size_t{1} << 16, '\0');
    while (true) {
        ssize_t count = ::read(file.value(), block.data(), block.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail("cannot read", display_name(path), errno);
        if (count == 0) return text;
        text.append(block, 0, static_cast<std::size_t>(count));
        if (text.size() > max_bytes) {
            throw CommandError(ExitCode::file, fmt::format("{} is no spec: it is longer than {} MB",
                                                           display_name(path), max_bytes >> 20));
        }
    }
}

void write_text(const std::string& path, std::string_view text) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    fs::path target = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : fs::path(path);
    if (target.empty()) target = path;
    struct stat old{};
    bool exists = ::stat(target.c_str(), &old) == 0;
    if (exists &&
        !S_ISREG(old.st_mode)) {  // a pipe or a device such as /dev/null: there is nothing to rename over
        Descriptor out(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
        if (out.value() < 0) fail("cannot write", path, errno);
        return write_all(out.value(), text, path);
    }
    std::string temporary = fmt::format("{}.{}.tmp", target.string(), ::getpid());
    Descriptor out(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (out.value() < 0) fail("cannot write", path, errno);
    try {
        write_all(out.value(), text, path);
        if (exists && ::fchmod(out.value(), old.st_mode & 07777) != 0) fail("cannot write", path, errno);
        if (::fsync(out.value()) != 0) fail("cannot write", path, errno);
        if (::rename(temporary.c_str(), target.c_str()) != 0) fail("cannot write", path, errno);
    } catch (...) {
        ::unlink(temporary.c_str());
        throw;
    }
}

}  // namespace halo::driver
