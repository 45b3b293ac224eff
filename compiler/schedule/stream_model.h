// The fitted constants of the model of `stream`. Fitted on an NVIDIA H200. `haloc tune FILE` runs a stage by
// many schedules and keeps each predicted time beside the measured one; registers are those of `haloc
// explain`.
#pragma once

namespace halo::schedule::stream_model {

// Bytes on their way to an SM that keep memory busy: of a stage with little arithmetic, and of one with
// kMuchWork operations a cell or more, whose planes take longer.
inline constexpr double kBytesAhead = 45e3, kBytesAheadOfWork = 68e3;
inline constexpr int kMuchWork = 20;
// Planes ahead that the chooser asks for, at most.
inline constexpr int kMostAheadChosen = 8;
// Bytes on their way to an SM: with fewer it waits for the next plane.
inline constexpr double kBytesAwaited = 36e3;

// Words of a plane's neighbours that a thread loads ahead, at most, and the share of these in registers.
inline constexpr int kMostGathered = 64;
inline constexpr double kShareGathered = 0.85;
// Registers a thread, for slots and places of the ring.
inline constexpr int kWalkRegisters = 6;
// Factor on the registers up to which estimates are trusted: the compiler makes do with fewer.
inline constexpr double kTightest = 1.1;

// Warps an SM: with fewer latency shows. Planes arrive by asynchronous copies, so fewer than of others do.
inline constexpr double kWarpsToHideLatency = 8;
// Factors on a stage's time: of a barrier a plane and uneven ends; of one wave of blocks, as SMs differ.
inline constexpr double kWalkFactor = 1.1;
inline constexpr double kOneWaveFactor = 1.03;
// Planes that a walk loses until its first ones are there.
inline constexpr double kPlanesToStart = 3;
// Of the time of the device's memory: what too few bytes on their way cost, at most.
inline constexpr double kThinStreamCost = 0.9;

}  // namespace halo::schedule::stream_model
