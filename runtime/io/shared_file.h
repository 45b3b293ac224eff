// A file that the ranks of a run write together. It appears whole or not at all: under another name in the
// same folder until all have written and flushed their parts; then the first rank renames it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/io/atomic_file.h"
#include "runtime/ranks/ranks.h"

namespace halo::rt {

class SharedFile {
public:
    // Collective; the ranks must outlive it. Throws Error (io) on all as AtomicFile does.
    SharedFile(Ranks& ranks, const std::string& path);

    // What goes wrong is thrown by commit(): the others wait there.
    void write_at(std::int64_t offset, const void* bytes, std::size_t count);
    // Collective, as is commit(): to the disk, under its other name. Throws likewise.
    void flush();
    // Its other name, in this process and after the first rank has begun it; empty: it is no plain file.
    const std::string& temporary() const { return file_->temporary(); }
    // Collective. Throws on all ranks what went wrong on any; then nothing is left behind.
    void commit();

private:
    Ranks& ranks_;
    std::string path_;
    std::unique_ptr<AtomicFile> file_;
    std::string trouble_;
    std::int64_t position_ = 0;  // in what is no plain file
};

}  // namespace halo::rt
