// The halos of a session's levels outside of steps: after an upload, and when a parameter changed.
//
// Images and constants are filled by passes (halo_fill.h). Where a formula says what lies past a face the
// plan has kernels for the field's whole halo (KernelPlan::fills_halo): they stand in the step behind
// whatever writes the level, and are launched here for the levels that no step has written.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/core/plan_check.h"
#include "runtime/core/session_state.h"

namespace halo::rt {

void Session::State::check_reaches() const {
    std::vector<CellsNeeded> needs;
    for (const FieldPlan& field : plan.fields)
        for (int axis = 0; axis < plan.rank; ++axis)
            for (int side = 0; side < 2; ++side)
                needs.push_back({field.name, axis, side, field.boundary[axis][side].reach});
    check_cells_needed(plan.axes, needs, geometry.extent);
}

// The kernels of a field stand in the step one after the other, once for each time that it is written.
void Session::State::find_fillers() {
    for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
        const auto& filled = plan.kernels[k].fills_halo;
        if (!filled) continue;
        std::vector<int>& fillers = fields[filled->field].fillers;
        const bool follows = fillers.empty() || fillers.back() + 1 == static_cast<int>(k);
        const bool again = std::any_of(fillers.begin(), fillers.end(), [&](int known) {
            return plan.kernels[known].name == plan.kernels[k].name;
        });
        if (follows && !again) fillers.push_back(static_cast<int>(k));
    }
    for (FieldState& field : fields)
        if (!field.fillers.empty()) field.images.clear();
}

void Session::State::fill_due_halos() {
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const FieldPlan& field = plan.fields[i];
        if (!fields[i].fillers.empty()) {
            // What a step writes is filled there, and read after that alone.
            const bool kept = field.role == Role::state || field.role == Role::input;
            for (int time = 0; kept && time >= -field.history; --time)
                fill_by_kernels(static_cast<int>(i), time);
            continue;
        }
        for (Level& level : fields[i].slots) {
            if (!level.images_due) continue;
            device->run_halo_passes(fields[i].images, field.type, level.array);
            level.images_due = false;
        }
    }
}

void Session::State::fill_by_kernels(int field, int time) {
    Level& filled = level(field, time, phase());
    if (!filled.images_due) return;
    const std::vector<double> values = param_values();
    for (const int kernel : fields[field].fillers) {
        PreparedLaunch launch = prepare_launch(plan.kernels[kernel], phase(), values);
        const std::vector<Argument>& arguments = plan.kernels[kernel].arguments;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const Argument& argument = arguments[i];
            if (argument.kind == Argument::Kind::field) {
                launch.values[i].address = first_cell(field, filled);
            } else if (argument.kind == Argument::Kind::scalar) {
                launch.values[i] =
                    scalar_value(argument.type, rt::evaluate(argument.scalar, values, geometry.extent,
                                                             static_cast<double>(steps_done + time)));
            }
        }
        device->launch(*kernels[kernel], blocks[kernel], launch.pointers.data());
    }
    filled.images_due = false;
}

void Session::State::refill_formulas() {
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].fillers.empty()) continue;
        for (int time = 0; time >= -plan.fields[i].history; --time)
            level(static_cast<int>(i), time, phase()).images_due = true;
    }
}

// The halo of an input is filled when it is uploaded; in a step only where what lies past it depends on that.
bool Session::State::runs_in_step(const KernelPlan& kernel) const {
    if (!kernel.fills_halo || plan.fields[kernel.fills_halo->field].role != Role::input) return true;
    return std::any_of(kernel.arguments.begin(), kernel.arguments.end(), [](const Argument& argument) {
        return argument.kind == Argument::Kind::scalar && rt::changes_with_step(argument.scalar);
    });
}

}  // namespace halo::rt
