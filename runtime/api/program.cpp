#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "runtime/api/arguments.h"
#include "runtime/api/bundle.h"
#include "runtime/api/errors.h"
#include "runtime/api/program_source.h"

namespace halocline {

namespace rt = halo::rt;

namespace detail {

ProgramInfo info_of(const rt::LaunchPlan& plan) {
    ProgramInfo info;
    info.name = plan.name;
    info.axes = plan.axes;
    for (std::size_t i = 0; i < plan.fields.size(); ++i) {
        const rt::FieldPlan& field = plan.fields[i];
        if (field.role == rt::Role::intermediate || rt::is_hidden(plan, static_cast<int>(i))) continue;
        const Role role = field.role == rt::Role::state   ? Role::state
                          : field.role == rt::Role::input ? Role::input
                                                          : Role::output;
        info.fields.push_back(
            {field.name, static_cast<Type>(field.type), role, field.history, field.interleave > 1,
             std::vector<bool>(field.grid.along.begin(), field.grid.along.begin() + plan.rank),
             field.grid.factor});
    }
    for (const rt::ParamPlan& param : plan.params)
        info.params.push_back({param.name, param.default_value});
    for (const rt::ReductionPlan& reduction : plan.reductions)
        if (reduction.ahead_of < 0 && !rt::is_hidden_reduction(reduction.name))
            info.reductions.push_back(reduction.name);
    for (const rt::CoefPlan& coef : plan.coefs) {
        WeightsInfo weights{coef.name, {}};
        for (std::size_t i = 0; i < coef.low.size(); ++i)
            weights.sizes.push_back(std::int64_t{coef.high[i]} - coef.low[i] + 1);
        info.weights.push_back(std::move(weights));
    }
    for (const rt::TablePlan& table : plan.tables)
        info.tables.push_back(
            {table.name, {table.columns.begin(), table.columns.begin() + table.given}, table.is_series});
    for (const rt::PointsPlan& points : plan.points) {
        PointsInfo known{points.name, points.columns, {}, {}};
        for (const rt::PointsPlan::Trace& trace : points.traces)
            (trace.sampled ? known.sampled : known.injected).push_back(trace.name);
        info.points.push_back(std::move(known));
    }
    return info;
}

std::string grid_text(const Grid& grid) {
    return fmt::format("{}", fmt::join(grid, " x "));
}

Extent extent_of(const ProgramInfo& info, const Grid& grid) {
    if (grid.size() != info.axes.size() || grid.size() > rt::kMaxRank)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("the grid of '{}' has {} numbers, cells along {}; {} were given", info.name,
                                info.axes.size(), fmt::join(info.axes, ", "), grid.size()));
    Extent extent{};
    for (std::size_t axis = 0; axis < grid.size(); ++axis) {
        if (grid[axis] < 1)
            throw Error(ErrorCode::bad_argument, fmt::format("the grid {} has less than 1 cell along {}",
                                                             grid_text(grid), info.axes[axis]));
        extent[axis] = grid[axis];
    }
    check_grid(grid);
    return extent;
}

std::shared_ptr<const PiecesCode> ProgramSource::code_for_pieces(
    const std::vector<std::shared_ptr<DeviceState>>& devices, const Extent& /*extent*/,
    std::optional<std::int64_t> /*interval*/) {
    throw Error(ErrorCode::no_device,
                fmt::format("'{}' was compiled before, for whole grids; {} devices need code for pieces of a "
                            "grid, which a program from compile() or compile_file() has",
                            info_.name, devices.size()));
}

}  // namespace detail

Program Program::load(const std::string& path) {
    return detail::translated(
        [&] { return Program(detail::open_bundle(detail::read_bundle_file(path), nullptr, path)); });
}

Program Program::from_memory(std::string_view bundle, const LinkedKernel* kernels, const std::string& name) {
    return detail::translated([&] { return Program(detail::open_bundle(bundle, kernels, name)); });
}

const ProgramInfo& Program::info() const noexcept {
    return source_->info();
}

std::vector<std::string> Program::targets() const {
    return detail::translated([&] { return source_->targets(); });
}

}  // namespace halocline
