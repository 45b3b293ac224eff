// The fitted constants that all strategies of single sweeps share (cost.h). Fitted on an NVIDIA H200. What
// the device delivers is in Target (schedule.h), by `haloc doctor --measure`; these say how a sweep uses it.
// `haloc bench` and `haloc tune FILE` measure sweeps, the latter beside each predicted time.
#pragma once

namespace halo::schedule::sweep_model {

// Of the L2: what a grid may fill and still stay there from step to step.
inline constexpr double kL2Share = 0.6;
// Exponent of the norm by which the times of the device's memory and of the caches add up.
inline constexpr double kBlend = 4;
// Of the faster cache's time: what is not hidden behind the slower one's.
inline constexpr double kOverlap = 0.05;
// Of the L2: a layer of blocks that fills this share begins to evict itself, and from the second on does so
// wholly. Then this share of the bytes read comes again.
inline constexpr double kLayerLow = 0.28, kLayerHigh = 0.5;
inline constexpr double kLayerCost = 0.3;
// Of memory's bandwidth: what loads and stores of 16, of 8 and of fewer bytes a thread reach.
inline constexpr double kWideAccess = 1, kHalfAccess = 0.9, kNarrowAccess = 0.75;
// Of a stage's time: what latency costs where an SM has no warps; where it has fewer than a strategy needs to
// hide it, in proportion.
inline constexpr double kFewWarpsCost = 0.6;

}  // namespace halo::schedule::sweep_model
