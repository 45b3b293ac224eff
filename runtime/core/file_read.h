// A plain file that is read at any place, by several threads where each has its own. What is no plain file (a
// pipe, a device, a folder) is refused at once: a pipe might never come to an end, nor even begin.
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

    std::int64_t bytes() const { return bytes_; }                             // when it was opened
    void read_at(std::int64_t offset, char* bytes, std::size_t count) const;  // throws Error: cut short
    std::string read_all(std::int64_t most) const;  // throws Error where there are more bytes than that

private:
    [[noreturn]] void fail(const std::string& why) const;
    std::string path_;
    int descriptor_ = -1;
    std::int64_t bytes_ = 0;
};

}  // namespace halo::rt
