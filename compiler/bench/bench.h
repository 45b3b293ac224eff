// haloc bench: measures what the compiler makes, verified and in one run, and writes the page about it.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/console/console.h"
#include "compiler/driver/console/exit_code.h"

namespace halo::bench {

struct BenchOptions {
    std::string device = "auto";  // auto, cuda, cuda:N, cpu
    bool quick = false;           // smaller grids
    bool choices_alone = false;   // no other strategies than what the compiler chooses, and one cell a thread
    bool growth = false;          // time against the grid, and against the length of the program
    bool growth_alone = false;
    std::string output;                  // page to write; empty: standard output
    std::string json;                    // file to write as well; empty: none
    std::string filter;                  // cases whose name or spec contains it
    std::vector<std::string> schedules;  // to be measured as well
};

// Ends with `device` (3) where there is nothing to measure on, `usage` where the filter names no case,
// `internal` (5) where a result was wrong: what was measured is written all the same.
driver::ExitCode bench(const BenchOptions& options, const driver::Console& console);

}  // namespace halo::bench
