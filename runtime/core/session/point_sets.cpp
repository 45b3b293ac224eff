#include "runtime/core/session/point_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace halo::rt::session {

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

PointSets::PointSets(const Setup& setup, const Clock& clock, Due& due)
    : setup_(setup), clock_(clock), due_(due), sets_(setup.plan.points.size()) {
    for (std::size_t i = 0; i < sets_.size(); ++i) {
        sets_[i].columns.resize(setup.plan.points[i].columns.size());
        sets_[i].traces.resize(setup.plan.points[i].traces.size());
        sets_[i].sampled.resize(setup.plan.points[i].traces.size());
    }
}

void PointSets::set(int index, std::span<const double> positions) {
    const PointsPlan& points_plan = plan_of(index);
    Points& points = at(index);
    const auto rank = static_cast<std::size_t>(setup_.plan.rank);
    if (positions.size() % rank != 0)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("points '{}' have {} coordinate{} each; {} numbers are no whole points",
                                points_plan.name, rank, rank == 1 ? "" : "s", positions.size()));
    const auto count = static_cast<std::int64_t>(positions.size() / rank);
    if (count > std::numeric_limits<std::int32_t>::max())
        throw Error(ErrorCode::bad_argument,
                    fmt::format("'{}' cannot be {} points", points_plan.name, count));
    if (clock_.steps_done > 0 && points.placed && count != points.count)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("'{}' are {} points since the first step, and {} were given",
                                points_plan.name, points.count, count));
    if (count != points.count)
        for (Sampled& sampled : points.sampled)
            sampled.rows = 0;  // their buffers are of another size
    points.positions.assign(positions.begin(), positions.end());
    points.count = count;
    points.placed = true;
    due_.scalars = true;
}

void PointSets::set_values(int index, const std::string& name, std::span<const double> values) {
    const PointsPlan& points_plan = plan_of(index);
    const int column = column_index(points_plan, name);
    const int given = column < 0 ? trace_index(points_plan, name, false) : -1;
    if (column < 0 && given < 0) {
        const bool sampled = trace_index(points_plan, name, true) >= 0;
        refuse_name(points_plan, name, sampled ? "sampled: it is read, not given" : "read by nothing");
    }
    Values& target = column >= 0 ? at(index).columns[static_cast<std::size_t>(column)]
                                 : at(index).traces[static_cast<std::size_t>(given)];
    target.host.assign(values.begin(), values.end());
    target.given = true;
    due_.scalars = true;
}

void PointSets::check_values(int index) const {
    const PointsPlan& points_plan = plan_of(index);
    const Points& points = at(index);
    const std::string& program = setup_.plan.name;
    if (!points.placed)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("points '{}' of '{}' were given no positions", points_plan.name, program));
    const auto check = [&](const Values& values, const std::string& name, bool is_row) {
        const std::string own = points_plan.name + "." + name;
        if (!values.given)
            throw Error(ErrorCode::bad_argument,
                        fmt::format("'{}' of '{}' was given no values", own, program));
        const auto size = static_cast<std::int64_t>(values.host.size());
        const bool fits =
            is_row ? size == points.count : (points.count == 0 ? size == 0 : size % points.count == 0);
        if (!fits)
            throw Error(
                ErrorCode::bad_argument,
                fmt::format("'{}' has {} values for {} points; {}", own, size, points.count,
                            is_row ? "one for each is needed" : "a row of one for each makes a step"));
    };
    for (std::size_t i = 0; i < points.columns.size(); ++i)
        check(points.columns[i], points_plan.columns[i], true);
    for (std::size_t i = 0; i < points.traces.size(); ++i)
        if (!points_plan.traces[i].sampled) check(points.traces[i], points_plan.traces[i].name, false);
}

PointGrid PointSets::grid(const std::vector<double>& params) const {
    const LaunchPlan& plan = setup_.plan;
    PointGrid grid;
    grid.rank = plan.rank;
    grid.extent = setup_.geometry.extent;
    for (int axis = 0; axis < plan.rank; ++axis) {
        grid.spacing[axis] = rt::evaluate(plan.spacing[axis], params, setup_.geometry.extent);
        grid.origin[axis] = rt::evaluate(plan.origin[axis], params, setup_.geometry.extent);
        const std::optional<WindowPlan>& along = plan.window[axis];
        if (!along) continue;
        if (!grid.window) grid.window = PointWindow{{}, setup_.geometry.extent, {}};
        grid.extent[axis] = static_cast<std::int64_t>(params[along->length]);
        grid.window->first[axis] = static_cast<std::int64_t>(params[along->first]);
        grid.window->wraps[axis] = along->wraps;
    }
    return grid;
}

void PointSets::place(const std::vector<double>& params, Kernels& kernels) {
    if (sets_.empty()) return;
    const PointGrid all = grid(params);
    for (std::size_t i = 0; i < sets_.size(); ++i) {
        check_values(static_cast<int>(i));
        place_set(static_cast<int>(i), all);
    }
    const std::vector<KernelPlan>& kernel_plans = setup_.plan.kernels;
    for (std::size_t k = 0; k < kernel_plans.size(); ++k) {
        const Domain& domain = kernel_plans[k].domain;
        if (domain.kind != Domain::Kind::cells && domain.kind != Domain::Kind::samples) continue;
        const Points& points = at(domain.index);
        kernels.set_items(static_cast<int>(k),
                          domain.kind == Domain::Kind::cells ? points.touched : points.count);
    }
}

void PointSets::place_set(int index, const PointGrid& grid) {
    Device& device = *setup_.device;
    Points& points = at(index);
    const PointLists lists = make_point_lists(plan_of(index), grid, points.positions);
    device.synchronize();  // a step may still read the old lists
    points.staged.clear();
    points.touched = static_cast<std::int64_t>(lists.cell_x.size());
    points.arrays.clear();
    for (const auto* list :
         {&lists.cell_x, &lists.cell_y, &lists.cell_z, &lists.cell_begin, &lists.entry_point})
        points.arrays.push_back(on_device(device, *list));
    points.arrays.push_back(on_device(device, lists.entry_weight));
    for (const auto* list : {&lists.point_begin, &lists.sample_x, &lists.sample_y, &lists.sample_z})
        points.arrays.push_back(on_device(device, *list));
    points.arrays.push_back(on_device(device, lists.sample_weight));
    for (auto* numbers : {&points.columns, &points.traces})
        for (Values& each : *numbers)
            each.memory = on_device(device, each.host);
    points.zeros = on_device(device, std::vector<double>(static_cast<std::size_t>(points.count)));
    for (std::size_t trace = 0; trace < points.sampled.size(); ++trace) {
        Sampled& sampled = points.sampled[trace];
        if (!plan_of(index).traces[trace].sampled || sampled.rows > 0) continue;
        const std::int64_t row = 8 * std::max<std::int64_t>(points.count, 1);
        sampled.rows = std::clamp<std::int64_t>(kSampledBytes / row, 1, kMostSampledRows);
        sampled.first = clock_.steps_done;
        sampled.memory = DeviceMemory(device, sampled.rows * row);
    }
}

bool PointSets::is_trace(const Argument& argument) const {
    if (argument.kind != Argument::Kind::points) return false;
    const int first = static_cast<int>(PointsPart::first_column);
    return argument.part >= first + static_cast<int>(plan_of(argument.index).columns.size());
}

std::int64_t PointSets::count(const Argument& argument) const {
    const bool of_cells = argument.part == static_cast<int>(PointsCount::touched);
    return of_cells ? at(argument.index).touched : at(argument.index).count;
}

void* PointSets::address(const Argument& argument, std::int64_t step) {
    Points& points = at(argument.index);
    const int column = argument.part - static_cast<int>(PointsPart::first_column);
    if (column < 0) return points.arrays[static_cast<std::size_t>(argument.part)].address();
    const auto place = static_cast<std::size_t>(column);
    if (place < points.columns.size()) return points.columns[place].memory.address();
    const std::size_t trace = place - points.columns.size();
    if (plan_of(argument.index).traces[trace].sampled) {
        Sampled& sampled = points.sampled[trace];
        if (step - sampled.first >= sampled.rows) fetch(sampled, points.count, step);
        return static_cast<double*>(sampled.memory.address()) + (step - sampled.first) * points.count;
    }
    const Values& given = points.traces[trace];
    const bool is_past = (step + 1) * points.count > static_cast<std::int64_t>(given.host.size());
    return is_past ? points.zeros.address()
                   : static_cast<double*>(given.memory.address()) + step * points.count;
}

template <class Work>
void PointSets::for_each_trace(Work&& work) {
    for (std::size_t i = 0; i < sets_.size(); ++i)
        for (std::size_t trace = 0; sets_[i].count > 0 && trace < sets_[i].traces.size(); ++trace)
            work(sets_[i], trace, setup_.plan.points[i].traces[trace].sampled);
}

bool PointSets::can_stage(std::int64_t steps) const {
    for (std::size_t i = 0; i < sets_.size(); ++i)
        for (std::size_t trace = 0; trace < sets_[i].traces.size(); ++trace)
            if (setup_.plan.points[i].traces[trace].sampled && sets_[i].sampled[trace].rows < steps)
                return false;
    return true;
}

void PointSets::make_rows(std::int64_t steps) {
    for (Points& points : sets_)
        points.staged.resize(points.traces.size());
    for_each_trace([&](Points& points, std::size_t trace, bool) {
        const std::int64_t bytes = 8 * points.count * steps;
        if (points.staged[trace].bytes() != bytes) points.staged[trace] = DeviceMemory(*setup_.device, bytes);
    });
}

void* PointSets::row(const Argument& argument, std::int64_t step_of_recording) {
    Points& points = at(argument.index);
    const std::size_t trace =
        static_cast<std::size_t>(argument.part - static_cast<int>(PointsPart::first_column)) -
        points.columns.size();
    return static_cast<double*>(points.staged[trace].address()) + step_of_recording * points.count;
}

void PointSets::load_rows(std::int64_t first_step, std::int64_t steps) {
    for_each_trace([&](Points& points, std::size_t trace, bool is_sampled) {
        if (is_sampled) return;
        const Values& given = points.traces[trace];
        const auto known = static_cast<std::int64_t>(given.host.size()) / points.count;
        const std::int64_t there = std::clamp<std::int64_t>(known - first_step, 0, steps);
        auto* const rows = static_cast<double*>(points.staged[trace].address());
        if (there > 0)
            setup_.device->copy_on_device(
                rows, static_cast<const double*>(given.memory.address()) + first_step * points.count,
                8 * there * points.count);
        if (there < steps)  // past a trace's end there are zeros
            setup_.device->set_bytes(rows + there * points.count, 0, 8 * (steps - there) * points.count);
    });
}

void PointSets::store_rows(std::int64_t first_step, std::int64_t steps) {
    for_each_trace([&](Points& points, std::size_t trace, bool is_sampled) {
        if (!is_sampled) return;
        Sampled& sampled = points.sampled[trace];
        if (first_step - sampled.first + steps > sampled.rows) fetch(sampled, points.count, first_step);
        setup_.device->copy_on_device(
            static_cast<double*>(sampled.memory.address()) + (first_step - sampled.first) * points.count,
            points.staged[trace].address(), 8 * steps * points.count);
    });
}

// Moves the rows of the steps before `before` to the host.
void PointSets::fetch(Sampled& sampled, std::int64_t count, std::int64_t before) {
    const std::int64_t values = (before - sampled.first) * count;
    if (values > 0) {
        const std::size_t known = sampled.host.size();
        sampled.host.resize(known + static_cast<std::size_t>(values));
        setup_.device->copy_to_host(sampled.host.data() + known, sampled.memory.address(), 8 * values);
    }
    sampled.first = before;
}

int PointSets::sampled_trace(int index, const std::string& name) const {
    const int trace = trace_index(plan_of(index), name, true);
    if (trace < 0) refuse_name(plan_of(index), name, "sampled by nothing");
    return trace;
}

std::vector<double> PointSets::trace(int index, const std::string& name) {
    Sampled& sampled = at(index).sampled[static_cast<std::size_t>(sampled_trace(index, name))];
    if (clock_.steps_done > 0) fetch(sampled, at(index).count, clock_.steps_done);
    return sampled.host;
}

void PointSets::continue_trace(int index, const std::string& name, const std::vector<double>& rows) {
    Sampled& sampled = at(index).sampled[static_cast<std::size_t>(sampled_trace(index, name))];
    sampled.host = rows;
    sampled.first = clock_.steps_done;
}

void PointSets::go_back_to(std::int64_t step) {
    for (Points& points : sets_) {
        for (Sampled& sampled : points.sampled) {
            if (sampled.first <= step) continue;  // the row is in the device's buffer
            sampled.host.resize(static_cast<std::size_t>(step * points.count));
            sampled.first = step;
        }
    }
}

}  // namespace halo::rt::session
