#include "fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#if defined(__has_feature)  // Clang
#if __has_feature(address_sanitizer)
#define HALO_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)  // GCC
#define HALO_ADDRESS_SANITIZER
#endif
#if defined(HALO_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif

namespace halo::emulator {

namespace {

// Fibers are left for good in the middle of functions. AddressSanitizer would take what those had on the
// stack for something of the next fiber.
void forget_poison([[maybe_unused]] void* stack, [[maybe_unused]] std::size_t bytes) {
#if defined(HALO_ADDRESS_SANITIZER)
    __asan_unpoison_memory_region(stack, bytes);
#endif
}

}  // namespace

#if defined(__x86_64__)

// void halo_switch_stack(void** from, void* to): the registers that a call must keep go on the old stack, and
// come from the new one.
extern "C" void halo_switch_stack(void** from, void* to);
asm(R"(
.text
.p2align 4
.globl halo_switch_stack
.type halo_switch_stack, @function
halo_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size halo_switch_stack, .-halo_switch_stack
)");

struct FiberContext::Portable {};

void switch_fiber(FiberContext& from, FiberContext& to) {
    halo_switch_stack(&from.stack_pointer, to.stack_pointer);
}

void FiberStacks::prepare(int index, FiberContext& context, void (*entry)()) {
    forget_poison(low(index), kStackBytes);
    // Were all stacks to begin at the same place of a page, they would fight for the same lines of the cache.
    const std::size_t stagger = static_cast<std::size_t>(index % 61) * 64;
    auto* top = reinterpret_cast<std::uint64_t*>(low(index) + kStackBytes - stagger);
    // As after a call: the stack is aligned to 16 before the return address (here: none) is pushed.
    *--top = 0;
    *--top = reinterpret_cast<std::uint64_t>(entry);
    for (int reg = 0; reg < 6; ++reg)
        *--top = 0;
    context.stack_pointer = top;
}

#else

struct FiberContext::Portable {
    ucontext_t context;
};

void switch_fiber(FiberContext& from, FiberContext& to) {
    if (!from.portable) from.portable = std::make_shared<FiberContext::Portable>();
    ::swapcontext(&from.portable->context, &to.portable->context);
}

void FiberStacks::prepare(int index, FiberContext& context, void (*entry)()) {
    forget_poison(low(index), kStackBytes);
    if (!context.portable) context.portable = std::make_shared<FiberContext::Portable>();
    ucontext_t& made = context.portable->context;
    ::getcontext(&made);
    made.uc_stack.ss_sp = low(index);
    made.uc_stack.ss_size = kStackBytes;
    made.uc_link = nullptr;
    ::makecontext(&made, entry, 0);
}

#endif

FiberStacks::FiberStacks(int count) : count_(count) {
    const std::size_t bytes = kGuardBytes + static_cast<std::size_t>(count) * kStride;
    void* base =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<char*>(base) + kGuardBytes;
    for (int index = 0; index < count; ++index)
        ::mprotect(low(index) - kGuardBytes, kGuardBytes, PROT_NONE);
}

FiberStacks::~FiberStacks() {
    ::munmap(base_ - kGuardBytes, kGuardBytes + static_cast<std::size_t>(count_) * kStride);
}

bool FiberStacks::contains_any(const void* address) const {
    const auto* byte = static_cast<const char*>(address);
    return byte >= base_ && byte < base_ + static_cast<std::size_t>(count_) * kStride;
}

}  // namespace halo::emulator
