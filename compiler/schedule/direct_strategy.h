#pragma once

#include "compiler/schedule/strategies.h"

namespace halo::schedule {

StrategyKind direct_strategy();  // Direct (schedule.h)

}  // namespace halo::schedule
