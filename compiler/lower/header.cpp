#include "compiler/lower/header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "compiler/lower/shared/table_sums.h"

namespace halo::lower {

std::vector<std::string> header(const ir::Program& program, const StageViews& views,
                                const ProgramLayout& layout) {
    std::vector<std::string> lines{
        fmt::format("{}: CUDA kernels of a stencil, emitted by Halocline.", program.name), ""};
    lines.push_back(
        "Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts "
        "at a");
    lines.push_back(
        "multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie "
        "around:");
    std::string halo = "at least";
    for (int axis = 0; axis < program.rank(); ++axis) {
        halo += fmt::format("{} {} below and {} above along {}", axis ? "," : "", views.halo[axis][0],
                            views.halo[axis][1], program.axes[axis].name);
    }
    lines.push_back(halo + ".");
    for (const ir::Field& field : program.fields) {
        if (field.grid.factor != 1) {
            lines.push_back(
                fmt::format("{} lies on coarse({}): its array is laid out so for the cells that this leaves.",
                            field.name, field.grid.factor));
            continue;
        }
        if (field.grid.is_whole()) continue;
        const std::vector<std::string> own = ir::own_axes(program, field);
        std::string rows;
        if (own.size() > 1) {
            const int around = layout.halo[1][0] + layout.halo[1][1];
            rows = field.grid.has(0) ? ", with rows `pitch` elements apart"
                                     : fmt::format(", with rows n{}{} elements apart", program.axes[1].name,
                                                   around > 0 ? fmt::format(" + {}", around) : "");
        }
        lines.push_back(fmt::format("{} lies over {} alone: {} is contiguous{}.", field.name,
                                    fmt::join(own, " and "), own.front(), rows));
    }
    for (const ir::Group& group : program.groups) {
        if (!group.interleaved) continue;
        lines.push_back(
            fmt::format("Of {} the {} components of a cell lie side by side: that many elements are",
                        group.name, group.fields.size()));
        lines.push_back("where others have one.");
    }
    return lines;
}

std::string level_words(Context& context) {
    std::string reads, writes;
    std::set<std::string> read_arrays, written_arrays;  // components may share one
    for (const Read& read : context.stage().reads) {
        const std::string array = context.array(read.level);
        if (read_arrays.insert(array).second) reads += (reads.empty() ? "" : ", ") + array;
    }
    for (const Level& level : context.stage().elsewhere)
        reads += (reads.empty() ? "" : ", ") + context.array(level);
    for (const Write& write : context.stage().writes) {
        const std::string array = context.array(write.level);
        if (written_arrays.insert(array).second) writes += (writes.empty() ? "" : ", ") + array;
    }
    std::string words;
    if (!reads.empty()) words += "Reads " + reads;
    if (!writes.empty()) words += (words.empty() ? "Writes " : ", writes ") + writes;
    for (const std::string& table : summed_tables(context.stage()))
        words += (words.empty() ? "Sums over the rows of " : ", sums over the rows of ") + table;
    for (const ir::Reduce* reduce : context.stage().reductions) {
        words += (words.empty() ? "Reduces to " : ", reduces to ") + reduce->name;
    }
    return words + ".";
}

}  // namespace halo::lower
