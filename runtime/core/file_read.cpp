#include "runtime/core/file_read.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/core/error.h"

namespace halo::rt {

FileRead::FileRead(const std::string& path) : path_(path) {
    // Opening a pipe would wait for one who writes to it.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0)
        fail(errno == ENOENT   ? "there is no such file"
             : errno == EACCES ? "no permission to read it"
                               : std::strerror(errno));
    struct stat status{};
    std::string why;
    if (::fstat(descriptor_, &status) != 0)
        why = std::strerror(errno);
    else if (S_ISDIR(status.st_mode))
        why = "it is a folder";
    else if (!S_ISREG(status.st_mode))
        why = "it is no plain file";
    if (!why.empty()) {
        ::close(descriptor_);
        fail(why);
    }
    bytes_ = status.st_size;
}

FileRead::~FileRead() {
    ::close(descriptor_);
}

void FileRead::fail(const std::string& why) const {
    throw Error(ErrorCode::io, "cannot read \"" + path_ + "\": " + why);
}

void FileRead::read_at(std::int64_t offset, char* bytes, std::size_t count) const {
    while (count > 0) {
        const ssize_t got = ::pread(descriptor_, bytes, count, offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) fail(got == 0 ? "it is cut short" : std::strerror(errno));
        bytes += got;
        offset += got;
        count -= static_cast<std::size_t>(got);
    }
}

std::string FileRead::read_all(std::int64_t most) const {
    if (bytes_ > most)
        fail("it has " + std::to_string(bytes_) + " bytes, and no more than " + std::to_string(most) +
             " are expected");
    std::string text(static_cast<std::size_t>(bytes_), '\0');
    read_at(0, text.data(), text.size());
    return text;
}

}  // namespace halo::rt
