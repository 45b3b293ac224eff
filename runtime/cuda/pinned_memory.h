// Memory of the host that the GPU reads and writes by itself, and copies that wait for nothing. Not for other
// rooms.
#pragma once

#include <cstdint>

#include "runtime/cuda/driver.h"
#include "runtime/cuda/streams.h"

namespace halo::rt::cuda {

class PinnedMemory {
public:
    PinnedMemory(const Driver& driver, const ContextAndStream& here) : driver_(driver), here_(here) {}

    // As Device has them.
    void* allocate(std::int64_t bytes) const {
        enter();
        const BesideRecordings beside(driver_);
        void* memory = nullptr;
        const int result = driver_.MemAllocHost(&memory, static_cast<std::size_t>(bytes));
        return result == kSuccess ? memory : nullptr;
    }
    void release(void* memory) const noexcept {
        driver_.CtxSetCurrent(here_.context);
        const BesideRecordings beside(driver_);
        driver_.MemFreeHost(memory);
    }
    void begin_copy_to_device(void* address, const void* memory, std::int64_t bytes) const {
        enter();
        driver_.check(driver_.MemcpyHtoDAsync(to_address(address), memory, static_cast<std::size_t>(bytes),
                                              here_.stream),
                      "copying to the GPU");
    }
    void begin_copy_to_host(void* memory, const void* address, std::int64_t bytes) const {
        enter();
        driver_.check(driver_.MemcpyDtoHAsync(memory, to_address(address), static_cast<std::size_t>(bytes),
                                              here_.stream),
                      "copying from the GPU");
    }

private:
    void enter() const { driver_.check(driver_.CtxSetCurrent(here_.context), "choosing the GPU"); }

    const Driver& driver_;
    const ContextAndStream& here_;
};

}  // namespace halo::rt::cuda
