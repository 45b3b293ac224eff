// The fitted constants of the model of `resident`. Fitted on an NVIDIA H200. Times are of `haloc run
// --timings
// --schedule 'resident ...'`, 5000 steps of a 7-point star in f32 on 64^3 and 128^3 by twenty shapes, which
// the model gives within a fifth; registers are those of `haloc explain FILE --schedule 'resident ...'`.
#pragma once

namespace halo::schedule::resident_model {

// ---- registers of a thread

// Addresses, counters, and words in flight.
inline constexpr double kPlaceRegisters = 62;
// For each word of a level of the thread's own cells.
inline constexpr double kCellRegisters = 1.25;
// Besides the words of the cells, where a new level takes the registers of an old one: while cells are
// computed, and while packets are polled.
inline constexpr double kTightRegisters = 67, kPollRegisters = 30;
// For each packet that the thread polls.
inline constexpr double kPacketRegisters = 1.5;
// Where columns are exchanged, too, and cells take the registers that are left.
inline constexpr double kColumnRegisters = 40;
// Words of a packet on its way: half of those of four f32, and of an f64.
inline constexpr double kPacketWords = 3, kWidePacketWords = 4;
// For each word of a window past the nearest neighbours.
inline constexpr double kFarRegisters = 0.25;
// Cells of a thread along an axis whose window is in registers at a time, at most.
inline constexpr int kMostOfWindow = 4;
// Registers that may spill where nothing else fits.
inline constexpr int kMostSpilled = 8;

// ---- the time of an SM

// Cycles a second.
inline constexpr double kClock = 1.98e9;
// Cycles of a warp to store and load a spilled register.
inline constexpr double kSpillCycles = 4;
// Cycles of a barrier: of a stage, or of each of its planes where cells are kept in shared memory.
inline constexpr double kBarrierCycles = 80;
// Warps a block: with fewer, latency shows.
inline constexpr double kWarpsToHideLatency = 8;
// Of the time of the cells: for each axis along which a box is cut by the end of the grid.
inline constexpr double kCutBox = 0.02;
// Factor on the arithmetic of f64.
inline constexpr double kWideArithmetic = 2;

// Instructions of a cell besides its arithmetic: of every cell; of a row, shared by the rows of a thread; of
// a plane, shared by its planes; and where warps end within rows, as then all rows go to shared memory.
inline constexpr double kCellInstructions = 3, kRowInstructions = 3, kPlaneInstructions = 6;
inline constexpr double kSplitRowInstructions = 0.5;
// Of a cell that is kept in shared memory.
inline constexpr double kSharedInstructions = 0.5;
// Factors on these where a thread's vector has 4, 2 and 1 cells.
inline constexpr double kVectorsOfFour = 1, kVectorsOfTwo = 1.4, kSingleCells = 2;
// The same for four f64 in shared memory, whose lanes access the same banks; of two a lane has 16 bytes.
inline constexpr double kLongVectors = 1.6;

// ---- the exchange between blocks

// Seconds of a packet from block to block, for each stage that sends.
inline constexpr double kPacketSeconds = 0.42e-6;
// Bytes a second that an SM sends, and receives at the same time.
inline constexpr double kSentBytes = 45e9;
// Seconds for each word of a cell past a face of the first axis, whose packets are not coalesced with rows.
inline constexpr double kSideCellSeconds = 0.76e-9;
// Bytes of packets for a cell: of f64; of f32 in vectors of four; of other f32.
inline constexpr double kWidePacketBytes = 16, kVectorPacketBytes = 6, kPairPacketBytes = 8;

// ---- shapes that are tried

// Threads of a block, and cells of a thread along an axis, along the last one, and in all.
inline constexpr int kFewestThreads = 128, kMostThreads = 512;
inline constexpr int kMostCellsOfAxis = 8, kMostCellsOfLastAxis = 16, kMostCells = 128;
// Factor on a tile's cells, up to which its threads may have more cells than there are.
inline constexpr double kMostWaste = 1.15;
// Of the SMs: the least share that gets a block.
inline constexpr double kLeastUsed = 0.7;

// Seconds that NVRTC takes for the kernel, on average.
inline constexpr double kCompileSeconds = 1.5;

}  // namespace halo::schedule::resident_model
