#include "runtime/core/disk_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#define OPENSSL_SUPPRESS_DEPRECATED  // SHA256_Init() and its like
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/core/folder.h"

namespace halo::rt {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "halocline cache 2\n";
constexpr std::string_view kSuffix = ".bin";
constexpr std::string_view kTemporaryPrefix = "writing-";
constexpr std::size_t kDigits = 64;
constexpr std::size_t kHeader = kMagic.size() + kDigits + 1;

// Uses the functions that allocate nothing: EVP's give no digest where there is no memory, or crash.
class Sha256 {
public:
    Sha256() { SHA256_Init(&context_); }
    void add(std::string_view bytes) { SHA256_Update(&context_, bytes.data(), bytes.size()); }
    std::string digits() {
        std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
        SHA256_Final(digest.data(), &context_);
        std::string text;
        for (const unsigned char byte : digest)
            text += fmt::format("{:02x}", byte);
        return text;
    }

private:
    SHA256_CTX context_;
};

// What an entry begins with. The checksum is over the key, too, which stands for all that the bytes were made
// from: an entry under another name is none.
std::string header_of(std::string_view key, std::string_view bytes) {
    return fmt::format("{}{}\n", kMagic, hash_key({key, bytes}));
}

// Whether a text is a key. Keys become file names, so nothing else is accepted.
bool is_key(std::string_view text) {
    return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

class FileDescriptor {
public:
    explicit FileDescriptor(int number) : number_(number) {}
    ~FileDescriptor() {
        if (number_ >= 0) ::close(number_);
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    explicit operator bool() const { return number_ >= 0; }
    int number() const { return number_; }
    bool close() { return ::close(std::exchange(number_, -1)) == 0; }

private:
    int number_;
};

std::optional<std::string> read_all(int file) {
    struct stat status{};
    if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t count = ::read(file, bytes.data() + have, bytes.size() - have);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return std::nullopt;
        have += static_cast<std::size_t>(count);
    }
    return bytes;
}

bool write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(file, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

// The folder from the environment; empty where there is none, with the reason in `why`.
fs::path user_folder(std::string& why) {
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string_view(value == nullptr ? "" : value);
    };
    if (const auto own = variable("HALOCLINE_CACHE"); !own.empty()) {
        if (own != "off") return own;
        why = "HALOCLINE_CACHE=off";
        return {};
    }
    if (const fs::path base = variable("XDG_CACHE_HOME"); base.is_absolute()) return base / "halocline";
    if (const fs::path home = variable("HOME"); home.is_absolute()) return home / ".cache" / "halocline";
    why = "neither HALOCLINE_CACHE, XDG_CACHE_HOME nor HOME names a folder";
    return {};
}

}  // namespace

std::string hash_key(const std::vector<std::string_view>& parts) {
    Sha256 hash;
    for (const std::string_view part : parts) {
        hash.add(fmt::format("{}:", part.size()));
        hash.add(part);
    }
    return hash.digits();
}

DiskCache DiskCache::in_user_folder(std::int64_t max_bytes) {
    std::string why;
    fs::path folder = user_folder(why);
    DiskCache cache(std::move(folder), max_bytes);
    if (!why.empty()) cache.why_ = why;
    return cache;
}

DiskCache::DiskCache(fs::path folder, std::int64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {
    open_folder();
}

void DiskCache::open_folder() {
    if (folder_.empty()) {
        why_ = "no folder is named";
        return;
    }
    std::error_code error;
    if (folder_.has_parent_path()) fs::create_directories(folder_.parent_path(), error);
    if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) {
        why_ = fmt::format("{} cannot be made: {}", folder_.string(), std::strerror(errno));
        return;
    }
    struct stat status{};
    if (::stat(folder_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
        why_ = fmt::format("{} is not a folder", folder_.string());
    } else if (status.st_uid != ::geteuid()) {
        // Code is loaded from here, so no other user may write to it.
        why_ = fmt::format("{} belongs to another user", folder_.string());
    } else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        why_ = fmt::format("others may write to {}; chmod go-w mends that", folder_.string());
    } else {
        readable_ = true;
        if (::access(folder_.c_str(), W_OK | X_OK) != 0)
            why_ = fmt::format("{} is read-only", folder_.string());
    }
}

std::optional<std::string> DiskCache::get(const std::string& key) const {
    if (!readable_ || !is_key(key)) return std::nullopt;
    const fs::path path = folder_ / (key + std::string(kSuffix));
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return std::nullopt;
    std::optional<std::string> entry = read_all(file.number());
    const bool whole = entry && entry->size() >= kHeader &&
                       entry->starts_with(header_of(key, std::string_view(*entry).substr(kHeader)));
    if (!whole) {
        ::unlink(path.c_str());
        return std::nullopt;
    }
    ::futimens(file.number(), nullptr);  // just used: the last to be evicted
    return entry->substr(kHeader);
}

bool DiskCache::put(const std::string& key, std::string_view bytes) const {
    const auto size = static_cast<std::int64_t>(kHeader + bytes.size());
    if (!usable() || !is_key(key) || size > max_bytes_) return false;
    trim(size);
    static std::atomic<unsigned> counter{0};
    const std::string temporary_name = fmt::format("{}{}-{}", kTemporaryPrefix, ::getpid(), counter++);
    const fs::path temporary = folder_ / temporary_name;
    FileDescriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return false;
    const std::string header = header_of(key, bytes);
    bool good = write_all(file.number(), header) && write_all(file.number(), bytes);
    good = file.close() && good;
    const fs::path path = folder_ / (key + std::string(kSuffix));
    if (good && ::rename(temporary.c_str(), path.c_str()) == 0) return true;
    ::unlink(temporary.c_str());
    return false;
}

// Evicts entries to make room for `incoming` bytes. Other processes may do the same meanwhile: a file that is
// gone is no trouble.
void DiskCache::trim(std::int64_t incoming) const {
    struct Entry {
        fs::path path;
        fs::file_time_type time;
        std::int64_t bytes = 0;
    };
    std::vector<Entry> entries;
    std::int64_t total = incoming;
    const auto now = fs::file_time_type::clock::now();
    std::vector<std::string> names;
    try {
        names = names_in(folder_);
    } catch (const Error&) {
        return;  // until the folder can be read again the cache may exceed its bound
    }
    for (const std::string& name : names) {
        const fs::path path = folder_ / name;
        std::error_code gone;
        const auto time = fs::last_write_time(path, gone);
        if (gone) continue;
        if (name.starts_with(kTemporaryPrefix)) {  // left by a process that died
            if (now - time > std::chrono::hours(1)) fs::remove(path, gone);
        } else if (is_key(path.stem().string()) && name.ends_with(kSuffix)) {
            const auto bytes = static_cast<std::int64_t>(fs::file_size(path, gone));
            if (gone) continue;
            entries.push_back({path, time, bytes});
            total += bytes;
        }
    }
    if (total <= max_bytes_) return;
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.time < b.time; });
    const std::int64_t goal = max_bytes_ - max_bytes_ / 4;  // so that the next calls need not trim
    for (const Entry& entry : entries) {
        if (total <= goal) break;
        std::error_code gone;
        fs::remove(entry.path, gone);
        total -= entry.bytes;
    }
}

}  // namespace halo::rt
