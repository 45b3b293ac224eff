// `resident` as an entry of the table of groupings (groupings.h).
#pragma once

namespace halo::schedule {

struct GroupingKind;
const GroupingKind& resident_grouping();

}  // namespace halo::schedule
