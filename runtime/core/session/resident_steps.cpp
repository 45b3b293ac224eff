// Stepping by resident kernels (TimeBlock::Resident).
#include <algorithm>
#include <functional>
#include <numeric>

#include "runtime/core/session/block_steps.h"

namespace halo::rt::session {

namespace {

// Kernels count elements and words in 32 bits.
constexpr std::int64_t kMostElements = std::int64_t{1} << 30;
constexpr std::int64_t kMostStepsOfLaunch = 1 << 29;  // so with steps

std::int64_t product(const Kernels::Blocks& blocks) {
    return std::accumulate(blocks.begin(), blocks.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace

std::unique_ptr<ResidentSteps> ResidentSteps::make(Parts& parts, Kernel& kernel) {
    const TimeBlock& block = *parts.setup.plan.time_block;
    const TimeBlock::Resident& resident = *block.resident();
    const Geometry& geometry = parts.setup.geometry;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        if (geometry.extent[axis] > resident.most_extent[axis]) return nullptr;
        if (geometry.extent[axis] % resident.divisors[axis] != resident.remainders[axis]) return nullptr;
    }
    Kernels::Blocks blocks{1, 1, 1};
    for (std::size_t axis = 0; axis < blocks.size(); ++axis)
        blocks[axis] = (geometry.extent[axis] + block.kernel.tile[axis] - 1) / block.kernel.tile[axis];
    const std::int64_t needed = product(blocks);
    if (geometry.elements > kMostElements || needed > parts.setup.device->most_resident_blocks(kernel))
        return nullptr;
    for (const int words : resident.exchanges)
        if (needed * words > kMostElements) return nullptr;
    return std::unique_ptr<ResidentSteps>(new ResidentSteps(parts, kernel, blocks));
}

ResidentSteps::ResidentSteps(Parts& parts, Kernel& kernel, const Kernels::Blocks& blocks)
    : BlockStepper(parts, kernel), blocks_(blocks) {
    for (const int words : block().resident()->exchanges) {
        const std::int64_t bytes = 2 * product(blocks) * words * std::int64_t{sizeof(std::int64_t)};
        exchanges_.emplace_back(*parts.setup.device, bytes);
        parts.setup.device->set_bytes(exchanges_.back().address(), 0, bytes);
    }
}

void ResidentSteps::give_arguments(PreparedLaunch& launch, std::int64_t /*phase*/) {
    const std::vector<Argument>& arguments = block().kernel.arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].kind != Argument::Kind::exchange) continue;
        const auto index = static_cast<std::size_t>(arguments[i].index);
        if (arguments[i].part == 1) {
            launch.values[i].i64 = product(blocks_) * block().resident()->exchanges[index];
        } else {
            launch.values[i].address = exchanges_[index].address();
        }
    }
}

// Does all steps in one launch.
std::int64_t ResidentSteps::step(std::int64_t count, bool with_results) {
    Device& device = *parts_.setup.device;
    const std::int64_t steps = std::min(count - steps_left(with_results), kMostStepsOfLaunch);
    if (steps < block().steps) return 0;
    if (steps_sent_ > kMostStepsOfLaunch) {
        steps_sent_ = 0;
        for (const DeviceMemory& words : exchanges_)
            device.set_bytes(words.address(), 0, words.bytes());
    }
    PreparedLaunch& launch = launch_at(parts_.clock.phase());
    const std::vector<Argument>& arguments = block().kernel.arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].kind == Argument::Kind::steps)
            launch.values[i].i32 = static_cast<std::int32_t>(steps);
        if (arguments[i].kind == Argument::Kind::sent)
            launch.values[i].i32 = static_cast<std::int32_t>(steps_sent_);
    }
    device.launch_resident(kernel_, blocks_, launch.pointers.data());
    steps_sent_ += steps;
    parts_.clock.advance(steps, block().levels);
    parts_.arrays.mark_states_written();
    return steps;
}

}  // namespace halo::rt::session
