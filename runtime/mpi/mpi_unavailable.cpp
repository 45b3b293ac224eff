#include <fmt/format.h>

#include "runtime/mpi/mpi_ranks.h"

namespace halo::rt {

std::unique_ptr<Ranks> open_mpi(const Launch& launch) {
    throw Error(
        ErrorCode::bad_argument,
        fmt::format("{} has started {} processes, and this haloc was built without MPI, so they cannot "
                    "share one run; build it where MPI is (apt-get install libopenmpi-dev), or use "
                    "--devices for several devices of one machine",
                    launch.by, launch.count));
}

}  // namespace halo::rt
