#include "runtime/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "runtime/core/error.h"

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

// A name in the target's folder that no other process or thread uses.
std::string temporary_name(const std::string& target) {
    static std::atomic<unsigned> counter{0};
    const std::size_t slash = target.rfind('/');
    const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
    // The name's head alone: with all of it, a name of the greatest length would become too long.
    return target.substr(0, name) + "." + target.substr(name, 100) + "." + std::to_string(::getpid()) + "." +
           std::to_string(counter++) + ".part";
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
        temporary_ = temporary_name(target_);
        descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
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
    const char* next = static_cast<const char*>(bytes);
    while (count > 0) {
        const ssize_t written = ::pwrite(descriptor_, next, count, offset);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(errno);
        next += written;
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
