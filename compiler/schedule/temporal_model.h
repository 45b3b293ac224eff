// The fitted constants of the model of `temporal`. Fitted on an NVIDIA H200. `haloc tune FILE` runs a program
// by many schedules and keeps each predicted time beside the measured one; registers are those of `haloc
// explain FILE --schedule 'temporal ...'`, for the programs of dsl_examples/bench.
#pragma once

#include <array>

namespace halo::schedule::temporal_model {

// ---- registers of a thread

// Addresses and counters; in three dimensions those of rows besides; and addresses of each field, of so many
// at most, as those of more are not held at a time. All lets count as one, which are not in memory.
inline constexpr int kPlaceRegisters = 26, kRowRegisters = 12, kFieldRegisters = 8, kMostFieldsHeld = 5;
// In two dimensions, where as many fields are computed, the slots of a queue beyond which compilers hold a
// row less: they add up what is read of several queues when it comes.
inline constexpr int kLongQueue = 4;
// In two dimensions, of f32: eighths of a cell's new value that are held beside its queue, for each step.
inline constexpr int kNewPlaneEighths = 6;
// The same of packed cells; and registers besides, where iterations are unrolled. By `haloc tune` of
// game_of_life: 157 for six steps, 197 for eight, 253 for eleven, 168 for eight that are not unrolled.
inline constexpr int kNewPackedEighths = 10, kPackedInFlight = 18;
// Cells of a window that are in registers at a time, besides two for each of the thread's own, at most.
inline constexpr int kMostOfWindow = 26;
// In two dimensions, for the sums of f32 that are carried from plane to plane: for each step, and of all.
inline constexpr int kFoldStepRegisters = 3, kFoldSpareRegisters = 4;
// Eighths of each random number of a cell and step: it depends on nothing else, so that it is drawn early.
// Factor where those of the next iterations can be drawn early, too.
inline constexpr int kDrawnEighths = 10, kDrawnUnrolled = 3;
// Words of a reduction's row that are in flight.
inline constexpr int kReductionRegisters = 4;
// Where iterations are unrolled, words in flight for each word of a value, in three dimensions: where the
// unrolled iterations rotate every queue through its registers, and where values are moved.
inline constexpr int kRotatedInFlight = 8, kMovedInFlight = 20;
// In two dimensions, of f64, where no more fields are computed than their addresses are held: the longest
// queue's slots hold back so many each.
inline constexpr int kWideInFlight = 44, kWideInFlightOfSlot = 3;
// In three dimensions, where more queues than so many are computed: words of their neighbours in flight.
inline constexpr int kFewQueues = 2, kQueuesInFlight = 40;
// Pairs of registers, where values are of f64.
inline constexpr int kWideRegisters = 12;
// In three dimensions, where step-invariant values are computed as planes arrive.
inline constexpr int kInvariantRegisters = 20;
// Operations for each register that the sum of a box has in flight in three dimensions, and the most of
// these registers.
inline constexpr int kBoxOperations = 2, kMostOfBox = 24;
// Registers a thread that the compiler adds where it limits them, and the fewest it takes.
inline constexpr int kLimitRegisters = 4, kLeastRegisters = 32;
// Factors on the registers there are, up to which estimates are trusted: where several warps share them the
// compiler makes do with fewer; and for candidates of the tuner, whose spills are seen when they compile.
// So they do where many lets are computed in turn, of which few are read at a time.
inline constexpr double kSqueezed = 1.08;
inline constexpr double kTunerRoom = 1.15;
// In three dimensions, of f32, where several warps share them: what compilers make do with. Besides the
// planes that stay from one iteration to the next, with so many tenths more for what is in flight; of the
// sums of a box half. By 16 warps (128 registers) seven points take no more for four steps and spill for
// five, thirteen for two and three, 27 for four and five.
inline constexpr int kSqueezedRegisters = 44, kSqueezedTenths = 3;
// What boxes by such threads take of the time that they would take else. On 1024³ 27 points of four weights
// by 4 steps and 16 warps were predicted to be 11 % faster than by 3 steps and 8 warps, and were 5 % slower.
inline constexpr double kSqueezedBox = 1.12;
// The same for a step's passes, of which the levels that are read stay in shared memory (schroedinger2d: 256
// are 218).
inline constexpr double kPassRoom = 1.1;
inline constexpr int kMostPasses = 3;  // that are considered

// ---- instructions

// Instructions of f32 in the issue slots of a thread. Of an iteration of the traversal, besides its cells.
inline constexpr double kIterationInstructions = 30;
// Of each cell and step, whatever is computed.
inline constexpr double kCellInstructions = 0.6;
// For each slot by which a plane moves along its queue; includes the reordering that the moves prevent.
inline constexpr double kMoveInstructions = 2.3;
// For each word of a column that comes from the lane beside.
inline constexpr double kShuffleInstructions = 1.2;
// Factor on the arithmetic of words of bytes, of which an SM does half as much in a cycle as of f32, but two
// or three of which are one instruction where they are sums or of bits. Measured by `haloc tune` of
// game_of_life and of a box sum of u8 on 16384 cells squared.
inline constexpr double kPackedArithmetic = 1.3;
// Factor on the arithmetic of f64.
inline constexpr double kWideArithmetic = 2;
// Of a reduction's term: to select the cells that count, which also issues slower; to convert to f64, and to
// add there; to compare and select values of f64.
inline constexpr double kSelectInstructions = 3;
inline constexpr double kConvertInstructions = 6, kWideAddInstructions = 2;
inline constexpr double kWideSelectInstructions = 3;
// Issue slots that a division or a root leaves empty, over the warps of an SM: it branches, so those of a
// thread's cells follow each other. Measured by `haloc tune` of heat3d_capacity on 512 cells cubed.
inline constexpr double kDivisionStall = 160;
// Instructions that the instruction cache holds of an unrolled loop in three dimensions.
inline constexpr double kCachedInstructions = 1400;
// The same in two dimensions, where warps run apart. Measured by `haloc tune` of cavity2d on 4096 cells
// squared, unrolled and not.
inline constexpr double kCachedInRows = 2500;
// Lanes of an SM that issue in a cycle, and cycles a second.
inline constexpr double kLanesPerSm = 128, kClock = 1.9e9;

// ---- issue against memory

// Where warps wait for each other in every iteration: of the time of the issue slots what is not hidden
// behind memory's. It is reached where the warps of an SM hold so many words a lane.
inline constexpr double kExposedIssue = 0.75;
inline constexpr double kWordsToHideIssue = 128;
// Where warps run independently: a factor on the time of the issue slots; the warps an SM at which latency
// doubles it; and of the shorter of the times of issue and memory, what is not hidden behind the other's.
inline constexpr double kIndependentIssue = 0.84;
inline constexpr double kWarpsToHalveIssue = 1.6;
inline constexpr double kOverlap = 0.29;

// ---- shares of the grid

// Relative to the mean: by how much the slowest of equal shares exceeds it in one wave. Of warps; of warps
// where tiles at faces run another copy of the loop, which competes for the instruction cache; and of blocks.
inline constexpr double kWarpImbalance = 0.03, kFaceImbalance = 0.2, kBlockImbalance = 0.2;
// Of warps whose tiles at an end of a row copy single bytes, for which they wait; and, of packed cells, by
// how much several blocks on an SM take longer than one of as many warps. Measured by `haloc run` and `haloc
// tune` of game_of_life on 16383 and 16384 cells squared.
inline constexpr double kByteImbalance = 0.45, kSmallBlocks = 0.09;
// Waves after which the blocks of a partial last wave no longer start together.
inline constexpr double kWavesInStep = 2;
// Iterations in which a block waits for its first planes, where an SM holds a single block.
inline constexpr double kIterationsToArrive = 2;
// Of a traversal's planes: by how much neighbouring tiles drift apart.
inline constexpr double kDrift = 0.01;
// Of the bytes that overlapped tiles read again, those that miss the cache: where neighbours run in step, and
// how many more where they drift apart by as much as the L2 holds.
inline constexpr double kMissedInStep = 0.1, kMissedByDrift = 0.3;
// Numbers of waves that parts of tiles are to fill in two dimensions.
inline constexpr std::array kWaves{1, 2, 3, 4, 6, 8};
// Parts of a tile in three dimensions, and blocks for each that runs at a time, at most.
inline constexpr int kMostParts = 4, kMostBlocksOfWave = 64;
// Factor on the time by which more and shorter traversals must be faster in three dimensions.
inline constexpr double kClearGain = 0.99;

// ---- small grids, where one worker's iterations follow each other. Measured by `haloc run --timings` of
// maxwell2d, jacobi2d and cavity2d on 256 and 512 cells squared.

// Seconds: of a launch, of an iteration, and of an instruction of it.
inline constexpr double kLaunchSeconds = 2.0e-6, kIterationSeconds = 0.38e-6, kInstructionSeconds = 0.7e-9;

// ---- settings that the model cannot rank

// Planes in flight, and the fewest that hide the latency of memory behind an iteration.
inline constexpr int kUsualAhead = 4, kLeastAhead = 2;
// The share of a block's shared memory that rings of three dimensions take at most, where fewer planes in
// flight are enough for that: copies of less than 16 bytes pass through the cache that has the rest. Measured
// by `haloc tune` of heat3d_capacity on 512 cells cubed: 258 µs a step with 160 and with 184 kB, 299 with 209
// kB.
inline constexpr double kSharedBesideCache = 0.86;
// Steps in one pass, and iterations unrolled in two dimensions, that are considered at most.
inline constexpr int kMostSteps = 16, kMostUnroll = 5;
// The same where many lets are computed in turn, whose queues are longer: cahn_hilliard_rk4 has 119
// GStencil/s so, 115 by five.
inline constexpr int kMostUnrollOfLets = 7;
// Factor on the rank of candidates for each other setting that is not the usual one.
inline constexpr double kUnusual = 1.04;

// ---- pieces of a grid, and compiling

// Iterations that separate traversals of the borders cost, for each iteration of a prologue and an epilogue.
// `haloc bench --scaling --only lengths` measures it.
inline constexpr double kBorderIterations = 1.5;
// Seconds that NVRTC takes for the kernel, on average. `haloc run --timings` measures it.
inline constexpr double kCompileSeconds = 2.5;

}  // namespace halo::schedule::temporal_model
