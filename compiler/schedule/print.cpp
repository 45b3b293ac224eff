#include "compiler/schedule/print.h"

#include "compiler/schedule/strategies.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

std::string print(const Schedule& schedule, int rank) {
    const StrategyKind& kind = kind_of(schedule);
    const int axes = spread_axes(kind, rank);
    std::string text(kind.name);
    const auto add = [&](const char* word, int value) {
        if (value > 0) text += std::string(" ") + word + "=" + std::to_string(value);
    };
    const auto add_own = [&](const char* word, Setting setting) {
        add(word, own_setting(schedule, setting).value_or(0));
    };
    text += " threads=" + lengths(schedule.threads, axes);
    text += " cells=" + lengths(schedule.cells, axes);
    add_own("planes", Setting::planes);
    add_own("ahead", Setting::ahead);
    add_own("unroll", Setting::unroll);
    add("min_blocks", schedule.min_blocks);
    add_own("chunk", Setting::chunk);
    add_own("fuse", Setting::fuse);
    add_own("padding", Setting::padding);
    return text;
}

std::string describe(const Schedule& schedule, int rank) {
    const StrategyKind& kind = kind_of(schedule);
    const int axes = spread_axes(kind, rank);
    std::string text = std::string(kind.name) + ": ";
    text += lengths(schedule.threads, axes) + " threads, ";
    text += lengths(schedule.cells, axes) + " cells a thread";
    if (kind.describe != nullptr) text += kind.describe(schedule, rank);
    if (schedule.min_blocks > 0)
        text += ", registers for " + counted(schedule.min_blocks, "block") + " an SM";
    if (const int padding = own_setting(schedule, Setting::padding).value_or(0); padding > 0)
        text += ", rows padded by " + counted(padding, "element");
    return text;
}

}  // namespace halo::schedule
