// DiskCache: compiled code kept between runs, by key. Safe with several processes at once; a damaged entry,
// and one that was put under another key, is found by its checksum, removed and reported as missing; the
// oldest entries go when the whole grows past its bound. Never throws: where no folder can be used, every
// lookup misses and why() says the reason.
//
// Place: $HALOCLINE_CACHE, or $XDG_CACHE_HOME/halocline, or ~/.cache/halocline; the folder is readable by its
// owner alone. HALOCLINE_CACHE=off turns it off.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halo::rt {

// SHA-256 as 64 hexadecimal digits over all parts; each part's length is hashed with it, so ("ab","c")
// differs from
// ("a","bc").
std::string hash_key(const std::vector<std::string_view>& parts);

class DiskCache {
public:
    static constexpr std::int64_t kDefaultBytes = std::int64_t{256} << 20;

    static DiskCache in_user_folder(std::int64_t max_bytes = kDefaultBytes);
    explicit DiskCache(std::filesystem::path folder, std::int64_t max_bytes = kDefaultBytes);

    // The bytes stored under a key (of hash_key), or nullopt. A hit makes the entry young again.
    std::optional<std::string> get(const std::string& key) const;
    // False where the entry could not be kept: a full disk, a read-only folder, more bytes than the bound.
    bool put(const std::string& key, std::string_view bytes) const;

    bool usable() const { return why_.empty(); }     // entries can be kept; a read-only folder is still read
    const std::string& why() const { return why_; }  // why it is not usable; empty where it is
    const std::filesystem::path& folder() const { return folder_; }

private:
    void open_folder();
    void trim(std::int64_t incoming) const;

    std::filesystem::path folder_;
    std::int64_t max_bytes_ = 0;
    bool readable_ = false;
    std::string why_;
};

}  // namespace halo::rt
