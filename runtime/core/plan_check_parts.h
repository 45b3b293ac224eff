// The parts of check_plan(). Not for other rooms.
#pragma once

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/launch_plan.h"

namespace halo::rt::checks {

template <class... Values>
void require(bool good, fmt::format_string<Values...> text, Values&&... values) {
    if (good) return;
    throw Error(ErrorCode::bad_argument,
                "the launch plan is damaged: " + fmt::format(text, std::forward<Values>(values)...));
}

template <class Item>
bool in_range(int index, const std::vector<Item>& items) {
    return index >= 0 && static_cast<std::size_t>(index) < items.size();
}

void check_scalar(const LaunchPlan& plan, const HostScalar& scalar);
void check_kernel(const LaunchPlan& plan, const KernelPlan& kernel);

// Arguments that only the kernels of some time blocks have.
bool is_of_resident(const Argument& argument);
void check_time_block(const LaunchPlan& plan, const TimeBlock& block);
void check_repeats(const LaunchPlan& plan);

}  // namespace halo::rt::checks
