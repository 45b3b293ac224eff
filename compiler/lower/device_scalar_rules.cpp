#include "compiler/lower/device_scalar_rules.h"

#include <algorithm>
#include <utility>

namespace halo::lower {

using Op = rt::HostScalar::Op;

namespace {

// IEEE 754 says what the result is, to the last bit.
bool is_exact(Op op) {
    switch (op) {
        case Op::constant:
        case Op::param:
        case Op::extent:
        case Op::reduction:
        case Op::negate:
        case Op::logical_not:
        case Op::sqrt:
        case Op::abs:
        case Op::floor:
        case Op::ceil:
        case Op::round:
        case Op::trunc:
        case Op::round_f32:
        case Op::add:
        case Op::sub:
        case Op::mul:
        case Op::div:
        case Op::min:
        case Op::max:
        case Op::less:
        case Op::less_equal:
        case Op::greater:
        case Op::greater_equal:
        case Op::equal:
        case Op::not_equal:
        case Op::logical_and:
        case Op::logical_or:
        case Op::fma:
        case Op::select:
            return true;
        default:
            return false;
    }
}

// Sums depend on the order, which is another one on the host.
bool can_compute(const rt::LaunchPlan& plan, const rt::Argument& argument) {
    if (argument.type != rt::ElementType::f32 && argument.type != rt::ElementType::f64) return false;
    return std::ranges::all_of(argument.scalar.steps, [&](const rt::HostScalar::Step& step) {
        if (step.op != Op::reduction) return is_exact(step.op);
        const rt::ReductionPlan& read = plan.reductions[static_cast<std::size_t>(step.index)];
        return read.op != rt::ReductionPlan::Op::sum && !read.square_root;
    });
}

template <class Index>
bool is_of(const rt::RepeatPlan& repeat, Index kernel) {
    return std::cmp_greater_equal(kernel, repeat.first) && std::cmp_less(kernel, repeat.past);
}

}  // namespace

bool changes(const rt::Argument& argument) {
    return argument.kind == rt::Argument::Kind::scalar && rt::changes_with_step(argument.scalar);
}

const rt::RepeatPlan* repeat_of(const rt::LaunchPlan& plan, std::size_t kernel) {
    const rt::RepeatPlan* innermost = nullptr;
    for (const rt::RepeatPlan& each : plan.repeats)
        if (is_of(each, kernel)) innermost = &each;
    return innermost;
}

bool is_part_of_grid(const rt::LaunchPlan& plan) {
    return std::ranges::any_of(plan.window, [](const auto& window) { return window.has_value(); });
}

bool are_all_computed(const rt::LaunchPlan& plan) {
    if (is_part_of_grid(plan) || !plan.repeats.empty() || plan.time_block) return false;
    bool any = false;
    for (const rt::KernelPlan& each : plan.kernels)
        for (const rt::Argument& argument : each.arguments) {
            if (!changes(argument)) continue;
            if (each.fills_halo || !can_compute(plan, argument)) return false;
            any = true;
        }
    return any;
}

bool is_computed_beside_repeats(const rt::LaunchPlan& plan, std::size_t kernel,
                                const rt::Argument& argument) {
    if (!changes(argument)) return false;
    if (argument.type != rt::ElementType::f32 && argument.type != rt::ElementType::f64) return false;
    const auto& steps = argument.scalar.steps;
    if (!std::ranges::all_of(steps, is_exact, &rt::HostScalar::Step::op)) return false;
    const bool ends_on_device = std::ranges::any_of(
        plan.repeats, [](const rt::RepeatPlan& each) { return each.until && each.until->kernel >= 0; });
    return std::ranges::any_of(steps, [&](const rt::HostScalar::Step& step) {
        if (step.op != Op::reduction) return false;
        const int giver = plan.reductions[static_cast<std::size_t>(step.index)].kernel;
        return ends_on_device || std::ranges::any_of(plan.repeats, [&](const rt::RepeatPlan& each) {
                   return is_of(each, kernel) && is_of(each, giver);
               });
    });
}

}  // namespace halo::lower
