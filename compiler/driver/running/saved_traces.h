// A trace as an HDF5 file: the values, where their points lie, and the steps that they are of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/driver/running/request.h"

namespace halo::driver {

// Datasets: the trace by its own name, a row for each step; `positions`, a row of coordinates for each point;
// and by rows `step`, from 0 on, as the spec's [t] has it, and `time`. Throws rt::Error (io).
void write_trace_file(const std::string& path, const RunRequest& request, const Output& output,
                      const std::vector<double>& values, const std::vector<double>& positions,
                      std::int64_t done, const std::string& provenance);

}  // namespace halo::driver
