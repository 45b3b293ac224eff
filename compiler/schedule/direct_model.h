// The fitted constants of the model of `direct`. Fitted on an NVIDIA H200. `haloc tune FILE` runs a stage by
// many schedules and keeps each predicted time beside the measured one; registers are those of `haloc
// explain`.
#pragma once

#include <array>

namespace halo::schedule::direct_model {

// Of a level's values that a single cell uses: the share whose loads are in flight at a time, and the most
// words of these.
inline constexpr double kShareInFlight = 0.75;
inline constexpr int kMostInFlight = 96;
// Of a thread whose cells are one row: registers besides what is held and the results, and the share of the
// expected ones, with which the compiler spills nothing. By the kernels of elastic3d, cpml_elastic3d,
// schroedinger2d and cahn_hilliard_rk4 at 128 registers.
inline constexpr int kSpareOfRow = 12;
inline constexpr double kShareThatWaits = 0.72;
// Of a thread with a single cell: registers past which it gets no more than kRegistersOfSingle, or what its
// results take, so that more warps run. Measured by `haloc run` of duct3d on 256 cells cubed: 22 GStencil/s
// by 5 to 8 blocks of 128 threads an SM, 17 by 4; with populations of f16 26 by 8, and 14 by 5, where the
// compiler has loads wait for each other.
inline constexpr int kManyOfSingle = 80, kRegistersOfSingle = 56;
// Registers a thread: a tighter limit spills and saves no time.
inline constexpr int kLeastRegisters = 40;
// Warps an SM: with fewer, the latency of loads shows.
inline constexpr double kWarpsToHideLatency = 12;
// Factor on a stage's time where an SM holds a single block: memory idles while the block's last warps end;
// what is added for each flop a byte past kHiddenFlopsPerByte, as memory idles while the block computes; and
// the most that it comes to. Measured by `haloc tune` of duct3d on 256 cells cubed, blocks of 128 against 512
// threads.
inline constexpr double kLoneBlockFactor = 1.05, kLoneBlockWork = 0.8, kMostOfLoneBlock = 1.35;
inline constexpr double kHiddenFlopsPerByte = 1.5;

// ---- sweeps along an axis

// From one cell of a line to the next, at least: a load from device memory and what depends on it; along the
// first axis, where a warp's rows pass through shared memory, a chunk is on its way while another is
// computed. Measured on an H200: eliminations in f64 on grids of 1024² to 8192² cells took 0.31 to 0.36 and
// 0.14.
inline constexpr double kSecondsOfLineCell = 0.33e-6;
inline constexpr double kSecondsOfRowCell = 0.14e-6;

// Of planes along two axes, which a block of threads goes through by fronts: its threads; the time from one
// front to the next, and of that for each cell that a thread has of the widest front. Measured on an H100 by
// `haloc run` of seidel-2d in f64 on 2000² cells: 3.3, 2.3, 2.0 and 1.8 a front by 128 to 1024 threads.
inline constexpr rt::Lengths kThreadsOfPlane{128, 256, 512};
inline constexpr double kSecondsOfFront = 1.6e-6, kSecondsOfFrontCell = 0.2e-6;

// Of lines in parts: the cells of one, and the blocks, as lines and parts of each. Along the first axis each
// thread has vectors of what it reads, and smaller blocks are faster. A grid of one axis has one line.
struct PartShape {
    int lines, parts;
};
inline constexpr int kCellsOfPart = 4;
inline constexpr std::array<PartShape, 6> kPartShapes{
    {{32, 16}, {16, 32}, {8, 64}, {8, 32}, {4, 64}, {4, 32}}};
inline constexpr std::array<PartShape, 6> kPartShapesOfRows{
    {{8, 16}, {4, 32}, {16, 16}, {8, 32}, {4, 64}, {8, 64}}};
inline constexpr int kPartsOfOneLine = 512;
// Of a thread that has a part: what functions take that are quotients, or sums, besides the cells, and the
// least that threads are given, which is 1024 of them an SM. Read off kernels for sm_90.
inline constexpr int kRegistersOfQuotients = 48, kRegistersOfSums = 32, kLeastOfPart = 64;
// From one stretch of a line, the cells of all its parts, to the next, besides the time of its bytes: the
// latency of loads, and the way from part to part. Fitted to the same grids.
inline constexpr double kSecondsOfStretch = 0.8e-6, kSecondsOfPart = 0.03e-6;

// ---- sums over tables

// Relative to the arithmetic of one cell and row: loading a row from shared memory.
inline constexpr double kRowLoad = 0.15;
// Warps an SM: with fewer, its arithmetic units idle.
inline constexpr double kWarpsToFillUnits = 16;
// Registers a thread, for sums, a row, and what is the same for all rows.
inline constexpr int kTableRegisters = 64;

// ---- single bytes

// Rows of a thread's cells, where words of four bytes are computed. Measured by `haloc tune` of game_of_life
// on 16384 cells squared: 1719 GStencil/s by eight rows, 1605 by four.
inline constexpr int kRowsOfBytes = 8;

}  // namespace halo::schedule::direct_model
