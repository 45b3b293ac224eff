// haloc bench --scaling: measures one grid on several devices, checked in the same run, and writes the page
// about it. What is beyond the devices that are there is the model's
// (compiler/driver/planning/pieces_model.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/driver/console/console.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/planning/pieces_model.h"

namespace halo::bench {

struct ScalingOptions {
    std::string device = "auto";        // auto, cuda, cpu
    int devices = 0;                    // at most; 0: all GPUs that are here, or two CPU pieces
    bool quick = false;                 // smaller grids
    std::vector<std::string> only;      // parts of scaling_parts(); none: all
    std::vector<std::int64_t> lengths;  // of the 2D grids; none: such as suit the device
    double budget = 300;                // seconds, after which what is left is left out
    // Of the model, beyond one node. Assumptions, as nothing here can measure them.
    int node_devices = 0;  // 0: as many as are measured
    driver::BetweenNodes between_nodes;
    std::string output;  // page to write; empty: standard output
    std::string json;    // file to write as well; empty: none
};

// "link", "strong", "weak", "lengths", "beyond"
const std::vector<std::string>& scaling_parts();
// The specs that are measured, of spec_texts().
const std::vector<std::string>& scaling_specs();

// Ends with `device` (3) where there are not two devices, `usage` (2) for parts that there are not,
// `internal` (5) where a result was wrong: what was measured is written all the same.
driver::ExitCode scaling(const ScalingOptions& options, const driver::Console& console);

}  // namespace halo::bench
