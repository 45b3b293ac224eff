#include "runtime/cuda/cell_copies.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <utility>

namespace halo::rt::cuda {

namespace {

constexpr std::int64_t kStageBytes = std::int64_t{4} << 20;
// Smaller copies are not worth making pinned memory for, nor using what has been made, nor another thread.
constexpr std::int64_t kWorthStages = std::int64_t{1} << 20;
constexpr std::int64_t kWorthStaging = std::int64_t{16} << 10;
constexpr std::int64_t kWorthThread = std::int64_t{1} << 20;
constexpr const char* kDoing = "copying between host and GPU";

// Calls visit(cells, first) for parts of so many cells at most, whose rows lie one behind the other in dense
// memory from element `first` on, and which the driver can copy at once. Of cells along three axes.
template <class Visit>
void for_parts(Geometry cells, std::int64_t element, std::int64_t most, Visit visit) {
    if (cells.extent[1] == 1) {  // a row of each plane: planes cost the GPU far more than rows
        std::swap(cells.extent[1], cells.extent[2]);
        cells.pitch = std::exchange(cells.slice, cells.slice * cells.extent[1]);
    }
    const std::int64_t nx = cells.extent[0], ny = cells.extent[1], nz = cells.extent[2];
    const bool has_rows = cells.pitch * element <= kMaxPitch;
    const bool has_planes = has_rows && cells.slice % cells.pitch == 0;
    const std::int64_t dx = std::min(nx, most);
    const std::int64_t dy = dx < nx || !has_rows ? 1 : std::clamp<std::int64_t>(most / nx, 1, ny);
    const std::int64_t dz = dy < ny || !has_planes ? 1 : std::clamp<std::int64_t>(most / (nx * ny), 1, nz);
    for (std::int64_t z = 0; z < nz; z += dz) {
        for (std::int64_t y = 0; y < ny; y += dy) {
            for (std::int64_t x = 0; x < nx; x += dx) {
                Geometry part = cells;
                part.extent = {std::min(dx, nx - x), std::min(dy, ny - y), std::min(dz, nz - z)};
                part.origin += x + y * cells.pitch + z * cells.slice;
                visit(part, x + nx * (y + ny * z));
            }
        }
    }
}

std::int64_t bytes_of(const Geometry& cells, std::int64_t element) {
    return cells.extent.cells() * element;
}

Copy3D copy_of(const Geometry& cells, std::int64_t element) {
    Copy3D copy;
    copy.width = static_cast<std::size_t>(cells.extent[0] * element);
    copy.height = static_cast<std::size_t>(cells.extent[1]);
    copy.depth = static_cast<std::size_t>(cells.extent[2]);
    return copy;
}

CopySide host_side(const void* dense, const Copy3D& copy) {
    CopySide side;
    side.memory_kind = kHostMemory;
    side.host = dense;
    side.pitch = copy.width;
    side.height = copy.height;
    return side;
}

// Of a single row or plane the driver is not told how the next one lies: it might be too far for it.
CopySide device_side(const void* array, const Geometry& cells, std::int64_t element, const Copy3D& copy) {
    CopySide side;
    side.memory_kind = kDeviceMemory;
    side.device = to_address(array) + static_cast<Address>(cells.origin * element);
    side.pitch = copy.height * copy.depth == 1 ? copy.width : static_cast<std::size_t>(cells.pitch * element);
    side.height = copy.depth == 1 ? copy.height : static_cast<std::size_t>(cells.slice / cells.pitch);
    return side;
}

// One thread alone is slower than the GPU.
void copy_on_host(char* to, const char* from, std::int64_t bytes) {
    if (bytes < kWorthThread) {
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
        return;
    }
    const auto half = static_cast<std::size_t>(bytes / 2), rest = static_cast<std::size_t>(bytes) - half;
    const std::future<void> other = std::async(std::launch::async | std::launch::deferred,
                                               [=] { std::memcpy(to + half, from + half, rest); });
    std::memcpy(to, from, half);
    other.wait();
}

}  // namespace

CellCopies::~CellCopies() {
    driver_.CtxSetCurrent(here_.context);
    for (const Stage& stage : stages_)
        if (stage.memory != nullptr) driver_.MemFreeHost(stage.memory);
}

bool CellCopies::uses_stages(std::int64_t bytes) {
    const bool are_made = stages_.back().done != nullptr;
    return bytes >= (are_made ? kWorthStaging : kWorthStages) && make_stages();
}

bool CellCopies::make_stages() {
    for (Stage& stage : stages_) {
        if (stage.memory == nullptr && driver_.MemAllocHost(&stage.memory, kStageBytes) != kSuccess)
            return stage.memory = nullptr, false;
        if (stage.done == nullptr) stage.done = std::make_unique<StreamEvent>(driver_, here_.context);
    }
    return true;
}

void CellCopies::wait_for(const Stage& stage) const {
    driver_.check(driver_.EventSynchronize(stage.done->get()), kDoing);
}

void CellCopies::download(void* dense, const void* array, const Geometry& cells, std::int64_t element) {
    const auto begin = [&](const Geometry& part, void* to) {
        Copy3D copy = copy_of(part, element);
        copy.source = device_side(array, part, element, copy);
        copy.destination = host_side(to, copy);
        driver_.check(driver_.Memcpy3DAsync(&copy, here_.stream), kDoing);
    };
    auto* const to = static_cast<char*>(dense);
    if (!uses_stages(bytes_of(cells, element))) {
        for_parts(cells, element, kMaxPitch / element,
                  [&](const Geometry& part, std::int64_t first) { begin(part, to + first * element); });
        return driver_.check(driver_.StreamSynchronize(here_.stream), kDoing);
    }
    struct Part {
        char* to = nullptr;
        std::int64_t bytes = 0;
    } before;  // that is on its way to the other stage
    std::size_t number = 0;
    const auto finish = [&] {
        const Stage& stage = stages_[(number + 1) % 2];
        if (before.bytes == 0) return;
        wait_for(stage);
        copy_on_host(before.to, static_cast<const char*>(stage.memory), before.bytes);
    };
    for_parts(cells, element, kStageBytes / element, [&](const Geometry& part, std::int64_t first) {
        const Stage& stage = stages_[number % 2];
        begin(part, stage.memory);
        stage.done->record(here_.stream);
        finish();
        before = {to + first * element, bytes_of(part, element)};
        ++number;
    });
    finish();
}

void CellCopies::upload(void* array, const Geometry& cells, std::int64_t element, const void* dense) {
    const auto begin = [&](const Geometry& part, const void* from) {
        Copy3D copy = copy_of(part, element);
        copy.source = host_side(from, copy);
        copy.destination = device_side(array, part, element, copy);
        driver_.check(driver_.Memcpy3DAsync(&copy, here_.stream), kDoing);
    };
    const auto* const from = static_cast<const char*>(dense);
    if (!uses_stages(bytes_of(cells, element))) {
        for_parts(cells, element, kMaxPitch / element,
                  [&](const Geometry& part, std::int64_t first) { begin(part, from + first * element); });
        return driver_.check(driver_.StreamSynchronize(here_.stream), kDoing);
    }
    std::size_t number = 0;
    for_parts(cells, element, kStageBytes / element, [&](const Geometry& part, std::int64_t first) {
        const Stage& stage = stages_[number % 2];
        if (number >= stages_.size()) wait_for(stage);  // the GPU has read what is in it
        copy_on_host(static_cast<char*>(stage.memory), from + first * element, bytes_of(part, element));
        begin(part, stage.memory);
        stage.done->record(here_.stream);
        ++number;
    });
    driver_.check(driver_.StreamSynchronize(here_.stream), kDoing);
}

}  // namespace halo::rt::cuda
