// Several devices as one Machine: a run is cut into pieces (pieces_plan.h), each a Session on its device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "compiler/driver/machine.h"

namespace halo::driver {

// device: of --device: auto, cuda or cpu. devices: of --devices: how many, or a list of GPUs like 0,1,3 (one
// may be named twice). interval: steps from one exchange to the next; none: chosen. Throws CommandError
// (usage) for words that say none of this, rt::Error (no_device) where there are not as many.
std::unique_ptr<Machine> open_pieces(const std::string& device, const std::string& devices,
                                     std::optional<std::int64_t> interval);

}  // namespace halo::driver
