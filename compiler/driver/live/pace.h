// How far a run may go before it waits for the page again. Of the run's thread alone.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace halo::driver::live {

class Pace {
public:
    enum class State : std::uint8_t {
        awaiting,  // the first page, before the first step
        running,
        paused,
        finished
    };
    static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

    explicit Pace(State state) : state_(state) {}

    State state() const { return state_; }
    // Steps that may be done now: 0 while it waits.
    std::int64_t allowed() const;
    // Steps that are seen one picture after another, where they are not to be done as fast as can be.
    const std::optional<std::int64_t>& steps_a_picture() const { return steps_a_picture_; }

    void page_came();  // the first begins what awaited it
    void pause();
    void resume();
    void step(std::int64_t count);  // so many, and then a pause; where it runs, from now on
    void show_each(std::optional<std::int64_t> steps) { steps_a_picture_ = steps; }
    void did(std::int64_t steps);
    void finish() { state_ = State::finished; }

private:
    State state_;
    std::optional<std::int64_t> left_;  // until it pauses
    std::optional<std::int64_t> steps_a_picture_;
};

}  // namespace halo::driver::live
