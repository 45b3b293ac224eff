#pragma once

#include "compiler/schedule/strategies.h"

namespace halo::schedule {

StrategyKind stream_strategy();  // Stream (schedule.h)

}  // namespace halo::schedule
