// Large writes past the system's cache of files. A file that is flushed to the disk when it is whole gains
// nothing by the cache, whose pages cost more time of a core than many disks need for the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace halo::rt {

class DirectWrites {
public:
    DirectWrites() = default;
    ~DirectWrites();
    DirectWrites(const DirectWrites&) = delete;
    DirectWrites& operator=(const DirectWrites&) = delete;

    // What is to be written as usual before and after the pages that go this way; `before` is all of it where
    // none do.
    struct Parts {
        std::size_t before = 0, direct = 0;
    };
    static Parts parts_of(std::int64_t offset, std::size_t count);

    // Writes whole pages of the file at `path`. How many bytes it has written: fewer where the file system
    // does not take them this way, or there is no memory; the rest is written as usual. -1: errno says what
    // went wrong.
    std::int64_t write(const std::string& path, std::int64_t offset, const char* bytes, std::size_t count);

private:
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    bool begin(const std::string& path);

    int descriptor_ = -1;
    bool is_refused_ = false;
    std::unique_ptr<void, Free> pages_;  // bytes on their way: the disk takes them from whole pages
};

}  // namespace halo::rt
