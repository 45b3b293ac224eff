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
    // From the last module on: a module is not asked for what it has not, which tools that watch the driver
    // would report.
    for (auto module = modules.rbegin(); module != modules.rend() && block_kernel == nullptr; ++module)
        block_kernel = (*module)->find_kernel(plan.time_block->kernel);
    if (block_kernel == nullptr) block_kernel = find_kernel(plan.time_block->kernel);  // throws
    if (const TimeBlock::Resident* const resident = plan.time_block->resident()) {
        if (!make_resident(*resident)) block_kernel = nullptr;
        return;
    }
    const std::int64_t turn = std::lcm(cycle, std::int64_t{plan.time_block->levels});
    recorded_blocks = turn / plan.time_block->levels;
    recorded_blocks *= std::max<std::int64_t>(1, kRecordedBlocks / recorded_blocks);
    const std::int64_t rounds = options.record && device->can_record() ? recorded_blocks : 1;
    for (std::size_t i = 0; i < plan.time_block->reductions.size(); ++i)
        block_partials.emplace_back(*device,
                                    8 * rounds * plan.time_block->steps * plan.time_block->kernel.blocks);
}

bool Session::State::make_resident(const TimeBlock::Resident& block) {
    std::int64_t needed = 1;
    for (int axis = 0; axis < kMaxRank; ++axis) {
        const std::int64_t tile = plan.time_block->kernel.tile[static_cast<std::size_t>(axis)];
        const auto index = static_cast<std::size_t>(axis);
        if (geometry.extent[axis] > block.most_extent[index]) return false;
        if (geometry.extent[axis] % block.divisors[index] != block.remainders[index]) return false;
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
    const auto words = std::int64_t{plan.time_block->resident()->exchanges[static_cast<std::size_t>(index)]};
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
std::int64_t Session::State::step_resident(std::int64_t count, bool with_results) {
    const TimeBlock& block = *plan.time_block;
    constexpr std::int64_t kMostSteps = 1 << 29;  // kernels count them in 32 bits
    const std::int64_t all = std::min(count - (block.is_whole || !with_results ? 0 : 1), kMostSteps);
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

int Session::State::place_in_block(int reduction) const {
    if (block_kernel == nullptr) return -1;
    const std::vector<int>& given = plan.time_block->reductions;
    const auto place = std::ranges::find(given, reduction);
    return place == given.end() ? -1 : static_cast<int>(place - given.begin());
}

const void* Session::State::block_partials_of_step(int place) const {
    return static_cast<const double*>(block_partials[static_cast<std::size_t>(place)].address()) +
           block_row * plan.time_block->kernel.blocks;
}

void Session::State::launch_block(std::int64_t phase, std::int64_t number) {
    if (plan.time_block->of_pieces() != nullptr)  // which give no reductions
        return launch_planes(phase, {0, geometry.extent[plan.rank - 1]}, false);
    const KernelPlan& kernel = plan.time_block->kernel;
    PreparedLaunch& launch = block_launches[static_cast<std::size_t>(modulo(phase, cycle))];
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
        if (kernel.arguments[i].kind != Argument::Kind::step_partials) continue;
        const auto place = static_cast<std::size_t>(place_in_block(kernel.arguments[i].index));
        launch.values[i].address = static_cast<double*>(block_partials[place].address()) +
                                   number * plan.time_block->steps * kernel.blocks;
    }
    device->launch(*block_kernel, {kernel.blocks, 1, 1}, launch.pointers.data());
}

void Session::State::count_blocks(std::int64_t rounds) {
    const TimeBlock& block = *plan.time_block;
    steps_done += rounds * block.steps;
    phase_shift += rounds * (block.levels - block.steps);
}

std::int64_t Session::State::step_in_blocks(std::int64_t count, bool with_results) {
    if (block_kernel == nullptr) return count;
    const TimeBlock& block = *plan.time_block;
    if (block.resident() != nullptr) return step_resident(count, with_results);
    const std::int64_t singles = block.is_whole || !with_results ? 0 : 1;
    const std::int64_t before = steps_done, last = before + count - singles;
    const bool replayable = options.record && device->can_record();
    while (steps_done + block.steps <= last) {
        const bool many = steps_done + recorded_blocks * block.steps <= last;
        if (replayable && many && modulo(phase(), cycle) == 0 && block_ran) {
            if (block_recording == nullptr) {
                block_recording =
                    record(recorded_blocks, [&](std::int64_t each) { launch_block(each * block.levels); });
            }
            device->replay(*block_recording);
            count_blocks(recorded_blocks);
        } else {
            launch_block(phase());
            block_ran = true;
            count_blocks(1);
        }
    }
    if (steps_done == before) return count;
    block_row = block.steps - 1;
    leave_images_due();
    return last + singles - steps_done;
}

void Session::State::leave_images_due() {
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (plan.fields[i].role != Role::state) continue;
        for (int time = 0; time >= -plan.fields[i].history; --time)
            level(static_cast<int>(i), time, phase()).images_due = true;
    }
}

}  // namespace halo::rt
