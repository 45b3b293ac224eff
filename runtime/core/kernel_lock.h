// KernelLock: one process at a time compiles a kernel; the ranks of a run ask for the same one at the same
// moment. A file in the cache's folder with the number of the process, locked while that lives: what one that
// died has left is no lock.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "runtime/core/disk_cache.h"

namespace halo::rt {

class KernelLock {
public:
    // key: of the cache's entry. nullopt where another process has it, or no file can be
    // made.
    static std::optional<KernelLock> take(const DiskCache& cache, const std::string& key);
    static bool is_held(const DiskCache& cache, const std::string& key);
    // Takes it as soon as no other process has it. nullopt where one has it for longer than `most`, or no
    // file can be made.
    static std::optional<KernelLock> wait(const DiskCache& cache, const std::string& key,
                                          std::chrono::seconds most);

    ~KernelLock();  // and the file goes
    KernelLock(KernelLock&& other) noexcept;
    KernelLock& operator=(KernelLock&&) = delete;

private:
    KernelLock(int file, std::filesystem::path path) : file_(file), path_(std::move(path)) {}
    int file_;
    std::filesystem::path path_;
};

}  // namespace halo::rt
