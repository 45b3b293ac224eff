#include "runtime/core/plan_check.h"

#include <algorithm>
#include <cstdlib>

#include "runtime/core/plan_check_parts.h"
#include "runtime/core/plan_repeats.h"
#include "runtime/core/points.h"

namespace halo::rt {

using checks::check_kernel, checks::check_repeats, checks::check_scalar, checks::check_time_block;
using checks::in_range, checks::is_of_resident, checks::require;

void checks::check_scalar(const LaunchPlan& plan, const HostScalar& scalar) {
    require(!scalar.steps.empty(), "a scalar has no value");
    for (const auto& step : scalar.steps) {
        if (step.op == HostScalar::Op::param)
            require(in_range(step.index, plan.params), "a scalar reads parameter {}", step.index);
        if (step.op == HostScalar::Op::reduction)
            require(in_range(step.index, plan.reductions), "a scalar reads reduction {}", step.index);
        if (step.op == HostScalar::Op::extent)
            require(step.index >= 0 && step.index < kMaxRank, "a scalar reads the extent of axis {}",
                    step.index);
        if (step.op == HostScalar::Op::series)
            require(in_range(step.index, plan.tables) &&
                        plan.tables[static_cast<std::size_t>(step.index)].is_series,
                    "a scalar reads series {}", step.index);
    }
}

namespace {

// is_array: as an argument, which is an array.
void check_level(const LaunchPlan& plan, const KernelPlan& kernel, int field, int time,
                 bool is_array = false) {
    require(in_range(field, plan.fields), "kernel '{}' takes field {}", kernel.name, field);
    const FieldPlan& known = plan.fields[field];
    require(known.component == 0 || !is_array, "kernel '{}' takes '{}', which lies in another's array",
            kernel.name, known.name);
    require(time <= latest_time(known) + known.spare_levels && time >= -known.history,
            "kernel '{}' takes level {:+} of '{}'", kernel.name, time, known.name);
}

void check_points(const LaunchPlan& plan, const KernelPlan& kernel, const Argument& argument) {
    require(in_range(argument.index, plan.points), "kernel '{}' takes points {}", kernel.name,
            argument.index);
    const PointsPlan& points = plan.points[argument.index];
    const auto numbers = static_cast<int>(points.columns.size() + points.traces.size());
    const int parts = argument.kind == Argument::Kind::count
                          ? static_cast<int>(PointsCount::points) + 1
                          : static_cast<int>(PointsPart::first_column) + numbers;
    require(argument.part >= 0 && argument.part < parts, "kernel '{}' takes part {} of points '{}'",
            kernel.name, argument.part, points.name);
}

}  // namespace

void checks::check_kernel(const LaunchPlan& plan, const KernelPlan& kernel) {
    for (int axis = 0; axis < kMaxRank; ++axis)
        require(kernel.threads[axis] >= 1 && kernel.tile[axis] >= 1, "kernel '{}' has an empty block",
                kernel.name);
    require(kernel.dynamic_shared_bytes >= 0, "kernel '{}' has a negative shared size", kernel.name);
    require(kernel.stands_for >= 1, "kernel '{}' stands for {} kernels", kernel.name, kernel.stands_for);
    for (const Argument& argument : kernel.arguments) {
        switch (argument.kind) {
            case Argument::Kind::field:
                check_level(plan, kernel, argument.field, argument.time, true);
                for (int axis = 0; argument.use && axis < kMaxRank; ++axis)
                    require(argument.use->reach[axis] >= 0, "kernel '{}' reads {} cells past its own",
                            kernel.name, argument.use->reach[axis]);
                break;
            case Argument::Kind::scalar:
                check_scalar(plan, argument.scalar);
                break;
            case Argument::Kind::extent:
                require(argument.index >= 0 && argument.index < kMaxRank,
                        "kernel '{}' takes the extent of axis {}", kernel.name, argument.index);
                break;
            case Argument::Kind::pitch:
            case Argument::Kind::slice:
            case Argument::Kind::volume:
            case Argument::Kind::step_partials:  // check_plan and check_time_block do these
            case Argument::Kind::exchange:
            case Argument::Kind::steps:
            case Argument::Kind::sent:
            case Argument::Kind::planes:
                break;
            case Argument::Kind::neighbour:
                check_level(plan, kernel, argument.field, argument.time, true);
                break;
            case Argument::Kind::iterations: {
                const bool is_known = in_range(argument.index, plan.repeats) &&
                                      plan.repeats[argument.index].until &&
                                      plan.repeats[argument.index].until->kernel >= 0;
                require(is_known && argument.part >= 0 && argument.part < static_cast<int>(RepeatWord::words),
                        "kernel '{}' takes word {} of repeat {}", kernel.name, argument.part, argument.index);
                break;
            }
            case Argument::Kind::device_scalars:
                require(plan.device_scalars > 0,
                        "kernel '{}' takes scalars of the device, and there are none", kernel.name);
                break;
            case Argument::Kind::partials:
            case Argument::Kind::partial_count:
                require(in_range(argument.index, plan.reductions), "kernel '{}' takes reduction {}",
                        kernel.name, argument.index);
                break;
            case Argument::Kind::coefs:
                require(in_range(argument.index, plan.coefs), "kernel '{}' takes coefficient {}", kernel.name,
                        argument.index);
                break;
            case Argument::Kind::table:
            case Argument::Kind::rows:
                require(in_range(argument.index, plan.tables) &&
                            !plan.tables[static_cast<std::size_t>(argument.index)].is_series,
                        "kernel '{}' takes table {}", kernel.name, argument.index);
                break;
            case Argument::Kind::points:
            case Argument::Kind::count:
                check_points(plan, kernel, argument);
                break;
        }
    }
    if (kernel.domain.kind == Domain::Kind::rows)
        require(in_range(kernel.domain.index, plan.tables), "kernel '{}' is over the rows of table {}",
                kernel.name, kernel.domain.index);
    if (kernel.domain.kind == Domain::Kind::cells || kernel.domain.kind == Domain::Kind::samples)
        require(in_range(kernel.domain.index, plan.points), "kernel '{}' is over points {}", kernel.name,
                kernel.domain.index);
    if (kernel.domain.kind == Domain::Kind::faces)
        require(plan.rank > 1 && kernel.domain.index > 1 && kernel.domain.index <= plan.rank,
                "kernel '{}' is over the faces along {} axes", kernel.name, kernel.domain.index);
    for (const auto& written : kernel.refresh_halos)
        check_level(plan, kernel, written.field, written.time);
    if (kernel.fills_halo) check_level(plan, kernel, kernel.fills_halo->field, kernel.fills_halo->time);
    require(kernel.fills_halo || !kernel.fills_after_uploads, "kernel '{}' fills no halo", kernel.name);
}

namespace {

// Checks in which steps kernels run: a reduction has the value of the last step, and all kernels that compute
// it have equally many blocks.
void check_steps(const LaunchPlan& plan, const KernelPlan& kernel) {
    require(kernel.within.first >= 0 && !kernel.within.is_empty(), "kernel '{}' runs in no step",
            kernel.name);
    require(kernel.within.is_all() || kernel.domain.kind != Domain::Kind::rows,
            "kernel '{}' is of no step, and runs in some alone", kernel.name);
    require(kernel.steps == Steps::all || kernel.domain.kind != Domain::Kind::rows,
            "kernel '{}' is of no step, and runs in some alone", kernel.name);
    if (kernel.steps != Steps::without_results) return;
    require(std::ranges::any_of(plan.kernels,
                                [](const KernelPlan& each) { return each.steps == Steps::with_results; }),
            "kernel '{}' runs in steps without results, and none in those with them", kernel.name);
    for (const Argument& argument : kernel.arguments) {
        if (argument.kind != Argument::Kind::partials) continue;
        const KernelPlan& last = plan.kernels[plan.reductions[argument.index].kernel];
        require(last.tile == kernel.tile && last.domain.kind == kernel.domain.kind &&
                    last.domain.ranges == kernel.domain.ranges &&
                    last.domain.factor == kernel.domain.factor && last.blocks == kernel.blocks,
                "kernels '{}' and '{}' reduce by other blocks", kernel.name, last.name);
    }
}

void check_field(const LaunchPlan& plan, const FieldPlan& field) {
    require(field.history >= 0 && field.history <= 64, "field '{}' has {} past levels", field.name,
            field.history);
    require(field.spare_levels >= 0 && field.spare_levels <= 64, "field '{}' has {} spare levels", field.name,
            field.spare_levels);
    require(field.grid.factor >= 1 && field.grid.factor <= kMaxExtent, "field '{}' lies on coarse({})",
            field.name, field.grid.factor);
    require(field.grid.is_whole() ||
                (field.interleave == 1 && (field.grid.factor == 1 || field.grid.has_all_axes())),
            "field '{}' lies on another grid and has no array of its own", field.name);
    require(field.grid.has_all_axes() || field.role == Role::input,
            "field '{}' lies over fewer axes and is no input", field.name);
    for (int axis = 0; axis < kMaxRank; ++axis) {
        for (int side = 0; side < 2; ++side) {
            const int width = field.halo[axis][side];
            require(width == 0 || field.grid.has(axis), "field '{}' has a halo along an axis that it has not",
                    field.name);
            require(width >= 0 && width <= plan.halo[axis][side],
                    "field '{}' has a halo wider than its array", field.name);
            const FacePlan& face = field.boundary[axis][side];
            if (face.kind == BoundaryKind::fixed && axis < plan.rank) check_scalar(plan, face.value);
        }
    }
}

// Checks fields that share an array: they must agree in all that decides on its levels.
void check_interleaved(const LaunchPlan& plan, std::size_t index) {
    const FieldPlan& field = plan.fields[index];
    require(field.interleave >= 1 && field.interleave <= 65536 && field.component >= 0 &&
                field.component < field.interleave,
            "field '{}' is component {} of {}", field.name, field.component, field.interleave);
    const bool together =
        index >= static_cast<std::size_t>(field.component) &&
        index + static_cast<std::size_t>(field.interleave - field.component) <= plan.fields.size();
    require(together, "field '{}' lacks the components that share its array", field.name);
    const FieldPlan& first = plan.fields[index - static_cast<std::size_t>(field.component)];
    require(first.interleave == field.interleave && first.component == 0 && first.type == field.type &&
                first.role == field.role && first.history == field.history,
            "field '{}' cannot share the array of '{}'", field.name, first.name);
    if (field.component + 1 == field.interleave) return;
    const FieldPlan& next = plan.fields[index + 1];
    require(next.interleave == field.interleave && next.component == field.component + 1,
            "field '{}' is followed by '{}', which is not its next component", field.name, next.name);
}

void check_table(const TablePlan& table) {
    const auto columns = static_cast<int>(table.columns.size());
    require(table.type == ElementType::f32 || table.type == ElementType::f64,
            "table '{}' holds no real numbers", table.name);
    require(table.given >= 1 && table.given <= columns && columns <= table.width && table.width <= 65536,
            "table '{}' has {} columns, {} of them given, in rows of {}", table.name, columns, table.given,
            table.width);
    require(!table.is_series || (table.type == ElementType::f64 && columns == 1),
            "the series '{}' is not one column of f64", table.name);
    require(table.rows_multiple >= 1, "table '{}' has rows in multiples of {}", table.name,
            table.rows_multiple);
}

constexpr int kMostDeviceScalars = 1'000'000;

// Tables are computed for each cell from so many others.
constexpr int kFarthestCell = 4096;

void check_stretched(const LaunchPlan& plan, const StretchedAxisPlan& axis) {
    const auto is_along = [&](int field) {
        if (!in_range(field, plan.fields) || plan.fields[field].role != Role::input) return false;
        for (int other = 0; other < plan.rank; ++other)
            if (plan.fields[field].grid.has(other) != (other == axis.axis)) return false;
        return true;
    };
    require(axis.axis >= 0 && axis.axis < plan.rank, "the spacing of axis {} differs from cell to cell",
            axis.axis);
    require(axis.field == -1 || is_along(axis.field), "field {} is no spacing", axis.field);
    if (axis.field == -1) check_scalar(plan, axis.distance);
    require(axis.field != -1 || std::ranges::none_of(axis.distance.steps,
                                                     [](const HostScalar::Step& step) {
                                                         return step.op == HostScalar::Op::reduction ||
                                                                step.op == HostScalar::Op::series;
                                                     }),
            "the spacing of axis {} changes with the step", axis.axis);
    for (const auto& [field, holds] : axis.tables) {
        require(is_along(field), "field {} holds nothing of an axis", field);
        const auto is_near = [](int cell) { return std::abs(cell) <= kFarthestCell; };
        require(is_near(holds.shift) && std::ranges::all_of(holds.cells, is_near),
                "'{}' is of cells too far away", plan.fields[field].name);
        require(holds.cells.empty() ||
                    (holds.derivative >= 0 && std::cmp_less(holds.derivative, holds.cells.size()) &&
                     in_range(holds.node, holds.cells)),
                "'{}' holds no weight", plan.fields[field].name);
    }
}

}  // namespace

int latest_time(const FieldPlan& field) {
    return field.role == Role::state ? 1 : 0;
}

int level_count(const FieldPlan& field) {
    return latest_time(field) + 1 + field.history + field.spare_levels;
}

bool has_unread_steps(const LaunchPlan& plan) {
    return std::ranges::any_of(plan.kernels,
                               [](const KernelPlan& kernel) { return kernel.steps != Steps::all; });
}

bool has_first_steps(const LaunchPlan& plan) {
    return std::ranges::any_of(plan.kernels,
                               [](const KernelPlan& kernel) { return kernel.steps == Steps::first; });
}

StepRange steps_of_same_kernels(const LaunchPlan& plan, std::int64_t step) {
    StepRange alike;
    for (const KernelPlan& kernel : plan.kernels)
        for (const std::int64_t bound : {kernel.within.first, kernel.within.past})
            alike = common(alike, step < bound ? StepRange{.past = bound} : StepRange{.first = bound});
    return alike;
}

bool is_found_without_results(const LaunchPlan& plan, int reduction) {
    return std::ranges::any_of(plan.kernels, [&](const KernelPlan& kernel) {
        const auto takes = [&](Argument::Kind kind) {
            return std::ranges::any_of(kernel.arguments, [&](const Argument& argument) {
                return argument.kind == kind && argument.index == reduction;
            });
        };
        return kernel.runs(false) && takes(Argument::Kind::partials) && !takes(Argument::Kind::partial_count);
    });
}

bool is_read_on_device(const LaunchPlan& plan, int reduction) {
    return std::ranges::any_of(plan.kernels, [&](const KernelPlan& kernel) {
        const auto takes = [&](Argument::Kind kind) {
            return std::ranges::any_of(kernel.arguments, [&](const Argument& argument) {
                return argument.kind == kind &&
                       (kind == Argument::Kind::device_scalars || argument.index == reduction);
            });
        };
        return takes(Argument::Kind::device_scalars) && takes(Argument::Kind::partial_count);
    });
}

bool runs_in_step(const LaunchPlan& plan, const KernelPlan& kernel) {
    if (kernel.domain.kind == Domain::Kind::rows) return false;
    if (!kernel.fills_halo) return true;
    if (kernel.fills_after_uploads) return false;
    const int field = kernel.fills_halo->field;
    if (plan.fields[static_cast<std::size_t>(field)].role != Role::input) return true;
    const auto changes = [](const Argument& argument) {
        return argument.kind == Argument::Kind::scalar && changes_with_step(argument.scalar);
    };
    for (const KernelPlan& each : plan.kernels) {
        const bool fills_it = each.fills_halo && each.fills_halo->field == field;
        if (fills_it && std::any_of(each.arguments.begin(), each.arguments.end(), changes)) return true;
        if (each.name == kernel.name) return false;
    }
    return false;
}

bool has_coarse_grids(const LaunchPlan& plan) {
    return std::ranges::any_of(plan.fields, [](const FieldPlan& field) { return field.grid.factor != 1; });
}

bool is_hidden(const LaunchPlan& plan, int field) {
    return is_hidden_name(plan.fields[static_cast<std::size_t>(field)].name, plan.fields);
}

bool counts_rows_of_planes(const KernelPlan& kernel) {
    return kernel.domain.kind == Domain::Kind::grid && kernel.tile[1] == 1 && kernel.tile[2] == 1;
}

bool is_whole_grid(const Domain& domain) {
    return domain.kind == Domain::Kind::grid && domain.factor == 1 &&
           std::ranges::all_of(domain.ranges, [](const Range& range) { return range == Range{}; });
}

bool works_on(const TimeBlock& block, const Geometry& geometry) {
    for (int axis = 0; axis < geometry.rank; ++axis)
        if (geometry.extent[axis] < block.least_extent[axis]) return false;
    if (!block.fixed_grid) return true;
    const FixedGrid& grid = *block.fixed_grid;
    return geometry.extent == grid.extent && geometry.pitch == grid.pitch &&
           (geometry.rank < 3 || geometry.slice == grid.slice) &&
           (geometry.rank < 4 || geometry.volume == grid.volume);
}

std::int64_t element_count(const CoefPlan& coef) {
    std::int64_t count = 1;
    for (std::size_t i = 0; i < coef.low.size(); ++i)
        count *= std::int64_t{coef.high[i]} - coef.low[i] + 1;
    return count;
}

void check_plan(const LaunchPlan& plan) {
    require(plan.rank >= 1 && plan.rank <= kMaxRank, "it has {} axes", plan.rank);
    if (plan.fixed_grid)
        for (const std::int64_t cells : plan.fixed_grid->extent)
            require(cells >= 1, "it is for a grid of {} cells along an axis", cells);
    require(plan.device_scalars >= 0 && plan.device_scalars <= kMostDeviceScalars,
            "it has {} scalars of the device", plan.device_scalars);
    for (const HostScalar& condition : plan.full_steps) {
        check_scalar(plan, condition);
        require(std::ranges::none_of(condition.steps,
                                     [](const HostScalar::Step& step) {
                                         return step.op == HostScalar::Op::reduction ||
                                                step.op == HostScalar::Op::series;
                                     }),
                "the step's number alone does not say which steps are full");
    }
    for (const FieldPlan& field : plan.fields)
        check_field(plan, field);
    for (std::size_t index = 0; index < plan.fields.size(); ++index)
        check_interleaved(plan, index);
    for (const CoefPlan& coef : plan.coefs) {
        require(coef.low.size() == coef.high.size(), "the ranges of '{}' do not match", coef.name);
        for (std::size_t i = 0; i < coef.low.size(); ++i)
            require(coef.low[i] <= coef.high[i] && std::int64_t{coef.high[i]} - coef.low[i] < 65536,
                    "a range of '{}' is empty or too long", coef.name);
        require(element_count(coef) == static_cast<std::int64_t>(coef.defaults.size()),
                "'{}' has {} weights in ranges for {}", coef.name, coef.defaults.size(), element_count(coef));
    }
    for (const TablePlan& table : plan.tables)
        check_table(table);
    for (const PointsPlan& points : plan.points)
        require(points.radius >= 1 && points.radius <= kMaxSincRadius, "points '{}' have a radius of {}",
                points.name, points.radius);
    for (const KernelPlan& kernel : plan.kernels) {
        check_kernel(plan, kernel);
        for (const Argument& argument : kernel.arguments) {
            require(!is_of_resident(argument), "kernel '{}' takes part in an exchange, and is not resident",
                    kernel.name);
            require(argument.kind != Argument::Kind::step_partials,
                    "kernel '{}' takes the partial results of several steps", kernel.name);
        }
    }
    check_repeats(plan);
    require(plan.repeats.empty() || !plan.time_block || plan.time_block->of_repeat() != nullptr,
            "kernels for several steps stand beside a repeat");
    if (plan.time_block) check_time_block(plan, *plan.time_block);
    for (const ReductionPlan& reduction : plan.reductions) {
        require(in_range(reduction.kernel, plan.kernels), "reduction '{}' belongs to kernel {}",
                reduction.name, reduction.kernel);
        require(plan.kernels[reduction.kernel].runs(true),
                "reduction '{}' is not found in steps with results", reduction.name);
        require(reduction.ahead_of == -1 || in_range(reduction.ahead_of, plan.reductions),
                "reduction '{}' is found ahead of reduction {}", reduction.name, reduction.ahead_of);
    }
    for (const KernelPlan& kernel : plan.kernels)
        check_steps(plan, kernel);
    for (const StretchedAxisPlan& axis : plan.stretched)
        check_stretched(plan, axis);
    for (const HostScalar& scalar : plan.spacing)
        check_scalar(plan, scalar);
    for (const HostScalar& scalar : plan.origin)
        check_scalar(plan, scalar);
}

}  // namespace halo::rt
