// Values of a kernel of several steps that change with the step.
#include <fmt/format.h>

#include "compiler/lower/shared/context.h"
#include "compiler/lower/shared/host_scalar.h"

namespace halo::lower {

using kernel::Type;

void Context::do_steps(int count, kernel::Expr s) {
    steps_ = count;
    step_in_launch_ = std::move(s);
}

kernel::Expr Context::step_scalar(ir::ExprId uniform, Type type) {
    const auto [known, is_new] = step_scalars_.try_emplace({uniform.index, type}, step_values_.size());
    if (is_new) {
        const std::string wanted = host_scalar_name(program(), uniform);
        const rt::HostScalar first = host_scalar(program(), uniform);
        StepValue value{RegisterArray(names_.take(wanted + "_at"), type, {steps_}), {}};
        for (int s = 0; s < steps_; ++s)
            value.parameters.push_back(
                declare_scalar(fmt::format("{}_{}", wanted, s), in_later_step(first, s), type));
        step_values_.push_back(std::move(value));
    }
    return step_values_[known->second].array.at({step_in_launch_});
}

kernel::Block Context::declare_step_values() const {
    kernel::Block block;
    for (const StepValue& value : step_values_) {
        block.push_back(value.array.declaration(false));
        for (int s = 0; s < steps_; ++s)
            block.push_back(kernel::Assign{
                value.array.at({s}),
                kernel::variable(value.parameters[static_cast<std::size_t>(s)], value.array.type())});
    }
    return block;
}

}  // namespace halo::lower
