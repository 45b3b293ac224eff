// Messages between GPUs by NCCL: over NVLink, the host or the network, whatever it finds, in the order of the
// GPUs' own work.
#pragma once

#include <memory>
#include <string>

#include "runtime/cuda/cuda.h"
#include "runtime/pieces/messages.h"

namespace halo::rt {

// Why there is no NCCL on this machine; empty where there is one.
std::string why_no_nccl();

// Collective, with the GPU that this rank's piece lies on: one for each rank, no two the same. Throws Error
// (peer_lost) where NCCL cannot connect them; what breaks later is thrown by exchange() and wait().
std::unique_ptr<Transport> make_nccl_messages(Ranks& ranks, CudaDevice& device);

}  // namespace halo::rt
