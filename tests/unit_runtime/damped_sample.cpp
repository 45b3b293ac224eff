// A program of a test whose steps a time block does.
#include <algorithm>
#include <cmath>

#include "sample_plans.h"

using namespace halo::rt;

namespace {

// A step of damped_sample(), over a whole line. Returns what cells `begin` to `end` change by at most, and
// their sum.
std::pair<double, double> damped_step(double* next, const double* now, const double* past, double rate,
                                      std::int64_t n, std::int64_t begin, std::int64_t end) {
    double change = -INFINITY, total = 0;
    for (std::int64_t x = 0; x < n; ++x) {
        const double around = now[(x + n - 1) % n] + now[(x + 1) % n] - 2 * now[x];
        next[x] = 1.5 * now[x] - 0.5 * past[x] + rate * around;
        if (x < begin || x >= end) continue;
        change = std::fmax(change, std::fabs(next[x] - now[x]));
        total += next[x];
    }
    return {change, total};
}

constexpr std::int64_t kWorkers = 3;

// Arguments: the newest level and the one before it, p, its past, rate, change, total, cells.
void damped_steps(int steps, int levels, std::int64_t worker, void* const* arguments) {
    const auto n = static_cast<std::int64_t>(value_of<std::int32_t>(arguments, 7));
    const auto size = static_cast<std::size_t>(n);
    const auto* now = value_of<const double*>(arguments, 2);
    const auto* past = value_of<const double*>(arguments, 3);
    std::vector<std::vector<double>> level{{past, past + n}, {now, now + n}};
    for (int step = 0; step < steps; ++step) {
        level.emplace_back(size);
        const auto [change, total] = damped_step(
            level.back().data(), level[level.size() - 2].data(), level[level.size() - 3].data(),
            value_of<double>(arguments, 4), n, n * worker / kWorkers, n * (worker + 1) / kWorkers);
        value_of<double*>(arguments, 5)[step * kWorkers + worker] = change;
        value_of<double*>(arguments, 6)[step * kWorkers + worker] = total;
    }
    for (int back = 0; worker == 0 && back < levels; ++back)
        std::ranges::copy(level[level.size() - 1 - static_cast<std::size_t>(back)],
                          value_of<double*>(arguments, back));
}

}  // namespace

Sample damped_sample(int steps, bool is_whole) {
    LaunchPlan plan = named_plan("damped", 1);
    plan.params = {{"rate", 0.125}};
    const int levels = std::min(steps, 2);
    FieldPlan p = state_of_f64("p");
    p.history = 1;
    p.spare_levels = levels - 1;
    plan.fields = {p};
    plan.reductions = {{"change", ReductionPlan::Op::max, false, 0},
                       {"total", ReductionPlan::Op::sum, false, 0}};
    KernelPlan kernel;
    kernel.name = "damped_step";
    kernel.tile = {1 << 20, 1, 1};
    kernel.arguments = {field_argument(0, 1),
                        field_argument(0, 0),
                        field_argument(0, -1),
                        scalar_argument(0, ElementType::f64),
                        index_argument(Argument::Kind::partials, 0),
                        index_argument(Argument::Kind::partials, 1)};
    const Argument cells = index_argument(Argument::Kind::extent, 0);
    kernel.arguments.insert(kernel.arguments.end(), 4, cells);
    plan.kernels = {kernel};
    TimeBlock block;
    block.steps = steps;
    block.levels = levels;
    block.is_whole = is_whole;
    block.reductions = {0, 1};
    block.kernel.name = "damped_steps";
    block.kernel.blocks = kWorkers;
    block.kernel.arguments = {field_argument(0, levels),
                              field_argument(0, std::max(levels - 1, 1)),
                              field_argument(0, 0),
                              field_argument(0, -1),
                              scalar_argument(0, ElementType::f64),
                              index_argument(Argument::Kind::step_partials, 0),
                              index_argument(Argument::Kind::step_partials, 1)};
    block.kernel.arguments.insert(block.kernel.arguments.end(), 3, cells);
    plan.time_block = block;

    auto module = std::make_unique<FakeModule>();
    module->functions["damped_step"] = [](const auto&, std::int64_t, void* const* arguments) {
        const auto n = static_cast<std::int64_t>(value_of<std::int32_t>(arguments, 6));
        const auto [change, total] =
            damped_step(value_of<double*>(arguments, 0), value_of<const double*>(arguments, 1),
                        value_of<const double*>(arguments, 2), value_of<double>(arguments, 3), n, 0, n);
        *value_of<double*>(arguments, 4) = change;
        *value_of<double*>(arguments, 5) = total;
    };
    module->functions["damped_steps"] = [steps, levels](const auto&, std::int64_t worker,
                                                        void* const* arguments) {
        damped_steps(steps, levels, worker, arguments);
    };
    return {std::move(plan), std::move(module)};
}
