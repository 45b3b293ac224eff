// [points types]
// Points off the grid and the cells that they touch; arrays are on the device. What a point injects comes to
// each cell that it touches times a weight, and what it samples is the sum of them times these.
struct Points {
    std::vector<double> positions;  // on the host: each point's coordinates
    long long count = -1;           // of points; -1: none were placed
    int touched = 0;                // cells
    int* cell[3] = {};              // of each touched cell: where it lies along each axis,
    int* cell_begin = nullptr;      // and where its points begin in the two that follow
    int* entry_point = nullptr;
    double* entry_weight = nullptr;
    int* point_begin = nullptr;  // of each point: where its cells begin in the two that follow
    int* sample[3] = {};
    double* sample_weight = nullptr;
    double* zeros = nullptr;  // one of each point
};

// Numbers of points, a row of one for each for every step.
struct Series {
    double* values = nullptr;     // on the device
    long long rows = 0;           // that are there; of a sampled one, that there is room for
    long long first = 0;          // of a sampled one: the step that the first row is of,
    std::vector<double> fetched;  // and the rows of the steps before, on the host
};
// [points]
using Points = stencil_solver::Points;
using Series = stencil_solver::Series;
// [points injected row]
// What is injected in the step that comes next: after the last row, zeros.
const double* injected_row(const stencil_solver& solver, const Points& points, const Series& series) {
    return solver.steps < series.rows ? series.values + solver.steps * points.count : points.zeros;
}
// [points sampled row]
// Where the values of the step that comes next go.
double* sampled_row(const stencil_solver& solver, const Points& points, const Series& series) {
    return series.values + (solver.steps - series.first) * points.count;
}
// [weight linear]
// Of a cell that lies so far from a point along an axis, in cells.
double weight_of(double distance, int) {
    return 1 - std::fabs(distance);
}
// [weight sinc]
// The modified Bessel function of order 0, by its power series: all terms are positive.
double bessel_i0(double x) {
    const double quarter = x * x / 4;
    double sum = 1, term = 1;
    for (int k = 1; term > 1e-17 * sum; ++k) {
        term *= quarter / (static_cast<double>(k) * k);
        sum += term;
    }
    return sum;
}

// Of a cell that lies so far from a point along an axis, in cells: linear for radius 0, else a sinc under
// Kaiser's window, with the b that Hicks (Geophysics 67, 156-166, 2002, table 1) found best for the radius.
double weight_of(double distance, int radius) {
    if (radius == 0) return 1 - std::fabs(distance);
    const double kaiser[] = {1.24, 2.94, 4.53, 6.31, 7.91, 9.42, 10.95, 12.53, 14.09, 14.18};
    const double pi = 3.14159265358979323846, b = kaiser[radius - 1];
    const double inside = 1 - (distance / radius) * (distance / radius);
    const double sinc = distance == 0 ? 1 : std::sin(pi * distance) / (pi * distance);
    return inside > 0 ? sinc * bessel_i0(b * std::sqrt(inside)) / bessel_i0(b) : 0;
}
// [points lists]
struct PointAxis {
    const char* name;
    long long cells;
    double origin;   // of the first cell
    double spacing;  // from one cell to the next
};

struct AxisWeight {
    int index;
    double weight;
};

// The cells of the grid around a point along one axis; the point lies `place` cells from the first.
std::vector<AxisWeight> weights_along(double place, long long cells, int radius) {
    const long long low = static_cast<long long>(std::floor(place));
    const int reach = radius == 0 ? 1 : radius;
    std::vector<AxisWeight> weights;
    for (long long index = low - reach + 1; index <= low + reach; ++index) {
        if (index < 0 || index >= cells) continue;
        const double weight = weight_of(place - static_cast<double>(index), radius);
        // On a cell, all others have nothing but the rounding of sin(pi k).
        const bool on_cell = place == static_cast<double>(low);
        if (weight == 0 || (on_cell && index != low)) continue;
        weights.push_back({static_cast<int>(index), weight});
    }
    return weights;
}

struct TouchedCell {
    std::array<int, 3> cell;  // z first, as cells lie in memory
    double weight;
};

// The cells that one point touches, in the order of memory.
stencil_status touch(const Points& points, long long point, const char* name, int radius,
                     const std::vector<PointAxis>& axes, std::vector<TouchedCell>& touched) {
    std::array<std::vector<AxisWeight>, 3> along;
    along.fill({{0, 1.0}});
    for (size_t axis = 0; axis < axes.size(); ++axis) {
        const PointAxis& of = axes[axis];
        const double position = points.positions[point * axes.size() + axis];
        const double place = (position - of.origin) / of.spacing, last = static_cast<double>(of.cells - 1);
        if (!(place >= 0 && place <= last)) {
            return fail(STENCIL_BAD_ARGUMENT,
                        "point %lld of %s: its %s is %g, outside of the grid, which spans %g to %g", point,
                        name, of.name, position, of.origin, of.origin + of.spacing * last);
        }
        along[axis] = weights_along(place, of.cells, radius);
    }
    touched.clear();
    for (const AxisWeight& z : along[2])
        for (const AxisWeight& y : along[1])
            for (const AxisWeight& x : along[0])
                touched.push_back({{z.index, y.index, x.index}, x.weight * y.weight * z.weight});
    return STENCIL_OK;
}

struct PointLists {
    std::vector<int> cell[3], cell_begin, entry_point, point_begin, sample[3];
    std::vector<double> entry_weight, sample_weight;
};

// The same cells by point, for sampling, and by cell, for injecting: each cell is added to by one thread, by
// its points in their order.
stencil_status list_cells(const Points& points, const char* name, int radius,
                          const std::vector<PointAxis>& axes, PointLists& lists) {
    std::map<std::array<int, 3>, std::vector<std::pair<int, double>>> by_cell;
    std::vector<TouchedCell> touched;
    lists.point_begin.push_back(0);
    for (long long point = 0; point < points.count; ++point) {
        const stencil_status status = touch(points, point, name, radius, axes, touched);
        if (status != STENCIL_OK) return status;
        for (const TouchedCell& each : touched) {
            for (int axis = 0; axis < 3; ++axis)
                lists.sample[axis].push_back(each.cell[2 - axis]);
            lists.sample_weight.push_back(each.weight);
            by_cell[each.cell].emplace_back(static_cast<int>(point), each.weight);
        }
        if (lists.sample_weight.size() > 2147483647)
            return fail(STENCIL_BAD_ARGUMENT, "the points %s touch too many cells", name);
        lists.point_begin.push_back(static_cast<int>(lists.sample_weight.size()));
    }
    lists.cell_begin.push_back(0);
    for (const auto& cell : by_cell) {
        for (int axis = 0; axis < 3; ++axis)
            lists.cell[axis].push_back(cell.first[2 - axis]);
        for (const auto& entry : cell.second) {
            lists.entry_point.push_back(entry.first);
            lists.entry_weight.push_back(entry.second);
        }
        lists.cell_begin.push_back(static_cast<int>(lists.entry_point.size()));
    }
    return STENCIL_OK;
}

// To an array of their own on the device, in place of the one before. Waits.
template <class T>
stencil_status send(const stencil_solver& solver, T*& array, const std::vector<T>& values) {
    cudaFree(array);
    array = nullptr;
    const stencil_status status = allocate(array, values.empty() ? 1 : values.size());
    if (status != STENCIL_OK || values.empty()) return status;
    const cudaError_t error = cudaMemcpyAsync(array, values.data(), values.size() * sizeof(T),
                                              cudaMemcpyHostToDevice, solver.stream);
    if (error != cudaSuccess) return check(error, "sending points");
    return check(cudaStreamSynchronize(solver.stream), "sending points");
}

stencil_status send_lists(const stencil_solver& solver, Points& points, const PointLists& lists) {
    const std::pair<int**, const std::vector<int>*> whole[] = {
        {&points.cell[0], &lists.cell[0]},         {&points.cell[1], &lists.cell[1]},
        {&points.cell[2], &lists.cell[2]},         {&points.cell_begin, &lists.cell_begin},
        {&points.entry_point, &lists.entry_point}, {&points.point_begin, &lists.point_begin},
        {&points.sample[0], &lists.sample[0]},     {&points.sample[1], &lists.sample[1]},
        {&points.sample[2], &lists.sample[2]}};
    for (const auto& each : whole) {
        const stencil_status status = send(solver, *each.first, *each.second);
        if (status != STENCIL_OK) return status;
    }
    stencil_status status = send(solver, points.entry_weight, lists.entry_weight);
    if (status == STENCIL_OK) status = send(solver, points.sample_weight, lists.sample_weight);
    if (status == STENCIL_OK) status = send(solver, points.zeros, std::vector<double>(points.count));
    points.touched = static_cast<int>(lists.cell[0].size());
    return status;
}

// Finds the cells that points touch. radius: of their sincs; 0 for linear weights.
stencil_status place(const stencil_solver& solver, Points& points, const char* name, int radius,
                     const std::vector<PointAxis>& axes) {
    const stencil_status status = check(cudaStreamSynchronize(solver.stream), "placing points");
    if (status != STENCIL_OK) return status;  // else no step reads the lists any more
    try {
        PointLists lists;
        const stencil_status listed = list_cells(points, name, radius, axes, lists);
        return listed == STENCIL_OK ? send_lists(solver, points, lists) : listed;
    } catch (const std::bad_alloc&) {
        return fail(STENCIL_OUT_OF_MEMORY, "no memory for the cells of the points %s", name);
    }
}

void release(const Points& points) {
    for (int axis = 0; axis < 3; ++axis) {
        cudaFree(points.cell[axis]);
        cudaFree(points.sample[axis]);
    }
    for (int* list : {points.cell_begin, points.entry_point, points.point_begin})
        cudaFree(list);
    for (double* list : {points.entry_weight, points.sample_weight, points.zeros})
        cudaFree(list);
}

// From the caller's array, on the host or on the device. changed: their number is another one.
stencil_status set_positions(const stencil_solver& solver, Points& points, const double* positions,
                             long long count, int rank, const char* doing, bool& changed) {
    changed = count != points.count;
    if (count < 0 || count > 2147483647)
        return fail(STENCIL_BAD_ARGUMENT, "%s: so many points cannot be", doing);
    if (changed && solver.steps > 0)
        return fail(STENCIL_BAD_ARGUMENT, "%s: there are %lld points since the first step", doing,
                    points.count);
    try {
        points.positions.resize(count * rank);
    } catch (const std::bad_alloc&) {
        return fail(STENCIL_OUT_OF_MEMORY, "%s: no memory for so many points", doing);
    }
    points.count = count;
    if (count == 0) return STENCIL_OK;
    const cudaError_t error = cudaMemcpyAsync(
        points.positions.data(), positions, count * rank * sizeof(double), cudaMemcpyDefault, solver.stream);
    if (error != cudaSuccess) return check(error, doing);
    return check(cudaStreamSynchronize(solver.stream), doing);
}
// [points numbers]
// Rows of one number for each point from the caller's array to an array of their own. Waits.
stencil_status set_numbers(const stencil_solver& solver, const Points& points, double*& array,
                           const double* values, long long rows, const char* doing) {
    if (points.count < 0) return fail(STENCIL_BAD_ARGUMENT, "%s: place the points first", doing);
    if (rows < 0) return fail(STENCIL_BAD_ARGUMENT, "%s: so many rows cannot be", doing);
    const long long numbers = rows * points.count;
    if (values == nullptr && numbers > 0) return fail(STENCIL_BAD_ARGUMENT, "%s: a pointer is NULL", doing);
    stencil_status status = check(cudaStreamSynchronize(solver.stream), doing);
    if (status != STENCIL_OK) return status;  // else no step reads the old ones any more
    cudaFree(array);
    array = nullptr;
    status = allocate(array, numbers == 0 ? 1 : numbers);
    if (status != STENCIL_OK || numbers == 0) return status;
    const cudaError_t error =
        cudaMemcpyAsync(array, values, numbers * sizeof(double), cudaMemcpyDefault, solver.stream);
    if (error != cudaSuccess) return check(error, doing);
    return check(cudaStreamSynchronize(solver.stream), doing);
}
// [points sampled]
// Brings the rows on the device to the host. Waits.
stencil_status fetch(const stencil_solver& solver, const Points& points, Series& series) {
    const long long values = (solver.steps - series.first) * points.count;
    if (values > 0) {
        const size_t known = series.fetched.size();
        try {
            series.fetched.resize(known + values);
        } catch (const std::bad_alloc&) {
            return fail(STENCIL_OUT_OF_MEMORY, "no memory for what points sampled");
        }
        const cudaError_t error =
            cudaMemcpyAsync(series.fetched.data() + known, series.values, values * sizeof(double),
                            cudaMemcpyDeviceToHost, solver.stream);
        if (error != cudaSuccess) return check(error, "reading what points sampled");
        const stencil_status status =
            check(cudaStreamSynchronize(solver.stream), "reading what points sampled");
        if (status != STENCIL_OK) return status;
    }
    series.first = solver.steps;
    return STENCIL_OK;
}

// Before a step: room on the device for its row.
stencil_status make_room(const stencil_solver& solver, const Points& points, Series& series) {
    if (series.values != nullptr && solver.steps - series.first < series.rows) return STENCIL_OK;
    if (series.values != nullptr) return fetch(solver, points, series);
    const long long bytes = points.count == 0 ? 8 : 8 * points.count;
    series.rows = std::min(std::max((4LL << 20) / bytes, 1LL), 4096LL);
    return allocate(series.values, series.rows * bytes / 8);
}

// Some rows to the caller's array, on the host or on the device.
stencil_status read_rows(const stencil_solver& solver, const Points& points, Series& series, double* values,
                         long long first, long long rows, const char* doing) {
    if (first < 0 || rows < 0 || first > solver.steps || rows > solver.steps - first)
        return fail(STENCIL_BAD_ARGUMENT, "%s: there are rows of %lld steps", doing, solver.steps);
    const stencil_status status = fetch(solver, points, series);
    if (status != STENCIL_OK || rows * points.count <= 0) return status;
    const cudaError_t error =
        cudaMemcpyAsync(values, series.fetched.data() + first * points.count,
                        rows * points.count * sizeof(double), cudaMemcpyDefault, solver.stream);
    if (error != cudaSuccess) return check(error, doing);
    return check(cudaStreamSynchronize(solver.stream), doing);
}
