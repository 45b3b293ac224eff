// The devices that scaling is measured on: GPUs, or pieces of this processor, for trying things out.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/bench/scaling_results.h"
#include "compiler/driver/planning/pieces_plan.h"
#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/machine.h"
#include "compiler/ir/program.h"
#include "runtime/core/device.h"

namespace halo::bench {

// A program with one field whose values are given, and how its steps are done.
struct ScalingProgram {
    std::string spec;
    ir::Program program;
    std::string field;
    std::vector<std::string> schedules;  // as of --schedule; none: chosen
    std::int64_t reach = 1;              // cells that a step reads, along any axis
};
// Of spec_texts(). Without its reductions, which no scaling run reads.
ScalingProgram scaling_program(const std::string& spec);

struct LoadedPieces {
    std::unique_ptr<driver::Machine> machine;
    std::unique_ptr<driver::Engine> engine;
    std::string words;  // how the grid is cut
};

class ScalingLab {
public:
    // device: auto, cuda, cpu. most: how many; 0: all GPUs, or two pieces of a CPU. Throws CommandError
    // (usage) for another word, rt::Error (no_device) where there are not two devices, or not so many.
    ScalingLab(const std::string& device, int most);

    bool is_gpu() const { return is_gpu_; }
    const std::string& why_no_gpu() const { return why_no_gpu_; }  // of auto; empty where a CPU was asked for
    int devices() const { return static_cast<int>(devices_.size()); }
    std::vector<int> counts() const;  // 1, 2, 4 … and all of them
    rt::Device& device(int number) { return *devices_[static_cast<std::size_t>(number)]; }
    bool is_peer(int from, int to) const;  // whether one reaches the other's memory
    std::string description() const;       // "4 x NVIDIA H200, sm_90, 132 SMs"
    std::string software() const;

    // The program by a kernel of so many steps at once, the same for all grids: as it is chosen for this one.
    // On a CPU, which has no schedules, the program as it is.
    ScalingProgram with_steps(ScalingProgram program, int steps, const Extent& extent) const;

    // What `haloc run --devices` plans.
    driver::PiecesPlan plan(const ScalingProgram& program, const Extent& extent,
                            const driver::PiecesRequest& request) const;
    // What it runs, on so many devices from number `first` on.
    LoadedPieces load(const ScalingProgram& program, const Extent& extent, int devices,
                      std::optional<std::int64_t> interval, rt::ExchangeScheme scheme, int first = 0) const;

private:
    driver::CodeOptions options(const ScalingProgram& program) const;

    bool is_gpu_ = false;
    schedule::Target target_;
    std::string why_no_gpu_;
    // They stay open, so that a context is not created for each run.
    std::vector<std::unique_ptr<rt::Device>> devices_;
};

}  // namespace halo::bench
