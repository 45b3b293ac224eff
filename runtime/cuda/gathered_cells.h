// Cells that are gathered in the GPU's memory, in the order of its work, and copied to the host by a stream
// of their own. Not for other rooms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/core/device.h"
#include "runtime/cuda/cell_copies.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/own_kernels.h"
#include "runtime/cuda/streams.h"

namespace halo::rt::cuda {

class GatheredCells final : public CellsAside {
public:
    // All of them must outlive it. `copies` copies by the stream that `here` has at the time.
    GatheredCells(Device& device, const Driver& driver, ContextAndStream& here, OwnKernels& own,
                  CellCopies& copies);

    bool set_aside(const std::vector<CellsOfArray>& parts) override;
    bool are_finite() override;
    void fetch(std::size_t part, void* dense) override;

private:
    struct Part {
        std::int64_t begin = 0;  // byte of the memory
        std::int64_t count = 0;
        ElementType type = ElementType::f32;
    };
    bool has_room_for(std::int64_t bytes);
    void* at(std::int64_t byte) const { return static_cast<char*>(memory_.address()) + byte; }

    Device& device_;
    const Driver& driver_;
    ContextAndStream& here_;
    OwnKernels& own_;
    CellCopies& copies_;
    DeviceMemory memory_;  // begins with a number that is not 0 where a cell is not finite
    std::int64_t too_much_ = std::numeric_limits<std::int64_t>::max();  // for which there was no memory
    std::vector<Part> parts_;
    PinnedCopy found_;  // of that number: done when all parts are gathered
};

}  // namespace halo::rt::cuda
