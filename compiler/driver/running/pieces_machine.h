// Several devices as one Machine: a run is cut into pieces (pieces_plan.h), each a Session on its device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/running/machine.h"
#include "compiler/driver/running/run_arguments.h"
#include "runtime/pieces/transport.h"

namespace halo::driver {

// device: of --device: auto, cuda or cpu. devices: of --devices: how many, or a list of GPUs like 0,1,3 (one
// may be named twice). Throws CommandError (usage) for words that say none of this, and, at load(), for an
// exchange that this program cannot have; rt::Error (no_device) where there are not as many.
std::unique_ptr<Machine> open_pieces(const std::string& device, const std::string& devices,
                                     const ExchangeArguments& exchange);
// By the numbers of the GPUs; of a CPU they count alone.
std::unique_ptr<Machine> open_pieces(const std::string& device, const std::vector<int>& ordinals,
                                     const ExchangeArguments& exchange);

// One piece of a grid that several ranks share.
struct RankShare {
    rt::Ranks* ranks = nullptr;
    std::vector<std::string> hosts;  // of each rank
    // One or more: of several the one is kept that is measured to be the fastest.
    std::vector<std::function<std::unique_ptr<rt::Transport>(rt::Device& device)>> make_transports;
};

// machine: this rank's. What is loaded is cut into as many pieces as there are ranks.
std::unique_ptr<Machine> make_rank_machine(std::unique_ptr<Machine> machine, RankShare share,
                                           const ExchangeArguments& exchange);

// The GPUs of a list like 0,1,3, or of a number alone the first so many. Throws CommandError (usage).
std::vector<int> parse_devices(const std::string& devices);

}  // namespace halo::driver
