// Ranks: the processes of one run, each with a part of the grid.
//
// What is collective here is called by all ranks, in the same order, or none goes on. A rank that waits
// checks after those that it waits for: one that has ended, or does not answer within the time-out, is lost
// (PeerLost); what goes wrong in one rank is known to the others when they wait (RankFailed). Used by one
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/core/error.h"

namespace halo::rt {

// Why a run ends, as it is told to the user and to the launcher.
struct Failure {
    std::string text, hint;
    int exit_code = 1;
    int lost = -1;  // the rank that is lost, where that is why
};

// Something went wrong in another rank, which has said so.
class RankFailed : public std::runtime_error {
public:
    explicit RankFailed(Failure failure) : std::runtime_error(failure.text), failure_(std::move(failure)) {}
    const Failure& failure() const { return failure_; }

private:
    Failure failure_;
};

// Another rank has ended or hangs, and has not said why.
class PeerLost : public Error {
public:
    PeerLost(int rank, const std::string& text, std::string hint)
        : Error(ErrorCode::peer_lost, text), rank_(rank), hint_(std::move(hint)) {}
    int rank() const { return rank_; }
    const std::string& hint() const { return hint_; }

private:
    int rank_;
    std::string hint_;
};

class Ranks {
public:
    struct Message {
        int peer = 0;
        void* bytes = nullptr;  // of sends they are only read
        std::int64_t count = 0;
    };

    virtual ~Ranks() = default;
    virtual int rank() const = 0;
    virtual int count() const = 0;
    virtual const std::string& host(int rank) const = 0;
    bool is_first() const { return rank() == 0; }
    // Among the ranks of this one's host.
    int local_rank() const;
    int local_count() const;

    // Sends and receives side by side. Messages from one rank to another arrive in the order in which they
    // are sent, and each is as long as its receiver says; empty ones are not sent. None to oneself.
    virtual void exchange(std::span<const Message> receives, std::span<const Message> sends) = 0;
    // Until `done`, which is asked again and again, and needs `peers` to go on.
    virtual void wait(const std::function<bool()>& done, std::span<const int> peers) = 0;

    // Collective. The parts of all, by rank; they need not be equally long.
    std::vector<std::string> all_gather(const std::string& part);
    // The parts of all at the first rank, by rank; nothing elsewhere.
    std::vector<std::string> gather(const std::string& part);
    // What the first rank gives.
    std::string broadcast(const std::string& bytes);
    void barrier() { all_gather({}); }
    bool any(bool mine);

    // For messages: the step that the run has come to.
    void at_step(std::int64_t step) { step_ = step; }
    std::int64_t step() const { return step_; }
    // Seconds for a rank to answer.
    void set_timeout(double seconds) { timeout_ = seconds; }
    double timeout() const { return timeout_; }

    // Ends all ranks with this failure's exit code. It is told to the user once: by `tell`, called in the
    // first rank that is not lost. Returns where there is one rank alone.
    virtual void end_all(const Failure& failure, const std::function<void(const Failure&)>& tell) = 0;

private:
    std::int64_t step_ = -1;
    double timeout_ = 60;
};

// One process by itself.
std::unique_ptr<Ranks> single_rank();

}  // namespace halo::rt
