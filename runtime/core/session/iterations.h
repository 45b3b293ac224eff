// Repeats that a condition ends: how far the present step's is, and what all came to. Not for other rooms.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/core/session/parts.h"

namespace halo::rt::session {

class Iterations {
public:
    explicit Iterations(const Setup& setup);

    bool has_any() const { return has_any_; }
    // Of a repeat whose condition a kernel finds: its words on the device (RepeatWord), from that one on.
    void* words(int repeat, RepeatWord from = RepeatWord::done) const;
    void begin(int repeat);  // before its first iteration
    // Whether the condition held after the iterations that were launched before the call before the last: one
    // of two copies is under way while the host waits for the other. false at the first call after begin().
    bool is_done(int repeat);
    // The same after all iterations that were launched; the host waits for them.
    bool is_done_now(int repeat);
    // How many iterations there were the last time that is_done_now() was true; 0: there is none.
    std::int64_t last_count(int repeat) const;

    // Of a repeat whose condition the host finds: its iteration `number`, from 1 on.
    void count(int repeat, std::int64_t number, bool holds);

    std::vector<RepeatCounts> counts() const;  // waits for the device

private:
    struct Repeat {
        DeviceMemory words;
        RepeatCounts counts;  // where the host counts
        std::array<std::unique_ptr<EarlyCopy>, 2> copies;
        std::int64_t begun = 0;  // copies, in this step
        std::int64_t last_count = 0;
    };
    const Setup& setup_;
    bool has_any_ = false;
    std::vector<Repeat> repeats_;  // by RepeatPlan
};

}  // namespace halo::rt::session
