// [messages]
// What went wrong last on this thread.
thread_local char last_message[512] = "";

stencil_status fail(stencil_status status, const char* format, ...) {
    va_list values;
    va_start(values, format);
    std::vsnprintf(last_message, sizeof(last_message), format, values);
    va_end(values);
    return status;
}

stencil_status check(cudaError_t error, const char* doing) {
    if (error == cudaSuccess) return STENCIL_OK;
    cudaGetLastError();  // told here, so not again by a later launch
    return fail(STENCIL_CUDA_ERROR, "%s: %s", doing, cudaGetErrorString(error));
}
// [counting]
long long round_up(long long value, long long step) {
    return (value + step - 1) / step * step;
}
// [blocks]
unsigned ceil_div(long long value, long long step) {
    return static_cast<unsigned>((value + step - 1) / step);
}
// [block count]
long long block_count(dim3 blocks) {
    return 1LL * blocks.x * blocks.y * blocks.z;
}
// [together]
// Launches a kernel whose blocks wait for each other: all of them begin at once, or none does.
template <class... Parameters>
cudaError_t launch_together(const stencil_solver& solver, dim3 blocks, dim3 threads, size_t shared_bytes,
                            void (*kernel)(Parameters...),
                            typename std::common_type<Parameters>::type... arguments) {
    void* pointers[] = {&arguments...};
    return cudaLaunchCooperativeKernel(kernel, blocks, threads, pointers, shared_bytes, solver.stream);
}
// [f16 bits]
// The bits of the nearest half-precision number, ties to even: as a number, to be stored as an integer.
double f16_bits(double value) {
    const float narrow = static_cast<float>(value);
    unsigned bits = 0;
    std::memcpy(&bits, &narrow, sizeof(bits));
    const unsigned sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    unsigned result = 0;
    if (magnitude > 0x7f800000u) {
        result = 0x7e00u;  // NaN
    } else if (magnitude >= 0x47800000u) {
        result = 0x7c00u;  // 65536 and more
    } else if (magnitude >= 0x38800000u) {
        result = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    } else {
        result = static_cast<unsigned>(std::nearbyint(std::ldexp(std::fabs(narrow), 24)));  // subnormal
    }
    return sign | result;
}
// [bf16 bits]
// The bits of the nearest bfloat16, ties to even: as a number, to be stored as an integer.
double bf16_bits(double value) {
    const float narrow = static_cast<float>(value);
    unsigned bits = 0;
    std::memcpy(&bits, &narrow, sizeof(bits));
    return std::isnan(narrow) ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16 & 0xffffu;
}
// [nearest]
// The nearest value of an integer type, ties to even; 0 for NaN.
template <class T>
double nearest(double value) {
    if (std::isnan(value)) return 0;
    const double least = static_cast<double>(std::numeric_limits<T>::min());
    const double most = static_cast<double>(std::numeric_limits<T>::max());
    return std::fmin(std::fmax(std::nearbyint(value), least), most);
}
// [rows]
// Rows of `given` values into rows of `width`, of which the rest is 0; as many more are 0 as padded says.
template <class T>
cudaError_t copy_rows(const stencil_solver& solver, T* to, long long width, long long padded, const T* from,
                      long long given, long long count) {
    const cudaError_t error = cudaMemsetAsync(to, 0, padded * width * sizeof(T), solver.stream);
    if (error != cudaSuccess || count == 0) return error;
    return cudaMemcpy2DAsync(to, width * sizeof(T), from, given * sizeof(T), given * sizeof(T), count,
                             cudaMemcpyDefault, solver.stream);
}
// [levels]
template <class T>
stencil_status copy_level(const stencil_solver& solver, T* to, const T* from, long long elements) {
    const size_t bytes = elements * sizeof(T);
    return check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, solver.stream),
                 "copying a level");
}
// [copies 1]
// The cells of one array to another, on the device or the host.
template <class T>
cudaError_t copy_cells(const stencil_solver& solver, T* to, const T* from) {
    return cudaMemcpyAsync(to, from, NX * sizeof(T), cudaMemcpyDefault, solver.stream);
}
// [copies 2]
// The cells of one array to another, on the device or the host; rows lie so many elements apart.
template <class T>
cudaError_t copy_cells(const stencil_solver& solver, T* to, long long to_pitch, const T* from,
                       long long from_pitch) {
    return cudaMemcpy2DAsync(to, to_pitch * sizeof(T), from, from_pitch * sizeof(T), NX * sizeof(T), NY,
                             cudaMemcpyDefault, solver.stream);
}
// [copies 3]
// Rows lie `pitch` elements apart and planes `slice`, which is a multiple of it.
template <class T>
cudaPitchedPtr planes(const stencil_solver& solver, T* cells, long long pitch, long long slice) {
    return make_cudaPitchedPtr(cells, pitch * sizeof(T), NX, slice / pitch);
}

// The cells of one array to another, on the device or the host.
template <class T>
cudaError_t copy_cells(const stencil_solver& solver, T* to, long long to_pitch, long long to_slice,
                       const T* from, long long from_pitch, long long from_slice) {
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = planes(solver, const_cast<T*>(from), from_pitch, from_slice);
    copy.dstPtr = planes(solver, to, to_pitch, to_slice);
    copy.extent = make_cudaExtent(NX * sizeof(T), NY, NZ);
    copy.kind = cudaMemcpyDefault;
    return cudaMemcpy3DAsync(&copy, solver.stream);
}
// [components]
// The cells of a level whose components lie side by side; `components` of them make a cell.
struct Interleaved {
    long long nx, ny, nz;
    long long pitch, slice;  // cells from one row and plane to the next
    long long components;
};

// One component of all cells, between a level and a dense array; `cells` is that component of the first cell.
template <class T>
__global__ void copy_component(T* cells, T* dense, Interleaved level, bool to_level) {
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (long long at = thread; at < level.nx * level.ny * level.nz; at += threads) {
        const long long i = at % level.nx;
        const long long j = at / level.nx % level.ny;
        const long long k = at / (level.nx * level.ny);
        T& cell = cells[(i + j * level.pitch + k * level.slice) * level.components];
        if (to_level) {
            cell = dense[at];
        } else {
            dense[at] = cell;
        }
    }
}

template <class T>
cudaError_t copy_component(const stencil_solver& solver, T* cells, T* dense, const Interleaved& level,
                           bool to_level) {
    copy_component<<<1024, 256, 0, solver.stream>>>(cells, dense, level, to_level);
    return cudaGetLastError();
}
// [halo]
// What lies past a face: the cells from the other end, a value, the edge cell again, the cells reflected
// about the edge cell, or nothing that is ever read.
enum class Face { periodic, fixed, clamp, mirror, open };

struct Axis {
    long long cells = 1;
    long long stride = 0;  // elements from one cell to the next
    long long below = 0;   // halo cells before the first cell
    long long above = 0;   // and after the last
    Face low = Face::open;
    Face high = Face::open;
    double low_value = 0;  // past a fixed face
    double high_value = 0;
};

constexpr long long kLowValue = -1;
constexpr long long kHighValue = -2;
constexpr long long kNothing = -3;

// The cell along an axis whose value cell i shows; past a fixed or an open face, which of these it is.
__device__ inline long long source_cell(long long i, const Axis& axis) {
    const long long n = axis.cells;
    bool reflected = false;
    while (i < 0 || i >= n) {
        const bool below = i < 0;
        const Face across = below ? axis.high : axis.low;
        Face face = below ? axis.low : axis.high;
        if (face == Face::open && reflected) face = Face::mirror;  // nothing to show there: reflect on
        if (face == Face::periodic) return (i % n + n) % n;
        if (face == Face::fixed) return below ? kLowValue : kHighValue;
        if (face == Face::clamp) return below ? 0 : n - 1;
        if (face == Face::open) return kNothing;
        if (n == 1 && (across == Face::mirror || across == Face::open)) return 0;
        i = below ? -i : 2 * (n - 1) - i;
        reflected = true;
    }
    return i;
}

// Sets the halo of one array; `cells` points to its first cell. Each axis maps its own index; past fixed
// faces the first such axis gives the value.
template <class T>
__global__ void fill_halo(T* cells, Axis x, Axis y, Axis z) {
    const long long nx = x.below + x.cells + x.above;
    const long long ny = y.below + y.cells + y.above;
    const long long nz = z.below + z.cells + z.above;
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (long long at = thread; at < nx * ny * nz; at += threads) {
        const long long i = at % nx - x.below;
        const long long j = at / nx % ny - y.below;
        const long long k = at / (nx * ny) - z.below;
        const bool in_grid = i >= 0 && i < x.cells && j >= 0 && j < y.cells && k >= 0 && k < z.cells;
        if (in_grid) continue;
        const long long from_i = source_cell(i, x);
        const long long from_j = source_cell(j, y);
        const long long from_k = source_cell(k, z);
        T& cell = cells[i * x.stride + j * y.stride + k * z.stride];
        if (from_i == kLowValue || from_i == kHighValue) {
            cell = static_cast<T>(from_i == kLowValue ? x.low_value : x.high_value);
        } else if (from_j == kLowValue || from_j == kHighValue) {
            cell = static_cast<T>(from_j == kLowValue ? y.low_value : y.high_value);
        } else if (from_k == kLowValue || from_k == kHighValue) {
            cell = static_cast<T>(from_k == kLowValue ? z.low_value : z.high_value);
        } else if (from_i >= 0 && from_j >= 0 && from_k >= 0) {
            cell = cells[from_i * x.stride + from_j * y.stride + from_k * z.stride];
        }
    }
}

template <class T>
stencil_status fill_halo(const stencil_solver& solver, T* first_cell, const Axis& x, const Axis& y,
                         const Axis& z) {
    fill_halo<<<1024, 256, 0, solver.stream>>>(first_cell, x, y, z);
    return check(cudaGetLastError(), "filling a halo");
}
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
