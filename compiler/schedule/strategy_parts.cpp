#include "compiler/schedule/strategy_parts.h"

#include <algorithm>

#include "compiler/schedule/sweep_model.h"

namespace halo::schedule {

namespace {

using rt::Lengths;

// The largest power of two, at most `most`, that divides both.
int common_vector(int most, int first, int second) {
    int width = most;
    while (width > 1 && (first % width != 0 || second % width != 0))
        width /= 2;
    return width;
}

int arithmetic_registers(const Footprint& footprint) {
    const bool wide = footprint.widest_bytes() == 8;
    const Operations& operations = footprint.operations;
    const bool slow = operations.divisions + operations.roots + operations.functions + operations.draws > 0;
    return (wide ? sweep_model::kWideTemporaries : sweep_model::kNarrowTemporaries) +
           (slow ? sweep_model::kSlowTemporaries : 0);
}

}  // namespace

int round_up(int value, int step) {
    return (value + step - 1) / step * step;
}

int words_of(ir::Scalar type) {
    return size_of(type) == 8 ? 2 : 1;
}

int words_of_results(const Footprint& footprint) {
    int words = 0;
    for (const LevelWrite& write : footprint.writes)
        words += words_of(write.type);
    return words;
}

StagedLevel plain_level(const LevelRead& read, const Footprint& footprint, const Schedule& schedule,
                        int padding) {
    StagedLevel level;
    level.field = read.field;
    level.time = read.time;
    level.type = read.type;
    level.padding = padding;
    for (int axis = 0; axis < footprint.rank; ++axis) {
        const bool streamed = axis == streaming_axis(schedule, footprint.rank);
        level.tile[axis] = streamed ? 1 : schedule.tile(axis);
        if (streamed) continue;
        level.low[axis] = read.radius[axis][0];
        level.high[axis] = read.radius[axis][1];
    }
    level.vector = common_vector(kVectorBytes / size_of(level.type), level.tile[0], level.padding);
    level.low[0] = round_up(level.low[0], level.vector);
    level.high[0] = round_up(level.high[0], level.vector);
    level.origin = level.low[0];
    level.pitch = level.low[0] + level.tile[0] + level.high[0] + level.padding;
    level.rows = level.low[1] + level.tile[1] + level.high[1];
    level.planes = level.low[2] + level.tile[2] + level.high[2];
    level.plane_elements = level.rows * level.pitch;
    return level;
}

int base_registers(const Footprint& footprint) {
    const int levels = static_cast<int>(footprint.reads.size() + footprint.writes.size());
    return sweep_model::kBaseRegisters +
           std::min(sweep_model::kPointerRegisters * levels, sweep_model::kMostPointerRegisters) +
           arithmetic_registers(footprint);
}

double few_warps(int warps, double wanted) {
    return 1 + sweep_model::kFewWarpsCost * std::max(0.0, 1 - warps / wanted);
}

bool is_of_bytes(const Footprint& footprint) {
    const auto is_byte = [](const auto& level) { return size_of(level.storage) == 1; };
    const Operations& work = footprint.operations;
    return std::ranges::all_of(footprint.reads, is_byte) && std::ranges::all_of(footprint.writes, is_byte) &&
           work.functions + work.roots + work.divisions + work.fmas == 0 && !footprint.in_place &&
           !footprint.swept_axis && !footprint.interleaved;
}

std::vector<int> vector_widths(const Footprint& footprint) {
    std::int64_t wide = 0;
    for (const LevelRead& read : footprint.reads)
        wide += size_of(read.storage) == 8 ? 8 : 0;
    for (const LevelWrite& write : footprint.writes)
        wide += size_of(write.storage) == 8 ? 8 : 0;
    const int widest = 2 * wide >= footprint.bytes() && wide > 0 ? kVectorBytes / 8 : kVectorBytes / 4;
    std::vector<int> widths;
    for (int width = widest; width >= 1; width /= 2)
        widths.push_back(width);
    return widths;
}

std::vector<Lengths> cell_boxes(const Footprint& footprint, const std::vector<int>& widths, int axes,
                                bool anywhere) {
    static constexpr std::array<std::array<int, 2>, 9> kBoxes{
        {{2, 4}, {4, 2}, {2, 2}, {4, 1}, {1, 4}, {1, 8}, {2, 1}, {1, 2}, {1, 1}}};
    const auto pays = [&](int axis) { return axes > axis && (anywhere || footprint.reach(axis) > 0); };
    std::vector<Lengths> boxes;
    for (const int width : widths)
        for (const auto& [y, z] : kBoxes)
            if ((y == 1 || pays(1)) && (z == 1 || pays(2))) boxes.push_back({width, y, z});
    return boxes;
}

std::vector<Lengths> thread_shapes(int axes) {
    if (axes == 1) return {{256, 1, 1}, {128, 1, 1}, {64, 1, 1}, {32, 1, 1}};
    if (axes == 2) {
        return {{128, 2, 1}, {64, 4, 1},  {32, 8, 1},  {32, 4, 1},  {64, 2, 1},
                {16, 16, 1}, {16, 8, 1},  {8, 16, 1},  {8, 8, 1},   {4, 32, 1},
                {2, 64, 1},  {1, 128, 1}, {128, 4, 1}, {32, 16, 1}, {256, 1, 1}};
    }
    return {{32, 4, 1}, {64, 4, 1}, {32, 4, 2}, {32, 8, 1}, {32, 4, 4}, {32, 2, 2}, {16, 8, 1},
            {16, 8, 2}, {16, 4, 4}, {16, 4, 2}, {8, 16, 1}, {8, 8, 2},  {8, 8, 4},  {64, 2, 1},
            {4, 8, 4},  {4, 32, 1}, {2, 16, 4}, {2, 64, 1}, {1, 32, 4}, {128, 2, 1}};
}

}  // namespace halo::schedule
