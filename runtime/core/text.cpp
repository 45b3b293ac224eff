#include "runtime/core/text.h"

#include <fmt/format.h>

namespace halo::rt {

std::string bytes_text(std::int64_t bytes) {
    if (bytes < 1024) return fmt::format("{} bytes", bytes);
    static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = static_cast<double>(bytes) / 1024;
    int unit = 0;
    while (value >= 1024 && unit < 5) {
        value /= 1024;
        ++unit;
    }
    return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string extent_text(int rank, const Extent& extent) {
    std::string text = fmt::format("{}", extent[0]);
    for (int axis = 1; axis < rank; ++axis)
        text += fmt::format(" x {}", extent[axis]);
    return text;
}

std::string cell_text(const Extent& extent, std::int64_t index) {
    const std::int64_t plane = extent[0] * extent[1];
    std::string text = fmt::format("{}, {}, {}", index % extent[0], index / extent[0] % extent[1],
                                   index / plane % extent[2]);
    if (extent[3] > 1) text += fmt::format(", {}", index / plane / extent[2]);
    return text;
}

}  // namespace halo::rt
