// Several devices as one Machine: a run is cut into pieces (pieces_plan.h), each a Session on its device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "compiler/driver/commands.h"
#include "compiler/driver/machine.h"

namespace halo::driver {

// device: of --device: auto, cuda or cpu. devices: of --devices: how many, or a list of GPUs like 0,1,3 (one
// may be named twice). Throws CommandError (usage) for words that say none of this, and, at load(), for an
// exchange that this program cannot have; rt::Error (no_device) where there are not as many.
std::unique_ptr<Machine> open_pieces(const std::string& device, const std::string& devices,
                                     const ExchangeArguments& exchange);

}  // namespace halo::driver
