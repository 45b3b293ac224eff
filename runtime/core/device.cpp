#include "runtime/core/device.h"

namespace halo::rt {

namespace {

// Of a device that has no way to copy while it works: it waits.
class WaitingCopy final : public EarlyCopy {
public:
    WaitingCopy(Device& device, std::int64_t bytes)
        : device_(device), bytes_(static_cast<std::size_t>(bytes)) {}
    void begin(const void* address) override {
        device_.copy_to_host(bytes_.data(), address, static_cast<std::int64_t>(bytes_.size()));
    }
    const void* wait() override { return bytes_.data(); }

private:
    Device& device_;
    std::vector<char> bytes_;
};

}  // namespace

std::unique_ptr<EarlyCopy> Device::make_early_copy(std::int64_t bytes) {
    return std::make_unique<WaitingCopy>(*this, bytes);
}

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
