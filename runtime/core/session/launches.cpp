#include "runtime/core/session/launches.h"

#include <algorithm>
#include <utility>

#include "runtime/core/element.h"

namespace halo::rt::session {

namespace {

PreparedLaunch::Value scalar_value(ElementType type, double number) {
    PreparedLaunch::Value value{};
    encode(number, type, &value);
    return value;
}

// The level whose array is in the place of that one's.
KernelPlan::Written exchanged_level(const KernelPlan::Written& level, const RepeatPlan* exchanged) {
    if (exchanged == nullptr) return level;
    for (const RepeatPlan::Exchange& each : exchanged->exchanges) {
        if (level.field == each.field && level.time == each.time) return {each.other, 0};
        if (level.field == each.other) return {each.field, each.time};
    }
    return level;
}

}  // namespace

Launches::Launches(const Sources& sources) : from_(sources) {
    for (const KernelPlan& kernel : from_.setup.plan.kernels) {
        bool has_scalar = false;
        for (const Argument& argument : kernel.arguments) {
            changing_ = changing_ || changes(argument);
            has_scalar = has_scalar || (changes(argument) && !from_.points.is_trace(argument));
        }
        changing_scalars_.push_back(has_scalar);
    }
}

bool Launches::have_changing_scalars() const {
    const std::vector<KernelPlan>& kernels = from_.setup.plan.kernels;
    for (std::size_t k = 0; k < kernels.size(); ++k)
        if (changing_scalars_[k] && kernels[k].within.contains(from_.clock.steps_done)) return true;
    return false;
}

bool Launches::have_changing_scalars_unread() const {
    const std::vector<KernelPlan>& kernels = from_.setup.plan.kernels;
    for (std::size_t k = 0; k < kernels.size(); ++k)
        if (changing_scalars_[k] && kernels[k].runs(false) &&
            kernels[k].within.contains(from_.clock.steps_done))
            return true;
    return false;
}

bool Launches::changes(const Argument& argument) const {
    return from_.points.is_trace(argument) ||
           (argument.kind == Argument::Kind::scalar && rt::changes_with_step(argument.scalar));
}

bool Launches::change_with_step(const RepeatPlan& repeat) const {
    const auto kernels = from_.setup.plan.kernels.begin();
    return std::any_of(kernels + repeat.first, kernels + repeat.past, [&](const KernelPlan& each) {
        return std::ranges::any_of(each.arguments,
                                   [&](const Argument& argument) { return changes(argument); });
    });
}

PreparedLaunch::Value Launches::value_of(const Argument& argument, std::int64_t phase,
                                         const std::vector<double>& params, const RepeatPlan* exchanged) {
    const Setup& setup = from_.setup;
    const Geometry& geometry = setup.geometry;
    const auto index = static_cast<std::size_t>(argument.index);
    PreparedLaunch::Value value{};
    switch (argument.kind) {
        case Argument::Kind::field: {
            const KernelPlan::Written level = exchanged_level({argument.field, argument.time}, exchanged);
            value.address = from_.arrays.first_cell(
                level.field, from_.arrays.level_in_step(level.field, level.time, phase));
            break;
        }
        case Argument::Kind::scalar:
            if (rt::changes_with_step(argument.scalar)) break;  // update() does those
            return scalar_value(argument.type, rt::evaluate(argument.scalar, params, geometry.extent));
        case Argument::Kind::extent:
            value.i32 = static_cast<std::int32_t>(setup.geometry_of_grid(argument.factor).extent[index]);
            break;
        case Argument::Kind::pitch:
            value.i32 = static_cast<std::int32_t>(setup.geometry_of_grid(argument.factor).pitch);
            break;
        case Argument::Kind::slice:
            value.i64 = setup.geometry_of_grid(argument.factor).slice;
            break;
        case Argument::Kind::volume:
            value.i64 = setup.geometry_of_grid(argument.factor).volume;
            break;
        case Argument::Kind::partials:
            value.address = from_.reductions.partials(argument.index);
            break;
        case Argument::Kind::partial_count:
            value.i32 = static_cast<std::int32_t>(from_.reductions.partial_count(argument.index));
            break;
        case Argument::Kind::device_scalars:
            value.address = from_.reductions.device_scalars();
            break;
        case Argument::Kind::iterations:
            value.address = from_.iterations.words(argument.index, static_cast<RepeatWord>(argument.part));
            break;
        case Argument::Kind::coefs:
            value.address = from_.coefs.address(argument.index);
            break;
        case Argument::Kind::table:
            value.address = from_.tables.address(argument.index);
            break;
        case Argument::Kind::rows:
            value.i32 = static_cast<std::int32_t>(from_.tables.rows(argument.index));
            break;
        case Argument::Kind::points:
            value.address = from_.points.address(argument, from_.clock.steps_done);
            break;
        case Argument::Kind::count:
            value.i32 = static_cast<std::int32_t>(from_.points.count(argument));
            break;
        case Argument::Kind::step_partials:
        case Argument::Kind::exchange:
        case Argument::Kind::steps:
        case Argument::Kind::sent:
        case Argument::Kind::planes:
        case Argument::Kind::neighbour:
            break;  // the stepper of the time block gives them
    }
    return value;
}

PreparedLaunch Launches::prepare(const KernelPlan& kernel, std::int64_t phase,
                                 const std::vector<double>& params, const RepeatPlan* exchanged) {
    PreparedLaunch launch;
    launch.values.reserve(kernel.arguments.size());
    for (const Argument& argument : kernel.arguments) {
        if (changes(argument)) launch.changing.push_back(static_cast<int>(launch.values.size()));
        launch.values.push_back(value_of(argument, phase, params, exchanged));
    }
    for (auto& value : launch.values)
        launch.pointers.push_back(&value);
    for (const auto& given : kernel.refresh_halos) {
        const KernelPlan::Written written = exchanged_level(given, exchanged);
        if (from_.arrays.images(written.field).empty()) continue;
        launch.refresh.push_back(
            {written.field, from_.arrays.level_in_step(written.field, written.time, phase).array});
    }
    return launch;
}

void Launches::prepare(const std::vector<double>& params) {
    params_ = params;
    const auto cycle = static_cast<std::size_t>(from_.clock.cycle);
    launches_.clear();
    launches_.resize(cycle);
    exchanged_.clear();
    exchanged_.resize(cycle);
}

// Arrays may be others in each step (kept_arrays.h), so that no more is prepared than is launched.
void Launches::prepare_phase(std::size_t phase) {
    const auto number = static_cast<std::int64_t>(phase);
    std::vector<PreparedLaunch> launches;
    std::map<int, PreparedLaunch> exchanged;
    for (const KernelPlan& kernel : from_.setup.plan.kernels)
        launches.push_back(prepare(kernel, number, params_));
    for (const RepeatPlan& repeat : from_.setup.plan.repeats)
        for (int kernel = repeat.first; kernel < repeat.past && !repeat.exchanges.empty(); ++kernel)
            exchanged.emplace(kernel, prepare(from_.setup.plan.kernels[static_cast<std::size_t>(kernel)],
                                              number, params_, &repeat));
    // All of them or none: where there is no memory for one, they are prepared again.
    exchanged_[phase] = std::move(exchanged);
    launches_[phase] = std::move(launches);
}

PreparedLaunch& Launches::at(int kernel, std::int64_t phase, bool exchanged) {
    const std::size_t in_cycle = from_.clock.in_cycle(phase);
    if (launches_[in_cycle].empty()) prepare_phase(in_cycle);
    if (exchanged) return exchanged_[in_cycle].at(kernel);
    return launches_[in_cycle][static_cast<std::size_t>(kernel)];
}

void Launches::update(PreparedLaunch& launch, const KernelPlan& kernel, std::int64_t step,
                      const std::vector<double>& params) {
    // Halos of level t+1 are filled with the step number of t+1.
    const std::int64_t ahead = kernel.fills_halo ? kernel.fills_halo->time : 0;
    for (const int index : launch.changing) {
        const Argument& argument = kernel.arguments[static_cast<std::size_t>(index)];
        PreparedLaunch::Value& value = launch.values[static_cast<std::size_t>(index)];
        if (argument.kind == Argument::Kind::points) {
            value.address = from_.points.address(argument, step);
            continue;
        }
        const double number = rt::evaluate(argument.scalar, params, from_.setup.geometry.extent,
                                           static_cast<double>(step + ahead),
                                           from_.reductions.latest(argument.scalar), from_.tables.series());
        value = scalar_value(argument.type, number);
    }
}

void Launches::update_recorded(PreparedLaunch& launch, const KernelPlan& kernel, std::int64_t step) {
    for (const int index : launch.changing)
        launch.values[static_cast<std::size_t>(index)].address =
            from_.points.row(kernel.arguments[static_cast<std::size_t>(index)], step);
}

void Launches::launch_fillers(int field, const Level& filled, std::int64_t phase, std::int64_t step,
                              const std::vector<double>& params) {
    for (const int filler : from_.arrays.fillers(field)) {
        const KernelPlan& kernel = from_.setup.plan.kernels[static_cast<std::size_t>(filler)];
        PreparedLaunch launch = prepare(kernel, phase, params);
        for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
            const Argument& argument = kernel.arguments[i];
            if (argument.kind == Argument::Kind::field) {
                launch.values[i].address = from_.arrays.first_cell(field, filled);
            } else if (argument.kind == Argument::Kind::scalar) {
                launch.values[i] = scalar_value(
                    argument.type, rt::evaluate(argument.scalar, params, from_.setup.geometry.extent,
                                                static_cast<double>(step), {}, from_.tables.series()));
            }
        }
        from_.setup.device->launch(from_.kernels[filler], from_.kernels.blocks(filler),
                                   launch.pointers.data());
    }
}

void Launches::fill_halo(int field, int time, const std::vector<double>& params) {
    Level& filled = from_.arrays.level(field, time);
    if (!filled.images_due) return;
    launch_fillers(field, filled, from_.clock.phase(), from_.clock.steps_done + time, params);
    filled.images_due = false;
}

Level& Launches::level_in_step(const KernelPlan::Written& level, std::int64_t phase,
                               const RepeatPlan* exchanged) {
    const auto [field, time] = exchanged_level(level, exchanged);
    return from_.arrays.level_in_step(field, time, phase);
}

void Launches::fill_halos_in_step(const KernelPlan::Written& level, std::int64_t phase, std::int64_t step,
                                  const RepeatPlan* exchanged) {
    const Level& filled = level_in_step(level, phase, exchanged);
    const std::vector<FieldPlan>& fields = from_.setup.plan.fields;
    const int components = fields[static_cast<std::size_t>(level.field)].interleave;
    for (int field = level.field; field < level.field + components; ++field) {
        from_.setup.device->run_halo_passes(from_.arrays.images(field),
                                            fields[static_cast<std::size_t>(field)].type, filled.array);
        launch_fillers(field, filled, phase, step + level.time, params_);
    }
}

void Launches::mark_formulas_due() {
    for (std::size_t i = 0; i < from_.setup.plan.fields.size(); ++i)
        if (!from_.arrays.fillers(static_cast<int>(i)).empty())
            from_.arrays.mark_written(static_cast<int>(i));
}

void Launches::compute_columns() {
    const std::vector<KernelPlan>& kernels = from_.setup.plan.kernels;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        if (kernels[k].domain.kind != Domain::Kind::rows) continue;
        const std::int64_t rows = from_.tables.rows(kernels[k].domain.index);
        if (rows == 0) continue;
        const std::int64_t count = (rows + kernels[k].tile[0] - 1) / kernels[k].tile[0];
        const int kernel = static_cast<int>(k);
        from_.setup.device->launch(from_.kernels[kernel], {count, 1, 1}, at(kernel, 0).pointers.data());
    }
}

}  // namespace halo::rt::session
