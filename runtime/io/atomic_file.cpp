#include "runtime/io/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/core/folder.h"

namespace halo::rt {

namespace {

std::string follow_links(const std::string& path) {
    char* resolved = ::realpath(path.c_str(), nullptr);
    if (resolved == nullptr) return path;  // not there yet
    std::string target = resolved;
    std::free(resolved);
    return target;
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string describe(const std::string& path, int error_number) {
    switch (error_number) {
        case ENOENT:
        case ENOTDIR:
            return "the folder \"" + folder_of(path) + "\" does not exist";
        case EACCES:
        case EPERM:
        case EROFS:
            return "no permission to write there";
        case EISDIR:
            return "a folder has that name";
        case ENOSPC:
        case EDQUOT:
            return "the disk is full";
        case EFBIG:
            return "the file is larger than is allowed there";
        case ENAMETOOLONG:
            return "the name is too long";
        default:
            return std::strerror(error_number);
    }
}

constexpr std::string_view kEnding = ".part";

// What the names of a target's temporary files begin with. The head of its name alone: with all of it, a name
// of the greatest length would become too long.
std::string temporary_head(const std::string& target) {
    const std::size_t slash = target.rfind('/');
    return "." + target.substr(slash == std::string::npos ? 0 : slash + 1, 100) + ".";
}

bool is_temporary(std::string_view name, std::string_view head) {
    if (!name.starts_with(head) || !name.ends_with(kEnding) || name.size() < head.size() + kEnding.size())
        return false;
    name.remove_prefix(head.size());
    name.remove_suffix(kEnding.size());  // PROCESS.NUMBER is left
    return std::ranges::count(name, '.') == 1 &&
           name.find_first_not_of("0123456789.") == std::string_view::npos;
}

// Whoever writes a temporary file holds a lock on it, which goes with the process: what can be locked was
// left by one that was killed. Where locks cannot be had, nothing is removed.
void remove_if_left(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
    ::close(file);
}

void remove_left(const std::string& target) {
    const std::string folder = folder_of(target), head = temporary_head(target);
    try {
        for (const std::string& name : names_in(folder))
            if (is_temporary(name, head)) remove_if_left(folder + "/" + name);
    } catch (const Error&) {
        // What was left stays; the file can be written all the same.
    }
}

// A new file in the target's folder, locked: its path, and a descriptor, or -1 where errno says why there is
// none.
std::pair<std::string, int> make_temporary(const std::string& target) {
    static std::atomic<unsigned> counter{0};
    const std::string start =
        folder_of(target) + "/" + temporary_head(target) + std::to_string(::getpid()) + ".";
    while (true) {
        std::string path = start + std::to_string(counter++) + std::string(kEnding);
        const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        // Left by a process of the same number, perhaps on another machine.
        if (file < 0 && errno == EEXIST) continue;
        // Once the file is there no allocation may fail: the file would not be removed.
        if (file < 0) return {std::move(path), file};
        struct stat status{};
        const bool is_locked = ::flock(file, LOCK_EX) == 0;
        if (!is_locked || ::fstat(file, &status) != 0 || status.st_nlink > 0) return {std::move(path), file};
        ::close(file);  // another process took it for one that was left, before it was locked
    }
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(follow_links(path)) {
    struct stat status{};
    const bool exists = ::stat(target_.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) fail(EISDIR);
    if (path.empty()) fail(ENOENT);
    if (exists && !S_ISREG(status.st_mode)) {
        descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    } else {
        if (exists && ::access(target_.c_str(), W_OK) != 0) fail(errno);
        remove_left(target_);
        std::tie(temporary_, descriptor_) = make_temporary(target_);
    }
    if (descriptor_ < 0) {
        const int error_number = errno;
        temporary_.clear();  // not ours
        fail(error_number);
    }
    // A file that was there keeps its permissions; where that is not allowed, new ones will do.
    if (exists && !temporary_.empty() && ::fchmod(descriptor_, status.st_mode & 07777) != 0) errno = 0;
}

AtomicFile::AtomicFile(const std::string& path, const std::string& temporary)
    : path_(path), target_(follow_links(path)), temporary_(temporary), is_part_(true) {
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
}

AtomicFile::~AtomicFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!temporary_.empty() && !is_part_) ::unlink(temporary_.c_str());
}

void AtomicFile::fail(int error_number) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
    if (!temporary_.empty() && !is_part_) ::unlink(temporary_.c_str());
    temporary_.clear();
    throw Error(ErrorCode::io, "cannot write \"" + path_ + "\": " + describe(target_, error_number));
}

void AtomicFile::write(const void* bytes, std::size_t count) {
    const char* next = static_cast<const char*>(bytes);
    while (count > 0) {
        const ssize_t written = ::write(descriptor_, next, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(errno);
        next += written;
        count -= static_cast<std::size_t>(written);
    }
}

void AtomicFile::write_at(std::int64_t offset, const void* bytes, std::size_t count) {
    const char* const from = static_cast<const char*>(bytes);
    const DirectWrites::Parts parts = DirectWrites::parts_of(offset, count);
    write_cached(offset, from, parts.before);
    std::size_t done = parts.before;
    if (parts.direct > 0 && !temporary_.empty()) {
        const std::int64_t written =
            direct_.write(temporary_, offset + static_cast<std::int64_t>(done), from + done, parts.direct);
        if (written < 0) fail(errno);
        done += static_cast<std::size_t>(written);
    }
    write_cached(offset + static_cast<std::int64_t>(done), from + done, count - done);
}

void AtomicFile::write_cached(std::int64_t offset, const char* bytes, std::size_t count) {
    while (count > 0) {
        const ssize_t written = ::pwrite(descriptor_, bytes, count, offset);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(errno);
        bytes += written;
        offset += written;
        count -= static_cast<std::size_t>(written);
    }
}

void AtomicFile::flush() {
    // Pipes and terminals cannot be flushed to a disk, and say EINVAL.
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail(errno);
}

void AtomicFile::commit() {
    flush();
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) fail(errno);
    if (temporary_.empty() || is_part_) return;
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
    temporary_.clear();
    // The rename itself reaches the disk with the folder.
    const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        ::fsync(folder);
        ::close(folder);
    }
}

}  // namespace halo::rt
