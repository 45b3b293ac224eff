// Stepping by kernels that do several time steps at once (LaunchPlan::time_block).
//
// Such a kernel reads and writes cells alone: it makes what lies past a face itself. So halo images are
// filled only when single steps follow.
#include <algorithm>
#include <functional>
#include <numeric>

#include "runtime/core/session_state.h"

namespace halo::rt {

namespace {

constexpr std::int64_t kRecordedBlocks = 16;

}  // namespace

void Session::State::find_time_block() {
    if (!plan.time_block) return;
    for (int axis = 0; axis < plan.rank; ++axis)
        if (geometry.extent[axis] < plan.time_block->least_extent[axis]) return;
    block_kernel = find_kernel(plan.time_block->kernel);
    if (plan.time_block->is_resident) {
        if (!make_resident()) block_kernel = nullptr;
        return;
    }
    const std::int64_t turn = std::lcm(cycle, std::int64_t{plan.time_block->levels});
    recorded_blocks = turn / plan.time_block->levels;
    recorded_blocks *= std::max<std::int64_t>(1, kRecordedBlocks / recorded_blocks);
}

bool Session::State::make_resident() {
    const TimeBlock& block = *plan.time_block;
    std::int64_t needed = 1;
    for (int axis = 0; axis < kMaxRank; ++axis) {
        const std::int64_t tile = block.kernel.tile[static_cast<std::size_t>(axis)];
        if (block.is_of_whole_boxes && geometry.extent[axis] % tile != 0) return false;
        resident_blocks[axis] = (geometry.extent[axis] + tile - 1) / tile;
        needed *= resident_blocks[axis];
    }
    // Kernels count elements and words in 32 bits.
    constexpr std::int64_t kMostElements = std::int64_t{1} << 30;
    if (geometry.elements > kMostElements || needed > device->most_resident_blocks(*block_kernel))
        return false;
    for (const int words : block.exchanges)
        if (needed * words > kMostElements) return false;
    for (const int words : block.exchanges) {
        const std::int64_t bytes = 2 * needed * words * std::int64_t{sizeof(std::int64_t)};
        exchanges.emplace_back(*device, bytes);
        device->set_bytes(exchanges.back().address(), 0, bytes);
    }
    return true;
}

PreparedLaunch::Value Session::State::exchange_value(int index, int part) const {
    const auto words = std::int64_t{plan.time_block->exchanges[static_cast<std::size_t>(index)]};
    PreparedLaunch::Value value{};
    if (part == 1) {
        value.i64 = words * std::accumulate(resident_blocks.begin(), resident_blocks.end(), std::int64_t{1},
                                            std::multiplies<>());
    } else {
        value.address = exchanges[static_cast<std::size_t>(index)].address();
    }
    return value;
}

// All steps in one launch.
std::int64_t Session::State::step_resident(std::int64_t count) {
    const TimeBlock& block = *plan.time_block;
    constexpr std::int64_t kMostSteps = 1 << 29;  // kernels count them in 32 bits
    const std::int64_t all = std::min(count - (block.is_whole ? 0 : 1), kMostSteps);
    if (all < block.steps) return count;
    if (resident_steps > kMostSteps) {
        resident_steps = 0;
        for (const DeviceMemory& words : exchanges)
            device->set_bytes(words.address(), 0, words.bytes());
    }
    PreparedLaunch& launch = block_launches[static_cast<std::size_t>(modulo(phase(), cycle))];
    for (std::size_t i = 0; i < block.kernel.arguments.size(); ++i) {
        const Argument::Kind kind = block.kernel.arguments[i].kind;
        if (kind == Argument::Kind::steps) launch.values[i].i32 = static_cast<std::int32_t>(all);
        if (kind == Argument::Kind::sent) launch.values[i].i32 = static_cast<std::int32_t>(resident_steps);
    }
    device->launch_resident(*block_kernel, resident_blocks, launch.pointers.data());
    steps_done += all;
    resident_steps += all;
    phase_shift += block.levels - all;
    leave_images_due();
    return count - all;
}

void Session::State::prepare_blocks(const std::vector<double>& values) {
    block_launches.clear();
    if (block_kernel == nullptr) return;
    for (std::int64_t each = 0; each < cycle; ++each)
        block_launches.push_back(prepare_launch(plan.time_block->kernel, each, values));
}

std::int64_t Session::State::step_in_blocks(std::int64_t count) {
    if (block_kernel == nullptr) return count;
    const TimeBlock& block = *plan.time_block;
    if (block.is_resident) return step_resident(count);
    const std::int64_t singles = block.is_whole ? 0 : 1;
    const std::array<std::int64_t, 3> blocks_of_threads{block.kernel.blocks, 1, 1};
    const auto launch = [&](std::int64_t at) {
        device->launch(*block_kernel, blocks_of_threads,
                       block_launches[static_cast<std::size_t>(modulo(at, cycle))].pointers.data());
    };
    const auto done = [&](std::int64_t blocks_done) {
        steps_done += blocks_done * block.steps;
        phase_shift += blocks_done * (block.levels - block.steps);
        count -= blocks_done * block.steps;
    };
    const std::int64_t before = steps_done;
    const bool replayable = options.record && device->can_record();
    while (count >= block.steps + singles) {
        const bool many = count >= recorded_blocks * block.steps + singles;
        if (replayable && many && modulo(phase(), cycle) == 0 && block_ran) {
            if (block_recording == nullptr) {
                block_recording =
                    record(recorded_blocks, [&](std::int64_t each) { launch(each * block.levels); });
            }
            device->replay(*block_recording);
            done(recorded_blocks);
        } else {
            launch(phase());
            block_ran = true;
            done(1);
        }
    }
    if (steps_done != before) leave_images_due();
    return count;
}

void Session::State::leave_images_due() {
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (plan.fields[i].role != Role::state) continue;
        for (int time = 0; time >= -plan.fields[i].history; --time)
            level(static_cast<int>(i), time, phase()).images_due = true;
    }
}

}  // namespace halo::rt
