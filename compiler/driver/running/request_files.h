// Checks the files that a run is to read and write before it starts.
#pragma once

#include "compiler/driver/running/request.h"

namespace halo::driver {

// Finds before a long run what would fail at its end. Throws CommandError: usage for two
// outputs of one name, and for a format that the data does not have; file for a folder that is not there or
// may not be written to, and where HDF5 or a movie is asked for and what writes it is missing.
void check_files(const RunRequest& request);

// That the files of arrays can hold them, by the kinds of these. Throws CommandError (usage).
void check_arrays(const RunRequest& request);

// For --safe: that files which the run block reads or writes (without its outputs where `no_files`) are in
// the current directory or below, wherever links lead. Throws CommandError.
void check_safe(const sema::RunSpec& run, bool no_files);

}  // namespace halo::driver
