// Fibers: stacks of their own that hand the processor to each other, all on one thread of the operating
// system. A switch takes a few nanoseconds on x86-64; elsewhere it goes through ucontext.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace halo::emulator {

// Where a fiber, or the thread that started them, was left.
struct FiberContext {
    void* stack_pointer = nullptr;
    struct Portable;
    std::shared_ptr<Portable> portable;  // used where there is no assembly for the processor
};

// Saves the running context in `from` and goes on in `to`.
void switch_fiber(FiberContext& from, FiberContext& to);

// Stacks with an inaccessible page below each, kept from launch to launch.
class FiberStacks {
public:
    // Without optimisation every value of a kernel has a place of its own. Pages take memory once they are
    // used.
    static constexpr std::size_t kStackBytes = 256 * 1024;

    explicit FiberStacks(int count);
    ~FiberStacks();
    FiberStacks(const FiberStacks&) = delete;
    FiberStacks& operator=(const FiberStacks&) = delete;

    int count() const { return count_; }
    // Lets switch_fiber() into `context` call entry(); entry must not return.
    void prepare(int index, FiberContext& context, void (*entry)());
    const char* lowest(int index) const { return low(index); }  // byte of kStackBytes
    bool contains_any(const void* address) const;

private:
    static constexpr std::size_t kGuardBytes = 4096, kStride = kGuardBytes + kStackBytes;
    char* low(int index) const { return base_ + static_cast<std::size_t>(index) * kStride; }
    int count_;
    char* base_;
};

}  // namespace halo::emulator
