#include "runtime/io/direct_writes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace halo::rt {

namespace {

constexpr std::size_t kDirectPage = 4096;  // at least the blocks of all usual disks
constexpr std::size_t kLeastDirect = std::size_t{4} << 20;
constexpr std::size_t kDirectPiece = std::size_t{8} << 20;

}  // namespace

DirectWrites::~DirectWrites() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

DirectWrites::Parts DirectWrites::parts_of(std::int64_t offset, std::size_t count) {
    if (count < kLeastDirect) return {count, 0};
    const std::size_t before = (kDirectPage - static_cast<std::size_t>(offset) % kDirectPage) % kDirectPage;
    return {before, (count - before) / kDirectPage * kDirectPage};
}

bool DirectWrites::begin(const std::string& path) {
    if (descriptor_ >= 0 || is_refused_) return !is_refused_;
    pages_.reset(std::aligned_alloc(kDirectPage, kDirectPiece));
    if (pages_) descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_DIRECT);
    is_refused_ = descriptor_ < 0;
    return !is_refused_;
}

std::int64_t DirectWrites::write(const std::string& path, std::int64_t offset, const char* bytes,
                                 std::size_t count) {
    std::size_t done = 0;
    while (done < count && begin(path)) {
        const std::size_t now = std::min(kDirectPiece, count - done);
        std::memcpy(pages_.get(), bytes + done, now);
        const ssize_t written =
            ::pwrite(descriptor_, pages_.get(), now, offset + static_cast<std::int64_t>(done));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno != EINVAL) return -1;
        // What is left of a page cannot be written this way.
        if (written < 0 || static_cast<std::size_t>(written) % kDirectPage != 0) {
            is_refused_ = true;
            break;
        }
        done += static_cast<std::size_t>(written);
    }
    return static_cast<std::int64_t>(done);
}

}  // namespace halo::rt
