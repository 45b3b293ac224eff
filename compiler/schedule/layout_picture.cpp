#include <algorithm>

#include "compiler/schedule/shared_layout.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

constexpr int kShown = 4;  // cells shown at each end of a long stretch
constexpr char kHalo = 'h';
constexpr char kCell = '#';
constexpr char kPadding = '.';
const std::string kGap = " ... ";

// `count` marks, or the first and the last few of them.
std::string stretch(int count, char mark) {
    if (count <= 4 * kShown) return std::string(static_cast<std::size_t>(count), mark);
    return std::string(kShown, mark) + kGap + std::string(kShown, mark);
}

std::string draw_row(const StagedLevel& level, bool halo_row) {
    std::string row = stretch(level.low[0], kHalo) + "|";
    row += stretch(level.tile[0], halo_row ? kHalo : kCell) + "|" + stretch(level.high[0], kHalo);
    if (level.padding > 0) row += "|" + stretch(level.padding, kPadding);
    return row;
}

std::string label(const std::string& axis, int index) {
    std::string text = axis + " = " + std::to_string(index);
    text.resize(std::max<std::size_t>(text.size(), 10), ' ');
    return "  " + text;
}

std::string level_name(const ir::Program& program, const StagedLevel& level) {
    std::string name = program[level.field].name;
    if (level.time != 0)
        name += "[t" + std::string(level.time > 0 ? "+" : "") + std::to_string(level.time) + "]";
    return name;
}

std::string title(const ir::Program& program, const StagedLevel& level) {
    std::string text = level_name(program, level) + ": ";
    if (level.planes > 1) text += counted(level.planes, level.rows == 1 ? "row" : "plane") + " of ";
    if (level.rows > 1) text += counted(level.rows, "row") + " of ";
    text += grouped(level.pitch) + (size_of(level.type) == 8 ? " f64" : " f32") + ", " +
            counted(level.bytes(), "byte") + "\n";
    return text;
}

// Which columns the vertical bars part: cells before the tile, in it, and after it.
std::string scale(const StagedLevel& level) {
    std::string text = "columns: " + std::to_string(level.low[0]) + " halo, " +
                       std::to_string(level.tile[0]) + " cells, " + std::to_string(level.high[0]) + " halo";
    if (level.padding > 0) text += ", " + std::to_string(level.padding) + " padding";
    return "  " + text + "\n";
}

}  // namespace

std::string draw(const ir::Program& program, const StagedLevel& level) {
    std::string text = title(program, level) + scale(level);
    const std::string axis = program.rank() > 1 ? program.axes[1].name : program.axes[0].name;
    if (level.rows == 1) return text + "  " + draw_row(level, false) + "\n";
    const int first = -level.low[1];
    const int last = level.tile[1] + level.high[1];
    for (int row = first; row < last; ++row) {
        const bool halo_row = row < 0 || row >= level.tile[1];
        const bool skipped = level.tile[1] > 6 && row >= 2 && row < level.tile[1] - 2;
        if (skipped) {
            if (row == 2) text += "  ...\n";
            continue;
        }
        text += label(axis, row) + draw_row(level, halo_row) + "\n";
    }
    return text;
}

}  // namespace halo::schedule
