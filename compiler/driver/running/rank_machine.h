// The device of one of several processes that share a run (mpirun haloc run): a Machine whose programs are
// cut into pieces, one for each process.
#pragma once

#include <memory>

#include "compiler/driver/running/machine.h"
#include "compiler/driver/running/run_arguments.h"
#include "runtime/ranks/ranks.h"

namespace halo::driver {

// Throws CommandError (usage) for arguments that several processes cannot share.
void check_arguments_of_ranks(const RunArguments& arguments);

// Collective, with the arguments of `haloc run` alike in all ranks. Each takes a GPU of its own, or on CPUs
// its share of the host's processors. Throws rt::Error (no_device) where there are fewer GPUs than processes
// of this host, CommandError (usage) for a transport that cannot be.
std::unique_ptr<Machine> open_rank(const RunArguments& arguments, rt::Ranks& ranks);

}  // namespace halo::driver
