#include "block_runner.h"

#include <bit>
#include <cstring>
#include <memory>

namespace halo::emulator {

namespace {

// What the text sees as threadIdx, blockIdx, blockDim and gridDim; changed with every switch of fibers.
ThreadIndex thread_idx, block_idx, block_dim, grid_dim;

BlockRunner* running = nullptr;
std::uint64_t stored_packets = 0;

FiberStacks& stacks() {
    static FiberStacks all(BlockRunner::kMostThreadsTogether);
    return all;
}

void enter_fiber() {
    running->fiber_main();
}

}  // namespace

BlockRunner::BlockRunner(Shadow& shadow, const ThreadIndex& blocks, const ThreadIndex& threads,
                         const void* code_base, int number)
    : shadow_(shadow),
      stacks_(stacks()),
      code_base_(static_cast<const char*>(code_base)),
      count_(static_cast<int>(threads.x * threads.y * threads.z)),
      first_stack_(number * count_),
      fibers_(static_cast<std::size_t>(count_)),
      warps_(static_cast<std::size_t>((count_ + kWarp - 1) / kWarp)) {
    block_dim = threads;
    grid_dim = blocks;
    running = this;
    for (int i = 0; i < count_; ++i)
        fiber(i).index = thread_index(i);
}

BlockRunner::~BlockRunner() {
    running = nullptr;
}

ThreadIndex BlockRunner::thread_index(int thread) const {
    const auto number = static_cast<unsigned>(thread);
    return {number % block_dim.x, number / block_dim.x % block_dim.y, number / (block_dim.x * block_dim.y)};
}

const void* BlockRunner::place_of(std::uint32_t site) const {
    return code_base_ + static_cast<std::int32_t>(site);
}

bool BlockRunner::run(const ThreadIndex& block, std::uint32_t serial, Entry* entry, void** arguments) {
    running = this;
    block_ = block_idx = block;
    entry_ = entry;
    arguments_ = arguments;
    who_ = Access{};
    who_.block = serial;
    ready_ = count_;
    waiting_ = polling_ = finished_ = 0;
    barrier_place_ = nullptr;
    votes_[0] = votes_[1] = 0;
    for (int i = 0; i < count_; ++i) {
        fiber(i).state = State::ready;
        fiber(i).loads = 0;
        stacks_.prepare(first_stack_ + i, fiber(i).context, enter_fiber);
    }
    for (Warp& each : warps_) {
        each.arrived = 0;
        each.epoch = 0;
    }
    become(0);
    switch_fiber(main_, fiber(0).context);
    return trouble_.kind == FindingKind::none;
}

bool BlockRunner::go_on() {
    running = this;
    block_idx = block_;
    int first = -1;
    for (int i = 0; i < count_; ++i) {
        if (fiber(i).state != State::polling) continue;
        fiber(i).state = State::ready;
        first = first < 0 ? i : first;
    }
    ready_ = polling_;
    polling_ = 0;
    become(first);
    switch_fiber(main_, fiber(first).context);
    return trouble_.kind == FindingKind::none;
}

void BlockRunner::report_deadlock() {
    int waiting = 0;
    while (fiber(waiting).state != State::polling)
        ++waiting;
    trouble_.kind = FindingKind::deadlock;
    trouble_.place = polling_place_;
    trouble_.detail = "polls a packet that no block sends";
    trouble_.block = block_;
    trouble_.thread = trouble_.other_thread = fiber(waiting).index;
}

std::uint64_t BlockRunner::packets_stored() {
    return stored_packets;
}

void BlockRunner::require_packet(const void* address, bool is_write, const void* place) {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    constexpr std::size_t kBytes = 8;
    const Region* region = shadow_.find(begin);
    if (region != nullptr && begin + kBytes <= region->end && begin % kBytes == 0) return;
    trouble_.kind = FindingKind::out_of_bounds;
    trouble_.violation = {trouble_.kind, shadow_.nearest(begin), begin, is_write, false, {}};
    trouble_.bytes = kBytes;
    trouble_.place = place;
    give_up();
}

void BlockRunner::store_packet(void* to, std::uint64_t packet, const void* place) {
    require_packet(to, true, place);
    std::memcpy(to, &packet, sizeof(packet));
    ++stored_packets;
}

std::uint64_t BlockRunner::load_packet(const void* from, const void* place) {
    require_packet(from, false, place);
    if (++fiber(current_).loads % kLoadsOfPolling == 0) let_others_run(place);
    std::uint64_t packet = 0;
    std::memcpy(&packet, from, sizeof(packet));
    return packet;
}

void BlockRunner::let_others_run(const void* place) {
    polling_place_ = place;
    fiber(current_).state = State::polling;
    ++polling_;
    --ready_;
    leave();
}

void BlockRunner::fiber_main() {
    entry_(arguments_);
    if (waiting_ > 0)
        stop(FindingKind::divergent_barrier, nullptr, "left the kernel", first_waiting_, barrier_place_);
    fiber(current_).state = State::finished;
    --ready_;
    ++finished_;
    leave();
    __builtin_unreachable();
}

void BlockRunner::become(int next) {
    current_ = next;
    own_stack_ = reinterpret_cast<std::uintptr_t>(stacks_.lowest(first_stack_ + next));
    thread_idx = fiber(next).index;
    who_.thread = static_cast<std::uint16_t>(next);
    who_.warp_epoch = warp().epoch;
}

void BlockRunner::resume(int next) {
    const int previous = current_;
    if (next == previous) return;
    become(next);
    switch_fiber(fiber(previous).context, fiber(next).context);
}

// The current fiber cannot go on; another does.
void BlockRunner::leave() {
    if (ready_ == 0) return settle();
    int next = current_;
    do {
        next = next + 1 == count_ ? 0 : next + 1;
    } while (fiber(next).state != State::ready);
    resume(next);
}

void BlockRunner::settle() {
    if (finished_ == count_) {
        FiberContext gone;
        switch_fiber(gone, main_);
    }
    if (waiting_ == count_) {
        waiting_ = 0;
        barrier_place_ = nullptr;
        ready_ = count_;
        ++who_.epoch;
        votes_[who_.epoch % 2] = 0;
        for (Fiber& each : fibers_)
            each.state = State::ready;
        for (Warp& each : warps_)
            each.epoch = 0;
        who_.warp_epoch = 0;
        return resume(0);
    }
    if (polling_ > 0) {
        switch_fiber(fiber(current_).context, main_);
        return;
    }
    // Somebody waits for lanes that have left, or that wait at a barrier.
    for (int i = 0; i < count_; ++i) {
        if (fiber(i).state != State::at_meeting) continue;
        const Warp& its = warps_[static_cast<std::size_t>(i / kWarp)];
        const int missing = std::countr_zero(its.mask & ~its.arrived);
        current_ = i;
        stop(FindingKind::divergent_warp, its.place, "does not come to where its warp meets",
             i / kWarp * kWarp + missing, nullptr);
    }
    stop(FindingKind::divergent_barrier, barrier_place_, "waits for ever", first_waiting_, nullptr);
}

void BlockRunner::stop(FindingKind kind, const void* place, const char* detail, int other_thread,
                       const void* other_place) {
    trouble_.kind = kind;
    trouble_.place = place;
    trouble_.detail = detail;
    trouble_.other_thread = thread_index(other_thread);
    trouble_.other_place = other_place;
    give_up();
}

void BlockRunner::give_up() {
    trouble_.thread = thread_index(current_);
    trouble_.block = block_idx;
    // No fiber of this launch runs again.
    static FiberContext gone;
    switch_fiber(gone, main_);
    __builtin_unreachable();
}

void BlockRunner::watch(std::uintptr_t address, std::size_t bytes, bool is_write, bool aligned,
                        const void* place) {
    Access now = who_;
    now.site = static_cast<std::uint32_t>(static_cast<const char*>(place) - code_base_);
    // The sizes of vectors are powers of two.
    const bool good_place = !aligned || (address & (bytes - 1)) == 0;
    Violation& violation = trouble_.violation;  // written where there is one
    if (good_place && shadow_.check(address, bytes, is_write, now, violation)) return;
    if (!good_place)
        violation = {FindingKind::misaligned, shadow_.nearest(address), address, is_write, false, {}};
    trouble_.kind = violation.kind;
    trouble_.bytes = bytes;
    trouble_.place = place;
    if (stacks_.contains_any(reinterpret_cast<const void*>(address)))
        trouble_.detail = "a local variable of another thread";
    give_up();
}

int BlockRunner::barrier(int predicate, const void* place) {
    if (finished_ > 0) {
        int gone = 0;
        while (fiber(gone).state != State::finished)
            ++gone;
        stop(FindingKind::divergent_barrier, place, "has left the kernel", gone, nullptr);
    }
    if (waiting_ > 0 && place != barrier_place_)
        stop(FindingKind::divergent_barrier, place, "waits elsewhere", first_waiting_, barrier_place_);
    if (waiting_ == 0) {
        barrier_place_ = place;
        first_waiting_ = current_;
    }
    const unsigned turn = who_.epoch % 2;
    votes_[turn] += predicate != 0;
    fiber(current_).state = State::at_barrier;
    ++waiting_;
    --ready_;
    leave();
    return votes_[turn];
}

unsigned BlockRunner::meet_warp(unsigned mask, std::uint64_t value, const void* place) {
    Warp& mine = warp();
    const int base = current_ / kWarp * kWarp;
    // Lanes past the block's end do not exist.
    if (count_ - base < kWarp) mask &= (1u << (count_ - base)) - 1;
    const unsigned bit = 1u << lane();
    if ((mask & bit) == 0)
        stop(FindingKind::divergent_warp, place, "is not in its own mask", current_, nullptr);
    if (mine.arrived != 0 && (mine.place != place || mine.mask != mask)) {
        const int other = base + std::countr_zero(mine.arrived);
        stop(FindingKind::divergent_warp, place, "meets elsewhere or with another mask", other, mine.place);
    }
    const unsigned turn = mine.turn;
    if (mine.arrived == 0) mine.given[turn] = 0;
    mine.values[turn][lane()] = value;
    mine.given[turn] |= bit;
    mine.place = place;
    mine.mask = mask;
    mine.arrived |= bit;
    if (mine.arrived != mask) {
        fiber(current_).state = State::at_meeting;
        --ready_;
        leave();
        return turn;
    }
    mine.arrived = 0;
    mine.turn ^= 1;
    who_.warp_epoch = ++mine.epoch;
    for (int i = 0; i < kWarp; ++i) {
        if ((mask >> i & 1) == 0 || base + i == current_) continue;
        fiber(base + i).state = State::ready;
        ++ready_;
    }
    return turn;
}

std::uint64_t BlockRunner::shuffle(unsigned mask, std::uint64_t bits, int other, int width, int mode,
                                   const void* place) {
    const unsigned turn = meet_warp(mask, bits, place);
    const int me = lane(), first = me / width * width, last = first + width - 1;
    int source = me;
    switch (mode) {
        case 0:
            source = first + (other & (width - 1));
            break;
        case 1:
            source = me - other < first ? me : me - other;
            break;
        case 2:
            source = me + other > last ? me : me + other;
            break;
        default:
            source = (me ^ other) > last ? me : me ^ other;
            break;
    }
    if ((warp().given[turn] >> source & 1) == 0) {
        const int wanted = current_ / kWarp * kWarp + source;
        if (wanted >= count_)
            stop(FindingKind::divergent_warp, place, "takes a value from past the block's end", current_,
                 nullptr);
        stop(FindingKind::divergent_warp, place, "takes no part, and its value is taken", wanted, nullptr);
    }
    return warp().values[turn][source];
}

unsigned BlockRunner::ballot(unsigned mask, int predicate, const void* place) {
    const unsigned turn = meet_warp(mask, predicate != 0, place);
    unsigned votes = 0;
    for (int i = 0; i < kWarp; ++i)
        if (warp().given[turn] >> i & 1) votes |= static_cast<unsigned>(warp().values[turn][i]) << i;
    return votes;
}

// ---- what compiled text calls
// ------------------------------------------------------------------------------------

#define HALO_PLACE __builtin_return_address(0)
extern "C" {
void halo_emulator_barrier() {
    running->barrier(0, HALO_PLACE);
}
int halo_emulator_barrier_count(int predicate) {
    return running->barrier(predicate, HALO_PLACE);
}
int halo_emulator_barrier_or(int predicate) {
    return running->barrier(predicate, HALO_PLACE) != 0;
}
int halo_emulator_barrier_and(int predicate) {
    return running->barrier(!predicate, HALO_PLACE) == 0;
}
void halo_emulator_sync_warp(unsigned mask) {
    running->meet_warp(mask, 0, HALO_PLACE);
}
unsigned long long halo_emulator_shuffle(unsigned mask, unsigned long long bits, int lane, int width,
                                         int mode) {
    return running->shuffle(mask, bits, lane, width, mode, HALO_PLACE);
}
void halo_emulator_store_packet(void* to, unsigned long long packet) {
    running->store_packet(to, packet, HALO_PLACE);
}
unsigned long long halo_emulator_load_packet(const void* from) {
    return running->load_packet(from, HALO_PLACE);
}
unsigned halo_emulator_ballot(unsigned mask, int predicate) {
    return running->ballot(mask, predicate, HALO_PLACE);
}
}

namespace {

template <std::size_t bytes, bool is_write, bool aligned>
void on_access(void* address) {
    running->access(reinterpret_cast<std::uintptr_t>(address), bytes, is_write, aligned, HALO_PLACE);
}
void on_read_range(void* address, unsigned long bytes) {
    if (bytes > 0)
        running->access(reinterpret_cast<std::uintptr_t>(address), bytes, false, false, HALO_PLACE);
}
void on_write_range(void* address, unsigned long bytes) {
    if (bytes > 0) running->access(reinterpret_cast<std::uintptr_t>(address), bytes, true, false, HALO_PLACE);
}
void* on_copy(void* to, const void* from, unsigned long bytes) {
    if (bytes > 0) {
        running->access(reinterpret_cast<std::uintptr_t>(from), bytes, false, false, HALO_PLACE);
        running->access(reinterpret_cast<std::uintptr_t>(to), bytes, true, false, HALO_PLACE);
    }
    return std::memmove(to, from, bytes);
}
void* on_fill(void* to, int byte, unsigned long bytes) {
    if (bytes > 0) running->access(reinterpret_cast<std::uintptr_t>(to), bytes, true, false, HALO_PLACE);
    return std::memset(to, byte, bytes);
}
void on_nothing() {}

template <std::size_t bytes>
void add_accesses(std::map<std::string, void*>& symbols) {
    const std::string size = std::to_string(bytes);
    symbols["__tsan_read" + size] = reinterpret_cast<void*>(&on_access<bytes, false, true>);
    symbols["__tsan_write" + size] = reinterpret_cast<void*>(&on_access<bytes, true, true>);
    symbols["__tsan_unaligned_read" + size] = reinterpret_cast<void*>(&on_access<bytes, false, false>);
    symbols["__tsan_unaligned_write" + size] = reinterpret_cast<void*>(&on_access<bytes, true, false>);
}

}  // namespace

std::map<std::string, void*> emulated_functions() {
    std::map<std::string, void*> symbols;
    add_accesses<1>(symbols);
    add_accesses<2>(symbols);
    add_accesses<4>(symbols);
    add_accesses<8>(symbols);
    add_accesses<16>(symbols);
    symbols["__tsan_read_range"] = reinterpret_cast<void*>(&on_read_range);
    symbols["__tsan_write_range"] = reinterpret_cast<void*>(&on_write_range);
    symbols["__tsan_memcpy"] = symbols["__tsan_memmove"] = reinterpret_cast<void*>(&on_copy);
    symbols["__tsan_memset"] = reinterpret_cast<void*>(&on_fill);
    for (const char* name : {"__tsan_init", "__tsan_func_entry", "__tsan_func_exit"})
        symbols[name] = reinterpret_cast<void*>(&on_nothing);
    symbols["__syncthreads"] = reinterpret_cast<void*>(&halo_emulator_barrier);
    symbols["__syncthreads_count"] = reinterpret_cast<void*>(&halo_emulator_barrier_count);
    symbols["__syncthreads_or"] = reinterpret_cast<void*>(&halo_emulator_barrier_or);
    symbols["__syncthreads_and"] = reinterpret_cast<void*>(&halo_emulator_barrier_and);
    symbols["halo_sync_warp"] = reinterpret_cast<void*>(&halo_emulator_sync_warp);
    symbols["halo_shuffle"] = reinterpret_cast<void*>(&halo_emulator_shuffle);
    symbols["halo_store_packet"] = reinterpret_cast<void*>(&halo_emulator_store_packet);
    symbols["halo_load_packet"] = reinterpret_cast<void*>(&halo_emulator_load_packet);
    symbols["halo_ballot"] = reinterpret_cast<void*>(&halo_emulator_ballot);
    const auto add_index = [&](const std::string& name, ThreadIndex& index) {
        symbols["halo_" + name + "_x"] = &index.x;
        symbols["halo_" + name + "_y"] = &index.y;
        symbols["halo_" + name + "_z"] = &index.z;
    };
    add_index("thread", thread_idx);
    add_index("block", block_idx);
    add_index("threads", block_dim);
    add_index("blocks", grid_dim);
    return symbols;
}

}  // namespace halo::emulator
