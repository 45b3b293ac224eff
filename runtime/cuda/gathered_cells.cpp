#include "runtime/cuda/gathered_cells.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/core/element.h"

namespace halo::rt::cuda {

namespace {

// Of the GPU's free memory at most this part is taken: steps may need some, too.
constexpr std::int64_t kPartToGather = 4;
constexpr std::int64_t kGatheredAlignment = 256;  // bytes

// Threads lie along the first axis, so cells lie along it where they lie along any.
CellsOfArray along_first_axis(CellsOfArray part) {
    Extent& extent = part.cells.extent;
    for (int other = 1; other < kMaxRank && extent[0] == 1; ++other) {
        part.every = std::exchange(part.cells.pitch, std::exchange(part.cells.slice, part.cells.volume));
        std::shift_left(extent.begin(), extent.end(), 1);
        extent.back() = 1;
    }
    return part;
}

// Of gathered cells.
Geometry dense_rows(std::int64_t cells, std::int64_t rows) {
    Geometry dense;
    dense.rank = 2;
    dense.extent = {cells, rows, 1};
    dense.pitch = cells;
    dense.slice = dense.elements = cells * rows;
    return dense;
}

class OnStreamOfFetches {
public:
    explicit OnStreamOfFetches(ContextAndStream& here) : here_(here), before_(here.kind()) {
        here.use_stream(Device::StreamKind::fetch);
    }
    ~OnStreamOfFetches() { here_.use_stream(before_); }
    OnStreamOfFetches(const OnStreamOfFetches&) = delete;
    OnStreamOfFetches& operator=(const OnStreamOfFetches&) = delete;

private:
    ContextAndStream& here_;
    Device::StreamKind before_;
};

}  // namespace

GatheredCells::GatheredCells(Device& device, const Driver& driver, ContextAndStream& here, OwnKernels& own,
                             CellCopies& copies)
    : device_(device),
      driver_(driver),
      here_(here),
      own_(own),
      copies_(copies),
      found_(driver, here, sizeof(std::int64_t)) {
    const BesideRecordings beside(driver);
    copies.make_stages();
}

bool GatheredCells::has_room_for(std::int64_t bytes) {
    if (bytes <= memory_.bytes()) return true;
    if (bytes >= too_much_) return false;
    memory_ = DeviceMemory();
    try {
        if (bytes <= device_.memory().free_bytes / kPartToGather) memory_ = DeviceMemory(device_, bytes);
    } catch (const Error& error) {  // another process may have been faster
        if (error.code() != ErrorCode::out_of_memory) throw;
    }
    if (memory_.bytes() == 0) too_much_ = bytes;
    return memory_.bytes() > 0;
}

bool GatheredCells::set_aside(const std::vector<CellsOfArray>& parts) {
    parts_.clear();
    std::int64_t bytes = kGatheredAlignment;
    for (const CellsOfArray& part : parts) {
        parts_.push_back({bytes, part.count(), part.type});
        bytes += (part.count() * size_of(part.type) + kGatheredAlignment - 1) / kGatheredAlignment *
                 kGatheredAlignment;
    }
    if (!has_room_for(bytes)) return false;
    device_.set_bytes(at(0), 0, sizeof(std::int64_t));
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].count() == 0) continue;
        const CellsOfArray part = along_first_axis(parts[i]);
        void* const to = at(parts_[i].begin);
        own_.gather_cells(to, part.array, part.cells, part.every, part.type);
        const std::int64_t cells = part.cells.extent[0];
        if (is_real(part.type))
            own_.find_not_finite(to, dense_rows(cells, part.count() / cells), part.type, at(0));
    }
    found_.begin(at(0));
    return true;
}

bool GatheredCells::are_finite() {
    std::int64_t found = 0;
    std::memcpy(&found, found_.wait(), sizeof found);
    return found == 0;
}

void GatheredCells::fetch(std::size_t part, void* dense) {
    const Part& known = parts_[part];
    if (known.count == 0) return;
    driver_.check(driver_.CtxSetCurrent(here_.context), "choosing the GPU");
    const BesideRecordings beside(driver_);
    found_.wait();
    const OnStreamOfFetches fetches(here_);
    copies_.download(dense, at(known.begin), dense_rows(known.count, 1), size_of(known.type));
}

}  // namespace halo::rt::cuda
