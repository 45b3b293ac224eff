#include "compiler/ir/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "compiler/ir/accumulator.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/grids.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/repeats.h"
#include "compiler/ir/rounding.h"
#include "compiler/ir/row_evaluator.h"
#include "compiler/ir/sweeps.h"
#include "compiler/support/error.h"
#include "runtime/core/box.h"

namespace halo::ir {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<ExprId> all_roots(const Program& program) {
    std::vector<ExprId> roots;
    for (const Statement& statement : program.statements)
        for (const ExprId root : roots_of(statement))
            roots.push_back(root);
    for (const RepeatEnd& end : program.repeat_ends)
        roots.push_back(end.until);
    return roots;
}

Extent checked_extent(const Program& program, Extent extent) {
    for (int axis = program.rank(); axis < kMaxRank; ++axis)
        extent[axis] = 1;
    check_grid(program, extent);
    return extent;
}

// Index of the declaration of that name; throws std::invalid_argument.
template <class Declaration>
std::size_t find_by_name(const std::vector<Declaration>& all, const std::string& name, const char* what) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Declaration& each) { return each.name == name; });
    if (found == all.end()) throw std::invalid_argument(fmt::format("there is no {} {}", what, name));
    return static_cast<std::size_t>(found - all.begin());
}

}  // namespace

struct Interpreter::State {
    Program program;
    Extent extent;
    Arithmetic arithmetic;
    RowEvaluator evaluator;
    std::vector<bool> in_place;  // by statement
    std::vector<std::optional<double>> params;
    Surroundings surroundings;
    // By field: now, then the past. A state's next level is apart, so that a reference to `now` stays good.
    std::vector<std::vector<std::vector<double>>> levels;
    std::vector<std::vector<double>> next;
    struct PointData {
        std::vector<std::vector<PointWeight>> touched;  // by point
        std::vector<std::vector<double>> columns;       // by column, then by point
        std::vector<std::vector<double>> traces;        // by trace: a row of points for each step
    };
    std::vector<PointData> points;             // by PointsId
    std::map<std::string, double> reductions;  // of this step
    std::size_t next_reduction = 0;            // the ReductionId of the next Reduce
    std::int64_t steps_done = 0;
    std::vector<RepeatCounts> iterations;                          // by Program::repeat_ends
    std::vector<std::optional<std::vector<double>>> given_tables;  // by table: the given columns' values

    State(const Program& source, const Extent& cells, Arithmetic how)
        : program(source),
          extent(checked_extent(program, cells)),
          arithmetic(how),
          evaluator(program, extent, how, all_roots(program)),
          in_place(in_place_statements(program)) {
        for (const Param& param : program.params)
            params.push_back(param.default_value);
        for (const Statement& statement : program.statements) {
            if (const Reduce* reduce = std::get_if<Reduce>(&statement))
                surroundings.reductions.push_back(reduce->initial);
        }
        for (const Coef& coef : program.coefs)
            surroundings.coefs.push_back(coef.defaults);
        surroundings.tables.resize(program.tables.size());
        given_tables.resize(program.tables.size());
        iterations.resize(program.repeat_ends.size());
        for (const Points& declared : program.points) {
            points.emplace_back();
            points.back().columns.resize(declared.columns.size());
            points.back().traces.resize(declared.traces.size());
        }
        for (const Field& field : program.fields) {
            // Of a let nothing reads a cell that has no value; an integer knows no NaN that would show it.
            const double unset = is_real(field.type) ? kNaN : 0.0;
            const Extent own = field.grid.extent(extent);
            const auto count = static_cast<std::size_t>(own.cells());
            const std::vector<double> initial(count, field.role == Role::intermediate ? unset : 0.0);
            levels.emplace_back(static_cast<std::size_t>(1 + field.history), initial);
            next.emplace_back(field.role == Role::state ? count : 0, unset);
        }
    }

    // To what the field is stored in.
    void round_to_storage(const Field& field, double* values, std::size_t count) const {
        if (arithmetic == Arithmetic::f64 && is_real(field.type)) return;
        if (field.storage == Storage::f64 || field.storage == Storage::i64) return;
        for (std::size_t i = 0; i < count; ++i)
            values[i] = stored(values[i], field.storage);
    }

    // What the user put in may hold more digits than the field's storage.
    void round_fields() {
        for (std::size_t i = 0; i < levels.size(); ++i) {
            for (std::vector<double>& level : levels[i])
                round_to_storage(program.fields[i], level.data(), level.size());
        }
    }

    void begin_step() {
        next_reduction = 0;
        surroundings.step = static_cast<double>(steps_done);
        surroundings.params.clear();
        for (std::size_t i = 0; i < params.size(); ++i) {
            if (!params[i])
                throw std::invalid_argument(fmt::format("param {} has no value", program.params[i].name));
            surroundings.params.push_back(*params[i]);
        }
        round_fields();
        surroundings.levels.assign(levels.size(), {});
        for (std::size_t i = 0; i < levels.size(); ++i) {
            surroundings.levels[i].push_back(next[i].empty() ? nullptr : next[i].data());
            for (const std::vector<double>& level : levels[i])
                surroundings.levels[i].push_back(level.data());
        }
        for (std::size_t i = 0; i < given_tables.size(); ++i)
            place_rows(i);
        evaluator.begin_step(surroundings);
        for (std::size_t i = 0; i < given_tables.size(); ++i)
            compute_columns(i);
    }

    void place_rows(std::size_t index) {
        const Table& table = program.tables[index];
        const char* const what = table.is_series ? "series" : "table";
        if (!given_tables[index] || (table.is_series && given_tables[index]->empty()))
            throw std::invalid_argument(
                fmt::format("{} {} was given no {}", what, table.name, table.is_series ? "values" : "rows"));
        const std::vector<double>& given = *given_tables[index];
        const std::size_t width = table.columns.size(), per_row = given_columns(table);
        TableRows& rows = surroundings.tables[index];
        rows.rows = static_cast<std::int64_t>(given.size() / per_row);
        rows.values.assign(static_cast<std::size_t>(rows.rows) * width, 0.0);
        for (std::size_t i = 0; i < given.size(); ++i) {
            const std::size_t column = i % per_row;
            rows.values[i / per_row * width + column] = held_in(table.columns[column].type, given[i]);
        }
    }

    void compute_columns(std::size_t index) {
        const Table& table = program.tables[index];
        TableRows& rows = surroundings.tables[index];
        const std::size_t width = table.columns.size();
        for (std::int64_t row = 0; row < rows.rows; ++row) {
            for (std::size_t c = given_columns(table); c < width; ++c) {
                rows.values[static_cast<std::size_t>(row) * width + c] =
                    evaluator.evaluate_at_row(*table.columns[c].value, row);
            }
        }
    }

    double held_in(Scalar type, double value) const {
        return type == Scalar::f32 && arithmetic == Arithmetic::declared ? static_cast<float>(value) : value;
    }

    // The cells of the grid that a statement is for.
    Extent extent_of(const Assign& assign) const { return program[assign.target].grid.extent(extent); }
    Extent extent_of(const Reduce& reduce) const {
        return rt::FieldGrid::coarse(reduce.factor).extent(extent);
    }
    using Range = std::pair<std::int64_t, std::int64_t>;
    using Spans = std::array<Range, kMaxRank>;
    static Range common(const Range& a, const Range& b) {
        return {std::max(a.first, b.first), std::min(a.second, b.second)};
    }
    // Those of each axis that it is for.
    template <class Statement>
    Spans spans_of(const Statement& statement) const {
        const Extent own = extent_of(statement);
        Spans spans;
        for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
            const rt::Span cells = rt::span_of(statement.region.ranges[axis], own[axis]);
            const auto& [low, high] = statement.margins[axis];
            spans[axis] = common({cells.begin, cells.end}, {low, own[axis] - high});
        }
        return spans;
    }

    // Calls use(index of the cell, value) for all cells that a statement is for, in memory order.
    template <class Statement, class Use>
    void for_each_cell(const Statement& statement, Use&& use) {
        for_each_cell_in(spans_of(statement), statement, use);
    }

    template <class Statement, class Use>
    void for_each_cell_in(const Spans& spans, const Statement& statement, Use&& use) {
        rt::Box box;
        for (std::size_t axis = 0; axis < kMaxRank; ++axis)
            std::tie(box.begin[axis], box.end[axis]) = spans[axis];
        if (box.is_empty()) return;
        const Extent own = extent_of(statement);
        std::vector<double> values, chosen;
        Cell cell = box.begin;
        do {
            for (cell[0] = box.begin[0]; cell[0] < box.end[0]; cell[0] += RowEvaluator::kMaxCells) {
                const std::int64_t cells = std::min(RowEvaluator::kMaxCells, box.end[0] - cell[0]);
                evaluator.evaluate(statement.value, cell, cells, values);
                if (statement.condition) evaluator.evaluate(*statement.condition, cell, cells, chosen);
                const std::int64_t first = own.index_of(cell);
                for (std::int64_t i = 0; i < cells; ++i)
                    if (!statement.condition || chosen[i] != 0) use(first + i, values[i]);
            }
        } while (rt::advance(cell, box, 1));
    }

    // The statements of a sweep, from `first` on: one place along its axes after the other. Lines, or planes,
    // along these are independent of each other, so all cells of a place may be done at once.
    void run_sweep(std::size_t first, std::size_t past) {
        const LineSweep& sweep = *sweep_of(program.statements[first]);
        const auto& begin = std::get<Assign>(program.statements[first]);
        if (!begin.within.contains(steps_done)) return;
        const Extent own = extent_of(begin);
        for (std::int64_t number = 0; number < places_of(sweep, own); ++number) {
            const Place place = place_of(sweep, own, number);
            for (std::size_t i = first; i < past; ++i) {
                const auto& assign = std::get<Assign>(program.statements[i]);
                Spans spans = spans_of(assign);
                for (std::size_t axis = 0; axis < kMaxRank; ++axis)
                    if (place[axis] >= 0) spans[axis] = common(spans[axis], {place[axis], place[axis] + 1});
                const Field& field = program[assign.target];
                std::vector<double>& written =
                    assign.time == 1 ? next[assign.target.index] : levels[assign.target.index].front();
                for_each_cell_in(spans, assign, [&](std::int64_t cell, double value) {
                    written[cell] = value;
                    round_to_storage(field, &written[cell], 1);
                });
            }
        }
    }

    // The statements from `first` on, in order, which are all within `depth` repeats.
    void run_all(std::size_t first, std::size_t past, std::size_t depth) {
        for (std::size_t i = first; i < past;) {
            const std::vector<Repeat>& repeats = repeats_of(program.statements[i]);
            if (repeats.size() > depth) {
                const std::size_t past_repeat = end_of_repeat(program, i, depth);
                run_repeat(std::exchange(i, past_repeat), past_repeat, repeats[depth], depth + 1);
            } else if (sweep_of(program.statements[i]) != nullptr) {
                run_sweep(i, end_of_sweep(program, i));
                i = end_of_sweep(program, i);
            } else {
                std::visit([&](const auto& node) { run(node, in_place[i]); }, program.statements[i]);
                ++i;
            }
        }
    }

    void run_repeat(std::size_t first, std::size_t past, const Repeat& repeat, std::size_t depth) {
        const RepeatEnd* const end = end_condition(program, repeat);
        const std::size_t reductions_before = next_reduction;
        bool is_over = false;
        for (std::int64_t time = 0; time < repeat.count && !is_over; ++time) {
            next_reduction = reductions_before;
            run_all(first, past, depth);
            is_over = end != nullptr && value_at(end->until, {}) != 0;
            if (end != nullptr) count_iteration(*end, time + 1, is_over, repeat.count);
        }
    }

    // A statement reads what was there before it, also of its own target.
    void run(const Assign& assign, bool changes) {
        if (!assign.within.contains(steps_done)) return;
        const bool to_next = assign.time == 1;
        std::vector<double>& now = levels[assign.target.index].front();
        std::vector<double>& written = to_next ? next[assign.target.index] : now;
        std::vector<double> result = changes ? written : now;
        const Field& field = program.fields[assign.target.index];
        for_each_cell(assign, [&](std::int64_t cell, double value) {
            result[cell] = value;
            round_to_storage(field, &result[cell], 1);
        });
        std::copy(result.begin(), result.end(), written.begin());
    }

    void run(const Reduce& reduce, bool) {
        Accumulator accumulator(reduce.op);
        const bool is_wide = program[reduce.value].type == Scalar::i64;
        const auto add = [&](std::int64_t, double value) {
            accumulator.add(is_wide ? static_cast<double>(std::bit_cast<std::int64_t>(value)) : value);
        };
        const bool is_done = reduce.within.contains(steps_done);
        if (is_done) for_each_cell(reduce, add);
        const double value = is_done ? accumulator.value() : kNaN;
        reductions[reduce.name] = reduce.square_root ? std::sqrt(value) : value;
        surroundings.reductions[next_reduction++] = reductions[reduce.name];
        evaluator.update_reductions();
    }

    double value_at(ExprId value, const std::array<std::int32_t, kMaxRank>& cell) {
        std::vector<double> single;
        evaluator.evaluate(value, {cell[0], cell[1], cell[2], cell[3]}, 1, single);
        return single.front();
    }

    // sum + T(weight) * value, in the type of the value.
    double add_weighted(Scalar type, double sum, double weight, double value) const {
        if (type == Scalar::f64 || arithmetic == Arithmetic::f64) return sum + weight * value;
        const float product = static_cast<float>(weight) * static_cast<float>(value);
        return static_cast<float>(sum) + product;
    }

    // What expressions read of one point at this step.
    void place_point_values(const Inject& inject, std::size_t point) {
        const PointData& data = points[inject.points.index];
        surroundings.point_values.clear();
        for (const std::vector<double>& column : data.columns)
            surroundings.point_values.push_back(point < column.size() ? column[point] : 0);
        const std::size_t row = static_cast<std::size_t>(steps_done) * data.touched.size() + point;
        for (const std::vector<double>& trace : data.traces)
            surroundings.point_values.push_back(row < trace.size() ? trace[row] : 0);
    }

    void run(const Inject& inject, bool) {
        const Field& field = program[inject.target];
        std::vector<double>& written =
            inject.time == 1 ? next[inject.target.index] : levels[inject.target.index].front();
        const PointData& data = points[inject.points.index];
        std::map<std::size_t, double> changed;  // by cell
        for (std::size_t point = 0; point < data.touched.size(); ++point) {
            place_point_values(inject, point);
            for (const PointWeight& touched : data.touched[point]) {
                const auto at = static_cast<std::size_t>(extent.index_of(touched.cell));
                double& sum = changed.try_emplace(at, written[at]).first->second;
                sum = add_weighted(field.type, sum, touched.weight, value_at(inject.value, touched.cell));
            }
        }
        for (auto& [at, sum] : changed) {
            round_to_storage(field, &sum, 1);
            written[at] = sum;
        }
    }

    void run(const Sample& sample, bool) {
        PointData& data = points[sample.points.index];
        for (const std::vector<PointWeight>& touched : data.touched) {
            double sum = 0;
            for (const PointWeight& each : touched) {
                const double value = value_at(sample.value, each.cell);
                sum = add_weighted(program[sample.value].type, sum, each.weight, value);
            }
            data.traces[static_cast<std::size_t>(sample.trace)].push_back(sum);
        }
    }

    void count_iteration(const RepeatEnd& end, std::int64_t number, bool is_over, std::int64_t most) {
        RepeatCounts& all = iterations[static_cast<std::size_t>(&end - program.repeat_ends.data())];
        ++all.total;
        all.most = std::max(all.most, number);
        if (number == most && !is_over) ++all.unfinished;
    }

    void advance() {
        ++steps_done;
        for (std::size_t i = 0; i < levels.size(); ++i) {
            if (next[i].empty()) continue;
            for (std::vector<double>& level : levels[i])
                std::swap(level, next[i]);  // the oldest is left in next
        }
    }
};

Interpreter::Interpreter(const Program& program, rt::Extent extent, Arithmetic arithmetic)
    : state_(std::make_unique<State>(program, extent, arithmetic)) {}

Interpreter::~Interpreter() = default;

void Interpreter::set_param(const std::string& name, double value) {
    state_->params[find_by_name(state_->program.params, name, "param")] = value;
}

void Interpreter::set_table(const std::string& name, const std::vector<double>& values) {
    const std::size_t index = find_by_name(state_->program.tables, name, "table");
    const std::size_t width = given_columns(state_->program.tables[index]);
    if (width == 0 || values.size() % width != 0)
        throw std::invalid_argument(fmt::format(
            "table {} has {} columns to give; {} values are no whole rows", name, width, values.size()));
    state_->given_tables[index] = values;
}

void Interpreter::set_points(const std::string& points, std::vector<std::vector<PointWeight>> touched) {
    state_->points[find_by_name(state_->program.points, points, "set of points")].touched =
        std::move(touched);
}

void Interpreter::set_column(const std::string& points, const std::string& column,
                             std::vector<double> values) {
    const std::size_t set = find_by_name(state_->program.points, points, "set of points");
    const std::vector<std::string>& names = state_->program.points[set].columns;
    const auto found = std::find(names.begin(), names.end(), column);
    if (found == names.end()) throw std::invalid_argument(fmt::format("{} has no column {}", points, column));
    state_->points[set].columns[static_cast<std::size_t>(found - names.begin())] = std::move(values);
}

void Interpreter::set_trace(const std::string& points, const std::string& trace, std::vector<double> rows) {
    const std::size_t set = find_by_name(state_->program.points, points, "set of points");
    const std::size_t index = find_by_name(state_->program.points[set].traces, trace, "trace");
    state_->points[set].traces[index] = std::move(rows);
}

const std::vector<double>& Interpreter::trace(const std::string& points, const std::string& trace) const {
    const std::size_t set = find_by_name(state_->program.points, points, "set of points");
    return state_->points[set].traces[find_by_name(state_->program.points[set].traces, trace, "trace")];
}

void Interpreter::set_coef(const std::string& name, const std::vector<double>& values) {
    std::vector<double>& coef = state_->surroundings.coefs[find_by_name(state_->program.coefs, name, "coef")];
    if (values.size() != coef.size())
        throw std::invalid_argument(
            fmt::format("coef {} has {} elements, not {}", name, coef.size(), values.size()));
    coef = values;
}

std::vector<double>& Interpreter::field(const std::string& name, int time) {
    auto& levels = state_->levels[find_by_name(state_->program.fields, name, "field")];
    if (time > 0 || std::cmp_greater_equal(-time, levels.size()))
        throw std::invalid_argument(fmt::format("field {} keeps no level t{:+}", name, time));
    return levels[static_cast<std::size_t>(-time)];
}

void Interpreter::step() {
    state_->begin_step();
    state_->run_all(0, state_->program.statements.size(), 0);
    state_->advance();
}

void Interpreter::continue_from(std::int64_t steps, const std::map<std::string, double>& reductions) {
    state_->steps_done = steps;
    state_->reductions = reductions;
    std::size_t index = 0;
    for (const Statement& statement : state_->program.statements) {
        const auto* reduce = std::get_if<Reduce>(&statement);
        if (reduce == nullptr) continue;
        if (const auto found = reductions.find(reduce->name); found != reductions.end())
            state_->surroundings.reductions[index] = found->second;
        ++index;
    }
}

std::int64_t Interpreter::steps_done() const {
    return state_->steps_done;
}

const RepeatCounts& Interpreter::iterations(std::size_t repeat_end) const {
    return state_->iterations.at(repeat_end);
}

double Interpreter::reduction(const std::string& name) const {
    const auto found = state_->reductions.find(name);
    if (found == state_->reductions.end())
        throw std::invalid_argument(fmt::format("there is no reduction {}, or no step was taken", name));
    return found->second;
}

}  // namespace halo::ir
