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

// Of a device that does everything in order.
class PassedMark final : public WorkMark {
public:
    void set() override {}
    void wait() override {}
};

}  // namespace

std::unique_ptr<WorkMark> Device::make_mark() {
    return std::make_unique<PassedMark>();
}

std::unique_ptr<EarlyCopy> Device::make_early_copy(std::int64_t bytes) {
    return std::make_unique<WaitingCopy>(*this, bytes);
}

CellsInMemory cells_of(const void* array, const Geometry& geometry, std::int64_t element,
                       const std::array<std::int64_t, kMaxRank>& cell) {
    return {static_cast<const char*>(array) + geometry.element_of(cell) * element, geometry.pitch,
            geometry.slice, geometry.volume};
}

BoxCopy copy_of_cells(const CellsInMemory& to, const CellsInMemory& from, const Extent& count,
                      std::int64_t element) {
    BoxCopy box;
    box.to = const_cast<void*>(to.first);
    box.from = from.first;
    box.row_bytes = count[0] * element;
    box.rows = count[1];
    box.planes = count[2];
    box.volumes = count[3];
    box.to_pitch = to.pitch * element;
    box.to_slice = to.slice * element;
    box.from_pitch = from.pitch * element;
    box.from_slice = from.slice * element;
    box.to_volume = to.volume * element;
    box.from_volume = from.volume * element;
    return box;
}

void Device::copy_from(Device& other, const BoxCopy& box) {
    BoxCopy one = box;
    one.volumes = 1;
    for (std::int64_t volume = 0; volume < box.volumes; ++volume) {
        copy_planes(other, one);
        one.to = static_cast<char*>(one.to) + box.to_volume;
        one.from = static_cast<const char*>(one.from) + box.from_volume;
    }
}

void Device::copy_planes(Device& other, const BoxCopy& box) {
    std::vector<char> row(&other == this ? 0 : static_cast<std::size_t>(box.row_bytes));
    for (std::int64_t plane = 0; plane < box.planes; ++plane) {
        for (std::int64_t number = 0; number < box.rows; ++number) {
            const char* const from =
                static_cast<const char*>(box.from) + plane * box.from_slice + number * box.from_pitch;
            char* const to = static_cast<char*>(box.to) + plane * box.to_slice + number * box.to_pitch;
            if (&other == this) {
                copy_on_device(to, from, box.row_bytes);
                continue;
            }
            other.copy_to_host(row.data(), from, box.row_bytes);
            copy_to_device(to, row.data(), box.row_bytes);
        }
    }
}

}  // namespace halo::rt
