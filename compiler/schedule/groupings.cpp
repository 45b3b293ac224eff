#include "compiler/schedule/groupings.h"

#include <algorithm>

#include "compiler/schedule/parse.h"
#include "compiler/schedule/resident_grouping.h"
#include "compiler/schedule/temporal_grouping.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

const std::vector<GroupingKind>& grouping_kinds() {
    static const std::vector<GroupingKind> kinds{temporal_grouping(), resident_grouping()};
    return kinds;
}

const GroupingKind* find_grouping(std::string_view text) {
    const std::string_view words = text.substr(skip_space(text, 0));
    const auto found = std::ranges::find_if(
        grouping_kinds(), [&](const GroupingKind& kind) { return words.starts_with(kind.name); });
    return found == grouping_kinds().end() ? nullptr : &*found;
}

const GroupingKind* kind_of(const Grouping& grouping) {
    return std::holds_alternative<SingleSteps>(grouping) ? nullptr : &grouping_kinds()[grouping.index() - 1];
}

std::vector<Mistake> mistakes_in(std::string_view text, int rank) {
    const GroupingKind* const kind = find_grouping(text);
    return kind != nullptr ? kind->mistakes(text, rank) : parse(text, rank).mistakes;
}

}  // namespace halo::schedule
