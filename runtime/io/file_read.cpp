#include "runtime/io/file_read.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/core/error.h"

namespace halo::rt {

FileRead::FileRead(const std::string& path) : path_(path) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno == ENOENT ? "there is no such file" : std::strerror(errno));
}

FileRead::~FileRead() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void FileRead::fail(const std::string& why) const {
    throw Error(ErrorCode::io, "cannot read \"" + path_ + "\": " + why);
}

std::int64_t FileRead::bytes() const {
    struct stat status{};
    if (::fstat(descriptor_, &status) != 0) fail(std::strerror(errno));
    if (!S_ISREG(status.st_mode)) fail("it is no plain file");
    return status.st_size;
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

}  // namespace halo::rt
