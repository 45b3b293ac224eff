// A file that appears whole or not at all: written under another name in the same folder, flushed to the
// disk, renamed.
#pragma once

#include <cstddef>
#include <string>

namespace halo::rt {

class AtomicFile {
public:
    // Throws Error where the file cannot be made: no such folder, not allowed, a folder of that name. A link
    // is followed. What is no plain file (a pipe, /dev/stdout) is written as it is.
    explicit AtomicFile(const std::string& path);
    ~AtomicFile();  // without commit(): nothing is left behind
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(const void* bytes, std::size_t count);  // throws Error: disk full
    void commit();                                     // throws Error likewise

private:
    [[noreturn]] void fail(int error_number);
    std::string path_;       // as the user wrote it
    std::string target_;     // with links followed
    std::string temporary_;  // empty where the target is written directly
    int descriptor_ = -1;
};

}  // namespace halo::rt
