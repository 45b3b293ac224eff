// KernelLock: one process at a time compiles a kernel that nobody waits for. A file in the cache's folder
// with the number of the process, locked while that lives: what one that died has left is no lock.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "runtime/core/disk_cache.h"

namespace halo::rt {

class KernelLock {
public:
    // key: of the cache's entry (Nvrtc::key_of). nullopt where another process has it, or no file can be
    // made.
    static std::optional<KernelLock> take(const DiskCache& cache, const std::string& key);
    static bool is_held(const DiskCache& cache, const std::string& key);

    ~KernelLock();  // and the file goes
    KernelLock(KernelLock&& other) noexcept;
    KernelLock& operator=(KernelLock&&) = delete;

private:
    KernelLock(int file, std::filesystem::path path) : file_(file), path_(std::move(path)) {}
    int file_;
    std::filesystem::path path_;
};

}  // namespace halo::rt
