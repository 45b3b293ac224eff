// implicit_heat2d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

// Two neighbouring elements at once; `from` is aligned to both.
__device__ __forceinline__ void load2(double* to, const double* from) {
    const double2 pair = *reinterpret_cast<const double2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
}

__device__ __forceinline__ void store2(double* to, const double* from) {
    __stwb(reinterpret_cast<double2*>(to), make_double2(from[0], from[1]));
}

// The sum over the block's threads, always in the same order; thread 0 gets it.
__device__ inline double block_sum(double value) {
    __shared__ double of_warp[32];
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int warps = blockDim.x * blockDim.y * blockDim.z / 32;
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_down_sync(~0u, value, lanes);
    __syncthreads();  // an earlier call's results have been read
    if (thread % 32 == 0) of_warp[thread / 32] = value;
    __syncthreads();
    if (thread >= 32) return value;
    value = thread < warps ? of_warp[thread] : 0.0;
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_down_sync(~0u, value, lanes);
    return value;
}

// Stores a cell once more wherever the halo shows it: x fixed and clamp, y clamp.
__device__ inline void store_images_u_zero(double* u, int i, int j, int nx, int ny, int pitch) {
    if (i < nx - 1 && j >= 1 && j < ny - 1) return;
    const double value = u[static_cast<long long>(j) * pitch + i];
    for (int y = j == 0 ? -1 : j; y < (j == ny - 1 ? ny + 1 : j + 1); ++y)
        for (int x = i; x < (i == nx - 1 ? nx + 1 : i + 1); ++x)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Writes u_zero.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 24)
    implicit_heat2d_u_zero(double* __restrict__ u_zero, int nx, int ny, int pitch) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;


    double u_zero_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x)
        u_zero_result[x] = 0.0;
    if (i + kCellsX <= nx)
        store2(u_zero + static_cast<long long>(j) * pitch + i, u_zero_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) u_zero[static_cast<long long>(j) * pitch + i + x] = u_zero_result[x];

    // Cells of u_zero near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x >= nx - 1)
                if (i + x < nx) store_images_u_zero(u_zero, i + x, j, nx, ny, pitch);
}

// Reads k_2, u, u_zero, reduces to u.size.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 10)
    implicit_heat2d_u_size(const double* __restrict__ k_2, const double* __restrict__ u,
                           const double* __restrict__ u_zero, int nx, int ny, int pitch,
                           double dt_over_h_squared, double* __restrict__ u_size_partials) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double u_size_of_thread = 0.0;
    if (i < nx && j < ny) {
        // Where the rows of this thread's window start.
        long long row[3];
#pragma unroll
        for (int y = 0; y < 3; ++y)
            row[y] = static_cast<long long>(j + y - 1) * pitch;

        double k_2_cells[3][kCellsX + 2];
        load2(&k_2_cells[0][1], k_2 + row[0] + i);
        const double* k_2_row = k_2 + row[1] + i;
        k_2_cells[1][0] = k_2_row[-1];
        load2(&k_2_cells[1][1], k_2_row);
        k_2_cells[1][3] = k_2_row[2];
        load2(&k_2_cells[2][1], k_2 + row[2] + i);
        double u_cells[kCellsX];
        load2(u_cells, u + row[1] + i);
        double u_zero_cells[3][kCellsX + 2];
        load2(&u_zero_cells[0][1], u_zero + row[0] + i);
        const double* u_zero_row = u_zero + row[1] + i;
        u_zero_cells[1][0] = u_zero_row[-1];
        load2(&u_zero_cells[1][1], u_zero_row);
        u_zero_cells[1][3] = u_zero_row[2];
        load2(&u_zero_cells[2][1], u_zero + row[2] + i);

#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const double product = 2.0 * k_2_cells[1][x + 1];
            double sum = fma(-(product * k_2_cells[1][x] / (k_2_cells[1][x + 1] + k_2_cells[1][x])),
                             u_zero_cells[1][x + 1] - u_zero_cells[1][x],
                             product * k_2_cells[1][x + 2] / (k_2_cells[1][x + 1] +
                                                              k_2_cells[1][x + 2]) * (u_zero_cells[1][x + 2] -
                                                                                      u_zero_cells[1][x +
                                                                                                      1]));
            sum = fma(product * k_2_cells[2][x + 1] / (k_2_cells[1][x + 1] + k_2_cells[2][x + 1]),
                      u_zero_cells[2][x + 1] - u_zero_cells[1][x + 1], sum);
            sum = fma(-(product * k_2_cells[0][x + 1] / (k_2_cells[1][x + 1] + k_2_cells[0][x + 1])),
                      u_zero_cells[1][x + 1] - u_zero_cells[0][x + 1], sum);
            const double sum_2 = fma(dt_over_h_squared, sum, u_cells[x] - u_zero_cells[1][x + 1]);
            if (i + x < nx) u_size_of_thread += sum_2 * sum_2;
        }
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double u_size_of_block = block_sum(u_size_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        u_size_partials[blockIdx.x + gridDim.x * blockIdx.y] = u_size_of_block;
}

// Scalars of the kernels that follow in the step, of what the blocks have found before.
extern "C" __global__ void __launch_bounds__(1024)
    implicit_heat2d_scalars(const double* __restrict__ u_size_partials, int n_u_size,
                            double* __restrict__ scalars) {
    double u_size_of_thread = 0.0;
    for (int part = threadIdx.x; part < n_u_size; part += 1024)
        u_size_of_thread += u_size_partials[part];
    const double u_size = sqrt(block_sum(u_size_of_thread));

    if (threadIdx.x == 0) {
        scalars[0] = u_size;
        scalars[5] = 1e-08 * u_size;
    }
}

// Reads u, writes u_next.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 21)
    implicit_heat2d_u(const double* __restrict__ u, double* __restrict__ u_next, int nx, int ny, int pitch,
                      const double* __restrict__ scalars) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const double u_size = scalars[0];
    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    double u_cells[kCellsX];
    load2(u_cells, u + static_cast<long long>(j) * pitch + i);

    double u_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x)
        u_next_result[x] = u_size > 0.0 ? u_cells[x] : 0.0;
    if (i + kCellsX <= nx)
        store2(u_next + static_cast<long long>(j) * pitch + i, u_next_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) u_next[static_cast<long long>(j) * pitch + i + x] = u_next_result[x];

    // Cells of u_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x >= nx - 1)
                if (i + x < nx) store_images_u_zero(u_next, i + x, j, nx, ny, pitch);
}

// Reads u_next, k_2, u, writes u_residual, u_inverse, u_direction.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 48 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 9)
    implicit_heat2d_u_residual(const double* __restrict__ u_next, const double* __restrict__ k_2,
                               const double* __restrict__ u, double* __restrict__ u_residual,
                               double* __restrict__ u_inverse, double* __restrict__ u_direction, int nx,
                               int ny, int pitch, double dt_over_h_squared) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[3];
#pragma unroll
    for (int y = 0; y < 3; ++y)
        row[y] = static_cast<long long>(j + y - 1) * pitch;

    double u_next_cells[3][kCellsX + 2];
    load2(&u_next_cells[0][1], u_next + row[0] + i);
    const double* u_next_row = u_next + row[1] + i;
    u_next_cells[1][0] = u_next_row[-1];
    load2(&u_next_cells[1][1], u_next_row);
    u_next_cells[1][3] = u_next_row[2];
    load2(&u_next_cells[2][1], u_next + row[2] + i);
    double k_2_cells[3][kCellsX + 2];
    load2(&k_2_cells[0][1], k_2 + row[0] + i);
    const double* k_2_row = k_2 + row[1] + i;
    k_2_cells[1][0] = k_2_row[-1];
    load2(&k_2_cells[1][1], k_2_row);
    k_2_cells[1][3] = k_2_row[2];
    load2(&k_2_cells[2][1], k_2 + row[2] + i);
    double u_cells[kCellsX];
    load2(u_cells, u + row[1] + i);

    double u_residual_result[kCellsX];
    double u_inverse_result[kCellsX];
    double u_direction_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const double product = 2.0 * k_2_cells[1][x + 1];
        const double ratio = product * k_2_cells[1][x + 2] / (k_2_cells[1][x + 1] + k_2_cells[1][x + 2]);
        const double ratio_2 = product * k_2_cells[1][x] / (k_2_cells[1][x + 1] + k_2_cells[1][x]);
        const double ratio_3 = product * k_2_cells[2][x + 1] / (k_2_cells[1][x + 1] + k_2_cells[2][x + 1]);
        const double ratio_4 = product * k_2_cells[0][x + 1] / (k_2_cells[1][x + 1] + k_2_cells[0][x + 1]);
        double sum = fma(-ratio_2, u_next_cells[1][x + 1] - u_next_cells[1][x],
                         ratio * (u_next_cells[1][x + 2] - u_next_cells[1][x + 1]));
        sum = fma(ratio_3, u_next_cells[2][x + 1] - u_next_cells[1][x + 1], sum);
        sum = fma(-ratio_4, u_next_cells[1][x + 1] - u_next_cells[0][x + 1], sum);
        const double u_residual_value = fma(dt_over_h_squared, sum, u_cells[x] - u_next_cells[1][x + 1]);
        const double u_inverse_value = 1.0 / fma(dt_over_h_squared, ratio + ratio_2 + ratio_3 + ratio_4, 1.0);
        const double u_direction_value = u_inverse_value * u_residual_value;
        u_residual_result[x] = u_residual_value;
        u_inverse_result[x] = u_inverse_value;
        u_direction_result[x] = u_direction_value;
    }
    if (i + kCellsX <= nx) {
        store2(u_residual + row[1] + i, u_residual_result);
        store2(u_inverse + row[1] + i, u_inverse_result);
        store2(u_direction + row[1] + i, u_direction_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) u_residual[row[1] + i + x] = u_residual_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) u_inverse[row[1] + i + x] = u_inverse_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) u_direction[row[1] + i + x] = u_direction_result[x];
    }

    // Cells of u_direction near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x >= nx - 1)
                if (i + x < nx) store_images_u_zero(u_direction, i + x, j, nx, ny, pitch);
}

// Reads k_2, u_direction, u_residual, u_inverse, writes u_image, reduces to u.curvature, reduces to u.before,
// reduces to u.scale.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 40 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 9)
    implicit_heat2d_u_image(const double* __restrict__ k_2, const double* __restrict__ u_direction,
                            const double* __restrict__ u_residual, const double* __restrict__ u_inverse,
                            double* __restrict__ u_image, int nx, int ny, int pitch,
                            double minus_dt_over_h_squared, double dt_over_h_squared,
                            double* __restrict__ u_curvature_partials, double* __restrict__ u_before_partials,
                            double* __restrict__ u_scale_partials, const long long* __restrict__ over) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    if (over[0] != 0) return;
    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double u_curvature_of_thread = 0.0;
    double u_before_of_thread = 0.0;
    double u_scale_of_thread = 0.0;
    if (i < nx && j < ny) {
        // Where the rows of this thread's window start.
        long long row[3];
#pragma unroll
        for (int y = 0; y < 3; ++y)
            row[y] = static_cast<long long>(j + y - 1) * pitch;

        double k_2_cells[3][kCellsX + 2];
        load2(&k_2_cells[0][1], k_2 + row[0] + i);
        const double* k_2_row = k_2 + row[1] + i;
        k_2_cells[1][0] = k_2_row[-1];
        load2(&k_2_cells[1][1], k_2_row);
        k_2_cells[1][3] = k_2_row[2];
        load2(&k_2_cells[2][1], k_2 + row[2] + i);
        double u_direction_cells[3][kCellsX + 2];
        load2(&u_direction_cells[0][1], u_direction + row[0] + i);
        const double* u_direction_row = u_direction + row[1] + i;
        u_direction_cells[1][0] = u_direction_row[-1];
        load2(&u_direction_cells[1][1], u_direction_row);
        u_direction_cells[1][3] = u_direction_row[2];
        load2(&u_direction_cells[2][1], u_direction + row[2] + i);
        double u_residual_cells[kCellsX];
        load2(u_residual_cells, u_residual + row[1] + i);
        double u_inverse_cells[kCellsX];
        load2(u_inverse_cells, u_inverse + row[1] + i);

        double u_image_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const double product = 2.0 * k_2_cells[1][x + 1];
            const double ratio = product * k_2_cells[1][x + 2] / (k_2_cells[1][x + 1] + k_2_cells[1][x + 2]);
            const double ratio_2 = product * k_2_cells[1][x] / (k_2_cells[1][x + 1] + k_2_cells[1][x]);
            const double ratio_3 =
                product * k_2_cells[2][x + 1] / (k_2_cells[1][x + 1] + k_2_cells[2][x + 1]);
            const double ratio_4 =
                product * k_2_cells[0][x + 1] / (k_2_cells[1][x + 1] + k_2_cells[0][x + 1]);
            double sum = fma(-ratio_2, u_direction_cells[1][x + 1] - u_direction_cells[1][x],
                             ratio * (u_direction_cells[1][x + 2] - u_direction_cells[1][x + 1]));
            sum = fma(ratio_3, u_direction_cells[2][x + 1] - u_direction_cells[1][x + 1], sum);
            sum = fma(-ratio_4, u_direction_cells[1][x + 1] - u_direction_cells[0][x + 1], sum);
            const double u_image_value = fma(minus_dt_over_h_squared, sum, u_direction_cells[1][x + 1]);
            u_image_result[x] = u_image_value;
            if (i + x < nx) {
                u_curvature_of_thread += u_direction_cells[1][x + 1] * u_image_value;
                u_before_of_thread += u_residual_cells[x] * (u_inverse_cells[x] * u_residual_cells[x]);
                u_scale_of_thread += fma(dt_over_h_squared, ratio + ratio_2 + ratio_3 + ratio_4,
                                         1.0) * u_direction_cells[1][x + 1] * u_direction_cells[1][x + 1];
            }
        }
        if (i + kCellsX <= nx)
            store2(u_image + row[1] + i, u_image_result);
        else
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) u_image[row[1] + i + x] = u_image_result[x];
    }

    // One partial result a block; what a condition reads is combined after each iteration.
    const double u_curvature_of_block = block_sum(u_curvature_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        u_curvature_partials[blockIdx.x + gridDim.x * blockIdx.y] = u_curvature_of_block;
    const double u_before_of_block = block_sum(u_before_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        u_before_partials[blockIdx.x + gridDim.x * blockIdx.y] = u_before_of_block;
    const double u_scale_of_block = block_sum(u_scale_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        u_scale_partials[blockIdx.x + gridDim.x * blockIdx.y] = u_scale_of_block;
}

// Scalars of the kernels that follow in the step, of what the blocks have found before.
extern "C" __global__ void __launch_bounds__(1024)
    implicit_heat2d_scalars_2(const double* __restrict__ u_scale_partials, int n_u_scale,
                              const double* __restrict__ u_curvature_partials, int n_u_curvature,
                              const double* __restrict__ u_before_partials, int n_u_before,
                              double* __restrict__ scalars) {
    double u_scale_of_thread = 0.0;
    for (int part = threadIdx.x; part < n_u_scale; part += 1024)
        u_scale_of_thread += u_scale_partials[part];
    const double u_scale = block_sum(u_scale_of_thread);
    double u_curvature_of_thread = 0.0;
    for (int part = threadIdx.x; part < n_u_curvature; part += 1024)
        u_curvature_of_thread += u_curvature_partials[part];
    const double u_curvature = block_sum(u_curvature_of_thread);
    double u_before_of_thread = 0.0;
    for (int part = threadIdx.x; part < n_u_before; part += 1024)
        u_before_of_thread += u_before_partials[part];
    const double u_before = block_sum(u_before_of_thread);

    if (threadIdx.x == 0) {
        const double value = u_scale != 0.0 ? u_curvature / u_scale : 0.0;
        const double value_2 = value > 1e-14 ? u_before / u_curvature : 0.0;
        scalars[1] = -value_2;
        scalars[2] = value_2;
        scalars[3] = value;
    }
}

// Reads u_residual, u_inverse, u_image, writes u_residual_later, reduces to u.after, reduces to u.rest.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 16)
    implicit_heat2d_u_residual_later(const double* __restrict__ u_residual,
                                     const double* __restrict__ u_inverse, const double* __restrict__ u_image,
                                     double* __restrict__ u_residual_later, int nx, int ny, int pitch,
                                     const double* __restrict__ scalars,
                                     double* __restrict__ u_after_partials,
                                     double* __restrict__ u_rest_partials, const long long* __restrict__ over)
    {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const double scale = scalars[1];
    if (over[0] != 0) return;
    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double u_after_of_thread = 0.0;
    double u_rest_of_thread = 0.0;
    if (i < nx && j < ny) {
        double u_residual_cells[kCellsX];
        load2(u_residual_cells, u_residual + static_cast<long long>(j) * pitch + i);
        double u_inverse_cells[kCellsX];
        load2(u_inverse_cells, u_inverse + static_cast<long long>(j) * pitch + i);
        double u_image_cells[kCellsX];
        load2(u_image_cells, u_image + static_cast<long long>(j) * pitch + i);

        double u_residual_later_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const double u_residual_later_value = fma(scale, u_image_cells[x], u_residual_cells[x]);
            u_residual_later_result[x] = u_residual_later_value;
            if (i + x < nx) {
                u_after_of_thread += u_residual_later_value * (u_inverse_cells[x] * u_residual_later_value);
                u_rest_of_thread += u_residual_later_value * u_residual_later_value;
            }
        }
        if (i + kCellsX <= nx)
            store2(u_residual_later + static_cast<long long>(j) * pitch + i, u_residual_later_result);
        else
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx)
                    u_residual_later[static_cast<long long>(j) * pitch + i + x] = u_residual_later_result[x];
    }

    // One partial result a block; what a condition reads is combined after each iteration.
    const double u_after_of_block = block_sum(u_after_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        u_after_partials[blockIdx.x + gridDim.x * blockIdx.y] = u_after_of_block;
    const double u_rest_of_block = block_sum(u_rest_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        u_rest_partials[blockIdx.x + gridDim.x * blockIdx.y] = u_rest_of_block;
}

// Scalars of the kernels that follow in the step, of what the blocks have found before.
extern "C" __global__ void __launch_bounds__(1024)
    implicit_heat2d_scalars_3(const double* __restrict__ u_before_partials, int n_u_before,
                              const double* __restrict__ u_after_partials, int n_u_after,
                              double* __restrict__ scalars) {
    double u_before_of_thread = 0.0;
    for (int part = threadIdx.x; part < n_u_before; part += 1024)
        u_before_of_thread += u_before_partials[part];
    const double u_before = block_sum(u_before_of_thread);
    double u_after_of_thread = 0.0;
    for (int part = threadIdx.x; part < n_u_after; part += 1024)
        u_after_of_thread += u_after_partials[part];
    const double u_after = block_sum(u_after_of_thread);

    if (threadIdx.x == 0) scalars[4] = u_before != 0.0 ? u_after / u_before : 0.0;
}

// Reads u_next, u_direction, u_inverse, u_residual_later, writes u_later, u_direction_later.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 48 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 14)
    implicit_heat2d_u_later(const double* __restrict__ u_next, const double* __restrict__ u_direction,
                            const double* __restrict__ u_inverse, const double* __restrict__ u_residual_later,
                            double* __restrict__ u_later, double* __restrict__ u_direction_later, int nx,
                            int ny, int pitch, const double* __restrict__ scalars,
                            const long long* __restrict__ over) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const double scale = scalars[2];
    const double scale_2 = scalars[3];
    const double scale_3 = scalars[4];
    if (over[0] != 0) return;
    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    double u_next_cells[kCellsX];
    load2(u_next_cells, u_next + static_cast<long long>(j) * pitch + i);
    double u_direction_cells[kCellsX];
    load2(u_direction_cells, u_direction + static_cast<long long>(j) * pitch + i);
    double u_inverse_cells[kCellsX];
    load2(u_inverse_cells, u_inverse + static_cast<long long>(j) * pitch + i);
    double u_residual_later_cells[kCellsX];
    load2(u_residual_later_cells, u_residual_later + static_cast<long long>(j) * pitch + i);

    double u_later_result[kCellsX];
    double u_direction_later_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const double u_later_value = fma(scale, u_direction_cells[x], u_next_cells[x]);
        const double u_direction_later_value = scale_2 > 1e-14 ?
            fma(scale_3, u_direction_cells[x], u_inverse_cells[x] * u_residual_later_cells[x]) :
            u_direction_cells[x];
        u_later_result[x] = u_later_value;
        u_direction_later_result[x] = u_direction_later_value;
    }
    if (i + kCellsX <= nx) {
        store2(u_later + static_cast<long long>(j) * pitch + i, u_later_result);
        store2(u_direction_later + static_cast<long long>(j) * pitch + i, u_direction_later_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) u_later[static_cast<long long>(j) * pitch + i + x] = u_later_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx)
                u_direction_later[static_cast<long long>(j) * pitch + i + x] = u_direction_later_result[x];
    }

    // Cells of u_later near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x >= nx - 1)
                if (i + x < nx) store_images_u_zero(u_later, i + x, j, nx, ny, pitch);

    // Cells of u_direction_later near a face are shown by halo cells, too.
    const bool near_face_2 = j < 1 || j >= ny - 1;
    if (near_face_2 || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face_2 || i + x >= nx - 1)
                if (i + x < nx) store_images_u_zero(u_direction_later, i + x, j, nx, ny, pitch);
}

// Reads u_direction_later, writes u_direction.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    implicit_heat2d_u_direction(const double* __restrict__ u_direction_later,
                                double* __restrict__ u_direction, int nx, int ny, int pitch,
                                const long long* __restrict__ over) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    if (over[0] != 0) return;
    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    u_direction[at] = u_direction_later[at];

    // Cells of u_direction near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i >= nx - 1) store_images_u_zero(u_direction, i, j, nx, ny, pitch);
}

// Reads u_residual_later, writes u_residual.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    implicit_heat2d_u_residual_2(const double* __restrict__ u_residual_later, double* __restrict__ u_residual,
                                 int nx, int ny, int pitch, const long long* __restrict__ over) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    if (over[0] != 0) return;
    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    u_residual[at] = u_residual_later[at];
}

// Reads u_later, writes u_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    implicit_heat2d_u_2(const double* __restrict__ u_later, double* __restrict__ u_next, int nx, int ny,
                        int pitch, const long long* __restrict__ over) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    if (over[0] != 0) return;
    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    u_next[at] = u_later[at];

    // Cells of u_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i >= nx - 1) store_images_u_zero(u_next, i, j, nx, ny, pitch);
}

// Ends the iterations where the residual of u is within its tolerance, and counts them.
// Words of `iterations`: whether they are over, whether their number is even, their number
// in this step and in all, the most of a step, and steps that ended without the condition.
extern "C" __global__ void __launch_bounds__(256)
    implicit_heat2d_until_u_rest(const double* __restrict__ scalars, int n_u_rest,
                                 double* __restrict__ u_rest_partials, long long* __restrict__ iterations) {
    const double u_size = scalars[5];
    const bool over = iterations[0] != 0;
    double u_rest_of_thread = 0.0;
    for (int part = threadIdx.x; part < (over ? 0 : n_u_rest); part += 256)
        u_rest_of_thread += u_rest_partials[part];
    const double u_rest = sqrt(block_sum(u_rest_of_thread));

    if (threadIdx.x == 0 && !over) {
        u_rest_partials[n_u_rest] = u_rest;
        const bool holds = u_rest <= u_size;
        const long long number = iterations[2] + 1;
        iterations[2] = number;
        iterations[1] = number % 2 == 0 ? 1 : 0;
        iterations[3] += 1;
        if (number > iterations[4]) iterations[4] = number;
        if (holds)
            iterations[0] = 1;
        else if (number == 1000)
            iterations[5] += 1;
    }
}

// Reads u_next, reduces to warmth.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 22)
    implicit_heat2d_warmth(const double* __restrict__ u_next, int nx, int ny, int pitch, double scale,
                           double* __restrict__ warmth_partials) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double warmth_of_thread = 0.0;
    if (i < nx && j < ny) {
        double u_next_cells[kCellsX];
        load2(u_next_cells, u_next + static_cast<long long>(j) * pitch + i);

#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) warmth_of_thread += scale * u_next_cells[x];
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double warmth_of_block = block_sum(warmth_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        warmth_partials[blockIdx.x + gridDim.x * blockIdx.y] = warmth_of_block;
}
