// Where a Program's code comes from: a bundle, or the compiler. Not for users.
#pragma once

#include <array>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "halocline/runtime.hpp"
#include "runtime/api/device_state.h"
#include "runtime/core/launch_plan.h"
#include "runtime/core/session.h"
#include "runtime/pieces/pieces.h"

namespace halocline::detail {

using halo::rt::Extent;
using Modules = std::vector<std::unique_ptr<halo::rt::Module>>;

// Code for one kind of device, and one grid or all.
struct Code {
    halo::rt::LaunchPlan plan;
    std::function<Modules(halo::rt::Device&)> load;           // onto the device, under a DeviceLock
    std::shared_future<halo::rt::AsyncCode> time_block_code;  // as of SessionOptions::time_block_code
};

// Code for pieces of one grid.
struct PiecesCode {
    halo::rt::Decomposition cut;
    halo::rt::PiecesOptions options;
    std::vector<std::shared_ptr<const Code>> pieces;  // by Decomposition::pieces
};

struct SimulationState;

// Inputs of a simulation that its users do not see, as they follow from what users give.
class HiddenInputs {
public:
    virtual ~HiddenInputs() = default;
    // A param, weights of a coefficient or a field have other values now.
    virtual void note_given(const std::string& name) = 0;
    // From now on the memory of a field can be written at any time.
    virtual void note_shared(const std::string& field) = 0;
    virtual void fill() = 0;  // before steps, where something that they follow from has changed
};

class ProgramSource {
public:
    explicit ProgramSource(ProgramInfo info) : info_(std::move(info)) {}
    virtual ~ProgramSource() = default;
    const ProgramInfo& info() const { return info_; }

    virtual std::vector<std::string> targets() const = 0;
    // Compiles, where it must. From any thread. Throws Error or rt::Error: no_device where there is none.
    virtual std::shared_ptr<const Code> code_for(const DeviceState& device, const Extent& extent) = 0;
    // The same for one piece on each device, all of one kind. interval: steps from one exchange to the next;
    // none: chosen. Throws no_device where there is code for whole grids alone.
    virtual std::shared_ptr<const PiecesCode> code_for_pieces(
        const std::vector<std::shared_ptr<DeviceState>>& devices, const Extent& extent,
        std::optional<std::int64_t> interval);
    // Of a simulation of this program, which outlives them; null: it has none.
    virtual std::unique_ptr<HiddenInputs> hidden_inputs(SimulationState& /*simulation*/) { return nullptr; }

private:
    ProgramInfo info_;
};

ProgramInfo info_of(const halo::rt::LaunchPlan& plan);

// Throws Error (bad_argument) where the numbers are not as many as the axes.
Extent extent_of(const ProgramInfo& info, const Grid& grid);
std::string grid_text(const Grid& grid);  // "512 x 512"

}  // namespace halocline::detail
