#include "compare_engines.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <future>

#include "analyzed.h"
#include "compiler/emit/emit.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/interpreter.h"
#include "compiler/lower/shared/host_scalar.h"
#include "compiler/lower/shared/points.h"
#include "compiler/passes/pipeline.h"
#include "random_program.h"
#include "runtime/core/element.h"
#include "runtime/core/points.h"
#include "runtime/core/session.h"

namespace halo::test {
namespace {

// A cell that is NaN in the reference has no defined value. `scale`: of the values that it is computed from;
// where large ones cancel out, what is left is no more exact than they are.
bool agrees(double expected, double got, double bound = 0, double scale = 0) {
    return expected == got || std::isnan(expected) ||
           std::abs(expected - got) <= bound * (1 + std::max(scale, std::abs(expected)));
}

double largest(const std::vector<double>& values) {
    double most = 0;
    for (const double value : values)
        if (std::isfinite(value)) most = std::max(most, std::abs(value));
    return most;
}

// Random cells of a field's own kind, from numbers within [-1, 1], as the interpreter keeps them.
std::vector<double> of_type(const ir::Field& field, std::vector<double> cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
        double& cell = cells[i];
        // Small numbers, and now and then such as no product of two can hold.
        const double scale = i % 5 == 0 ? 2e9 : 40;
        switch (field.storage) {
            case ir::Storage::boolean:
                cell = cell > 0.2;
                break;
            case ir::Storage::u8:
                cell = std::floor((cell + 1) * 127.9);
                break;
            case ir::Storage::i32:
                cell = std::floor(cell * scale);
                break;
            case ir::Storage::i64:
                cell =
                    std::bit_cast<double>(static_cast<std::int64_t>(cell * scale * (i % 5 == 0 ? 4e9 : 1)));
                break;
            case ir::Storage::f16:
            case ir::Storage::bf16:
            case ir::Storage::f32:
            case ir::Storage::f64:
                break;
        }
    }
    return cells;
}

bool is_wide(const ir::Program& program, const std::string& name) {
    return std::any_of(program.fields.begin(), program.fields.end(), [&](const ir::Field& field) {
        return field.name == name && field.storage == ir::Storage::i64;
    });
}

double param_value(const ir::Param& param, std::size_t number) {
    return param.default_value.value_or(0.25 + 0.125 * static_cast<double>(number));
}

}  // namespace

ir::Program load_program(const std::string& text, bool strict) {
    ir::Program program = analyze_text(text);
    passes::optimize(program, strict ? passes::FloatingPoint::strict() : passes::FloatingPoint{});
    return program;
}

struct Reference::State {
    std::unique_ptr<ir::Interpreter> interpreter;
};

Reference::Reference(const ir::Program& p, const Extent& e, int s, std::uint64_t seed)
    : program(p), extent(e), steps(s), state_(std::make_unique<State>()) {
    state_->interpreter = std::make_unique<ir::Interpreter>(program, extent, ir::Arithmetic::declared);
    ir::Interpreter& interpreter = *state_->interpreter;
    for (std::size_t n = 0; n < program.params.size(); ++n) {
        interpreter.set_param(program.params[n].name, param_value(program.params[n], n));
    }
    for (const ir::Table& table : program.tables) {
        tables_.emplace_back(
            table.name, table.is_series ? series_values(seed) : table_rows(seed, ir::given_columns(table)));
        interpreter.set_table(table.name, tables_.back().second);
    }
    place_points(seed);
    for (const ir::Field& field : program.fields) {
        if (field.role == ir::Role::intermediate) continue;
        for (int time = 0; time >= -field.history; --time) {
            std::vector<double>& values = interpreter.field(field.name, time);
            values = of_type(field, initial_cells(seed, field.name, time, values.size()));
            levels_.push_back({field.name, time, values, {}});
        }
    }
    for (const ir::StretchedAxis& axis : program.stretched)
        place_cells(axis);
    for (int step = 0; step < steps; ++step) {
        interpreter.step();
        for (const ir::Statement& statement : program.statements)
            if (const auto* reduce = std::get_if<ir::Reduce>(&statement))
                by_step_[reduce->name].push_back(interpreter.reduction(reduce->name));
    }
    for (Level& level : levels_)
        level.end = interpreter.field(level.field, level.time);
    for (PointSet& set : points_)
        for (auto& [name, values] : set.sampled)
            values = interpreter.trace(set.name, name);
}

// What steps read of an axis follows from its distances, which are above 0.
void Reference::place_cells(const ir::StretchedAxis& axis) {
    const auto set = [&](const std::string& name, std::vector<double> values) {
        const auto field = std::ranges::find(program.fields, name, &ir::Field::name);
        values = of_type(*field, std::move(values));
        std::ranges::find(levels_, name, &Level::field)->start = values;
        state_->interpreter->field(name, 0) = std::move(values);
    };
    std::vector<double> params, distances;
    for (std::size_t n = 0; n < program.params.size(); ++n)
        params.push_back(param_value(program.params[n], n));
    const auto along = static_cast<std::size_t>(axis.axis);
    if (axis.formula) {
        Extent line{1, 1, 1};
        line[along] = extent[along];
        ir::Interpreter formula(*axis.formula, line, ir::Arithmetic::declared);
        for (std::size_t n = 0; n < axis.formula->params.size(); ++n)
            formula.set_param(axis.formula->params[n].name, params[n]);
        formula.step();
        distances = formula.field(axis.formula->fields.front().name, 0);
    } else {
        for (const double value : state_->interpreter->field(axis.field, 0))
            distances.push_back(0.5 + std::fabs(value));
        set(axis.field, distances);
        distances = state_->interpreter->field(axis.field, 0);
    }
    const double origin =
        rt::evaluate(lower::host_scalar(program, program.axes[along].origin), params, extent);
    const ir::AxisPoints points(distances, axis.is_periodic, origin);
    for (const ir::StretchedAxis::Table& table : axis.tables)
        set(table.field, points.values(table.holds));
}

void Reference::place_points(std::uint64_t seed) {
    if (program.points.empty()) return;
    ir::Interpreter& interpreter = *state_->interpreter;
    Random random(seed * 32 + 5);
    std::vector<double> params;
    for (std::size_t n = 0; n < program.params.size(); ++n)
        params.push_back(param_value(program.params[n], n));
    rt::PointGrid grid;
    grid.rank = program.rank();
    grid.extent = extent;
    for (std::size_t axis = 0; axis < program.axes.size(); ++axis) {
        const ir::Axis& declared = program.axes[axis];
        grid.spacing[axis] = rt::evaluate(lower::host_scalar(program, declared.spacing), params, extent);
        grid.origin[axis] = rt::evaluate(lower::host_scalar(program, declared.origin), params, extent);
    }
    const auto unit = [&] { return static_cast<double>(random.next() >> 40) / 16777216.0; };
    const std::vector<rt::PointsPlan> plans = lower::point_plans(program);
    for (std::size_t s = 0; s < plans.size(); ++s) {
        const ir::Points& declared = program.points[s];
        PointSet set{declared.name, {}, {}, {}};
        const int count = random.pick<int>({0, 1, 3, 9, 200});
        std::vector<std::vector<ir::PointWeight>> touched;
        for (int point = 0; point < count; ++point) {
            const bool on_cell = random.chance(20);
            std::array<double, 3> position{};
            for (int axis = 0; axis < grid.rank; ++axis) {
                const auto last = static_cast<double>(extent[axis] - 1);
                const double place = on_cell ? std::floor(unit() * last) : unit() * last;
                position[axis] = grid.origin[axis] + grid.spacing[axis] * place;
                set.positions.push_back(position[axis]);
            }
            touched.emplace_back();
            for (const auto& [cell, weight] :
                 rt::touched_cells(plans[s], grid, position.data(), touched.size() - 1))
                touched.back().push_back({cell, weight});
        }
        interpreter.set_points(set.name, std::move(touched));
        const auto numbers = [&](int rows) {
            std::vector<double> values(static_cast<std::size_t>(rows * count));
            for (double& value : values)
                value = 2 * unit() - 1;
            return values;
        };
        for (const std::string& column : declared.columns) {
            set.given.emplace_back(column, numbers(1));
            interpreter.set_column(set.name, column, set.given.back().second);
        }
        for (const ir::Points::Trace& trace : declared.traces) {
            if (trace.sampled) {
                set.sampled.emplace_back(trace.name, std::vector<double>());
                continue;
            }
            set.given.emplace_back(trace.name, numbers(std::max(steps - 1, 0)));
            interpreter.set_trace(set.name, trace.name, set.given.back().second);
        }
        points_.push_back(std::move(set));
    }
}

Reference::~Reference() = default;

bool reads_sums(const ir::Program& program) {
    std::vector<ir::ReduceOp> ops;
    for (const ir::Statement& statement : program.statements)
        if (const auto* reduce = std::get_if<ir::Reduce>(&statement)) ops.push_back(reduce->op);
    return std::any_of(
        program.statements.begin(), program.statements.end(), [&](const ir::Statement& statement) {
            const std::vector<std::uint32_t> reached = ir::reached_exprs(program, ir::roots_of(statement));
            return std::any_of(reached.begin(), reached.end(), [&](std::uint32_t e) {
                const auto* read = std::get_if<ir::ReductionRef>(&program.exprs[e].node);
                return read != nullptr && ops[read->reduction.index] == ir::ReduceOp::sum;
            });
        });
}

double Reference::reduction(const std::string& name) const {
    return state_->interpreter->reduction(name);
}

const std::vector<double>& Reference::by_step(const std::string& reduction) const {
    return by_step_.at(reduction);
}

std::string difference(const Reference& reference, const lower::Lowered& lowered, rt::Device& device,
                       const Load& load, double tolerance, const rt::TimeTileOptions& time_tiles,
                       int* steps_at_once, const rt::RunOptions* run) {
    rt::SessionOptions options;
    options.poison = true;
    options.time_tiles = time_tiles;
    options.least_cells_beside_samples = 1;
    std::vector<std::unique_ptr<rt::Module>> modules = load(lowered, device);
    std::vector<rt::Kernel*> kernels;
    for (const auto& module : modules)
        for (const rt::KernelPlan& kernel : lowered.plan.kernels)
            kernels.push_back(module->find_kernel(kernel));
    rt::Session session(lowered.plan, reference.extent, device, std::move(modules), options);
    // As on grids beyond the caches: a CPU's stores go past them in every second launch of the first.
    for (rt::Kernel* kernel : kernels)
        if (kernel != nullptr) kernel->set_order({0, true});
    std::int64_t done = reference.steps;
    const auto go = [&] {
        if (run != nullptr) {
            done = session.run(*run).steps;
        } else {
            session.step(done);
        }
    };
    const std::string text = difference(reference, session, go, tolerance);
    if (steps_at_once != nullptr) *steps_at_once = session.steps_at_once();
    if (done != reference.steps)
        return fmt::format("the run ended after {} steps instead of {}", done, reference.steps);
    return text;
}

std::string late_difference(const Reference& reference, const lower::Lowered& lowered, rt::Device& device,
                            int before) {
    const emit::CudaParts parts =
        emit::print_cuda_parts(lowered.kernels, lowered.plan.time_block->kernel_names());
    std::vector<std::unique_ptr<rt::Module>> modules;
    modules.push_back(device.load(parts.others, lowered.plan.name));
    std::promise<rt::AsyncCode> code;
    rt::SessionOptions options;
    options.poison = true;
    options.time_block_code = code.get_future().share();
    rt::Session session(lowered.plan, reference.extent, device, std::move(modules), options);
    std::string text = difference(
        reference, session,
        [&] {
            session.step(before);
            code.set_value({parts.kernels, 0});
            session.step(reference.steps - before);
        },
        0);
    if (text.empty() && session.async_block().state == rt::AsyncBlock::State::failed)
        text = "the block was not taken: " + session.async_block().trouble;
    return text;
}

namespace {

// Session and Pieces have the same interface for what is compared, but that pieces take elements alone.
void upload(rt::Session& session, const Reference::Level& level) {
    session.upload(level.field, level.time, std::span<const double>(level.start));
}

std::vector<double> download(rt::Session& session, const Reference::Level& level) {
    std::vector<double> values(level.end.size());
    session.download(level.field, level.time, std::span<double>(values));
    return values;
}

rt::ElementType type_of(const rt::LaunchPlan& plan, const std::string& field) {
    return std::ranges::find(plan.fields, field, &rt::FieldPlan::name)->type;
}

void upload(rt::Pieces& pieces, const Reference::Level& level) {
    const rt::ElementType type = type_of(pieces.plan(), level.field);
    std::vector<std::byte> elements(level.start.size() * static_cast<std::size_t>(rt::size_of(type)));
    for (std::size_t i = 0; i < level.start.size(); ++i)
        rt::encode(level.start[i], type, elements.data() + i * static_cast<std::size_t>(rt::size_of(type)));
    pieces.upload_elements(level.field, level.time, elements.data(),
                           static_cast<std::int64_t>(elements.size()));
}

std::vector<double> download(rt::Pieces& pieces, const Reference::Level& level) {
    const rt::ElementType type = type_of(pieces.plan(), level.field);
    std::vector<std::byte> elements(level.end.size() * static_cast<std::size_t>(rt::size_of(type)));
    pieces.download_elements(level.field, level.time, elements.data(),
                             static_cast<std::int64_t>(elements.size()));
    std::vector<double> values(level.end.size());
    rt::decode(elements.data(), static_cast<std::int64_t>(values.size()), type, values.data());
    return values;
}

// Of several ranks each has some cells, and one has the traces.
bool has_traces(const rt::Session&) {
    return true;
}
bool has_traces(const rt::Pieces& pieces) {
    return pieces.is_given_values();
}
std::vector<rt::Box> own_boxes(const rt::Session& session) {
    return {rt::whole_box(session.geometry().extent)};
}
std::vector<rt::Box> own_boxes(const rt::Pieces& pieces) {
    return pieces.own_boxes();
}

template <class Subject>
std::string compare(const Reference& reference, Subject& session, const std::function<void()>& run,
                    double tolerance) {
    const ir::Program& program = reference.program;
    for (std::size_t n = 0; n < program.params.size(); ++n) {
        session.set_param(program.params[n].name, param_value(program.params[n], n));
    }
    for (const auto& [name, rows] : reference.tables())
        session.set_table(name, rows);
    for (const Reference::PointSet& set : reference.points()) {
        session.set_points(set.name, set.positions);
        for (const auto& [name, values] : set.given)
            session.set_point_values(set.name, name, values);
    }
    for (const Reference::Level& level : reference.levels()) {
        const auto bytes = static_cast<std::int64_t>(level.start.size() * sizeof(double));
        if (is_wide(program, level.field)) {  // as its bits, exactly
            session.upload_elements(level.field, level.time, level.start.data(), bytes);
        } else {
            upload(session, level);
        }
    }
    run();
    const std::vector<rt::Box> boxes = own_boxes(session);
    for (const Reference::Level& level : reference.levels()) {
        const rt::FieldGrid grid = std::ranges::find(program.fields, level.field, &ir::Field::name)->grid;
        const Extent own = grid.extent(reference.extent);
        const auto cell_of = [&](std::int64_t n) {
            std::array<std::int64_t, rt::kMaxRank> cell{};
            for (std::size_t axis = 0; axis < own.size(); ++axis) {
                cell[axis] = n % own[axis];
                n /= own[axis];
            }
            return cell;
        };
        const auto has_cell = [&](std::int64_t n) {
            const rt::Box cell = rt::shifted(rt::Box{}, cell_of(n));
            return std::ranges::any_of(boxes, [&](const rt::Box& box) {
                return !intersection(rt::box_of_field(grid, box), cell).is_empty();
            });
        };
        const bool wide = is_wide(program, level.field);
        const double scale = tolerance == 0 || wide ? 0 : largest(level.end);
        std::vector<double> values(level.end.size());
        if (wide) {
            session.download_elements(level.field, level.time, values.data(),
                                      static_cast<std::int64_t>(values.size() * sizeof(double)));
        } else {
            values = download(session, level);
        }
        for (std::int64_t n = 0; n < own.cells(); ++n) {
            const double expected = level.end[static_cast<std::size_t>(n)],
                         got = values[static_cast<std::size_t>(n)];
            const bool same = wide ? std::bit_cast<std::int64_t>(expected) == std::bit_cast<std::int64_t>(got)
                                   : agrees(expected, got, tolerance, scale);
            if (same || !has_cell(n)) continue;
            return fmt::format("{} at t{:+} differs at cell ({}): {} instead of {}", level.field, level.time,
                               fmt::join(cell_of(n), ", "), got, expected);
        }
    }
    for (const Reference::PointSet& set : reference.points()) {
        for (const auto& [name, expected] : set.sampled) {
            const std::vector<double> got = session.trace(set.name, name);
            if (!has_traces(session)) continue;
            if (got.size() != expected.size())
                return fmt::format("{}.{} has {} values instead of {}", set.name, name, got.size(),
                                   expected.size());
            for (std::size_t n = 0; n < got.size(); ++n) {
                if (!agrees(expected[n], got[n], tolerance))
                    return fmt::format("{}.{}: value {} is {} instead of {}", set.name, name, n, got[n],
                                       expected[n]);
            }
        }
    }
    for (const rt::ReductionPlan& reduction : session.plan().reductions) {
        if (reduction.ahead_of >= 0 || rt::is_hidden_reduction(reduction.name)) continue;
        const double expected = reference.reduction(reduction.name), got = session.reduction(reduction.name);
        // Sums are taken in another order: f64 rounding, a few per cell at most. What the device's own
        // functions round differently goes either way, and so grows as the root of the cells.
        const auto cells = static_cast<double>(reference.extent.cells());
        const double bound = (1e-12 * cells + tolerance * std::sqrt(cells)) * (1 + std::abs(expected));
        const bool exact = reduction.op != rt::ReductionPlan::Op::sum;
        if (agrees(expected, got, tolerance) || (!exact && std::abs(expected - got) <= bound)) continue;
        return fmt::format("reduction {} is {} instead of {}", reduction.name, got, expected);
    }
    return "";
}

}  // namespace

std::string difference(const Reference& reference, rt::Session& session, const std::function<void()>& run,
                       double tolerance) {
    return compare(reference, session, run, tolerance);
}

std::string difference(const Reference& reference, rt::Pieces& pieces, const std::function<void()>& run,
                       double tolerance) {
    return compare(reference, pieces, run, tolerance);
}

std::vector<std::unique_ptr<rt::Module>> load_cuda(const lower::Lowered& lowered, rt::Device& device) {
    std::vector<std::unique_ptr<rt::Module>> modules;
    modules.push_back(device.load(emit::print_cuda(lowered.kernels), lowered.plan.name));
    return modules;
}

}  // namespace halo::test
