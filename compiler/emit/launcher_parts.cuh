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
// [series]
// The value of a series at a number: linear between those at whole numbers, the first and the last past the
// ends.
double series_value(const std::vector<double>& values, double at) {
    if (std::isnan(at)) return at;
    if (at <= 0) return values.front();
    if (at >= static_cast<double>(values.size() - 1)) return values.back();
    const double below = std::floor(at);
    const size_t index = static_cast<size_t>(below);
    return at == below ? values[index] : values[index] + (at - below) * (values[index + 1] - values[index]);
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
// [copies 4]
// Volumes lie `volume` elements apart.
template <class T>
cudaError_t copy_cells(const stencil_solver& solver, T* to, long long to_pitch, long long to_slice,
                       long long to_volume, const T* from, long long from_pitch, long long from_slice,
                       long long from_volume) {
    cudaError_t error = cudaSuccess;
    for (long long number = 0; number < NW && error == cudaSuccess; ++number)
        error = copy_cells(solver, to + number * to_volume, to_pitch, to_slice, from + number * from_volume,
                           from_pitch, from_slice);
    return error;
}
// [copies over fewer axes]
// The same for a field over fewer axes than the grid has: so many rows of its own cells.
template <class T>
cudaError_t copy_own_cells(const stencil_solver& solver, T* to, long long to_pitch, const T* from,
                           long long from_pitch, long long cells, long long rows) {
    if (rows == 1) return cudaMemcpyAsync(to, from, cells * sizeof(T), cudaMemcpyDefault, solver.stream);
    return cudaMemcpy2DAsync(to, to_pitch * sizeof(T), from, from_pitch * sizeof(T), cells * sizeof(T), rows,
                             cudaMemcpyDefault, solver.stream);
}
// [iterations]
// Of a repeat that a condition ends, after each of its turns of launches: whether the condition held by the
// end of the turn before. `done` are two copies of the device's word, each there at its event.
stencil_status is_done(const stencil_solver& solver, const long long* words, long long* done,
                       const cudaEvent_t* copied, int turn, bool* holds) {
    const int now = turn % 2, before = 1 - now;
    cudaError_t error =
        cudaMemcpyAsync(done + now, words, sizeof(long long), cudaMemcpyDeviceToHost, solver.stream);
    if (error == cudaSuccess) error = cudaEventRecord(copied[now], solver.stream);
    if (error == cudaSuccess && turn > 0) error = cudaEventSynchronize(copied[before]);
    if (error == cudaSuccess && turn > 0) *holds = done[before] != 0;
    return check(error, "iterating");
}

// How many are launched in a turn: so that looking costs nothing beside them, and that those which do nothing
// take little time to start.
template <class... Blocks>
int iterations_ahead(int launches, Blocks... blocks) {
    const long long by_blocks = 32768 / (1 + (... + block_count(blocks)));
    const int by_launches = 24 / launches;
    const long long ahead = by_blocks < by_launches ? by_blocks : by_launches;
    return ahead < 1 ? 1 : static_cast<int>(ahead);
}

// While the caller records the stream to a graph nothing can be looked at: all iterations are launched.
bool is_recorded(const stencil_solver& solver) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(solver.stream, &status) == cudaSuccess &&
           status != cudaStreamCaptureStatusNone;
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
// [halo 3]
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
// [halo 4]
// Sets the halo of one array; `cells` points to its first cell. Each axis maps its own index; past fixed
// faces the first such axis gives the value.
template <class T>
__global__ void fill_halo(T* cells, Axis x, Axis y, Axis z, Axis w) {
    const Axis axes[] = {x, y, z, w};
    long long total = 1;
    for (const Axis& axis : axes)
        total *= axis.below + axis.cells + axis.above;
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (long long at = thread; at < total; at += threads) {
        long long rest = at, to = 0, from = 0;
        bool in_grid = true, is_set = true, has_value = false;
        double value = 0;
        for (const Axis& axis : axes) {
            const long long padded = axis.below + axis.cells + axis.above;
            const long long i = rest % padded - axis.below;
            rest /= padded;
            in_grid = in_grid && i >= 0 && i < axis.cells;
            to += i * axis.stride;
            const long long source = source_cell(i, axis);
            if (source == kLowValue || source == kHighValue) {
                if (!has_value) value = source == kLowValue ? axis.low_value : axis.high_value;
                has_value = true;
            } else if (source < 0) {
                is_set = false;
            } else {
                from += source * axis.stride;
            }
        }
        if (in_grid || !(has_value || is_set)) continue;
        cells[to] = has_value ? static_cast<T>(value) : cells[from];
    }
}

template <class T>
stencil_status fill_halo(const stencil_solver& solver, T* first_cell, const Axis& x, const Axis& y,
                         const Axis& z, const Axis& w) {
    fill_halo<<<1024, 256, 0, solver.stream>>>(first_cell, x, y, z, w);
    return check(cudaGetLastError(), "filling a halo");
}
