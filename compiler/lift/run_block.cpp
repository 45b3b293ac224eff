#include "compiler/lift/run_block.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdlib>
#include <vector>

namespace halo::lift {

namespace {

constexpr std::size_t kStack = 64 * 1024;

struct ThreadOfBlock {
    ucontext_t context;
    unsigned place[3];
    const void* waits_at = nullptr;
    bool has_ended = false;
};
struct RunningBlock {
    void (*thread)(void*);
    void* given;
    std::vector<ThreadOfBlock> threads;
    ThreadOfBlock* now = nullptr;
    ucontext_t outside;
};
RunningBlock* running = nullptr;

void begin_thread() {
    running->thread(running->given);
    running->now->has_ended = true;
    ::setcontext(&running->outside);
}

char* stacks(std::size_t threads) {
    static char* memory = nullptr;
    static std::size_t held = 0;
    if (threads > held) {
        if (memory != nullptr) ::munmap(memory, held * kStack);
        void* found = ::mmap(nullptr, threads * kStack, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (found == MAP_FAILED) std::abort();
        memory = static_cast<char*>(found);
        held = threads;
    }
    return memory;
}

}  // namespace

void run_block(void (*thread)(void*), void* given, const unsigned* size, unsigned* place) {
    RunningBlock block{thread, given, {}, nullptr, {}};
    running = &block;
    block.threads.resize(std::size_t{size[0]} * size[1] * size[2]);
    char* memory = stacks(block.threads.size());
    for (std::size_t i = 0; i < block.threads.size(); ++i) {
        ThreadOfBlock& each = block.threads[i];
        each.place[0] = static_cast<unsigned>(i % size[0]);
        each.place[1] = static_cast<unsigned>(i / size[0] % size[1]);
        each.place[2] = static_cast<unsigned>(i / size[0] / size[1]);
        ::getcontext(&each.context);
        each.context.uc_stack.ss_sp = memory + i * kStack;
        each.context.uc_stack.ss_size = kStack;
        each.context.uc_link = nullptr;
        ::makecontext(&each.context, begin_thread, 0);
    }
    // Up or down: of four blocks each has other orders in front of a barrier and behind it. What depends on
    // the order is then not the same in all of them.
    static unsigned blocks = 0;
    const unsigned number = blocks++;
    unsigned round = 0;
    for (bool goes_on = true; goes_on; ++round) {
        goes_on = false;
        const bool goes_down = (number >> (round % 2) & 1) != 0;
        const void* barrier = nullptr;
        for (std::size_t i = 0; i < block.threads.size(); ++i) {
            ThreadOfBlock& each = block.threads[goes_down ? block.threads.size() - 1 - i : i];
            if (each.has_ended) continue;
            block.now = &each;
            for (int a = 0; a < 3; ++a)
                place[a] = each.place[a];
            ::swapcontext(&block.outside, &each.context);
            if (each.has_ended) continue;
            if (barrier != nullptr && barrier != each.waits_at) std::abort();
            barrier = each.waits_at;
            goes_on = true;
        }
    }
    running = nullptr;
}

void wait_in_block() {
    if (running == nullptr) return;
    running->now->waits_at = __builtin_return_address(0);
    ::swapcontext(&running->now->context, &running->outside);
}

}  // namespace halo::lift
