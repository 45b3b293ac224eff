#include "runtime/core/device.h"

namespace halo::rt {

void Device::copy_from(Device& other, const BoxCopy& box) {
    std::vector<char> row(static_cast<std::size_t>(box.row_bytes));
    for (std::int64_t plane = 0; plane < box.planes; ++plane) {
        for (std::int64_t number = 0; number < box.rows; ++number) {
            other.copy_to_host(
                row.data(),
                static_cast<const char*>(box.from) + plane * box.from_slice + number * box.from_pitch,
                box.row_bytes);
            copy_to_device(static_cast<char*>(box.to) + plane * box.to_slice + number * box.to_pitch,
                           row.data(), box.row_bytes);
        }
    }
}

}  // namespace halo::rt
