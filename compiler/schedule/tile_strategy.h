#pragma once

#include "compiler/schedule/strategies.h"

namespace halo::schedule {

StrategyKind tile_strategy();  // Tile (schedule.h)

}  // namespace halo::schedule
