// The fitted constants of the model of `stream`. Fitted on an NVIDIA H200. `haloc tune FILE` runs a stage by
// many schedules and keeps each predicted time beside the measured one; registers are those of `haloc
// explain`.
#pragma once

#include <cstddef>

namespace halo::schedule::stream_model {

// Bytes in flight to an SM that saturate memory: of a stage with little arithmetic; and of one with kMuchWork
// operations a cell or more, or with several levels, whose planes take longer. Of several levels two planes
// are in flight at least.
inline constexpr double kBytesAhead = 45e3, kBytesAheadOfWork = 68e3;
inline constexpr int kMuchWork = 20, kLeastAheadOfLevels = 2;
// Planes ahead that the chooser asks for, at most; and those of a schedule that leaves them open.
inline constexpr int kMostAheadChosen = 8, kUsualAhead = 3;
// Bytes in flight to an SM: with fewer it waits for the next plane.
inline constexpr double kBytesAwaited = 36e3;

// Words of a plane's neighbours that a thread loads ahead, at most, and the share of these in registers.
inline constexpr int kMostGathered = 64;
inline constexpr double kShareGathered = 0.85;
// Words of a level's queue that keeps neighbours, too, at most.
inline constexpr int kMostWindowWords = 128;
// Operations of an unrolled loop that the instruction cache holds.
inline constexpr int kMostUnrolled = 1200;
// Registers a thread, for slots and places of the ring.
inline constexpr int kRingRegisters = 6;
// Factor on the registers up to which estimates are trusted: the compiler makes do with fewer.
inline constexpr double kTightest = 1.1;

// Warps an SM: with fewer, latency shows. Planes arrive by asynchronous copies, so fewer warps suffice than
// for other strategies.
inline constexpr double kWarpsToHideLatency = 8;
// Factors on a stage's time: of a barrier a plane and of blocks that end at different times, where one level
// arrives, since the planes of several take longer and hide that; of a single wave of blocks, as SMs differ.
inline constexpr double kTraversalFactor = 1.1;
inline constexpr double kOneWaveFactor = 1.03;
// Planes' time that a traversal waits for its first planes.
inline constexpr double kPlanesToStart = 3;
// Levels that a stage reads, at most, where the strategy is considered: the planes of more are copied by so
// many instructions that direct is faster. Measured by `haloc tune` of maxwell3d and elastic3d.
inline constexpr std::size_t kMostLevels = 3;
// Of a stage with more: the points at which it reads a level, on average, from which their copies are repaid.
// Not fitted: maxwell3d and elastic3d, where direct is faster, read a level at two to five points; the steps
// back of waves of order 4 and 8 read it at 8 and 15.
inline constexpr std::size_t kManyPoints = 8;
// On grids of two dimensions: rows that a row of cells reads, at least, where the strategy is considered; and
// those of a traversal. Measured by schroedinger2d on 8192 cells squared: 16, 32, 64, 128, 256 and 512 rows
// reach 26.1, 26.6, 25.5, 22.1, 17.4 and 12.8 GStencil/s.
inline constexpr int kLeastReachOfRows = 6;
inline constexpr int kRowsOfTraversal = 32;
// The same: factor on a stage's time where an SM holds a single block, 256 threads against 128.
inline constexpr double kLoneBlockOfRows = 1.05;
// Exponent of the norm that combines the times of the memories where several levels arrive. Measured by
// `haloc tune` of acoustic3d and heat3d_capacity on 512 cells cubed.
inline constexpr double kBlendOfLevels = 8;
// Of the time of the device's memory: what too few bytes in flight cost, at most.
inline constexpr double kThinStreamCost = 0.9;

}  // namespace halo::schedule::stream_model
