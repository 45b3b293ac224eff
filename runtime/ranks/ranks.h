// Ranks: the processes of one run, each with a part of the grid.
//
// What is collective here is called by all ranks, in the same order, or none goes on. Where a rank does not
// come within the time-out, or has ended, Error (peer_lost) says which one, and on which host.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace halo::rt {

class Ranks {
public:
    virtual ~Ranks() = default;
    virtual int rank() const = 0;
    virtual int count() const = 0;
    bool is_first() const { return rank() == 0; }
    virtual const std::string& host(int rank) const = 0;

    // Collective. The parts of all, by rank; they need not be equally long.
    virtual std::vector<std::string> all_gather(const std::string& part) = 0;
    // The parts of all at the first rank, by rank; nothing elsewhere.
    virtual std::vector<std::string> gather(const std::string& part) = 0;
    // What the first rank gives.
    virtual std::string broadcast(const std::string& bytes) = 0;
    void barrier() { all_gather({}); }
    bool any(bool mine);
};

// One process by itself.
std::unique_ptr<Ranks> single_rank();

}  // namespace halo::rt
