// The model of a run in pieces: the time of a step of the busiest piece. Cuts and intervals are chosen by it
// (pieces_plan.h), `haloc explain` prints its predictions, and `haloc bench --scaling` compares them with
// what it measures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/pieces/pieces.h"

namespace halo::driver {

// The connection between pieces.
struct Link {
    double wait_seconds = 0;      // of an axis: until all pieces are done, and until all copies have begun
    double copy_seconds = 0;      // of the least copy
    double bytes_per_second = 0;  // of a large copy
    double barrier_seconds = 0;   // of direct exchange: until all kernels, which store the ghosts, are done
    double host_seconds = 0;      // of the host, to issue a piece's exchange that overlaps its interior
};
// For pieces on a CPU; and for two H200 with NVLink, where the least copy takes 9 us, one of 16 MiB 53 us,
// and one of 64 MiB 180 us.
Link built_in_link(bool on_gpu);

// Assumed figures of the network between nodes, which is not measured.
struct BetweenNodes {
    double longer_seconds = 5e-6;    // of a copy, more than within a node
    double bytes_per_second = 50e9;  // of each device, at most
};
Link between_nodes(const Link& within, const BetweenNodes& assumed = {});

// Pieces of several nodes; those of one node have consecutive numbers.
struct Network {
    // NOLINTNEXTLINE(google-explicit-constructor): a link alone is a network of one node
    Network(const Link& link) : within(link), between(link) {}
    Network(const Link& within_node, const Link& between_nodes, int pieces_of_node)
        : within(within_node), between(between_nodes), node(pieces_of_node) {}
    const Link& link(int one, int other) const {
        return node > 0 && one / node != other / node ? between : within;
    }
    Link within, between;
    int node = 0;  // pieces of a node; 0: all of them
};
// For pieces on these hosts, one or more. Where all hosts have equally many consecutive pieces, each host is
// a node; else each piece is one.
Network network_of(const std::vector<std::string>& hosts, bool on_gpu);

// The time of a piece's steps.
struct StepTime {
    int steps_at_once = 1;        // of the kernel that does several
    double seconds_per_cell = 0;  // and step
    double seconds_per_step = 0;  // from one kernel to the next, whatever the cells
};

// The measured time of one device for a cell and step, on a grid of `cells` cells.
struct MeasuredTime {
    double cells = 0;
    double seconds_per_cell = 0;
};
// Interpolates linearly between two grids, in logarithms. A step of a grid smaller than all takes as long as
// one of the smallest. `measured` is sorted by cells, and not empty.
double seconds_per_cell(const std::vector<MeasuredTime>& measured, double cells);

// The interval of exchanges, and what they copy.
struct ExchangePlan {
    std::int64_t interval = 1;       // steps from one exchange to the next
    std::int64_t bytes_of_cell = 0;  // of all levels that are exchanged
    int copies = 1;                  // levels: each is a copy of its own
    rt::ExchangeScheme scheme = rt::ExchangeScheme::synchronous;
    int pieces_of_host = 1;  // of one process, whose host issues their work one after the other
};

// Seconds of a step of the slowest piece.
struct Prediction {
    double own = 0;                   // for its own cells
    double ghosts = 0;                // for redundant computation: of ghosts, or at the borders
    double exchange = 0;              // that computation does not overlap
    std::int64_t exchange_bytes = 0;  // of one exchange, to the piece that receives most
    double seconds() const { return own + ghosts + exchange; }
};
Prediction predict(const rt::Decomposition& cut, const StepTime& time, const ExchangePlan& exchange,
                   const Network& network);

}  // namespace halo::driver
