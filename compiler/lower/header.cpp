#include "compiler/lower/header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

}  // namespace halo::lower
