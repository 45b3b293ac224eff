// A program's tangent and adjoint run beside each other in the interpreter: <y, J x> and <J^T y, x>.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "catch.h"
#include "compiler/adjoint/adjoint.h"
#include "compiler/adjoint/tangent.h"
#include "compiler/adjoint/turns.h"
#include "compiler/ir/interpreter.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"

namespace halo::test {

using halo::rt::Extent;
using Values = std::vector<double>;

// Numbers within [-1, 1] that depend on the name alone.
inline Values numbers(const std::string& name, std::size_t count, std::uint64_t seed) {
    std::uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
    for (const char letter : name)
        state = (state ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
    Values cells(count);
    for (double& cell : cells) {
        state += 0x9e3779b97f4a7c15ULL;
        std::uint64_t z = state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        cell = static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-52 - 1;
    }
    return cells;
}

inline std::string plain(std::string name) {
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

struct BothWays {
    double forward = 0;   // <y, J x>
    double backward = 0;  // <J^T y, x>
    double size = 0;      // of the terms that were added
    // What cancels before it is added here leaves rounding errors that are small against 1, not against the
    // sum.
    double difference() const { return std::abs(forward - backward) / std::max(size, 1e-3); }
};

// The values that fields have at the start, made of a name.
struct Start {
    double middle = 0, spread = 1;  // cells are within middle - spread and middle + spread
    std::map<std::string, double> params;
    std::uint64_t seed = 1;
    Values of(const std::string& name, int time, std::size_t count) const {
        Values cells = numbers(name + std::to_string(time), count, seed);
        for (double& cell : cells)
            cell = middle + spread * cell;
        return cells;
    }
};

inline double dot(const Values& a, const Values& b, double& size) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += a[i] * b[i];
        size += std::abs(a[i] * b[i]);
    }
    return sum;
}

class BothWaysRun {
    using Kind = adjoint::Adjoint::Kind;

public:
    // `tangent` and `adjoint` are those of the program, or what became of their text.
    BothWaysRun(const ir::Program& program, const adjoint::Request& request, const ir::Program& tangent,
                const adjoint::Adjoint& adjoint, const Extent& extent, int steps, const Start& start)
        : program_(program),
          request_(request),
          adjoint_(adjoint),
          start_(start),
          steps_(steps),
          extent_(extent),
          tangent_program_(tangent),
          tangent_(tangent, extent, ir::Arithmetic::f64),
          backwards_(adjoint.program, extent, ir::Arithmetic::f64),
          last_{adjoint, backwards_} {
        for (int axis = 0; axis < program.rank(); ++axis)
            count_ *= static_cast<std::size_t>(extent[static_cast<std::size_t>(axis)]);
    }

    BothWays run() {
        set_params();
        set_points();
        for (const ir::Field& field : program_.fields)
            if (field.role == ir::Role::input || field.role == ir::Role::state) fill(field);
        for (int step = 0; step < steps_; ++step) {
            keep_levels();
            tangent_.step();
            if (request_.every_step || step + 1 == steps_) add_results(step + 1 == steps_);
        }
        add_traces();
        go_back();
        return result_;
    }

    // Undoes all steps but the last.
    void set_earlier(const adjoint::Adjoint& earlier) {
        before_.emplace(earlier.program, extent_, ir::Arithmetic::f64);
        earlier_.emplace(Back{earlier, *before_});
    }

private:
    struct Back {
        const adjoint::Adjoint& adjoint;
        ir::Interpreter& interpreter;
    };
    template <class Visit>
    void for_each_back(const Visit& visit) {
        visit(last_);
        if (earlier_) visit(*earlier_);
    }

    static bool has_field(const ir::Program& program, const std::string& name) {
        return std::ranges::any_of(program.fields, [&](const ir::Field& each) { return each.name == name; });
    }
    // Of a field that may not be there: -1.
    static int history(const ir::Program& program, const std::string& name) {
        for (const ir::Field& field : program.fields)
            if (field.name == name) return field.history;
        return -1;
    }
    static bool has_param(const ir::Program& program, const std::string& name) {
        return std::ranges::any_of(program.params, [&](const ir::Param& each) { return each.name == name; });
    }
    bool is_asked(const std::vector<std::string>& names, const std::string& name) const {
        if (std::ranges::find(names, name) != names.end()) return true;
        for (const ir::Group& group : program_.groups)
            for (const ir::FieldId field : group.fields)
                if (program_[field].name == name && std::ranges::find(names, group.name) != names.end())
                    return true;
        return false;
    }
    Values direction(const std::string& name, int time) const {
        return numbers("x" + name + std::to_string(time), count_, start_.seed);
    }
    Values weights(const std::string& name) const { return numbers("y" + name, count_, start_.seed); }
    double number(const std::string& name) const { return numbers(name, 1, start_.seed).front(); }

    void set_params() {
        for (const ir::Param& param : program_.params) {
            const auto given = start_.params.find(param.name);
            const double value =
                given != start_.params.end() ? given->second : param.default_value.value_or(0.3);
            if (has_param(tangent_program_, param.name)) tangent_.set_param(param.name, value);
            for_each_back([&](const Back& back) {
                if (has_param(back.adjoint.program, param.name))
                    back.interpreter.set_param(param.name, value);
            });
            if (is_asked(request_.with, param.name) && has_param(tangent_program_, param.name + "_dot"))
                tangent_.set_param(param.name + "_dot", number("x" + param.name));
        }
    }

    // ---- points: three in each set, of two cells each

    static constexpr std::size_t kPoints = 3;

    static const ir::Points* find_points(const ir::Program& program, const std::string& name) {
        for (const ir::Points& points : program.points)
            if (points.name == name) return &points;
        return nullptr;
    }
    static bool has_trace(const ir::Program& program, const std::string& points, const std::string& name) {
        const ir::Points* found = find_points(program, points);
        return found &&
               std::ranges::any_of(found->traces, [&](const auto& each) { return each.name == name; });
    }
    static bool has_column(const ir::Program& program, const std::string& points, const std::string& name) {
        const ir::Points* found = find_points(program, points);
        return found && std::ranges::find(found->columns, name) != found->columns.end();
    }
    Values rows(const std::string& name) const {
        return numbers(name, static_cast<std::size_t>(steps_) * kPoints, start_.seed);
    }
    static Values backwards(const Values& rows) {
        Values result;
        for (std::size_t row = rows.size() / kPoints; row-- > 0;)
            result.insert(result.end(), rows.begin() + static_cast<std::ptrdiff_t>(row * kPoints),
                          rows.begin() + static_cast<std::ptrdiff_t>((row + 1) * kPoints));
        return result;
    }
    static void set_rows(ir::Interpreter& interpreter, const ir::Program& program, const std::string& points,
                         const std::string& trace, const Values& rows) {
        if (has_trace(program, points, trace)) interpreter.set_trace(points, trace, rows);
    }

    void set_points() {
        for (const ir::Points& points : program_.points) {
            std::vector<std::vector<ir::PointWeight>> touched(kPoints);
            const Values places = numbers(points.name, 4 * kPoints, start_.seed);
            for (std::size_t i = 0; i < 2 * kPoints; ++i) {
                ir::PointWeight weight{{}, places[2 * i]};
                for (std::size_t axis = 0; axis < extent_.size(); ++axis)
                    weight.cell[axis] =
                        static_cast<std::int32_t>(
                            std::abs(places[2 * i + 1] * 997 + static_cast<double>(axis * i)) + 1) %
                        static_cast<std::int32_t>(extent_[axis]);
                touched[i / 2].push_back(weight);
            }
            if (find_points(tangent_program_, points.name)) tangent_.set_points(points.name, touched);
            for_each_back([&](const Back& back) {
                if (find_points(back.adjoint.program, points.name))
                    back.interpreter.set_points(points.name, touched);
            });
            for (const std::string& column : points.columns) {
                const Values values = numbers(points.name + column, kPoints, start_.seed);
                if (has_column(tangent_program_, points.name, column))
                    tangent_.set_column(points.name, column, values);
                for_each_back([&](const Back& back) {
                    if (has_column(back.adjoint.program, points.name, column))
                        back.interpreter.set_column(points.name, column, values);
                });
            }
            for (const ir::Points::Trace& trace : points.traces) {
                if (trace.sampled) continue;
                const std::string name = points.name + "." + trace.name;
                set_rows(tangent_, tangent_program_, points.name, trace.name, rows(name));
                for_each_back([&](const Back& back) {
                    set_rows(back.interpreter, back.adjoint.program, points.name, trace.name,
                             backwards(rows(name)));
                });
                if (is_asked(request_.with, name))
                    set_rows(tangent_, tangent_program_, points.name, trace.name + "_dot", rows("x" + name));
            }
        }
    }

    void add_traces() {
        for (const ir::Points& points : program_.points) {
            for (const ir::Points::Trace& trace : points.traces) {
                const std::string name = points.name + "." + trace.name;
                const std::string dotted = trace.name + "_dot";
                if (!trace.sampled || !is_asked(request_.of, name)) continue;
                if (!has_trace(tangent_program_, points.name, dotted)) continue;
                result_.forward += dot(tangent_.trace(points.name, dotted), rows("y" + name), result_.size);
            }
        }
    }

    static std::pair<std::string, std::string> parts(const std::string& name) {
        const std::size_t dot = name.find('.');
        return {name.substr(0, dot), name.substr(dot + 1)};
    }

    void fill(const ir::Field& field) {
        for (int time = 0; time >= -field.history; --time) {
            tangent_.field(plain(field.name), time) = start_.of(field.name, time, count_);
            const std::string dot = plain(field.name) + "_dot";
            if (is_asked(request_.with, field.name) && -time <= history(tangent_program_, dot))
                tangent_.field(dot, time) = direction(field.name, time);
        }
        for_each_back([&](const Back& back) {
            if (field.role == ir::Role::input && has_field(back.adjoint.program, plain(field.name)))
                back.interpreter.field(plain(field.name)) = start_.of(field.name, 0, count_);
        });
    }

    void keep_levels() {
        kept_.emplace_back();
        for_each_back([&](const Back& back) {
            for (const adjoint::Adjoint::Level& level : back.adjoint.levels)
                kept_.back()[level.input] = tangent_.field(plain(level.state), level.time);
        });
    }

    void add_results(bool is_last) {
        for (const ir::Field& field : program_.fields) {
            const bool is_result =
                field.role == ir::Role::output || (is_last && field.role == ir::Role::state);
            if (!is_result || !is_asked(request_.of, field.name)) continue;
            const std::string name = plain(field.name) + "_dot";
            if (!has_field(tangent_program_, name)) continue;
            result_.forward += dot(tangent_.field(name), weights(field.name), result_.size);
        }
        for (const ir::Statement& statement : program_.statements) {
            const auto* reduce = std::get_if<ir::Reduce>(&statement);
            if (reduce == nullptr || !is_asked(request_.of, reduce->name)) continue;
            for (const ir::Statement& each : tangent_program_.statements) {
                const auto* found = std::get_if<ir::Reduce>(&each);
                if (found == nullptr || found->name != reduce->name + "_dot") continue;
                const double term = tangent_.reduction(found->name) * number("y" + reduce->name);
                result_.forward += term;
                result_.size += std::abs(term);
            }
        }
    }

    void go_back() {
        for (const adjoint::Adjoint::Seed& seed : adjoint_.seeds) {
            if (seed.kind == Kind::number && has_param(adjoint_.program, seed.name))
                backwards_.set_param(seed.name, number("y" + seed.of));
            if (seed.kind == Kind::field && has_field(adjoint_.program, seed.name))
                backwards_.field(seed.name) = weights(seed.of);
        }
        for (const adjoint::Adjoint::Seed& seed : adjoint_.seeds)
            if (seed.kind == Kind::trace)
                for_each_back([&](const Back& back) {
                    set_rows(back.interpreter, back.adjoint.program, parts(seed.name).first,
                             parts(seed.name).second, backwards(rows("y" + seed.of)));
                });
        for_each_back([&](const Back& back) {
            if (back.adjoint.steps && has_param(back.adjoint.program, *back.adjoint.steps))
                back.interpreter.set_param(*back.adjoint.steps, steps_);
        });
        for (const adjoint::Adjoint::Part& part : adjoint_.parts)
            if (part.time == 0 && is_asked(request_.of, part.state))
                backwards_.field(part.field) = weights(part.state);
        for (int step = steps_; step-- > 0;) {
            const Back& back = earlier_ && step + 1 < steps_ ? *earlier_ : last_;
            for (const adjoint::Adjoint::Level& level : back.adjoint.levels)
                back.interpreter.field(level.input) = kept_[static_cast<std::size_t>(step)].at(level.input);
            back.interpreter.step();
            if (earlier_ && step + 1 == steps_) go_on();
        }
        if (earlier_) bring_back();
        for (const adjoint::Adjoint::Part& part : adjoint_.parts)
            if (is_asked(request_.with, part.state))
                result_.backward +=
                    dot(backwards_.field(part.field), direction(part.state, part.time), result_.size);
        for (const adjoint::Adjoint::Gradient& gradient : adjoint_.gradients) {
            if (gradient.kind == Kind::trace) {
                const auto [points, trace] = parts(gradient.name);
                result_.backward +=
                    dot(trace_of(points, trace), backwards(rows("x" + gradient.with)), result_.size);
            } else if (gradient.kind == Kind::number) {
                const bool is_earlier = earlier_ && has(earlier_->adjoint.gradients, gradient.name);
                const double term = (is_earlier ? *before_ : backwards_).reduction(gradient.name) *
                                    number("x" + gradient.with);
                result_.backward += term;
                result_.size += std::abs(term);
            } else if (is_input(gradient.with)) {
                result_.backward +=
                    dot(backwards_.field(gradient.name), direction(gradient.with, 0), result_.size);
            }
        }
    }

    static bool has(const std::vector<adjoint::Adjoint::Gradient>& gradients, const std::string& name) {
        return std::ranges::count(gradients, name, &adjoint::Adjoint::Gradient::name) > 0;
    }

    // What the one has carried so far.
    static void pass_on(const Back& from, const Back& to) {
        for (const std::string& field : adjoint::common_fields(from.adjoint, to.adjoint))
            to.interpreter.field(field) = from.interpreter.field(field);
        for (const adjoint::Adjoint::Past& past : from.adjoint.pasts)
            to.interpreter.field(past.now) = from.interpreter.field(past.now);
    }
    void go_on() {
        pass_on(last_, *earlier_);
        for (const adjoint::Adjoint::Past& past : adjoint_.pasts)
            before_->field(past.now, -1) = backwards_.field(past.before);
        before_->continue_from(1, {});
    }
    void bring_back() {
        pass_on(*earlier_, last_);
        for (const adjoint::Adjoint::Past& past : adjoint_.pasts)
            backwards_.field(past.level) = before_->field(past.level);
    }

    // The first row is of the last step, the others of those before.
    Values trace_of(const std::string& points, const std::string& name) {
        Values rows = backwards_.trace(points, name);
        if (!earlier_) return rows;
        if (has(earlier_->adjoint.gradients, points + "." + name)) {
            const Values& others = before_->trace(points, name);
            rows.insert(rows.end(), others.begin(), others.end());
        }
        rows.resize(static_cast<std::size_t>(steps_) * kPoints);
        return rows;
    }

    bool is_input(const std::string& name) const {
        return std::ranges::any_of(program_.fields, [&](const ir::Field& each) {
            return each.name == name && each.role == ir::Role::input;
        });
    }

    const ir::Program& program_;
    const adjoint::Request& request_;
    const adjoint::Adjoint& adjoint_;
    Start start_;
    int steps_;
    Extent extent_;
    std::size_t count_ = 1;
    const ir::Program& tangent_program_;
    ir::Interpreter tangent_, backwards_;
    Back last_;
    std::optional<ir::Interpreter> before_;
    std::optional<Back> earlier_;
    std::vector<std::map<std::string, Values>> kept_;  // by step, then by level that the adjoint reads
    BothWays result_;
};

// Steps undone in turns: they find the same bits, but for what points add, which is added in another order.
inline void check_in_turns(const ir::Program& program, const adjoint::Request& request,
                           const ir::Program& tangent, const BothWays& direct, const Extent& extent,
                           int steps, const Start& start, double rounding) {
    const adjoint::Turns turns = adjoint::make_turns(program, request);
    INFO(ir::print(turns.last.program));
    INFO((turns.earlier ? ir::print(turns.earlier->program) : "one program for all steps"));
    CHECK(ir::verify(turns.last.program).empty());
    BothWaysRun run(program, request, tangent, turns.last, extent, steps, start);
    if (turns.earlier && steps > 1) {
        CHECK(ir::verify(turns.earlier->program).empty());
        run.set_earlier(*turns.earlier);
    }
    const BothWays found = run.run();
    const double allowed = program.points.empty() ? 0 : rounding * direct.size;
    CHECK(std::abs(found.backward - direct.backward) <= allowed);
}

// What BothWays::forward is the derivative of, after three steps from the start, moved by `h` along the
// direction.
inline double moved_results(const ir::Program& program, const adjoint::Request& request, const Extent& grid,
                            double h, const Start& start = {}) {
    ir::Interpreter interpreter(program, grid, ir::Arithmetic::f64);
    std::size_t count = 1;
    for (const std::int64_t extent : grid)
        count *= static_cast<std::size_t>(extent);
    const auto is_named = [&](const std::string& name) {
        return std::ranges::find(request.with, name) != request.with.end();
    };
    for (const ir::Param& param : program.params) {
        const double x = is_named(param.name) ? numbers("x" + param.name, 1, start.seed).front() : 0;
        interpreter.set_param(param.name, param.default_value.value_or(0.3) + h * x);
    }
    for (const ir::Field& field : program.fields) {
        if (field.role != ir::Role::input && field.role != ir::Role::state) continue;
        for (int time = 0; time >= -field.history; --time) {
            Values& cells = interpreter.field(field.name, time);
            cells = start.of(field.name, time, count);
            const Values x = numbers("x" + field.name + std::to_string(time), count, start.seed);
            for (std::size_t i = 0; is_named(field.name) && i < count; ++i)
                cells[i] += h * x[i];
        }
    }
    double result = 0, size = 0;
    for (int step = 0; step < 3; ++step) {
        interpreter.step();
        if (!request.every_step && step < 2) continue;
        for (const std::string& name : request.of) {
            const auto field = std::ranges::find(program.fields, name, &ir::Field::name);
            const double y = numbers("y" + name, 1, start.seed).front();
            if (field == program.fields.end()) {
                result += y * interpreter.reduction(name);
            } else if (field->role == ir::Role::output || step == 2) {
                result += dot(interpreter.field(name), numbers("y" + name, count, start.seed), size);
            }
        }
    }
    return result;
}

}  // namespace halo::test
