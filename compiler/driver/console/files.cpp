#include "compiler/driver/console/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>

#include "compiler/driver/console/exit_code.h"
#include "runtime/io/atomic_file.h"

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
    rt::AtomicFile file(path);
    file.write(text.data(), text.size());
    file.commit();
}

void write_texts(const std::vector<TextFile>& files) {
    std::deque<rt::AtomicFile> written;
    for (const TextFile& file : files) {
        written.emplace_back(file.path).write(file.text.data(), file.text.size());
        written.back().flush();
    }
    for (rt::AtomicFile& file : written)
        file.commit();
}

}  // namespace halo::driver
