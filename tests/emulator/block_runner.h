// Runs the threads of one block after the other block of a launch, each thread a fiber, and keeps what they
// did wrong. Blocks that wait for each other have a runner each, and take turns.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fiber.h"
#include "shadow.h"

namespace halo::emulator {

struct ThreadIndex {
    unsigned x = 0, y = 0, z = 0;
};

// The first thing that a launch did wrong. The texts are made after the fibers are left.
struct Trouble {
    FindingKind kind = FindingKind::none;
    Violation violation;
    std::size_t bytes = 0;              // of an access
    const void* place = nullptr;        // return address in the kernel
    const void* other_place = nullptr;  // of a barrier elsewhere
    ThreadIndex thread, block;
    ThreadIndex other_thread;  // the one that is missing or elsewhere
    const char* detail = "";
};

class BlockRunner {
public:
    using Entry = void(void** arguments);

    // number: of the runner, where several take turns.
    BlockRunner(Shadow& shadow, const ThreadIndex& blocks, const ThreadIndex& threads, const void* code_base,
                int number = 0);
    ~BlockRunner();
    BlockRunner(const BlockRunner&) = delete;
    BlockRunner& operator=(const BlockRunner&) = delete;

    // False where something went wrong; then no more blocks may be run.
    bool run(const ThreadIndex& block, std::uint32_t serial, Entry* entry, void** arguments);
    const Trouble& trouble() const { return trouble_; }

    // The same in parts: run() returns once all threads are done or poll packets of other blocks. go_on()
    // lets those poll again.
    bool is_paused() const { return polling_ > 0; }
    bool go_on();
    void report_deadlock();  // as trouble()
    static std::uint64_t packets_stored();
    static constexpr int kMostThreadsTogether = 16384;  // of all blocks that take turns

    ThreadIndex thread_index(int thread) const;
    const void* place_of(std::uint32_t site) const;

    // What the compiled text calls; `place` is the return address.
    void access(std::uintptr_t address, std::size_t bytes, bool is_write, bool aligned, const void* place) {
        // Its own variables, which are not watched: most accesses of a kernel that is not optimised.
        if (address - own_stack_ < FiberStacks::kStackBytes) return;
        watch(address, bytes, is_write, aligned, place);
    }
    int barrier(int predicate, const void* place);  // the number of threads whose predicate is not 0
    unsigned meet_warp(unsigned mask, std::uint64_t value, const void* place);  // the meeting's turn
    std::uint64_t shuffle(unsigned mask, std::uint64_t bits, int lane, int width, int mode,
                          const void* place);
    unsigned ballot(unsigned mask, int predicate, const void* place);
    void store_packet(void* to, std::uint64_t packet, const void* place);
    std::uint64_t load_packet(const void* from, const void* place);
    void fiber_main();

private:
    enum class State : std::uint8_t { ready, at_barrier, at_meeting, polling, finished };
    struct Fiber {
        FiberContext context;
        ThreadIndex index;
        State state = State::ready;
        int loads = 0;  // of packets
    };
    struct Warp {
        unsigned mask = 0, arrived = 0;
        const void* place = nullptr;
        unsigned turn = 0;                 // of the next meeting
        std::uint64_t values[2][32] = {};  // by turns: a lane may be one meeting ahead
        unsigned given[2] = {};
        std::uint16_t epoch = 0;
    };
    static constexpr int kWarp = 32;
    // After so many loads of packets a thread counts as polling: more than one round of a poll needs as a
    // rule.
    static constexpr int kLoadsOfPolling = 64;

    int lane() const { return current_ % kWarp; }
    Warp& warp() { return warps_[static_cast<std::size_t>(current_ / kWarp)]; }
    Fiber& fiber(int index) { return fibers_[static_cast<std::size_t>(index)]; }
    // Which fiber runs once it is switched to.
    void become(int next);
    void watch(std::uintptr_t address, std::size_t bytes, bool is_write, bool aligned, const void* place);
    void resume(int next);
    void leave();
    void settle();  // no fiber is ready
    void let_others_run(const void* place);
    void require_packet(const void* address, bool is_write, const void* place);
    // Neither returns. Not marked so: AddressSanitizer clears the stack before such calls, and takes a
    // fiber's for huge.
    void stop(FindingKind kind, const void* place, const char* detail, int other_thread,
              const void* other_place);
    void give_up();

    Shadow& shadow_;
    FiberStacks& stacks_;
    const char* code_base_;
    ThreadIndex block_;
    int count_ = 0;
    int first_stack_ = 0;
    std::vector<Fiber> fibers_;
    std::vector<Warp> warps_;
    FiberContext main_;

    Entry* entry_ = nullptr;
    void** arguments_ = nullptr;
    int current_ = 0;
    std::uintptr_t own_stack_ = 0;  // of the current fiber: its lowest byte
    int ready_ = 0, waiting_ = 0, polling_ = 0, finished_ = 0;
    const void* polling_place_ = nullptr;
    int first_waiting_ = 0;
    const void* barrier_place_ = nullptr;
    int votes_[2] = {};
    Access who_;  // of the current fiber, but for the site
    Trouble trouble_;
};

// What compiled text needs by name: the functions of cuda_prelude.h, the watch on memory, the indices.
std::map<std::string, void*> emulated_functions();

}  // namespace halo::emulator
