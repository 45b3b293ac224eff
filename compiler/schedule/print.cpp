#include "compiler/schedule/print.h"

#include <algorithm>

#include "compiler/schedule/stream_plan.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

int axes_shown(const Schedule& schedule, int rank) {
    return schedule.strategy == Strategy::stream ? std::max(1, rank - 1) : rank;
}

}  // namespace

std::string name_of(Strategy strategy) {
    switch (strategy) {
        case Strategy::direct:
            return "direct";
        case Strategy::tile:
            return "tile";
        case Strategy::stream:
            return "stream";
    }
    return "";
}

std::string print(const Schedule& schedule, int rank) {
    const int axes = axes_shown(schedule, rank);
    std::string text = name_of(schedule.strategy);
    text += " threads=" + lengths(schedule.threads, axes);
    text += " cells=" + lengths(schedule.cells, axes);
    if (schedule.planes > 0) text += " planes=" + std::to_string(schedule.planes);
    if (schedule.ahead > 0) text += " ahead=" + std::to_string(schedule.ahead);
    if (schedule.unroll > 0) text += " unroll=" + std::to_string(schedule.unroll);
    if (schedule.min_blocks > 0) text += " min_blocks=" + std::to_string(schedule.min_blocks);
    if (schedule.chunk > 0) text += " chunk=" + std::to_string(schedule.chunk);
    if (schedule.shared_padding > 0) text += " padding=" + std::to_string(schedule.shared_padding);
    return text;
}

std::string describe(const Schedule& schedule, int rank) {
    const int axes = axes_shown(schedule, rank);
    std::string text = name_of(schedule.strategy) + ": ";
    text += lengths(schedule.threads, axes) + " threads, ";
    text += lengths(schedule.cells, axes) + " cells a thread";
    if (schedule.strategy == Strategy::stream) {
        const std::string what = rank == 2 ? "row" : "plane";
        text += schedule.planes > 0 ? ", walking " + counted(schedule.planes, what)
                                    : ", walking all " + what + "s";
        text += ", " + counted(planes_ahead(schedule), what) + " ahead";
        if (schedule.unroll > 0) text += ", unrolled by " + std::to_string(schedule.unroll);
    }
    if (schedule.min_blocks > 0)
        text += ", registers for " + counted(schedule.min_blocks, "block") + " an SM";
    if (schedule.shared_padding > 0) {
        text += ", rows padded by " + counted(schedule.shared_padding, "element");
    }
    return text;
}

}  // namespace halo::schedule
