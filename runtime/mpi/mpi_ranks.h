// Ranks by MPI. Of haloc alone: the libraries of host programs start no processes of a run.
#pragma once

#include <memory>

#include "runtime/ranks/launch.h"
#include "runtime/ranks/ranks.h"

namespace halo::rt {

// Initialises MPI, once a process, and finalises it when the ranks go. Throws Error (bad_argument) where this
// build has no MPI, or where MPI does not see as many processes as the launcher started.
std::unique_ptr<Ranks> open_mpi(const Launch& launch);

}  // namespace halo::rt
