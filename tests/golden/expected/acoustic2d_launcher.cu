// acoustic2d_launcher.cu: the kernels of the stencil acoustic2d and a launcher in plain C.
// Made by Halocline. To build it: nvcc -std=c++17 -arch=sm_90 -fmad=false -c acoustic2d_launcher.cu
#ifndef __CUDACC_RTC__  // not for NVRTC, which takes the kernels alone
#include "acoustic2d_launcher.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <new>
#include <utility>
#include <vector>
#endif

// acoustic2d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 4 below and 4 above along x, 4 below and 4 above along y.

// Four neighbouring elements at once; `from` is aligned to all four.
__device__ __forceinline__ void load4(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

__device__ __forceinline__ void store4(float* to, const float* from) {
    __stwb(reinterpret_cast<float4*>(to), make_float4(from[0], from[1], from[2], from[3]));
}

// Right to 20 bits.
__device__ __forceinline__ double rough_inverse(double value) {
    double inverse;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(value));
    return inverse;
}

// The quotient, rounded to nearest. Of f64 where a GPU computes that at half the speed of f32: 53 bits hold
// more than a quotient of 24 bits needs to be rounded once, and no case is slow. `/` branches for each
// quotient, and takes a call where the dividend is 0 or far from 1.
__device__ __forceinline__ float divide(float dividend, float divisor) {
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
    const double a = dividend, b = divisor;
    double inverse = rough_inverse(b);
    const double error = fma(-b, inverse, 1.0);
    if (fabs(error) < 1) inverse = fma(error, inverse, inverse);  // to 40 bits; not of 0, infinity and NaN
    const double quotient = a * inverse;
    const double rest = fma(-b, quotient, a);  // NaN where the quotient is 0 or infinity for good
    return static_cast<float>(fabs(rest) > 0 ? fma(rest, inverse, quotient) : quotient);
#else
    return dividend / divisor;
#endif
}

// Reads p, p_prev, v, writes p_next.
// Schedule: direct, blocks of 8x16 threads, 4x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 4)
    acoustic2d_p(const float* __restrict__ p, const float* __restrict__ p_prev, const float* __restrict__ v,
                 float* __restrict__ p_next, int nx, int ny, int pitch, float scale, float scale_2, float dt)
    {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 8, kThreadsY = 16;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[9];
#pragma unroll
    for (int y = 0; y < 9; ++y)
        row[y] = static_cast<long long>(j + y - 4) * pitch;

    float p_cells[9][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(&p_cells[y][4], p + row[y] + i);
    const float* p_row = p + row[4] + i;
    load4(p_cells[4], p_row - 4);
    load4(&p_cells[4][4], p_row);
    load4(&p_cells[4][8], p_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load4(&p_cells[y][4], p + row[y] + i);
    float p_prev_cells[kCellsX];
    load4(p_prev_cells, p_prev + row[4] + i);
    float v_cells[kCellsX];
    load4(v_cells, v + row[4] + i);

    float p_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const float value = static_cast<float>(i + x);
        const float operand = scale - value;
        const float operand_2 = 1.0f - divide(value < operand ? value : operand, 30.0f);
        const float bound = 0.0f > operand_2 ? 0.0f : operand_2;
        const float value_2 = static_cast<float>(j);
        const float operand_3 = scale_2 - value_2;
        const float operand_4 = 1.0f - divide(value_2 < operand_3 ? value_2 : operand_3, 30.0f);
        const float bound_2 = 0.0f > operand_4 ? 0.0f : operand_4;
        const float product = expf(-0.1f * (bound * bound)) * expf(-0.1f * (bound_2 * bound_2));
        const float product_2 = dt * v_cells[x];
        float sum = fmaf(-0.22777778f, p_cells[4][x + 4],
                         0.064f * (p_cells[4][x + 3] + p_cells[4][x + 5] + p_cells[3][x + 4] +
                                   p_cells[5][x + 4]));
        sum =
            fmaf(-0.008f, p_cells[4][x + 2] + p_cells[4][x + 6] + p_cells[2][x + 4] + p_cells[6][x + 4], sum);
        sum = fmaf(0.001015873f,
                   p_cells[4][x + 1] + p_cells[4][x + 7] + p_cells[1][x + 4] + p_cells[7][x + 4], sum);
        sum = fmaf(-7.142857e-05f, p_cells[4][x] + p_cells[4][x + 8] + p_cells[0][x + 4] + p_cells[8][x + 4],
                   sum);
        p_next_result[x] = product * fmaf(product_2 * product_2, sum,
                                          fmaf(-product, p_prev_cells[x], 2.0f * p_cells[4][x + 4]));
    }
    if (i + kCellsX <= nx)
        store4(p_next + row[4] + i, p_next_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) p_next[row[4] + i + x] = p_next_result[x];
}

// Adds what is injected at shots to p: a thread for each cell that they touch.
extern "C" __global__ void __launch_bounds__(128)
    acoustic2d_inject_shots(const float* __restrict__ v, const int* __restrict__ shots_x,
                            const int* __restrict__ shots_y, const int* __restrict__ shots_point,
                            const double* __restrict__ shots_wavelet, const double* __restrict__ shots_weight,
                            const int* __restrict__ shots_begin, float* __restrict__ p_next,
                            int n_shots_cells, int pitch, float dt_squared) {
    constexpr int kThreads = 128;

    const int cell = blockIdx.x * kThreads + threadIdx.x;
    if (cell >= n_shots_cells) return;

    const int i = shots_x[cell];
    const int j = shots_y[cell];
    const long long at = static_cast<long long>(j) * pitch + i;
    float sum = p_next[at];
    for (int entry = shots_begin[cell]; entry < shots_begin[cell + 1]; ++entry) {
        const int point = shots_point[entry];
        const float value = dt_squared * (v[at] * v[at] * static_cast<float>(shots_wavelet[point]));
        sum += static_cast<float>(shots_weight[entry]) * value;
    }
    p_next[at] = sum;
}

// Samples phones.trace: a block for each point.
extern "C" __global__ void __launch_bounds__(128)
    acoustic2d_sample_phones(const float* __restrict__ p, const int* __restrict__ phones_x,
                             const int* __restrict__ phones_y, const double* __restrict__ phones_weight,
                             const int* __restrict__ phones_begin, double* __restrict__ phones_trace,
                             int pitch) {
    constexpr int kThreads = 128;
    constexpr int kTerms = 512;

    const int point = blockIdx.x;
    __shared__ float terms[kTerms];
    const int end = phones_begin[point + 1];
    float sum = 0.0f;
    for (int first = phones_begin[point]; first < end; first += kTerms) {
        const int count = end - first < kTerms ? end - first : kTerms;
        for (int place = threadIdx.x; place < count; place += kThreads) {
            const int entry = first + place;
            const int i = phones_x[entry];
            const int j = phones_y[entry];
            const long long at = static_cast<long long>(j) * pitch + i;
            terms[place] = static_cast<float>(phones_weight[entry]) * p[at];
        }
        __syncthreads();
        if (threadIdx.x == 0)
#pragma unroll 16
            for (int place = 0; place < count; ++place)
                sum += terms[place];
        __syncthreads();
    }
    if (threadIdx.x == 0) phones_trace[point] = static_cast<double>(sum);
}

// ---- the launcher: see acoustic2d_launcher.h ----

#ifndef __CUDACC_RTC__  // not for NVRTC, which takes the kernels alone

struct acoustic2d_solver {
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

    int nx, ny;
    int pitch;           // elements from one row to the next
    long long origin;    // elements of an array before its first cell
    long long elements;  // of an array
    cudaStream_t stream = nullptr;

    double dt_value = 0.001;
    double f0_value = 15.0;
    float* p_next = nullptr;
    float* p_now = nullptr;
    float* p_before = nullptr;
    float* v_now = nullptr;
    Points shots_points;
    Series shots_wavelet_injected;
    Points phones_points;
    Series phones_trace_sampled;
    bool points_due = true;  // points were placed since their cells were looked for

    bool halos_due = true;  // values were set since the halos were filled
    long long steps = 0;    // done so far
};

namespace launcher {
namespace {  // another stencil's launcher has such functions, too

// What went wrong last on this thread.
thread_local char last_message[512] = "";

acoustic2d_status fail(acoustic2d_status status, const char* format, ...) {
    va_list values;
    va_start(values, format);
    std::vsnprintf(last_message, sizeof(last_message), format, values);
    va_end(values);
    return status;
}

acoustic2d_status check(cudaError_t error, const char* doing) {
    if (error == cudaSuccess) return ACOUSTIC2D_OK;
    cudaGetLastError();  // told here, so not again by a later launch
    return fail(ACOUSTIC2D_CUDA_ERROR, "%s: %s", doing, cudaGetErrorString(error));
}

long long round_up(long long value, long long step) {
    return (value + step - 1) / step * step;
}

unsigned ceil_div(long long value, long long step) {
    return static_cast<unsigned>((value + step - 1) / step);
}

// The cells of one array to another, on the device or the host; rows lie so many elements apart.
template <class T>
cudaError_t copy_cells(const acoustic2d_solver& solver, T* to, long long to_pitch, const T* from,
                       long long from_pitch) {
    return cudaMemcpy2DAsync(to, to_pitch * sizeof(T), from, from_pitch * sizeof(T), solver.nx * sizeof(T), solver.ny,
                             cudaMemcpyDefault, solver.stream);
}

long long block_count(dim3 blocks) {
    return 1LL * blocks.x * blocks.y * blocks.z;
}

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
acoustic2d_status fill_halo(const acoustic2d_solver& solver, T* first_cell, const Axis& x, const Axis& y,
                         const Axis& z) {
    fill_halo<<<1024, 256, 0, solver.stream>>>(first_cell, x, y, z);
    return check(cudaGetLastError(), "filling a halo");
}

using Points = acoustic2d_solver::Points;
using Series = acoustic2d_solver::Series;

// What is injected in the step that comes next: after the last row, zeros.
const double* injected_row(const acoustic2d_solver& solver, const Points& points, const Series& series) {
    return solver.steps < series.rows ? series.values + solver.steps * points.count : points.zeros;
}

// Where the values of the step that comes next go.
double* sampled_row(const acoustic2d_solver& solver, const Points& points, const Series& series) {
    return series.values + (solver.steps - series.first) * points.count;
}

dim3 blocks_of_acoustic2d_p(const acoustic2d_solver& solver) {
    return dim3(ceil_div(solver.nx, 32), ceil_div(solver.ny, 16), 1);
}

acoustic2d_status launch_acoustic2d_p(const acoustic2d_solver& solver) {
    const float scale = float(solver.nx - 1.0);
    const float scale_2 = float(solver.ny - 1.0);
    const dim3 blocks = blocks_of_acoustic2d_p(solver);
    const dim3 threads(8, 16, 1);
    acoustic2d_p<<<blocks, threads, 0, solver.stream>>>(solver.p_now + solver.origin,
                                                        solver.p_before + solver.origin,
                                                        solver.v_now + solver.origin,
                                                        solver.p_next + solver.origin, solver.nx, solver.ny,
                                                        solver.pitch, scale, scale_2,
                                                        float(solver.dt_value));
    return check(cudaGetLastError(), "launching acoustic2d_p");
}

dim3 blocks_of_acoustic2d_inject_shots(const acoustic2d_solver& solver) {
    return dim3(ceil_div(solver.shots_points.touched, 128), 1, 1);
}

acoustic2d_status launch_acoustic2d_inject_shots(const acoustic2d_solver& solver) {
    const float dt_squared = float(0.04 * (solver.dt_value * solver.dt_value));
    const dim3 blocks = blocks_of_acoustic2d_inject_shots(solver);
    if (block_count(blocks) == 0) return ACOUSTIC2D_OK;  // no cell is touched
    const dim3 threads(128, 1, 1);
    acoustic2d_inject_shots<<<blocks, threads, 0, solver.stream>>>(
        solver.v_now + solver.origin, solver.shots_points.cell[0], solver.shots_points.cell[1],
        solver.shots_points.entry_point,
        injected_row(solver, solver.shots_points, solver.shots_wavelet_injected),
        solver.shots_points.entry_weight, solver.shots_points.cell_begin, solver.p_next + solver.origin,
        solver.shots_points.touched, solver.pitch, dt_squared);
    return check(cudaGetLastError(), "launching acoustic2d_inject_shots");
}

dim3 blocks_of_acoustic2d_sample_phones(const acoustic2d_solver& solver) {
    return dim3(static_cast<unsigned>(solver.phones_points.count), 1, 1);
}

acoustic2d_status launch_acoustic2d_sample_phones(const acoustic2d_solver& solver) {
    const dim3 blocks = blocks_of_acoustic2d_sample_phones(solver);
    if (block_count(blocks) == 0) return ACOUSTIC2D_OK;  // there are no points
    const dim3 threads(128, 1, 1);
    acoustic2d_sample_phones<<<blocks, threads, 0, solver.stream>>>(
        solver.p_now + solver.origin, solver.phones_points.sample[0], solver.phones_points.sample[1],
        solver.phones_points.sample_weight, solver.phones_points.point_begin,
        sampled_row(solver, solver.phones_points, solver.phones_trace_sampled), solver.pitch);
    return check(cudaGetLastError(), "launching acoustic2d_sample_phones");
}

// The halos of all levels, from their cells and from the values past fixed faces.
acoustic2d_status fill_halos(const acoustic2d_solver& solver) {
    const Axis p_x{solver.nx, 1, 4, 4, Face::fixed, Face::fixed, 0.0, 0.0};
    const Axis p_y{solver.ny, solver.pitch, 4, 4, Face::fixed, Face::fixed, 0.0, 0.0};
    if (const acoustic2d_status status = fill_halo(solver, solver.p_next + solver.origin, p_x, p_y, Axis())) {
        return status;
    }
    if (const acoustic2d_status status = fill_halo(solver, solver.p_now + solver.origin, p_x, p_y, Axis())) {
        return status;
    }
    if (const acoustic2d_status status = fill_halo(solver, solver.p_before + solver.origin, p_x, p_y, Axis())) {
        return status;
    }
    return ACOUSTIC2D_OK;
}

// Sizes and strides. Rows start on a multiple of 32 elements, with the halo before them.
acoustic2d_status lay_out(acoustic2d_solver& solver, long long nx, long long ny) {
    constexpr long long most = 2147483647;
    if (nx < 1 || nx > most || ny < 1 || ny > most) {
        return fail(ACOUSTIC2D_BAD_ARGUMENT, "a grid of %lld x %lld cells: 1 to %lld along each axis can be",
                    nx, ny, most);
    }
    if (ny > 1048560) {
        return fail(ACOUSTIC2D_BAD_ARGUMENT, "%lld cells along y: 1048560 are the most for these kernels", ny);
    }
    const long long pitch = 32 + round_up(nx + 4, 32);
    if (pitch > most || 1.0 * pitch * (ny + 8) > 1e16) {
        return fail(ACOUSTIC2D_BAD_ARGUMENT, "a grid of %lld x %lld cells is too large to index", nx, ny);
    }
    solver.nx = static_cast<int>(nx);
    solver.ny = static_cast<int>(ny);
    solver.pitch = static_cast<int>(pitch);
    solver.origin = 32 + 4 * pitch;
    solver.elements = pitch * (ny + 8) + 32;
    return ACOUSTIC2D_OK;
}

template <class T>
acoustic2d_status allocate(T*& array, long long elements) {
    const size_t bytes = elements * sizeof(T);
    const cudaError_t error = cudaMalloc(&array, bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();  // told here, so not again by a later launch
        return fail(ACOUSTIC2D_OUT_OF_MEMORY, "%zu bytes of device memory cannot be had", bytes);
    }
    if (const acoustic2d_status status = check(error, "allocating device memory")) return status;
    if (const acoustic2d_status status = check(cudaMemset(array, 0, bytes), "clearing device memory")) {
        return status;
    }
    // The caller's stream may be one that does not wait for the default one.
    return check(cudaStreamSynchronize(nullptr), "clearing device memory");
}

acoustic2d_status allocate(acoustic2d_solver& solver) {
    const size_t needed = 16 * solver.elements;
    size_t available = 0, all = 0;
    if (const acoustic2d_status status = check(cudaMemGetInfo(&available, &all), "looking for a device")) {
        return status;
    }
    if (needed > available) {
        return fail(ACOUSTIC2D_OUT_OF_MEMORY, "%zu bytes of device memory are needed; %zu of %zu are free",
                    needed, available, all);
    }
    if (const acoustic2d_status status = allocate(solver.p_next, solver.elements)) return status;
    if (const acoustic2d_status status = allocate(solver.p_now, solver.elements)) return status;
    if (const acoustic2d_status status = allocate(solver.p_before, solver.elements)) return status;
    if (const acoustic2d_status status = allocate(solver.v_now, solver.elements)) return status;
    return ACOUSTIC2D_OK;
}

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
acoustic2d_status touch(const Points& points, long long point, const char* name, int radius,
                     const std::vector<PointAxis>& axes, std::vector<TouchedCell>& touched) {
    std::array<std::vector<AxisWeight>, 3> along;
    along.fill({{0, 1.0}});
    for (size_t axis = 0; axis < axes.size(); ++axis) {
        const PointAxis& of = axes[axis];
        const double position = points.positions[point * axes.size() + axis];
        const double place = (position - of.origin) / of.spacing, last = static_cast<double>(of.cells - 1);
        if (!(place >= 0 && place <= last)) {
            return fail(ACOUSTIC2D_BAD_ARGUMENT,
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
    return ACOUSTIC2D_OK;
}

struct PointLists {
    std::vector<int> cell[3], cell_begin, entry_point, point_begin, sample[3];
    std::vector<double> entry_weight, sample_weight;
};

// The same cells by point, for sampling, and by cell, for injecting: each cell is added to by one thread, by
// its points in their order.
acoustic2d_status list_cells(const Points& points, const char* name, int radius,
                          const std::vector<PointAxis>& axes, PointLists& lists) {
    std::map<std::array<int, 3>, std::vector<std::pair<int, double>>> by_cell;
    std::vector<TouchedCell> touched;
    lists.point_begin.push_back(0);
    for (long long point = 0; point < points.count; ++point) {
        const acoustic2d_status status = touch(points, point, name, radius, axes, touched);
        if (status != ACOUSTIC2D_OK) return status;
        for (const TouchedCell& each : touched) {
            for (int axis = 0; axis < 3; ++axis)
                lists.sample[axis].push_back(each.cell[2 - axis]);
            lists.sample_weight.push_back(each.weight);
            by_cell[each.cell].emplace_back(static_cast<int>(point), each.weight);
        }
        if (lists.sample_weight.size() > 2147483647)
            return fail(ACOUSTIC2D_BAD_ARGUMENT, "the points %s touch too many cells", name);
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
    return ACOUSTIC2D_OK;
}

// To an array of their own on the device, in place of the one before. Waits.
template <class T>
acoustic2d_status send(const acoustic2d_solver& solver, T*& array, const std::vector<T>& values) {
    cudaFree(array);
    array = nullptr;
    const acoustic2d_status status = allocate(array, values.empty() ? 1 : values.size());
    if (status != ACOUSTIC2D_OK || values.empty()) return status;
    const cudaError_t error = cudaMemcpyAsync(array, values.data(), values.size() * sizeof(T),
                                              cudaMemcpyHostToDevice, solver.stream);
    if (error != cudaSuccess) return check(error, "sending points");
    return check(cudaStreamSynchronize(solver.stream), "sending points");
}

acoustic2d_status send_lists(const acoustic2d_solver& solver, Points& points, const PointLists& lists) {
    const std::pair<int**, const std::vector<int>*> whole[] = {
        {&points.cell[0], &lists.cell[0]},         {&points.cell[1], &lists.cell[1]},
        {&points.cell[2], &lists.cell[2]},         {&points.cell_begin, &lists.cell_begin},
        {&points.entry_point, &lists.entry_point}, {&points.point_begin, &lists.point_begin},
        {&points.sample[0], &lists.sample[0]},     {&points.sample[1], &lists.sample[1]},
        {&points.sample[2], &lists.sample[2]}};
    for (const auto& each : whole) {
        const acoustic2d_status status = send(solver, *each.first, *each.second);
        if (status != ACOUSTIC2D_OK) return status;
    }
    acoustic2d_status status = send(solver, points.entry_weight, lists.entry_weight);
    if (status == ACOUSTIC2D_OK) status = send(solver, points.sample_weight, lists.sample_weight);
    if (status == ACOUSTIC2D_OK) status = send(solver, points.zeros, std::vector<double>(points.count));
    points.touched = static_cast<int>(lists.cell[0].size());
    return status;
}

// Finds the cells that points touch. radius: of their sincs; 0 for linear weights.
acoustic2d_status place(const acoustic2d_solver& solver, Points& points, const char* name, int radius,
                     const std::vector<PointAxis>& axes) {
    const acoustic2d_status status = check(cudaStreamSynchronize(solver.stream), "placing points");
    if (status != ACOUSTIC2D_OK) return status;  // else no step reads the lists any more
    try {
        PointLists lists;
        const acoustic2d_status listed = list_cells(points, name, radius, axes, lists);
        return listed == ACOUSTIC2D_OK ? send_lists(solver, points, lists) : listed;
    } catch (const std::bad_alloc&) {
        return fail(ACOUSTIC2D_OUT_OF_MEMORY, "no memory for the cells of the points %s", name);
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
acoustic2d_status set_positions(const acoustic2d_solver& solver, Points& points, const double* positions,
                             long long count, int rank, const char* doing, bool& changed) {
    changed = count != points.count;
    if (count < 0 || count > 2147483647)
        return fail(ACOUSTIC2D_BAD_ARGUMENT, "%s: so many points cannot be", doing);
    if (changed && solver.steps > 0)
        return fail(ACOUSTIC2D_BAD_ARGUMENT, "%s: there are %lld points since the first step", doing,
                    points.count);
    try {
        points.positions.resize(count * rank);
    } catch (const std::bad_alloc&) {
        return fail(ACOUSTIC2D_OUT_OF_MEMORY, "%s: no memory for so many points", doing);
    }
    points.count = count;
    if (count == 0) return ACOUSTIC2D_OK;
    const cudaError_t error = cudaMemcpyAsync(
        points.positions.data(), positions, count * rank * sizeof(double), cudaMemcpyDefault, solver.stream);
    if (error != cudaSuccess) return check(error, doing);
    return check(cudaStreamSynchronize(solver.stream), doing);
}

// Rows of one number for each point from the caller's array to an array of their own. Waits.
acoustic2d_status set_numbers(const acoustic2d_solver& solver, const Points& points, double*& array,
                           const double* values, long long rows, const char* doing) {
    if (points.count < 0) return fail(ACOUSTIC2D_BAD_ARGUMENT, "%s: place the points first", doing);
    if (rows < 0) return fail(ACOUSTIC2D_BAD_ARGUMENT, "%s: so many rows cannot be", doing);
    const long long numbers = rows * points.count;
    if (values == nullptr && numbers > 0) return fail(ACOUSTIC2D_BAD_ARGUMENT, "%s: a pointer is NULL", doing);
    acoustic2d_status status = check(cudaStreamSynchronize(solver.stream), doing);
    if (status != ACOUSTIC2D_OK) return status;  // else no step reads the old ones any more
    cudaFree(array);
    array = nullptr;
    status = allocate(array, numbers == 0 ? 1 : numbers);
    if (status != ACOUSTIC2D_OK || numbers == 0) return status;
    const cudaError_t error =
        cudaMemcpyAsync(array, values, numbers * sizeof(double), cudaMemcpyDefault, solver.stream);
    if (error != cudaSuccess) return check(error, doing);
    return check(cudaStreamSynchronize(solver.stream), doing);
}

// Brings the rows on the device to the host. Waits.
acoustic2d_status fetch(const acoustic2d_solver& solver, const Points& points, Series& series) {
    const long long values = (solver.steps - series.first) * points.count;
    if (values > 0) {
        const size_t known = series.fetched.size();
        try {
            series.fetched.resize(known + values);
        } catch (const std::bad_alloc&) {
            return fail(ACOUSTIC2D_OUT_OF_MEMORY, "no memory for what points sampled");
        }
        const cudaError_t error =
            cudaMemcpyAsync(series.fetched.data() + known, series.values, values * sizeof(double),
                            cudaMemcpyDeviceToHost, solver.stream);
        if (error != cudaSuccess) return check(error, "reading what points sampled");
        const acoustic2d_status status =
            check(cudaStreamSynchronize(solver.stream), "reading what points sampled");
        if (status != ACOUSTIC2D_OK) return status;
    }
    series.first = solver.steps;
    return ACOUSTIC2D_OK;
}

// Before a step: room on the device for its row.
acoustic2d_status make_room(const acoustic2d_solver& solver, const Points& points, Series& series) {
    if (series.values != nullptr && solver.steps - series.first < series.rows) return ACOUSTIC2D_OK;
    if (series.values != nullptr) return fetch(solver, points, series);
    const long long bytes = points.count == 0 ? 8 : 8 * points.count;
    series.rows = std::min(std::max((4LL << 20) / bytes, 1LL), 4096LL);
    return allocate(series.values, series.rows * bytes / 8);
}

// Some rows to the caller's array, on the host or on the device.
acoustic2d_status read_rows(const acoustic2d_solver& solver, const Points& points, Series& series, double* values,
                         long long first, long long rows, const char* doing) {
    if (first < 0 || rows < 0 || first > solver.steps || rows > solver.steps - first)
        return fail(ACOUSTIC2D_BAD_ARGUMENT, "%s: there are rows of %lld steps", doing, solver.steps);
    const acoustic2d_status status = fetch(solver, points, series);
    if (status != ACOUSTIC2D_OK || rows * points.count <= 0) return status;
    const cudaError_t error =
        cudaMemcpyAsync(values, series.fetched.data() + first * points.count,
                        rows * points.count * sizeof(double), cudaMemcpyDefault, solver.stream);
    if (error != cudaSuccess) return check(error, doing);
    return check(cudaStreamSynchronize(solver.stream), doing);
}

// The same of all that points sample.
acoustic2d_status make_room(acoustic2d_solver& solver) {
    if (const acoustic2d_status status = make_room(solver, solver.phones_points, solver.phones_trace_sampled)) {
        return status;
    }
    return ACOUSTIC2D_OK;
}

// The cells of all points, once the grid's spacing and origin are known.
acoustic2d_status place_points(acoustic2d_solver& solver) {
    const PointAxis along_x{"x", solver.nx, 0.0, 5.0};
    const PointAxis along_y{"y", solver.ny, -995.0, 5.0};
    const std::vector<PointAxis> axes{along_x, along_y};
    if (const acoustic2d_status status = place(solver, solver.shots_points, "shots", 4, axes)) {
        return status;
    }
    if (const acoustic2d_status status = place(solver, solver.phones_points, "phones", 4, axes)) {
        return status;
    }
    solver.points_due = false;
    return ACOUSTIC2D_OK;
}

}  // namespace
}  // namespace launcher

const char* acoustic2d_message(void) {
    return launcher::last_message;
}

acoustic2d_status acoustic2d_create(long long nx, long long ny, acoustic2d_solver** solver) {
    if (solver == nullptr) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_create: no place for the solver");
    }
    *solver = nullptr;
    auto* made = new (std::nothrow) acoustic2d_solver;
    if (made == nullptr) return launcher::fail(ACOUSTIC2D_OUT_OF_MEMORY, "no memory for a solver");
    acoustic2d_status status = launcher::lay_out(*made, nx, ny);
    if (status == ACOUSTIC2D_OK) status = launcher::allocate(*made);
    if (status == ACOUSTIC2D_OK) {
        *solver = made;
    } else {
        acoustic2d_destroy(made);
    }
    return status;
}

void acoustic2d_destroy(acoustic2d_solver* solver) {
    if (solver == nullptr) return;
    cudaFree(solver->p_next);
    cudaFree(solver->p_now);
    cudaFree(solver->p_before);
    cudaFree(solver->v_now);
    launcher::release(solver->shots_points);
    cudaFree(solver->shots_wavelet_injected.values);
    launcher::release(solver->phones_points);
    cudaFree(solver->phones_trace_sampled.values);
    delete solver;
}

acoustic2d_status acoustic2d_use_stream(acoustic2d_solver* solver, void* stream) {
    if (solver == nullptr) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_use_stream: no solver");
    }
    solver->stream = static_cast<cudaStream_t>(stream);
    return ACOUSTIC2D_OK;
}

acoustic2d_status acoustic2d_set_dt(acoustic2d_solver* solver, double value) {
    if (solver == nullptr) return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_set_dt: no solver");
    solver->dt_value = value;
    return ACOUSTIC2D_OK;
}

acoustic2d_status acoustic2d_set_f0(acoustic2d_solver* solver, double value) {
    if (solver == nullptr) return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_set_f0: no solver");
    solver->f0_value = value;
    return ACOUSTIC2D_OK;
}

acoustic2d_status acoustic2d_place_shots(acoustic2d_solver* solver, const double* positions, long long count) {
    if (solver == nullptr || (positions == nullptr && count != 0)) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_place_shots: a pointer is NULL");
    }
    bool changed = false;
    const acoustic2d_status status = launcher::set_positions(*solver, solver->shots_points, positions,
                                                             count, 2, "acoustic2d_place_shots", changed);
    if (status != ACOUSTIC2D_OK) return status;
    solver->points_due = true;
    if (changed) {  // what was set for other points is of the wrong length
        cudaFree(solver->shots_wavelet_injected.values);
        solver->shots_wavelet_injected.values = nullptr;
    }
    return ACOUSTIC2D_OK;
}

acoustic2d_status acoustic2d_set_shots_wavelet(acoustic2d_solver* solver, const double* values, long long rows) {
    if (solver == nullptr) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_set_shots_wavelet: no solver");
    }
    const acoustic2d_status status = launcher::set_numbers(*solver, solver->shots_points,
                                                           solver->shots_wavelet_injected.values, values,
                                                           rows, "acoustic2d_set_shots_wavelet");
    if (status == ACOUSTIC2D_OK) solver->shots_wavelet_injected.rows = rows;
    return status;
}

acoustic2d_status acoustic2d_place_phones(acoustic2d_solver* solver, const double* positions, long long count) {
    if (solver == nullptr || (positions == nullptr && count != 0)) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_place_phones: a pointer is NULL");
    }
    bool changed = false;
    const acoustic2d_status status = launcher::set_positions(*solver, solver->phones_points, positions,
                                                             count, 2, "acoustic2d_place_phones", changed);
    if (status != ACOUSTIC2D_OK) return status;
    solver->points_due = true;
    if (changed) {  // what was set for other points is of the wrong length
        cudaFree(solver->phones_trace_sampled.values);
        solver->phones_trace_sampled.values = nullptr;
    }
    return ACOUSTIC2D_OK;
}

acoustic2d_status acoustic2d_get_phones_trace(acoustic2d_solver* solver, double* values, long long first, long long rows) {
    if (solver == nullptr || (values == nullptr && rows != 0)) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_get_phones_trace: a pointer is NULL");
    }
    return launcher::read_rows(*solver, solver->phones_points, solver->phones_trace_sampled, values, first,
                               rows, "acoustic2d_get_phones_trace");
}

acoustic2d_status acoustic2d_set_p(acoustic2d_solver* solver, const float* values) {
    if (solver == nullptr || values == nullptr) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_set_p: a pointer is NULL");
    }
    solver->halos_due = true;
    const cudaError_t error = launcher::copy_cells(*solver, solver->p_now + solver->origin, solver->pitch,
                                                   values, 1LL * solver->nx);
    if (const acoustic2d_status status = launcher::check(error, "acoustic2d_set_p")) return status;
    return launcher::check(cudaStreamSynchronize(solver->stream), "acoustic2d_set_p");
}

acoustic2d_status acoustic2d_get_p(acoustic2d_solver* solver, float* values) {
    if (solver == nullptr || values == nullptr) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_get_p: a pointer is NULL");
    }
    const cudaError_t error = launcher::copy_cells(*solver, values, 1LL * solver->nx,
                                                   solver->p_now + solver->origin, solver->pitch);
    if (const acoustic2d_status status = launcher::check(error, "acoustic2d_get_p")) return status;
    return launcher::check(cudaStreamSynchronize(solver->stream), "acoustic2d_get_p");
}

acoustic2d_status acoustic2d_copy_p_from(acoustic2d_solver* solver, const float* cells, long long pitch) {
    if (solver == nullptr || cells == nullptr) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_copy_p_from: a pointer is NULL");
    }
    if (pitch < solver->nx) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_copy_p_from: rows overlap");
    }
    solver->halos_due = true;
    const cudaError_t error = launcher::copy_cells(*solver, solver->p_now + solver->origin, solver->pitch,
                                                   cells, pitch);
    return launcher::check(error, "acoustic2d_copy_p_from");
}

acoustic2d_status acoustic2d_copy_p_to(acoustic2d_solver* solver, float* cells, long long pitch) {
    if (solver == nullptr || cells == nullptr) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_copy_p_to: a pointer is NULL");
    }
    if (pitch < solver->nx) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_copy_p_to: rows overlap");
    }
    const cudaError_t error = launcher::copy_cells(*solver, cells, pitch,
                                                   solver->p_now + solver->origin, solver->pitch);
    return launcher::check(error, "acoustic2d_copy_p_to");
}

acoustic2d_status acoustic2d_set_p_before(acoustic2d_solver* solver, const float* values) {
    if (solver == nullptr || values == nullptr) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_set_p_before: a pointer is NULL");
    }
    solver->halos_due = true;
    const cudaError_t error = launcher::copy_cells(*solver,
                                                   solver->p_before + solver->origin, solver->pitch,
                                                   values, 1LL * solver->nx);
    if (const acoustic2d_status status = launcher::check(error, "acoustic2d_set_p_before")) return status;
    return launcher::check(cudaStreamSynchronize(solver->stream), "acoustic2d_set_p_before");
}

acoustic2d_status acoustic2d_get_p_before(acoustic2d_solver* solver, float* values) {
    if (solver == nullptr || values == nullptr) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_get_p_before: a pointer is NULL");
    }
    const cudaError_t error = launcher::copy_cells(*solver, values, 1LL * solver->nx,
                                                   solver->p_before + solver->origin, solver->pitch);
    if (const acoustic2d_status status = launcher::check(error, "acoustic2d_get_p_before")) return status;
    return launcher::check(cudaStreamSynchronize(solver->stream), "acoustic2d_get_p_before");
}

acoustic2d_status acoustic2d_copy_p_before_from(acoustic2d_solver* solver, const float* cells, long long pitch) {
    if (solver == nullptr || cells == nullptr) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_copy_p_before_from: a pointer is NULL");
    }
    if (pitch < solver->nx) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_copy_p_before_from: rows overlap");
    }
    solver->halos_due = true;
    const cudaError_t error = launcher::copy_cells(*solver,
                                                   solver->p_before + solver->origin, solver->pitch,
                                                   cells, pitch);
    return launcher::check(error, "acoustic2d_copy_p_before_from");
}

acoustic2d_status acoustic2d_copy_p_before_to(acoustic2d_solver* solver, float* cells, long long pitch) {
    if (solver == nullptr || cells == nullptr) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_copy_p_before_to: a pointer is NULL");
    }
    if (pitch < solver->nx) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_copy_p_before_to: rows overlap");
    }
    const cudaError_t error = launcher::copy_cells(*solver, cells, pitch,
                                                   solver->p_before + solver->origin, solver->pitch);
    return launcher::check(error, "acoustic2d_copy_p_before_to");
}

acoustic2d_status acoustic2d_set_v(acoustic2d_solver* solver, const float* values) {
    if (solver == nullptr || values == nullptr) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_set_v: a pointer is NULL");
    }
    solver->halos_due = true;
    const cudaError_t error = launcher::copy_cells(*solver, solver->v_now + solver->origin, solver->pitch,
                                                   values, 1LL * solver->nx);
    if (const acoustic2d_status status = launcher::check(error, "acoustic2d_set_v")) return status;
    return launcher::check(cudaStreamSynchronize(solver->stream), "acoustic2d_set_v");
}

acoustic2d_status acoustic2d_get_v(acoustic2d_solver* solver, float* values) {
    if (solver == nullptr || values == nullptr) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_get_v: a pointer is NULL");
    }
    const cudaError_t error = launcher::copy_cells(*solver, values, 1LL * solver->nx,
                                                   solver->v_now + solver->origin, solver->pitch);
    if (const acoustic2d_status status = launcher::check(error, "acoustic2d_get_v")) return status;
    return launcher::check(cudaStreamSynchronize(solver->stream), "acoustic2d_get_v");
}

acoustic2d_status acoustic2d_copy_v_from(acoustic2d_solver* solver, const float* cells, long long pitch) {
    if (solver == nullptr || cells == nullptr) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_copy_v_from: a pointer is NULL");
    }
    if (pitch < solver->nx) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_copy_v_from: rows overlap");
    }
    solver->halos_due = true;
    const cudaError_t error = launcher::copy_cells(*solver, solver->v_now + solver->origin, solver->pitch,
                                                   cells, pitch);
    return launcher::check(error, "acoustic2d_copy_v_from");
}

acoustic2d_status acoustic2d_copy_v_to(acoustic2d_solver* solver, float* cells, long long pitch) {
    if (solver == nullptr || cells == nullptr) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_copy_v_to: a pointer is NULL");
    }
    if (pitch < solver->nx) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_copy_v_to: rows overlap");
    }
    const cudaError_t error = launcher::copy_cells(*solver, cells, pitch,
                                                   solver->v_now + solver->origin, solver->pitch);
    return launcher::check(error, "acoustic2d_copy_v_to");
}

acoustic2d_status acoustic2d_advance(acoustic2d_solver* solver, long long steps) {
    if (solver == nullptr) return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_advance: no solver");
    if (steps < 0) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_advance: a negative number of steps");
    }
    if (solver->shots_points.count < 0) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT,
                              "the points shots have no places yet: call acoustic2d_place_shots");
    }
    if (solver->shots_wavelet_injected.values == nullptr) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT,
                              "shots.wavelet has no values yet: call acoustic2d_set_shots_wavelet");
    }
    if (solver->phones_points.count < 0) {
        return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT,
                              "the points phones have no places yet: call acoustic2d_place_phones");
    }
    if (steps == 0) return ACOUSTIC2D_OK;
    if (solver->points_due) {
        if (const acoustic2d_status status = launcher::place_points(*solver)) return status;
    }
    if (solver->halos_due) {
        if (const acoustic2d_status status = launcher::fill_halos(*solver)) return status;
        solver->halos_due = false;
    }
    for (long long step = 0; step < steps; ++step) {
        if (const acoustic2d_status status = launcher::make_room(*solver)) return status;
        if (const acoustic2d_status status = launcher::launch_acoustic2d_p(*solver)) return status;
        if (const acoustic2d_status status = launcher::launch_acoustic2d_inject_shots(*solver)) return status;
        if (const acoustic2d_status status = launcher::launch_acoustic2d_sample_phones(*solver)) return status;
        // t+1 is now t.
        std::swap(solver->p_before, solver->p_now);
        std::swap(solver->p_now, solver->p_next);
        ++solver->steps;
    }
    return ACOUSTIC2D_OK;
}

acoustic2d_status acoustic2d_wait(acoustic2d_solver* solver) {
    if (solver == nullptr) return launcher::fail(ACOUSTIC2D_BAD_ARGUMENT, "acoustic2d_wait: no solver");
    return launcher::check(cudaStreamSynchronize(solver->stream), "acoustic2d_wait");
}

#endif  // __CUDACC_RTC__
