// `temporal` as an entry of the table of groupings (groupings.h).
#pragma once

namespace halo::schedule {

struct GroupingKind;
const GroupingKind& temporal_grouping();

}  // namespace halo::schedule
