// The fitted constants that all strategies of single sweeps share (cost.h). Fitted on an NVIDIA H200. What
// the device delivers is in Target (schedule.h), by `haloc doctor --measure`; these say how a sweep uses it.
// `haloc bench` and `haloc tune FILE` measure sweeps, the latter beside each predicted time.
#pragma once

namespace halo::schedule::sweep_model {

// Of the L2: the share that a grid may fill and still stay there from step to step.
inline constexpr double kL2Share = 0.6;
// Exponent of the norm that combines the times of the device's memory and of the caches.
inline constexpr double kBlend = 4;
// Of the faster cache's time: the share that is not hidden behind the slower one's.
inline constexpr double kOverlap = 0.05;
// Of the L2: a layer of blocks that fills the first share begins to evict itself, and one that fills the
// second does so wholly. Then kLayerCost of the bytes read are read again.
inline constexpr double kLayerLow = 0.28, kLayerHigh = 0.5;
inline constexpr double kLayerCost = 0.3;
// Of memory's bandwidth: what loads and stores of 16, of 8 and of fewer bytes a thread reach.
inline constexpr double kWideAccess = 1, kHalfAccess = 0.9, kNarrowAccess = 0.75;
// Of a stage's time: the cost of latency in the limit of no warps; in proportion where an SM has fewer warps
// than a strategy needs to hide it.
inline constexpr double kFewWarpsCost = 0.6;

// Operations for a byte of memory's, at most, that a sweep hides behind its loads and stores: half of what an
// H200 issues meanwhile, as addresses and loads take the other half.
inline constexpr double kMostFlopsPerByte = 4;

// ---- registers of a thread, by `haloc explain`

// Indices, bounds and guards; pointers of each level, and of all levels at most, as those of many are not
// held at a time; temporaries of arithmetic in f32 and in f64; and of divisions, roots and functions.
inline constexpr int kBaseRegisters = 16, kPointerRegisters = 2, kMostPointerRegisters = 24;
inline constexpr int kNarrowTemporaries = 4, kWideTemporaries = 8, kSlowTemporaries = 12;
// Where few are expected: a factor on the estimate, and registers besides, that the limit leaves room for.
inline constexpr double kRegisterMargin = 1.3;
inline constexpr int kSpareRegisters = 8;

// ---- ranking

// Factor on the least cost, up to which candidates tie and the earlier one wins.
inline constexpr double kTie = 1.03;
// Factors on the rank of candidates of the tuner: past the registers up to which estimates are trusted, and
// in proportion to them; with another limit of registers than the usual one; and with other settings that the
// model cannot rank.
inline constexpr double kManyRegisters = 1.5, kOtherLimit = 1.1, kOtherSettings = 1.05;

}  // namespace halo::schedule::sweep_model
