#include "runtime/core/session/state.h"
#include "runtime/core/plan_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "runtime/core/session/names.h"

namespace halo::rt {

Session::State::State(LaunchPlan plan, const Extent& extent, Device& device,
                      std::vector<std::unique_ptr<Module>> modules, const SessionOptions& options)
    : parts(std::move(plan), extent, device, std::move(modules), options) {
    if (parts.setup.plan.time_block && options.time_block_code.valid()) {
        async_block.state = AsyncBlock::State::pending;
    } else {
        make_blocks();
    }
}

bool Session::State::make_blocks() {
    block = session::make_block_stepper(parts, snapshot);
    singles.set_repeat_block(session::RepeatBlock::make(parts));
    return block != nullptr || singles.repeat_block() != nullptr;
}

int Session::State::field(const std::string& name, int time) const {
    const LaunchPlan& plan = parts.setup.plan;
    const int index = session::find_named(plan.fields, name, "field", plan.name);
    const FieldPlan& field = plan.fields[static_cast<std::size_t>(index)];
    if (time > 0 || time < -field.history)
        throw Error(ErrorCode::bad_argument,
                    field.history == 0
                        ? fmt::format("field '{}' keeps no level but the present one", name)
                        : fmt::format("field '{}' keeps {} past level{}; there is no level {:+}", name,
                                      field.history, field.history == 1 ? "" : "s", time));
    return index;
}

void Session::State::prepare() {
    session::Due& due = parts.due;
    const bool launches_due = due.scalars || due.launches;
    if (due.scalars) {
        parts.tables.check();
        const std::vector<double> params = parts.params.values();
        parts.points.place(params, parts.kernels);
        parts.arrays.set_constants(params);
        parts.kept.constants_due();
    }
    if (launches_due) {
        const std::vector<double> params = parts.params.values();
        parts.launches.prepare(params);
        if (block != nullptr) block->prepare(params);
        singles.prepare(params);
        recorded.prepare(params);
        due.launches = false;
    }
    if (due.scalars) parts.launches.mark_formulas_due();
    if (due.scalars || due.columns) parts.launches.compute_columns();
    due.scalars = due.columns = false;
    // Time blocks read halos of these fields alone.
    const std::vector<FieldPlan>& fields = parts.setup.plan.fields;
    for (std::size_t i = 0; i < fields.size(); ++i)
        if (!fields[i].grid.has_all_axes()) parts.arrays.fill_images(static_cast<int>(i));
}

void Session::State::fill_due_halos() {
    session::Arrays& arrays = parts.arrays;
    const std::vector<FieldPlan>& fields = parts.setup.plan.fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const int index = static_cast<int>(i);
        const FieldPlan& field = fields[i];
        if (arrays.fillers(index).empty()) {
            arrays.fill_images(index);
            continue;
        }
        // Halo kernels run here for the levels that steps keep: what a step writes is filled within the step,
        // and read after that alone.
        const bool is_kept = field.role == Role::state || field.role == Role::input;
        for (int time = 0; is_kept && time >= -field.history; --time)
            parts.launches.fill_halo(index, time, parts.params.values());
    }
}

void Session::State::begin_steps() {
    is_first = has_first_steps(parts.setup.plan);
}

void Session::State::step(std::int64_t count, bool with_results) {
    if (count < 0) throw Error(ErrorCode::bad_argument, fmt::format("{} steps cannot be done", count));
    while (count > 0) {
        const auto [steps, is_full] = session::to_full_step(parts, count);
        step_alike(steps, is_full || (with_results && steps == count));
        count -= steps;
    }
}

void Session::State::step_alike(std::int64_t count, bool with_results) {
    for (; count > 0 && parts.kept.make_way(); --count)
        step_singly(with_results && count == 1);
    if (count == 0) return;
    prepare();
    take_async_block();
    const bool has_block =
        block != nullptr && parts.setup.plan.time_block->kernel.within.contains(parts.clock.steps_done);
    while (has_block && count > 0) {
        const std::int64_t done = block->step(count, with_results);
        if (done == 0) break;
        count -= done;
    }
    if (count == 0) return;
    fill_due_halos();
    step_without_block(count, with_results);
}

void Session::State::step_singly(bool with_results) {
    prepare();
    fill_due_halos();
    parts.reductions.found_by_steps();
    if (std::exchange(is_first, false))
        singles.step_first(with_results);
    else
        singles.step(1, with_results);
}

void Session::State::step_without_block(std::int64_t count, bool with_results) {
    if (count > 0) parts.reductions.found_by_steps();
    if (count > 0 && std::exchange(is_first, false)) {
        singles.step_first(with_results && count == 1);
        --count;
    }
    session::Stepper* const in_order[] = {&recorded, &time_tiles, &singles};
    while (count > 0) {
        std::int64_t done = 0;
        for (session::Stepper* const stepper : in_order) {
            done = stepper->step(count, with_results);
            if (done > 0) break;
        }
        count -= done;
    }
}

// All arrays are laid out for a time block from the start, and blocks begin wherever single steps ended; so
// one whose code is compiled beside the session's work (SessionOptions::time_block_code) is taken between any
// two steps, and what comes out is the same.
void Session::State::take_async_block() {
    using Clock = std::chrono::steady_clock;
    if (async_block.state != AsyncBlock::State::pending) return;
    std::shared_future<AsyncCode>& compiling = parts.setup.options.time_block_code;
    if (compiling.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    async_block.after_steps = parts.clock.steps_done;
    const Clock::time_point start = Clock::now();
    try {
        const AsyncCode& code = compiling.get();
        async_block.compile_seconds = code.seconds;
        parts.kernels.add(parts.setup.device->load(code.bytes, parts.setup.plan.name));
        parts.coefs.send_all();
        const bool is_fit = make_blocks();
        const std::vector<double> params = parts.params.values();
        if (block != nullptr) block->prepare(params);
        if (singles.repeat_block() != nullptr) {  // recordings are of single iterations
            singles.prepare(params);
            recorded.prepare(params);
        }
        async_block.state = is_fit ? AsyncBlock::State::active : AsyncBlock::State::unfit;
    } catch (const std::exception& trouble) {  // single steps go on without it
        block.reset();
        singles.set_repeat_block(nullptr);
        async_block.state = AsyncBlock::State::failed;
        async_block.trouble = trouble.what();
    }
    async_block.load_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    compiling = {};
}

// Counts steps on from those that others did. The phase stays as it is, so that levels are where they were.
void Session::State::continue_from(const StepsBefore& before) {
    const LaunchPlan& plan = parts.setup.plan;
    session::Clock& clock = parts.clock;
    const bool has_begun = clock.steps_done != clock.continued_from;
    for (const PointsPlan& points : plan.points) {
        for (const PointsPlan::Trace& trace : points.traces) {
            const bool is_given = std::ranges::any_of(before.traces, [&](const StepsBefore::Trace& each) {
                return each.points == points.name && each.name == trace.name;
            });
            if (has_begun && trace.sampled && !is_given)
                throw Error(
                    ErrorCode::bad_argument,
                    fmt::format("a session that has done steps goes on from others with the rows of {}.{}",
                                points.name, trace.name));
        }
    }
    clock.count_from(before.steps);
    for (const auto& [name, value] : before.reductions)
        parts.reductions.continue_from(session::find_named(plan.reductions, name, "reduction", plan.name),
                                       value);
    for (const StepsBefore::Trace& trace : before.traces)
        parts.points.continue_trace(
            session::find_named(plan.points, trace.points, "set of points", plan.name), trace.name,
            trace.rows);
}

void Session::State::go_back_to(std::int64_t step) {
    if (step < 0 || step > parts.clock.steps_done)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("a session cannot go back to step {} of {}", step, parts.clock.steps_done));
    parts.clock.count_from(step);
    parts.points.go_back_to(step);
}

}  // namespace halo::rt
