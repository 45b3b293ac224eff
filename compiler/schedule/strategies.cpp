#include "compiler/schedule/strategies.h"

#include <algorithm>

#include "compiler/schedule/direct_strategy.h"
#include "compiler/schedule/stream_strategy.h"
#include "compiler/schedule/tile_strategy.h"

namespace halo::schedule {

namespace {

const OwnSetting* find_own(const StrategyKind& kind, Setting setting) {
    const auto found = std::ranges::find(kind.settings, setting, &OwnSetting::setting);
    return found == kind.settings.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<StrategyKind>& strategy_kinds() {
    static const std::vector<StrategyKind> kinds{direct_strategy(), tile_strategy(), stream_strategy()};
    return kinds;
}

const StrategyKind& kind_of(const Strategy& strategy) {
    return strategy_kinds()[strategy.index()];
}

const StrategyKind& kind_of(const Schedule& schedule) {
    return kind_of(schedule.strategy);
}

const StrategyKind* find_strategy(std::string_view name) {
    const auto found = std::ranges::find(strategy_kinds(), name, &StrategyKind::name);
    return found == strategy_kinds().end() ? nullptr : &*found;
}

std::optional<int> own_setting(const Schedule& schedule, Setting setting) {
    const OwnSetting* const own = find_own(kind_of(schedule), setting);
    if (own == nullptr) return std::nullopt;
    Strategy strategy = schedule.strategy;
    return own->in(strategy);
}

void set_own(Schedule& schedule, Setting setting, int value) {
    if (const OwnSetting* const own = find_own(kind_of(schedule), setting))
        own->in(schedule.strategy) = value;
}

void set_pinned(Schedule& schedule, const Pins& pins) {
    for (const OwnSetting& own : kind_of(schedule).settings)
        if (const std::optional<int> value = pins.own(own.setting)) own.in(schedule.strategy) = *value;
}

bool has_pinned_settings(const StrategyKind& kind, const Pins& pins) {
    for (int each = 0; each < kSettings; ++each)
        if (pins.own(static_cast<Setting>(each)) && find_own(kind, static_cast<Setting>(each)) == nullptr)
            return false;
    return true;
}

std::string why_not_own(const Schedule& schedule, Setting setting) {
    for (const StrategyKind& kind : strategy_kinds())
        if (const OwnSetting* const own = find_own(kind, setting))
            return in_words(own->not_elsewhere, kind_of(schedule).name);
    return "";
}

int streaming_axis(const Schedule& schedule, int rank) {
    return kind_of(schedule).streams ? rank - 1 : -1;
}

int spread_axes(const StrategyKind& kind, int rank) {
    return std::min(kind.streams ? std::max(1, rank - 1) : rank, kMostAxesOfTile);
}

std::int64_t block_length(const Schedule& schedule, int rank, int axis, std::int64_t extent) {
    if (axis != streaming_axis(schedule, rank)) return schedule.tile(axis);
    const int planes = own_setting(schedule, Setting::planes).value_or(0);
    return planes > 0 ? planes : extent;
}

std::string in_words(std::string_view sentence, std::string_view name, std::string_view second) {
    std::string text(sentence);
    for (const auto& [mark, word] : {std::pair(std::string_view("{}"), name), {"{1}", second}})
        for (std::size_t at = text.find(mark); at != std::string::npos;
             at = text.find(mark, at + word.size()))
            text.replace(at, mark.size(), word);
    return text;
}

}  // namespace halo::schedule
