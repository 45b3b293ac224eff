// The fitted constants of the model of `tile`. Fitted on an NVIDIA H200. `haloc tune FILE` runs a stage by
// many schedules and keeps each predicted time beside the measured one; registers are those of `haloc
// explain`.
#pragma once

namespace halo::schedule::tile_model {

// Words of a cell's reads from shared memory that are in flight, at most.
inline constexpr int kMostReadsInFlight = 48;
// Warps an SM: with fewer, the latency of loads shows.
inline constexpr double kWarpsToHideLatency = 12;
// Factor on a stage's time, as the whole block waits at a barrier for its tile.
inline constexpr double kBarrierFactor = 2.2;

}  // namespace halo::schedule::tile_model
