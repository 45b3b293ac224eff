// A file that is read at any place, by several threads where each has its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace halo::rt {

class FileRead {
public:
    explicit FileRead(const std::string& path);  // throws Error (io)
    ~FileRead();
    FileRead(const FileRead&) = delete;
    FileRead& operator=(const FileRead&) = delete;

    std::int64_t bytes() const;
    void read_at(std::int64_t offset, char* bytes, std::size_t count) const;  // throws Error: cut short

private:
    [[noreturn]] void fail(const std::string& why) const;
    std::string path_;
    int descriptor_ = -1;
};

}  // namespace halo::rt
