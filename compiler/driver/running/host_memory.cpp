#include "compiler/driver/running/host_memory.h"

#include <array>
#include <cstdio>

namespace halo::driver {

std::int64_t available_memory() {
    std::int64_t kilobytes = 0;
    if (std::FILE* file = std::fopen("/proc/meminfo", "r")) {
        std::array<char, 256> line{};
        long long value = 0;
        while (std::fgets(line.data(), line.size(), file) != nullptr) {
            if (std::sscanf(line.data(), "MemAvailable: %lld kB", &value) == 1) kilobytes = value;
        }
        std::fclose(file);
    }
    return kilobytes * 1024;
}

}  // namespace halo::driver
