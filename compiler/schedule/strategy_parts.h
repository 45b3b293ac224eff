// What strategies share, for their entries in the table (strategies.h).
#pragma once

#include <array>
#include <vector>

#include "compiler/schedule/strategies.h"

namespace halo::schedule {

inline constexpr int kVectorBytes = 16;
inline constexpr int kRegisterBudget = 128;  // of a thread: an SM then holds 512 threads
inline constexpr int kFewWhereStaged = 64;   // registers: loops over shared memory are unrolled

int round_up(int value, int step);
int words_of(ir::Scalar type);                     // of 32 bits
int words_of_results(const Footprint& footprint);  // of a cell: all levels that the stage writes

// The setting `member` of the alternative Kind.
template <class Kind, int Kind::* member>
int& setting_in(Strategy& strategy) {
    return std::get<Kind>(strategy).*member;
}

// ---- shared memory

inline constexpr std::string_view kNoRowsToPad =
    "{} keeps nothing in shared memory, so there are no rows to pad";
// Of strategies that copy rows there.
inline constexpr Refusals kStagedRefusals{
    "what changes a field in place is computed by direct alone",
    "{} keeps values as they lie in memory, of 4 or 8 bytes; {1} is converted where it is loaded, which "
    "direct does",
    "{} copies rows of one component, and with `layout aos` a row has all of them; direct reads them where "
    "they are",
    "a stage that sums over a table runs as direct; {} has no place for the table's rows",
    "a stage of several grids runs as direct; {} copies rows of one grid",
    "a stage of four axes runs as direct; {} has tiles of three axes at most"};

// The tile with its halo; along the streaming axis it has a length of 1 and no halo.
StagedLevel plain_level(const LevelRead& read, const Footprint& footprint, const Schedule& schedule,
                        int padding);

// ---- registers

int base_registers(const Footprint& footprint);  // indices, pointers, guards, what slow arithmetic needs

// ---- the model

// A factor on the time where fewer warps than `wanted` hide latency.
double few_warps(int warps, double wanted);

// ---- choosing

// Widths of vectors, widest first: 16 bytes of the type that most of the traffic is in.
std::vector<int> vector_widths(const Footprint& footprint);
// All that the stage reads and writes lies in memory as single bytes, and its arithmetic is what words of
// them have instructions for (lower/packed/packed.h).
bool is_of_bytes(const Footprint& footprint);
// Boxes of cells for a thread, over `axes` axes. Without `anywhere` they have more than one cell along an
// axis only where the stage reads neighbours along it, which the cells then share.
std::vector<rt::Lengths> cell_boxes(const Footprint& footprint, const std::vector<int>& widths, int axes,
                                    bool anywhere = false);
// Shapes of a block over `axes` axes.
std::vector<rt::Lengths> thread_shapes(int axes);

}  // namespace halo::schedule
