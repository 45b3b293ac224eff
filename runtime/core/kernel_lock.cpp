#include "runtime/core/kernel_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

namespace halo::rt {

namespace {

// The cache removes files of this prefix that are old: those of processes that died.
std::filesystem::path path_of(const DiskCache& cache, const std::string& key) {
    return cache.folder() / ("writing-lock-" + key);
}

// Whoever had the lock before may have removed the file since it was opened.
bool is_still_there(int file, const std::filesystem::path& path) {
    struct stat opened{}, named{};
    return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
           opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

std::optional<KernelLock> KernelLock::take(const DiskCache& cache, const std::string& key) {
    if (!cache.usable()) return std::nullopt;
    std::filesystem::path path = path_of(cache, key);
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return std::nullopt;
    if (::flock(file, LOCK_EX | LOCK_NB) != 0 || !is_still_there(file, path)) {
        ::close(file);
        return std::nullopt;
    }
    // For people alone, so it does not matter where it cannot be written.
    const std::string process = fmt::format("{}\n", ::getpid());
    if (::ftruncate(file, 0) == 0) static_cast<void>(!::write(file, process.data(), process.size()));
    return KernelLock(file, std::move(path));
}

bool KernelLock::is_held(const DiskCache& cache, const std::string& key) {
    const int file = ::open(path_of(cache, key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return false;
    // Another error is of a file system without locks, where nobody has one.
    const bool is_held = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(file);
    return is_held;
}

std::optional<KernelLock> KernelLock::wait(const DiskCache& cache, const std::string& key,
                                           std::chrono::seconds most) {
    const auto end = std::chrono::steady_clock::now() + most;
    for (;;) {
        std::optional<KernelLock> lock = take(cache, key);
        if (lock || !is_held(cache, key) || std::chrono::steady_clock::now() > end) return lock;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

KernelLock::KernelLock(KernelLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)) {}

KernelLock::~KernelLock() {
    if (file_ < 0) return;
    ::unlink(path_.c_str());
    ::close(file_);
}

}  // namespace halo::rt
