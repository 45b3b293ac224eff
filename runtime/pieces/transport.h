// Transport: what moves the cells that pieces give each other (exchange.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/device.h"
#include "runtime/pieces/exchange.h"
#include "runtime/ranks/ranks.h"

namespace halo::rt {

// A piece of this process, as it lies on its device.
struct PieceArrays {
    int number = 0;  // of the piece
    Device* device = nullptr;
    const Geometry* geometry = nullptr;
    std::vector<LevelArray> levels;  // that are exchanged, as many and in the same order for every piece
};

class Transport {
public:
    virtual ~Transport() = default;
    virtual std::string name() const = 0;  // for people
    // Transfers of one axis, all of them in every process; `pieces` are this process's. Behind what the
    // devices have been asked for, and before what they will be asked for; it may return earlier.
    virtual void exchange(const std::vector<Transfer>& along, const std::vector<PieceArrays>& pieces) = 0;
    // Until all that was begun is done. Called before anything else waits for a device: here alone is it seen
    // that another process is lost. Throws as Ranks does.
    virtual void wait() {}
};

struct TransportTime {
    std::string name;
    double seconds = 0;  // of an exchange, for the slowest process; 0: it was not measured
};

// All pieces are this process's: their devices copy.
std::unique_ptr<Transport> make_copies();

}  // namespace halo::rt
