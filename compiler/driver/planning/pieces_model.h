// The model of a run in pieces: what a step takes the busiest of them. Cuts and intervals are chosen by it
// (pieces_plan.h), `haloc explain` says what it expects, and `haloc bench --scaling` holds it against what it
// measures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/pieces/pieces.h"

namespace halo::driver {

// How pieces reach each other.
struct Link {
    double wait_seconds = 0;      // along each axis: until all are done, and until all copies have begun
    double copy_seconds = 0;      // of the least copy
    double bytes_per_second = 0;  // of a large one
    double meeting_seconds = 0;   // until all are done, where kernels have stored what others need
    double asking_seconds = 0;    // of the host, for a piece that exchanges beside its interior
};
// Of pieces of a CPU; and of two H200 with NVLink between them, where the least copy takes 9 us, one of 16
// MiB 53 us, and one of 64 MiB 180 us.
Link built_in_link(bool on_gpu);

// What is assumed of the way from node to node, where nothing measures it.
struct BetweenNodes {
    double longer_seconds = 5e-6;    // that a copy takes longer than within a node
    double bytes_per_second = 50e9;  // of each device, at most
};
Link between_nodes(const Link& within, const BetweenNodes& assumed = {});

// Pieces of several nodes: those of one are numbered in a row.
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
// Of pieces on these hosts, one or more. Where hosts have them in rows of one length, each is a node; else
// each piece is one.
Network network_of(const std::vector<std::string>& hosts, bool on_gpu);

// How one piece does its steps.
struct Pace {
    int steps_at_once = 1;        // of the kernel that does several
    double seconds_per_cell = 0;  // and step
    double seconds_per_step = 0;  // however few cells: from one kernel to the next
};

// What one device was measured to take for a cell and step, on a grid of so many cells.
struct MeasuredPace {
    double cells = 0;
    double seconds_per_cell = 0;
};
// Between two grids along the line through them, in logarithms; a grid smaller than all takes as long for a
// step as the smallest. `measured` is in rising order of cells, and not empty.
double seconds_per_cell(const std::vector<MeasuredPace>& measured, double cells);

// How often pieces exchange, and what.
struct ExchangePlan {
    std::int64_t interval = 1;       // steps from one exchange to the next
    std::int64_t bytes_of_cell = 0;  // of all levels that are exchanged
    int copies = 1;                  // levels: each is a copy of its own
    rt::ExchangeScheme scheme = rt::ExchangeScheme::synchronous;
    int pieces_of_host = 1;  // that one process asks for what they do, one after the other
};

// Of a step of the piece that takes longest.
struct Prediction {
    double own = 0;                   // seconds, for its own cells
    double ghosts = 0;                // for its ghosts, or what kernels compute twice that begin at its faces
    double exchange = 0;              // what is left of it where cells are computed meanwhile
    std::int64_t exchange_bytes = 0;  // of one exchange, to the piece that is given most
    double seconds() const { return own + ghosts + exchange; }
};
Prediction predict(const rt::Decomposition& cut, const Pace& pace, const ExchangePlan& exchange,
                   const Network& network);

}  // namespace halo::driver
