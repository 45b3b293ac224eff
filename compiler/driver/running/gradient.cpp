#include "compiler/driver/running/gradient.h"

#include <algorithm>

#include "compiler/adjoint/snapshots.h"
#include "compiler/driver/console/stopwatch.h"

namespace halo::driver {

namespace {

class GradientRun {
public:
    GradientRun(Engine& forward, Engine& backward, const GradientPlan& plan,
                const std::function<void(std::int64_t)>& undone)
        : forward_(forward), backward_(backward), plan_(plan), undone_(undone) {}

    GradientResult run() {
        Stopwatch clock;
        give_inputs();
        if (plan_.adjoint.steps) backward_.set_param(*plan_.adjoint.steps, static_cast<double>(plan_.steps));
        adjoint::go_back(plan_.steps, plan_.snapshots,
                         {[this](std::int64_t, int slot) { keep(slot); },
                          [this](std::int64_t step, int slot) { restore(step, slot); },
                          [this](std::int64_t from, std::int64_t to) { advance(from, to); },
                          [this](std::int64_t step) { undo(step); }});
        for (const adjoint::Adjoint::Gradient& gradient : plan_.adjoint.gradients)
            if (gradient.kind == adjoint::Adjoint::Kind::number)
                add_number(gradient.with, backward_.reduction(gradient.name));
        result_.seconds = clock.lap();
        return std::move(result_);
    }

private:
    // What no step changes is the same for the adjoint.
    void give_inputs() {
        for (const adjoint::Adjoint::Input& each : plan_.adjoint.inputs)
            give(each.given, 0, each.input);
    }

    void give(const std::string& field, int time, const std::string& to) {
        if (to == field && backward_.copy_level(field, 0, forward_, time)) return;
        backward_.upload(to, 0, forward_.download(field, time));
    }

    template <class Visit>
    void for_each_level(Visit&& visit) const {
        for (const ir::Field& field : plan_.program.fields)
            for (int time = 0; field.role == ir::Role::state && time >= -field.history; --time)
                visit(field.name, time);
    }

    void keep(int slot) {
        const auto at = static_cast<std::size_t>(slot);
        if (kept_.size() <= at) kept_.resize(at + 1);
        kept_[at].clear();
        for_each_level(
            [&](const std::string& field, int time) { kept_[at].push_back(forward_.download(field, time)); });
    }

    void restore(std::int64_t step, int slot) {
        const std::vector<FieldValues>& levels = kept_[static_cast<std::size_t>(slot)];
        std::size_t next = 0;
        for_each_level(
            [&](const std::string& field, int time) { forward_.upload(field, time, levels[next++]); });
        forward_.continue_from({step, {}, {}});
    }

    // Steps that are done for the first time give their share of the objective.
    void advance(std::int64_t from, std::int64_t to) {
        result_.steps_forward += to - from;
        for (; plan_.every_step && from < to; ++from) {
            forward_.run(1, std::nullopt);
            if (from < reached_) continue;
            result_.objective += forward_.reduction(plan_.objective);
            reached_ = from + 1;
        }
        if (from < to) forward_.run(to - from, std::nullopt);
    }

    void undo(std::int64_t step) {
        for (const adjoint::Adjoint::Level& level : plan_.adjoint.levels)
            give(level.state, level.time, level.input);
        if (step == plan_.steps - 1) {
            forward_.run(1, std::nullopt);
            result_.objective += forward_.reduction(plan_.objective);
            ++result_.steps_forward;
        }
        backward_.run(1, std::nullopt);
        undone_(step);
    }

    void add_number(const std::string& name, double value) {
        const auto known = std::ranges::find(result_.numbers, name, &std::pair<std::string, double>::first);
        if (known == result_.numbers.end()) {
            result_.numbers.emplace_back(name, value);
        } else {
            known->second += value;
        }
    }

    Engine& forward_;
    Engine& backward_;
    const GradientPlan& plan_;
    const std::function<void(std::int64_t)>& undone_;
    std::vector<std::vector<FieldValues>> kept_;  // by slot, then by level
    std::int64_t reached_ = 0;                    // steps whose share of the objective is known
    GradientResult result_;
};

}  // namespace

std::int64_t snapshot_bytes(Engine& engine, const ir::Program& program) {
    std::int64_t bytes = 0;
    for (const ir::Field& field : program.fields)
        if (field.role == ir::Role::state)
            bytes += (1 + field.history) * cell_count(engine.extent()) *
                     static_cast<std::int64_t>(rt::size_of(engine.type_of(field.name)));
    return bytes;
}

GradientResult run_gradient(Engine& forward, Engine& backward, const GradientPlan& plan,
                            const std::function<void(std::int64_t)>& undone) {
    return GradientRun(forward, backward, plan, undone).run();
}

}  // namespace halo::driver
