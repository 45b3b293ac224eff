// The points of a session: their lists on the device, what is injected, and what was sampled.
//
// Traces lie on the device as rows of a step's values. Of those that are injected all rows are there; of
// those that are sampled as many as fit a buffer, which goes to the host when it is full and when it is asked
// for.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "runtime/core/points.h"
#include "runtime/core/session_state.h"

namespace halo::rt {

namespace {

constexpr std::int64_t kSampledBytes = std::int64_t{4} << 20;  // of a buffer
constexpr std::int64_t kMostSampledRows = 4096;

template <class Element>
DeviceMemory on_device(Device& device, const std::vector<Element>& values) {
    constexpr std::int64_t size = sizeof(Element);
    const auto count = static_cast<std::int64_t>(values.size());
    DeviceMemory memory(device, std::max<std::int64_t>(count, 1) * size);
    if (count > 0) device.copy_to_device(memory.address(), values.data(), count * size);
    return memory;
}

template <class Items, class Named>
int find_index(const Items& items, const Named& is_named) {
    const auto found = std::find_if(items.begin(), items.end(), is_named);
    return found == items.end() ? -1 : static_cast<int>(found - items.begin());
}

int column_index(const PointsPlan& plan, const std::string& name) {
    return find_index(plan.columns, [&](const std::string& column) { return column == name; });
}

int trace_index(const PointsPlan& plan, const std::string& name, bool sampled) {
    return find_index(plan.traces, [&](const PointsPlan::Trace& trace) {
        return trace.name == name && trace.sampled == sampled;
    });
}

[[noreturn]] void refuse_name(const PointsPlan& plan, const std::string& name, const char* what) {
    throw Error(ErrorCode::bad_argument, fmt::format("'{}.{}' is {}", plan.name, name, what));
}

}  // namespace

void Session::State::allocate_points() {
    points.resize(plan.points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        points[i].columns.resize(plan.points[i].columns.size());
        points[i].traces.resize(plan.points[i].traces.size());
        points[i].sampled.resize(plan.points[i].traces.size());
    }
}

void Session::State::set_points(int index, std::span<const double> positions) {
    const PointsPlan& points_plan = plan.points[index];
    PointsState& state = points[index];
    const auto rank = static_cast<std::size_t>(plan.rank);
    if (positions.size() % rank != 0)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("points '{}' have {} coordinate{} each; {} numbers are no whole points",
                                points_plan.name, rank, rank == 1 ? "" : "s", positions.size()));
    const auto count = static_cast<std::int64_t>(positions.size() / rank);
    if (count > std::numeric_limits<std::int32_t>::max())
        throw Error(ErrorCode::bad_argument,
                    fmt::format("'{}' cannot be {} points", points_plan.name, count));
    if (steps_done > 0 && state.placed && count != state.count)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("'{}' are {} points since the first step, and {} were given",
                                points_plan.name, state.count, count));
    if (count != state.count)
        for (PointsState::Sampled& sampled : state.sampled)
            sampled.rows = 0;  // their buffers are of another size
    state.positions.assign(positions.begin(), positions.end());
    state.count = count;
    state.placed = true;
    scalars_due = true;
}

void Session::State::set_point_values(int index, const std::string& name, std::span<const double> values) {
    const PointsPlan& points_plan = plan.points[index];
    const int column = column_index(points_plan, name);
    const int given = column < 0 ? trace_index(points_plan, name, false) : -1;
    if (column < 0 && given < 0) {
        const bool sampled = trace_index(points_plan, name, true) >= 0;
        refuse_name(points_plan, name, sampled ? "sampled: it is read, not given" : "read by nothing");
    }
    PointsState::Values& target = column >= 0 ? points[index].columns[column] : points[index].traces[given];
    target.host.assign(values.begin(), values.end());
    target.given = true;
    scalars_due = true;
}

void Session::State::check_point_values(int index) const {
    const PointsPlan& points_plan = plan.points[index];
    const PointsState& state = points[index];
    if (!state.placed)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("points '{}' of '{}' were given no positions", points_plan.name, plan.name));
    const auto check = [&](const PointsState::Values& values, const std::string& name, bool is_row) {
        const std::string own = points_plan.name + "." + name;
        if (!values.given)
            throw Error(ErrorCode::bad_argument,
                        fmt::format("'{}' of '{}' was given no values", own, plan.name));
        const auto size = static_cast<std::int64_t>(values.host.size());
        const bool fits =
            is_row ? size == state.count : (state.count == 0 ? size == 0 : size % state.count == 0);
        if (!fits)
            throw Error(
                ErrorCode::bad_argument,
                fmt::format("'{}' has {} values for {} points; {}", own, size, state.count,
                            is_row ? "one for each is needed" : "a row of one for each makes a step"));
    };
    for (std::size_t i = 0; i < state.columns.size(); ++i)
        check(state.columns[i], points_plan.columns[i], true);
    for (std::size_t i = 0; i < state.traces.size(); ++i)
        if (!points_plan.traces[i].sampled) check(state.traces[i], points_plan.traces[i].name, false);
}

PointGrid Session::State::point_grid(const std::vector<double>& values) const {
    PointGrid grid;
    grid.rank = plan.rank;
    grid.extent = geometry.extent;
    for (int axis = 0; axis < plan.rank; ++axis) {
        grid.spacing[axis] = rt::evaluate(plan.spacing[axis], values, geometry.extent);
        grid.origin[axis] = rt::evaluate(plan.origin[axis], values, geometry.extent);
        const std::optional<WindowPlan>& along = plan.window[axis];
        if (!along) continue;
        if (!grid.window) grid.window = PointWindow{{}, geometry.extent, {}};
        grid.extent[axis] = static_cast<std::int64_t>(values[along->length]);
        grid.window->first[axis] = static_cast<std::int64_t>(values[along->first]);
        grid.window->wraps[axis] = along->wraps;
    }
    return grid;
}

void Session::State::place_points(const std::vector<double>& values) {
    if (points.empty()) return;
    const PointGrid grid = point_grid(values);
    for (std::size_t i = 0; i < points.size(); ++i) {
        check_point_values(static_cast<int>(i));
        PointsState& state = points[i];
        const PointLists lists = make_point_lists(plan.points[i], grid, state.positions);
        device->synchronize();  // a step may still read the old lists
        state.touched = static_cast<std::int64_t>(lists.cell_x.size());
        state.arrays.clear();
        for (const auto* list :
             {&lists.cell_x, &lists.cell_y, &lists.cell_z, &lists.cell_begin, &lists.entry_point})
            state.arrays.push_back(on_device(*device, *list));
        state.arrays.push_back(on_device(*device, lists.entry_weight));
        for (const auto* list : {&lists.point_begin, &lists.sample_x, &lists.sample_y, &lists.sample_z})
            state.arrays.push_back(on_device(*device, *list));
        state.arrays.push_back(on_device(*device, lists.sample_weight));
        for (auto* numbers : {&state.columns, &state.traces})
            for (PointsState::Values& each : *numbers)
                each.memory = on_device(*device, each.host);
        state.zeros = on_device(*device, std::vector<double>(static_cast<std::size_t>(state.count)));
        for (std::size_t trace = 0; trace < state.sampled.size(); ++trace) {
            PointsState::Sampled& sampled = state.sampled[trace];
            if (!plan.points[i].traces[trace].sampled || sampled.rows > 0) continue;
            const std::int64_t row = 8 * std::max<std::int64_t>(state.count, 1);
            sampled.rows = std::clamp<std::int64_t>(kSampledBytes / row, 1, kMostSampledRows);
            sampled.first = steps_done;
            sampled.memory = DeviceMemory(*device, sampled.rows * row);
        }
    }
    for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
        const Domain& domain = plan.kernels[k].domain;
        if (domain.kind != Domain::Kind::cells && domain.kind != Domain::Kind::samples) continue;
        const PointsState& state = points[domain.index];
        const std::int64_t count = domain.kind == Domain::Kind::cells ? state.touched : state.count;
        blocks[k] = {(count + plan.kernels[k].tile[0] - 1) / plan.kernels[k].tile[0], 1, 1};
    }
}

bool Session::State::is_trace(const Argument& argument) const {
    if (argument.kind != Argument::Kind::points) return false;
    const int first = static_cast<int>(PointsPart::first_column);
    return argument.part >= first + static_cast<int>(plan.points[argument.index].columns.size());
}

PreparedLaunch::Value Session::State::point_argument(const Argument& argument, std::int64_t step) {
    PointsState& state = points[argument.index];
    PreparedLaunch::Value value{};
    if (argument.kind == Argument::Kind::count) {
        const bool of_cells = argument.part == static_cast<int>(PointsCount::touched);
        value.i32 = static_cast<std::int32_t>(of_cells ? state.touched : state.count);
        return value;
    }
    const int column = argument.part - static_cast<int>(PointsPart::first_column);
    if (column < 0) {
        value.address = state.arrays[argument.part].address();
        return value;
    }
    const auto columns = static_cast<int>(state.columns.size());
    if (column < columns) {
        value.address = state.columns[column].memory.address();
        return value;
    }
    const int trace = column - columns;
    if (plan.points[argument.index].traces[trace].sampled) {
        PointsState::Sampled& sampled = state.sampled[trace];
        if (step - sampled.first >= sampled.rows) fetch_samples(sampled, state.count, step);
        value.address = static_cast<double*>(sampled.memory.address()) + (step - sampled.first) * state.count;
        return value;
    }
    PointsState::Values& given = state.traces[trace];
    const bool is_past = (step + 1) * state.count > static_cast<std::int64_t>(given.host.size());
    value.address =
        is_past ? state.zeros.address() : static_cast<double*>(given.memory.address()) + step * state.count;
    return value;
}

// The rows of the steps before `before` go to the host.
void Session::State::fetch_samples(PointsState::Sampled& sampled, std::int64_t count, std::int64_t before) {
    const std::int64_t values = (before - sampled.first) * count;
    if (values > 0) {
        const std::size_t known = sampled.host.size();
        sampled.host.resize(known + static_cast<std::size_t>(values));
        device->copy_to_host(sampled.host.data() + known, sampled.memory.address(), 8 * values);
    }
    sampled.first = before;
}

std::vector<double> Session::State::trace(int index, const std::string& name) {
    const int trace = trace_index(plan.points[index], name, true);
    if (trace < 0) refuse_name(plan.points[index], name, "sampled by nothing");
    PointsState::Sampled& sampled = points[index].sampled[trace];
    if (steps_done > 0) fetch_samples(sampled, points[index].count, steps_done);
    return sampled.host;
}

void Session::State::continue_trace(int index, const std::string& name, const std::vector<double>& rows) {
    const int trace = trace_index(plan.points[index], name, true);
    if (trace < 0) refuse_name(plan.points[index], name, "sampled by nothing");
    PointsState::Sampled& sampled = points[index].sampled[trace];
    sampled.host = rows;
    sampled.first = steps_done;
}

}  // namespace halo::rt
