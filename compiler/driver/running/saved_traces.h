// A trace as a file: of HDF5 with the values, where their points lie, and the steps that they are of; or of
// SEG-Y.
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

// The same as SEG-Y: a trace for each point. sources: where the run's one source lies; empty: not said.
// Coordinates along axes that are called x and y are X and Y, along z they are depths. Throws likewise.
void write_segy_file(const std::string& path, const RunRequest& request, const Output& output,
                     const std::vector<double>& values, const std::vector<double>& positions,
                     const std::vector<double>& source, std::int64_t done);

// That SEG-Y has room for a trace of the run; throws CommandError (usage) where it has not.
void check_segy(const RunRequest& request, const Output& output);

}  // namespace halo::driver
