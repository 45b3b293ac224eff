// Copies of cells between an array of the GPU and dense memory of the host. Not for other rooms.
//
// The driver copies rows that are not one behind the other to and from pageable memory one by one, at about
// 1.5 GB/s. So larger copies go by way of two pieces of pinned memory: while the GPU reads or writes one of
// them, the host copies the other.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "runtime/core/geometry.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/streams.h"

namespace halo::rt::cuda {

class CellCopies {
public:
    // Where the driver is left alone by recordings of the caller, and the context is current, as in all
    // calls. The stream is read in each call: it changes while steps are recorded.
    CellCopies(const Driver& driver, const ContextAndStream& here) : driver_(driver), here_(here) {}
    ~CellCopies();
    CellCopies(const CellCopies&) = delete;
    CellCopies& operator=(const CellCopies&) = delete;

    // As Device::download_cells() and upload_cells(), for elements of so many bytes. They wait.
    void download(void* dense, const void* array, const Geometry& cells, std::int64_t element);
    void upload(void* array, const Geometry& cells, std::int64_t element, const void* dense);

    // Makes the pinned memory now, for smaller copies that come often. False where there is none.
    bool make_stages();

private:
    struct Stage {
        void* memory = nullptr;
        std::unique_ptr<StreamEvent> done;  // what was put into the stream last for it
    };
    // Makes them where a copy of so many bytes is the first that is worth it. False, too, where they cannot
    // be made.
    bool uses_stages(std::int64_t bytes);
    void wait_for(const Stage& stage) const;

    const Driver& driver_;
    const ContextAndStream& here_;
    std::array<Stage, 2> stages_{};
};

}  // namespace halo::rt::cuda
