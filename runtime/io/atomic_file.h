// A file that appears whole or not at all: written under another name in the same folder, flushed to the
// disk, renamed. What a process that was killed has left under such a name goes with the next file of its
// name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/io/direct_writes.h"

namespace halo::rt {

class AtomicFile {
public:
    // Throws Error where the file cannot be made: no such folder, not allowed, a folder of that name. A link
    // is followed. What is no plain file (a pipe, /dev/stdout) is written as it is.
    explicit AtomicFile(const std::string& path);
    // A part of one that another process has begun, and which is temporary() there. commit() leaves the
    // renaming to that process.
    AtomicFile(const std::string& path, const std::string& temporary);
    ~AtomicFile();  // without commit(): nothing is left behind
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(const void* bytes, std::size_t count);  // throws Error: disk full
    // `offset` bytes from the file's begin; the file grows as it must. Of plain files alone.
    void write_at(std::int64_t offset, const void* bytes, std::size_t count);
    void flush();                                                // to the disk; throws Error likewise
    void commit();                                               // flushes first
    const std::string& temporary() const { return temporary_; }  // empty: it is no plain file

private:
    [[noreturn]] void fail(int error_number);
    void write_cached(std::int64_t offset, const char* bytes, std::size_t count);
    std::string path_;       // as the user wrote it
    std::string target_;     // with links followed
    std::string temporary_;  // empty where the target is written directly
    bool is_part_ = false;   // of another process' file
    int descriptor_ = -1;
    DirectWrites direct_;
};

}  // namespace halo::rt
