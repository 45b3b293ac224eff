#include "compiler/driver/running/gradient.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "compiler/adjoint/snapshots.h"
#include "compiler/driver/console/stopwatch.h"
#include "compiler/driver/running/turns.h"

namespace halo::driver {

namespace {

std::pair<std::string, std::string> parts_of(const std::string& trace) {
    const std::size_t dot = trace.find('.');
    return {trace.substr(0, dot), trace.substr(dot + 1)};
}

class GradientRun {
    using Kind = adjoint::Adjoint::Kind;

public:
    GradientRun(const GradientEngines& engines, const GradientPlan& plan, KeptStates& kept,
                const std::function<void(std::int64_t)>& undone)
        : forward_(engines.forward),
          backward_(engines.backward),
          last_{plan.adjoint, backward_},
          plan_(plan),
          undone_(undone),
          is_of_trace_(is_sampled(plan.program, plan.objective)),
          is_of_reduction_(!is_of_trace_ && !plan.objective.empty()),
          kept_(kept) {
        // Of one step there are none before.
        if (plan.earlier != nullptr && plan.steps > 1)
            earlier_.emplace(Back{*plan.earlier, *engines.earlier});
    }

    GradientResult run() {
        Stopwatch clock;
        if (is_of_reduction_) forward_.noted_reductions(plan_.objective);  // of a run that failed
        give_inputs();
        give_points();
        for_each_back([&](const Back& back) {
            if (back.adjoint.steps)
                back.engine.set_param(*back.adjoint.steps, static_cast<double>(plan_.steps));
        });
        try {
            do_steps();
            if (earlier_) bring_back(*earlier_, last_, plan_.steps);
        } catch (...) {
            if (is_kept_) return_to_start();
            leave_arrays();
            throw;
        }
        if (plan_.returns) return_to_start();
        leave_arrays();
        if (is_of_reduction_)
            for (const double value : forward_.noted_reductions(plan_.objective))
                result_.objective += value;
        for (const adjoint::Adjoint::Gradient& gradient : plan_.adjoint.gradients) {
            if (gradient.kind == Kind::number)
                add_to(result_.numbers, gradient.with, backward_.reduction(gradient.name));
            if (gradient.kind == Kind::trace) add_trace(gradient);
        }
        for (rt::Session* session : backward_.sessions())
            session->synchronize();
        result_.seconds = clock.lap();
        return std::move(result_);
    }

private:
    void do_steps() {
        if (reads_states(plan_)) {
            adjoint::go_back(plan_.steps, snapshot_budget(plan_.snapshots, snapshot_levels(forward_)),
                             {[this](std::int64_t, int slot) { keep(slot); },
                              [this](std::int64_t step, int slot) {
                                  to_restore_ = {step, slot};
                                  kept_.approach(slot);
                              },
                              [this](std::int64_t from, std::int64_t to) { advance(from, to); },
                              [this](std::int64_t step) { undo(step); }, [this](int slot) { drop(slot); }});
            return;
        }
        if (plan_.snapshots.count() > 0) keep(0);
        advance(0, plan_.steps - 1);
        undo(plan_.steps - 1);
        undo_without_states(plan_.steps - 1);
    }

    // Steps that read nothing which changes from one to the next are done as those of any run are.
    void undo_without_states(std::int64_t left) {
        constexpr std::int64_t kAtOnce = 1024;  // so that there is something to tell
        Engine& engine = (earlier_ ? *earlier_ : last_).engine;
        while (left > 0) {
            const std::int64_t count = std::clamp<std::int64_t>(engine.whole_steps(kAtOnce), 1, left);
            left -= count;
            engine.step(count, left == 0);
            undone_(left);
        }
    }

    // With the ghosts of pieces, so that steps may begin from there, and the adjoint may read them.
    void keep(int slot) {
        forward_.fill_ghosts();
        kept_.keep(slot);
        is_kept_ = true;
    }

    // What was given back of the state that the slot had is used by now, in the order of the device's work.
    void drop(int slot) {
        if (to_restore_ && to_restore_->slot == slot) to_restore_.reset();
        kept_.drop(slot);
    }

    // The first slot has that state at all times.
    void return_to_start() {
        to_restore_ = {0, 0};
        restore();
    }

    // Each engine is in its own arrays afterwards.
    void leave_arrays() {
        for_each_back([](const Back& back) {
            for (rt::Session* session : back.engine.sessions())
                session->give_back_levels();
        });
        kept_.forget();
    }

    void for_each_back(const std::function<void(const Back&)>& visit) {
        visit(last_);
        if (earlier_) visit(*earlier_);
    }

    // What no step changes is the same for the adjoint; go_on() passes it on.
    void give_inputs() {
        for (const adjoint::Adjoint::Input& each : plan_.adjoint.inputs)
            give(each.given, 0, backward_, each.input);
    }

    std::size_t count_of(const std::string& points) const {
        for (const PointData& data : plan_.points)
            if (data.points == points)
                return data.positions.size() / static_cast<std::size_t>(plan_.program.rank());
        return 0;
    }

    // Rows of so many numbers as the adjoint's steps need them; those past the end are 0.
    std::vector<double> backwards(std::vector<double> rows, std::size_t count) const {
        const auto steps = static_cast<std::size_t>(plan_.steps);
        rows.resize(steps * count, 0);
        std::vector<double> result;
        for (std::size_t row = steps; row-- > 0;)
            result.insert(result.end(), rows.begin() + static_cast<std::ptrdiff_t>(row * count),
                          rows.begin() + static_cast<std::ptrdiff_t>((row + 1) * count));
        return result;
    }

    void give_points() {
        for (const PointData& data : plan_.points) {
            forward_.set_points(data.points, data.positions);
            for_each_back([&](const Back& back) { back.engine.set_points(data.points, data.positions); });
            for (const PointData::Numbers& each : data.numbers) {
                forward_.set_point_values(data.points, each.name, each.values);
                const std::vector<double> values =
                    each.is_trace ? backwards(each.values, count_of(data.points)) : each.values;
                for_each_back(
                    [&](const Back& back) { back.engine.set_point_values(data.points, each.name, values); });
            }
        }
    }

    // After the last step forward, and before the first one back.
    void weigh_trace() {
        const auto [points, trace] = parts_of(plan_.objective);
        result_.rows = forward_.trace(points, trace);
        std::vector<double> weights = plan_.weights;
        if (!plan_.measured.empty()) {
            weights = result_.rows;
            for (std::size_t i = 0; i < std::min(weights.size(), plan_.measured.size()); ++i)
                weights[i] -= plan_.measured[i];
        }
        for (std::size_t i = 0; i < std::min(result_.rows.size(), weights.size()); ++i)
            result_.objective += weights[i] * (plan_.measured.empty() ? result_.rows[i] : weights[i] / 2);
        for_each_back([&](const Back& back) {
            for (const adjoint::Adjoint::Seed& seed : back.adjoint.seeds) {
                if (seed.kind != Kind::trace) continue;
                const auto [of, name] = parts_of(seed.name);
                back.engine.set_point_values(of, name, backwards(weights, count_of(of)));
            }
        });
    }

    void add_trace(const adjoint::Adjoint::Gradient& gradient) {
        const auto [points, trace] = parts_of(gradient.name);
        const std::vector<double> rows = backwards(backward_.trace(points, trace), count_of(points));
        for (auto& [name, sum] : result_.traces) {
            if (name != gradient.with) continue;
            std::ranges::transform(sum, rows, sum.begin(), std::plus<>());
            return;
        }
        result_.traces.emplace_back(gradient.with, rows);
    }

    void give(const std::string& field, int time, Engine& engine, const std::string& to) {
        if (!engine.copy_level(to, 0, forward_, field, time))
            engine.upload(to, 0, forward_.download(field, time));
    }

    // A state that is restored is put into the engine where steps are to go on from it, or another engine's
    // copies cannot be made from where it is kept.
    void restore() {
        if (!to_restore_) return;
        kept_.restore(to_restore_->slot);
        forward_.go_back_to(to_restore_->step);
        to_restore_.reset();
    }

    // Steps that are done for the first time give their share of the objective.
    void advance(std::int64_t from, std::int64_t to) {
        restore();
        result_.steps_forward += to - from;
        const bool adds_up = plan_.every_step && is_of_reduction_;
        const std::int64_t known = adds_up ? std::clamp(reached_, from, to) : to;
        if (known > from) forward_.step(known - from, false);
        for (std::int64_t step = known; step < to; ++step)
            step_with_objective();
        reached_ = std::max(reached_, to);
    }

    void step_with_objective() {
        forward_.step(1, true);
        if (is_of_reduction_) forward_.note_reduction(plan_.objective);
    }

    // What the adjoint reads of the state before the step.
    void hand_over(const Back& to) {
        for (const adjoint::Adjoint::Level& level : to.adjoint.levels) {
            if (to_restore_ &&
                kept_.give_level(to_restore_->slot, level.state, level.time, to.engine, level.input))
                continue;
            restore();
            forward_.fill_ghosts();
            if (!to.engine.borrow_level(level.input, forward_, level.state, level.time))
                give(level.state, level.time, to.engine, level.input);
        }
    }

    void undo(std::int64_t step) {
        const bool is_last = step == plan_.steps - 1;
        const Back& back = earlier_ && !is_last ? *earlier_ : last_;
        hand_over(back);
        if (is_last && !plan_.objective.empty()) {
            restore();
            step_with_objective();
            ++result_.steps_forward;
            if (is_of_trace_) weigh_trace();
        }
        const bool is_turn = is_last && earlier_;
        back.engine.step(1, step == 0 || is_turn);
        if (is_turn) go_on(last_, *earlier_);
        undone_(step);
    }

    static void add_to(std::vector<std::pair<std::string, double>>& numbers, const std::string& name,
                       double value) {
        const auto known = std::ranges::find(numbers, name, &std::pair<std::string, double>::first);
        if (known == numbers.end()) {
            numbers.emplace_back(name, value);
        } else {
            known->second += value;
        }
    }

    Engine& forward_;
    Engine& backward_;
    const Back last_;
    std::optional<Back> earlier_;
    const GradientPlan& plan_;
    const std::function<void(std::int64_t)>& undone_;
    const bool is_of_trace_, is_of_reduction_;
    KeptStates& kept_;
    bool is_kept_ = false;  // the state at the start
    struct Kept {
        std::int64_t step = 0;
        int slot = 0;
    };
    std::optional<Kept> to_restore_;  // the state that is meant; else that of the engine
    std::int64_t reached_ = 0;        // steps that were done, if only once
    GradientResult result_;
};

}  // namespace

bool reads_states(const GradientPlan& plan) {
    // The state before the last step is there when that is undone.
    return !(plan.earlier != nullptr ? plan.earlier : &plan.adjoint)->levels.empty();
}

bool is_sampled(const ir::Program& program, const std::string& trace) {
    return std::ranges::count(sampled_traces(program), trace) > 0;
}

std::vector<std::string> sampled_traces(const ir::Program& program) {
    std::vector<std::string> names;
    for (const ir::Points& points : program.points)
        for (const ir::Points::Trace& trace : points.traces)
            if (trace.sampled) names.push_back(points.name + "." + trace.name);
    return names;
}

void let_lie_alike(Engine& engine, Engine& like) {
    const std::vector<rt::Session*> sessions = engine.sessions(), models = like.sessions();
    for (std::size_t i = 0; i < sessions.size() && sessions.size() == models.size(); ++i)
        sessions[i]->lie_as(models[i]->geometry());
}

void share_arrays(const GradientEngines& engines, const GradientPlan& plan) {
    let_lie_alike(engines.backward, engines.forward);
    if (engines.earlier == nullptr) return;
    let_lie_alike(*engines.earlier, engines.backward);
    share_arrays_of_turns({plan.adjoint, engines.backward}, {*plan.earlier, *engines.earlier});
}

GradientResult run_gradient(const GradientEngines& engines, const GradientPlan& plan, KeptStates& kept,
                            const std::function<void(std::int64_t)>& undone) {
    return GradientRun(engines, plan, kept, undone).run();
}

}  // namespace halo::driver
