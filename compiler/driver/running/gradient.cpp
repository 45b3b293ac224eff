#include "compiler/driver/running/gradient.h"

#include <algorithm>
#include <functional>
#include <map>

#include "compiler/adjoint/snapshots.h"
#include "compiler/driver/console/stopwatch.h"

namespace halo::driver {

namespace {

std::pair<std::string, std::string> parts_of(const std::string& trace) {
    const std::size_t dot = trace.find('.');
    return {trace.substr(0, dot), trace.substr(dot + 1)};
}

class GradientRun {
    using Kind = adjoint::Adjoint::Kind;

public:
    GradientRun(Engine& forward, Engine& backward, const GradientPlan& plan,
                const std::function<void(std::int64_t)>& undone)
        : forward_(forward), backward_(backward), plan_(plan), undone_(undone) {}

    GradientResult run() {
        Stopwatch clock;
        give_inputs();
        give_points();
        if (plan_.adjoint.steps) backward_.set_param(*plan_.adjoint.steps, static_cast<double>(plan_.steps));
        adjoint::go_back(plan_.steps, plan_.snapshots,
                         {[this](std::int64_t, int slot) { keep(slot); },
                          [this](std::int64_t step, int slot) { restore(step, slot); },
                          [this](std::int64_t from, std::int64_t to) { advance(from, to); },
                          [this](std::int64_t step) { undo(step); }});
        keep_traces();
        if (!plan_.weights.empty()) result_.objective = weighted_trace();
        for (const adjoint::Adjoint::Gradient& gradient : plan_.adjoint.gradients) {
            if (gradient.kind == Kind::number)
                add_to(result_.numbers, gradient.with, backward_.reduction(gradient.name));
            if (gradient.kind == Kind::trace) add_trace(gradient);
        }
        result_.seconds = clock.lap();
        return std::move(result_);
    }

private:
    // What no step changes is the same for the adjoint.
    void give_inputs() {
        for (const adjoint::Adjoint::Input& each : plan_.adjoint.inputs)
            give(each.given, 0, each.input);
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
            backward_.set_points(data.points, data.positions);
            for (const PointData::Numbers& each : data.numbers) {
                forward_.set_point_values(data.points, each.name, each.values);
                backward_.set_point_values(
                    data.points, each.name,
                    each.is_trace ? backwards(each.values, count_of(data.points)) : each.values);
            }
        }
        for (const adjoint::Adjoint::Seed& seed : plan_.adjoint.seeds) {
            if (seed.kind != Kind::trace) continue;
            const auto [points, trace] = parts_of(seed.name);
            backward_.set_point_values(points, trace, backwards(plan_.weights, count_of(points)));
        }
    }

    // The rows that were sampled so far, where they are more than are known.
    void keep_traces() {
        for (const ir::Points& points : plan_.program.points) {
            for (const ir::Points::Trace& trace : points.traces) {
                if (!trace.sampled) continue;
                std::vector<double>& known = sampled_[{points.name, trace.name}];
                std::vector<double> rows = forward_.trace(points.name, trace.name);
                if (rows.size() > known.size()) known = std::move(rows);
            }
        }
    }

    double weighted_trace() const {
        const std::vector<double>& rows = sampled_.at(parts_of(plan_.objective));
        double sum = 0;
        for (std::size_t i = 0; i < std::min(rows.size(), plan_.weights.size()); ++i)
            sum += plan_.weights[i] * rows[i];
        return sum;
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
        keep_traces();
        rt::StepsBefore before{step, {}, {}};
        for (const auto& [name, rows] : sampled_) {
            const std::size_t row = count_of(name.first) * static_cast<std::size_t>(step);
            before.traces.push_back(
                {name.first, name.second, {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(row)}});
        }
        forward_.continue_from(before);
    }

    // Steps that are done for the first time give their share of the objective.
    void advance(std::int64_t from, std::int64_t to) {
        result_.steps_forward += to - from;
        for (; plan_.every_step && plan_.weights.empty() && from < to; ++from) {
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
            if (plan_.weights.empty()) result_.objective += forward_.reduction(plan_.objective);
            ++result_.steps_forward;
        }
        backward_.run(1, std::nullopt);
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
    const GradientPlan& plan_;
    const std::function<void(std::int64_t)>& undone_;
    std::vector<std::vector<FieldValues>> kept_;                                  // by slot, then by level
    std::map<std::pair<std::string, std::string>, std::vector<double>> sampled_;  // by points and trace
    std::int64_t reached_ = 0;  // steps whose share of the objective is known
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
