// [axes]
// The points of an axis whose cells are not equally far apart: how far each cell lies from the next, and
// where. Past the faces cells lie as those inside, mirrored at the edge cell, or they go round.
struct AxisPoints {
    std::vector<double> distances, positions;
    bool is_periodic = false;
};

double distance(const AxisPoints& axis, long long cell) {
    const long long cells = static_cast<long long>(axis.distances.size());
    const bool goes_round = axis.is_periodic || cells == 1;
    const long long period = goes_round ? cells : 2 * (cells - 1);
    const long long at = (cell % period + period) % period;
    return axis.distances[goes_round || at < cells - 1 ? at : period - 1 - at];
}

// From a point, of the cell or half a cell above it, to one that lies `by` cells further along the axis.
double way(const AxisPoints& axis, long long cell, bool from_half, int by, bool to_half) {
    double sum = 0;
    for (int i = 0; i < by; ++i)
        sum += distance(axis, cell + i);
    for (int i = -1; i >= by; --i)
        sum -= distance(axis, cell + i);
    if (to_half) sum += distance(axis, cell + by) / 2;
    if (from_half) sum -= distance(axis, cell) / 2;
    return sum;
}

double position(const AxisPoints& axis, long long cell, bool at_half) {
    const long long cells = static_cast<long long>(axis.distances.size());
    if (cell < 0) return axis.positions.front() + way(axis, 0, false, static_cast<int>(cell), at_half);
    if (cell > cells)
        return axis.positions.back() + way(axis, cells, false, static_cast<int>(cell - cells), at_half);
    return axis.positions[cell] + (at_half ? distance(axis, cell) / 2 : 0);
}

// The weight of the value at each of these places in a derivative at 0, by Fornberg's method (Mathematics of
// Computation 51, 1988): weight[i][k] is that of place i in derivative k, over the places so far.
std::vector<double> difference_weights(int derivative, const std::vector<double>& places) {
    std::vector<std::vector<double>> weight(places.size(), std::vector<double>(derivative + 1));
    weight[0][0] = 1;
    double product_before = 1;
    for (int i = 1; i < static_cast<int>(places.size()); ++i) {
        const int highest = i < derivative ? i : derivative;
        double product = 1;
        for (int j = 0; j < i; ++j) {
            const double apart = places[i] - places[j];
            product = product * apart;
            if (j == i - 1) {
                const double ratio = product_before / product;
                for (int k = highest; k >= 1; --k)
                    weight[i][k] = ratio * (k * weight[j][k - 1] - places[j] * weight[j][k]);
                weight[i][0] = -(ratio * places[j] * weight[j][0]);
            }
            for (int k = highest; k >= 1; --k)
                weight[j][k] = (places[i] * weight[j][k] - k * weight[j][k - 1]) / apart;
            weight[j][0] = places[i] * weight[j][0] / apart;
        }
        product_before = product;
    }
    std::vector<double> result;
    for (const std::vector<double>& each : weight)
        result.push_back(each[derivative]);
    return result;
}

// Of the point number `node` in a difference over points that lie `by` cells further than a cell.
double weight_at(const AxisPoints& axis, long long cell, bool at_half, int derivative,
                 const std::vector<int>& by, bool by_half, int node) {
    std::vector<double> places;
    for (const int each : by)
        places.push_back(way(axis, cell, at_half, each, by_half));
    return difference_weights(derivative, places)[node];
}

// Places the cells of an axis, the first at its origin.
stencil_status place_cells(AxisPoints& axis, const char* name, double origin) {
    const long long cells = static_cast<long long>(axis.distances.size());
    const long long counted = axis.is_periodic || cells == 1 ? cells : cells - 1;
    for (long long cell = 0; cell < counted; ++cell)
        if (!(axis.distances[cell] > 0) || !std::isfinite(axis.distances[cell]))
            return fail(STENCIL_BAD_ARGUMENT,
                        "the spacing of %s must be greater than 0, and is %g in the cell %s = %lld", name,
                        axis.distances[cell], name, cell);
    axis.positions.push_back(origin);
    for (long long cell = 0; cell < cells; ++cell)
        axis.positions.push_back(axis.positions.back() + distance(axis, cell));
    return STENCIL_OK;
}

// Numbers along an axis, to the device.
template <class T>
stencil_status store_axis(const stencil_solver& solver, T* to, const std::vector<double>& numbers) {
    std::vector<T> rounded;
    for (const double number : numbers)
        rounded.push_back(static_cast<T>(number));
    const cudaError_t error = cudaMemcpyAsync(to, rounded.data(), rounded.size() * sizeof(T),
                                              cudaMemcpyHostToDevice, solver.stream);
    if (error != cudaSuccess) return check(error, "storing what unequal spacing gives");
    return check(cudaStreamSynchronize(solver.stream), "storing what unequal spacing gives");
}
// [axes read]
// And from there.
template <class T>
stencil_status read_axis(const stencil_solver& solver, const T* from, std::vector<double>& numbers) {
    std::vector<T> read(numbers.size());
    const cudaError_t error =
        cudaMemcpyAsync(read.data(), from, read.size() * sizeof(T), cudaMemcpyDeviceToHost, solver.stream);
    if (error != cudaSuccess) return check(error, "reading a spacing");
    if (const stencil_status status = check(cudaStreamSynchronize(solver.stream), "reading a spacing"))
        return status;
    numbers.assign(read.begin(), read.end());
    return STENCIL_OK;
}
