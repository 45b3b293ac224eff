// multigrid_poisson3d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y, 1 below and 1 above along z.
// e_1 lies on coarse(2): its array is laid out so for the cells that this leaves.
// d_1 lies on coarse(2): its array is laid out so for the cells that this leaves.
// k_1 lies on coarse(2): its array is laid out so for the cells that this leaves.
// e_2 lies on coarse(4): its array is laid out so for the cells that this leaves.
// d_2 lies on coarse(4): its array is laid out so for the cells that this leaves.
// k_2 lies on coarse(4): its array is laid out so for the cells that this leaves.
// e_3 lies on coarse(8): its array is laid out so for the cells that this leaves.
// d_3 lies on coarse(8): its array is laid out so for the cells that this leaves.
// k_3 lies on coarse(8): its array is laid out so for the cells that this leaves.
// e_4 lies on coarse(16): its array is laid out so for the cells that this leaves.
// d_4 lies on coarse(16): its array is laid out so for the cells that this leaves.
// k_4 lies on coarse(16): its array is laid out so for the cells that this leaves.

// a + b, around the ends.
__device__ __forceinline__ int wrap_add(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}

// What floor_div leaves: of b's sign; by 0 it is 0.
__device__ __forceinline__ int floor_mod(int a, int b) {
    if (b == 0 || b == -1) return 0;
    const int rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

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

// Fills what lies past the faces of u along all axes in one launch: what lies past several faces is found
// from cells inside, and no axis waits for another.
extern "C" __global__ void __launch_bounds__(128)
    multigrid_poisson3d_halo_u(double* __restrict__ u, int nx, int ny, int nz, int pitch, long long slice) {
    constexpr int kThreads = 128;

    const int across = blockIdx.x * kThreads + threadIdx.x;
    // The value of a cell, found from cells inside: each of these functions knows what lies past one axis'
    // faces more.
    const auto inside = [&](int i, int j, int k) {
        return u[k * slice + static_cast<long long>(j) * pitch + i];
    };
    const auto past_z = [&](int i, int j, int k) {
        return k == -1 ? -inside(i, j, 0) : k == nz ? -inside(i, j, nz - 1) : inside(i, j, k);
    };
    const auto past_y = [&](int i, int j, int k) {
        return j == -1 ? -past_z(i, 0, k) : j == ny ? -past_z(i, ny - 1, k) : past_z(i, j, k);
    };
    if (blockIdx.z == 0) {
        // Along z.
        const int i = across;
        const int j = blockIdx.y;
        if (i >= nx || j >= ny) return;
        const long long first = static_cast<long long>(j) * pitch + i;
        const long long last = first + (nz - 1) * slice;
        u[first - slice] = -u[first];
        u[last + slice] = -u[last];
    } else if (blockIdx.z == 1) {
        // Along y.
        const int i = across;
        const int k = blockIdx.y - 1;
        if (i >= nx || k >= nz + 1) return;
        const long long first = k * slice + i;
        const long long last = first + static_cast<long long>(ny - 1) * pitch;
        u[first - pitch] = -past_z(i, 0, k);
        u[last + pitch] = -past_z(i, ny - 1, k);
    } else {
        // Along x.
        const int j = across - 1;
        const int k = blockIdx.y - 1;
        if (j >= ny + 1 || k >= nz + 1) return;
        const long long first = k * slice + static_cast<long long>(j) * pitch;
        const long long last = first + nx - 1;
        u[first - 1] = -past_y(0, j, k);
        u[last + 1] = -past_y(nx - 1, j, k);
    }
}

// Stores a cell once more wherever the halo shows it: x antisymmetric, y antisymmetric, z antisymmetric.
__device__ inline void store_images_e_0(double* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                        long long slice) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1 && k >= 1 && k < nz - 1) return;
    const double value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int z = k == 0 ? -1 : k; z < (k == nz - 1 ? nz + 1 : k + 1); ++z) {
        const double past_z = z != k ? -value : value;
        for (int y = j == 0 ? -1 : j; y < (j == ny - 1 ? ny + 1 : j + 1); ++y) {
            const double past_y = y != j ? -past_z : past_z;
            for (int x = i == 0 ? -1 : i; x < (i == nx - 1 ? nx + 1 : i + 1); ++x)
                u[z * slice + static_cast<long long>(y) * pitch + x] = x != i ? -past_y : past_y;
        }
    }
}

// Reads u, f, k_0, writes d_0, e_0.
// Schedule: direct, blocks of 32x4x4 threads, 2x2x1 cells a thread.
// At least 40 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    multigrid_poisson3d_d_0(const double* __restrict__ u, const double* __restrict__ f,
                            const double* __restrict__ k_0, double* __restrict__ d_0,
                            double* __restrict__ e_0, int nx, int ny, int nz, int pitch, long long slice,
                            double minus_inv_h_squared) {
    constexpr int kCellsX = 2, kCellsY = 2;
    constexpr int kThreadsX = 32, kThreadsY = 4, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = (blockIdx.y * kThreadsY + threadIdx.y) * kCellsY;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[kCellsY + 2];
#pragma unroll
    for (int y = 0; y < kCellsY + 2; ++y)
        row[y] = static_cast<long long>(min(j + y - 1, ny)) * pitch;
    long long plane[3];
#pragma unroll
    for (int z = 0; z < 3; ++z)
        plane[z] = (k + z - 1) * slice;

    double u_cells[3][kCellsY + 2][kCellsX + 2];
#pragma unroll
    for (int y = 1; y < 3; ++y)
        load2(&u_cells[0][y][1], u + plane[0] + row[y] + i);
    load2(&u_cells[1][0][1], u + plane[1] + row[0] + i);
#pragma unroll
    for (int y = 1; y < 3; ++y) {
        const double* u_row = u + plane[1] + row[y] + i;
        u_cells[1][y][0] = u_row[-1];
        load2(&u_cells[1][y][1], u_row);
        u_cells[1][y][3] = u_row[2];
    }
    load2(&u_cells[1][3][1], u + plane[1] + row[3] + i);
#pragma unroll
    for (int y = 1; y < 3; ++y)
        load2(&u_cells[2][y][1], u + plane[2] + row[y] + i);
    double f_cells[kCellsY][kCellsX];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load2(f_cells[y], f + plane[1] + row[y + 1] + i);
    double k_0_cells[3][kCellsY + 2][kCellsX + 2];
#pragma unroll
    for (int y = 1; y < 3; ++y)
        load2(&k_0_cells[0][y][1], k_0 + plane[0] + row[y] + i);
    load2(&k_0_cells[1][0][1], k_0 + plane[1] + row[0] + i);
#pragma unroll
    for (int y = 1; y < 3; ++y) {
        const double* k_0_row = k_0 + plane[1] + row[y] + i;
        k_0_cells[1][y][0] = k_0_row[-1];
        load2(&k_0_cells[1][y][1], k_0_row);
        k_0_cells[1][y][3] = k_0_row[2];
    }
    load2(&k_0_cells[1][3][1], k_0 + plane[1] + row[3] + i);
#pragma unroll
    for (int y = 1; y < 3; ++y)
        load2(&k_0_cells[2][y][1], k_0 + plane[2] + row[y] + i);

#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
        double d_0_result[kCellsX];
        double e_0_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const double sum = k_0_cells[1][y + 1][x + 1] + k_0_cells[1][y + 1][x];
            const double sum_2 = k_0_cells[1][y + 1][x + 1] + k_0_cells[1][y + 1][x + 2];
            const double sum_3 = k_0_cells[1][y + 1][x + 1] + k_0_cells[1][y][x + 1];
            const double sum_4 = k_0_cells[1][y + 1][x + 1] + k_0_cells[1][y + 2][x + 1];
            const double sum_5 = k_0_cells[1][y + 1][x + 1] + k_0_cells[0][y + 1][x + 1];
            const double sum_6 = k_0_cells[1][y + 1][x + 1] + k_0_cells[2][y + 1][x + 1];
            double sum_7 = fma(-(0.5 * sum), u_cells[1][y + 1][x],
                               0.5 * (sum + sum_2 + sum_3 + sum_4 + sum_5 +
                                      sum_6) * u_cells[1][y + 1][x + 1]);
            sum_7 = fma(-(0.5 * sum_2), u_cells[1][y + 1][x + 2], sum_7);
            sum_7 = fma(-(0.5 * sum_3), u_cells[1][y][x + 1], sum_7);
            sum_7 = fma(-(0.5 * sum_4), u_cells[1][y + 2][x + 1], sum_7);
            sum_7 = fma(-(0.5 * sum_5), u_cells[0][y + 1][x + 1], sum_7);
            sum_7 = fma(-(0.5 * sum_6), u_cells[2][y + 1][x + 1], sum_7);
            const double d_0_value = fma(minus_inv_h_squared, sum_7, f_cells[y][x]);
            const double e_0_value = 0.0;
            d_0_result[x] = d_0_value;
            e_0_result[x] = e_0_value;
        }
        if (j + y < ny) {
            if (i + kCellsX <= nx) {
                store2(d_0 + plane[1] + row[y + 1] + i, d_0_result);
                store2(e_0 + plane[1] + row[y + 1] + i, e_0_result);
            } else {
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) d_0[plane[1] + row[y + 1] + i + x] = d_0_result[x];
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) e_0[plane[1] + row[y + 1] + i + x] = e_0_result[x];
            }
        }
    }

    // Cells of e_0 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j + 1 >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face || i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x < 1 || i + x >= nx - 1)
#pragma unroll 1
                for (int y = 0; y < 2; ++y)
                    if (i + x < nx && j + y < ny)
                        store_images_e_0(e_0, i + x, j + y, k, nx, ny, nz, pitch, slice);
}

// Reads k_0, e_0, d_0, writes e_0.
// Schedule: direct, blocks of 32x4x4 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    multigrid_poisson3d_e_0(const double* __restrict__ k_0, const double* __restrict__ d_0,
                            double* __restrict__ e_0, int nx, int ny, int nz, int pitch, long long slice,
                            double h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 4, kThreadsZ = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 0) {
        const double sum = k_0[at] + k_0[at - 1];
        const double sum_3 = k_0[at] + k_0[at + 1];
        const double sum_4 = k_0[at] + k_0[at - pitch];
        const double sum_5 = k_0[at] + k_0[at + pitch];
        const double sum_6 = k_0[at] + k_0[at - slice];
        const double sum_7 = k_0[at] + k_0[at + slice];
        double sum_2 = fma(0.5 * sum, e_0[at - 1], h_squared * d_0[at]);
        sum_2 = fma(0.5 * sum_3, e_0[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_0[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_0[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_0[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_0[at + slice], sum_2);
        e_0[at] = fma(1.15, sum_2 / (0.5 * (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7)) - e_0[at], e_0[at]);

        // Cells of e_0 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_0, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads k_0, e_0, d_0, writes e_0.
// Schedule: direct, blocks of 32x4x4 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    multigrid_poisson3d_e_0_2(const double* __restrict__ k_0, const double* __restrict__ d_0,
                              double* __restrict__ e_0, int nx, int ny, int nz, int pitch, long long slice,
                              double h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 4, kThreadsZ = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 1) {
        const double sum = k_0[at] + k_0[at - 1];
        const double sum_3 = k_0[at] + k_0[at + 1];
        const double sum_4 = k_0[at] + k_0[at - pitch];
        const double sum_5 = k_0[at] + k_0[at + pitch];
        const double sum_6 = k_0[at] + k_0[at - slice];
        const double sum_7 = k_0[at] + k_0[at + slice];
        double sum_2 = fma(0.5 * sum, e_0[at - 1], h_squared * d_0[at]);
        sum_2 = fma(0.5 * sum_3, e_0[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_0[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_0[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_0[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_0[at + slice], sum_2);
        e_0[at] = fma(1.15, sum_2 / (0.5 * (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7)) - e_0[at], e_0[at]);

        // Cells of e_0 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_0, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Stores a cell once more wherever the halo shows it: x clamp, y clamp, z clamp.
__device__ inline void store_images_k_1(double* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                        long long slice) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1 && k >= 1 && k < nz - 1) return;
    const double value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int z = k == 0 ? -1 : k; z < (k == nz - 1 ? nz + 1 : k + 1); ++z)
        for (int y = j == 0 ? -1 : j; y < (j == ny - 1 ? ny + 1 : j + 1); ++y)
            for (int x = i == 0 ? -1 : i; x < (i == nx - 1 ? nx + 1 : i + 1); ++x)
                u[z * slice + static_cast<long long>(y) * pitch + x] = value;
}

// Reads e_0, k_0, d_0, writes d_1, k_1, e_1.
// Schedule: direct, blocks of 32x4x1 threads, 1x1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 1)
    multigrid_poisson3d_d_1(const double* __restrict__ e_0, const double* __restrict__ k_0,
                            const double* __restrict__ d_0, double* __restrict__ d_1,
                            double* __restrict__ k_1, double* __restrict__ e_1, int nx, int ny, int nz,
                            int pitch, int pitch_1, long long slice, long long slice_1,
                            double minus_inv_h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    const double value =
        k_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2) * pitch_1 + i * 2];
    const double sum = value +
        k_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2) * pitch_1 + i * 2 - 1];
    const double value_2 =
        k_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2) * pitch_1 + i * 2 + 1];
    const double sum_2 = value + value_2;
    const double sum_3 = value +
        k_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2 - 1) * pitch_1 + i * 2];
    const double value_3 =
        k_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2];
    const double sum_4 = value + value_3;
    const double sum_5 = value +
        k_0[static_cast<long long>(k * 2 - 1) * slice_1 + static_cast<long long>(j * 2) * pitch_1 + i * 2];
    const double value_4 =
        k_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2) * pitch_1 + i * 2];
    const double sum_6 = value + value_4;
    const double value_5 =
        e_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2) * pitch_1 + i * 2];
    const double sum_7 = value_2 + value;
    const double sum_8 = value_2 +
        k_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2) * pitch_1 + i * 2 + 2];
    const double sum_9 = value_2 +
        k_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2 - 1) * pitch_1 + i * 2 +
            1];
    const double value_6 =
        k_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 +
            1];
    const double sum_10 = value_2 + value_6;
    const double sum_11 = value_2 +
        k_0[static_cast<long long>(k * 2 - 1) * slice_1 + static_cast<long long>(j * 2) * pitch_1 + i * 2 +
            1];
    const double value_7 =
        k_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2) * pitch_1 + i * 2 +
            1];
    const double sum_12 = value_2 + value_7;
    const double value_8 =
        e_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2) * pitch_1 + i * 2 + 1];
    const double value_9 =
        e_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2];
    const double sum_14 = value_3 +
        k_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 -
            1];
    const double sum_15 = value_3 + value_6;
    const double sum_16 = value_3 + value;
    const double sum_17 = value_3 +
        k_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2 + 2) * pitch_1 + i * 2];
    const double sum_18 = value_3 +
        k_0[static_cast<long long>(k * 2 - 1) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 +
            i * 2];
    const double value_10 =
        k_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 +
            i * 2];
    const double sum_19 = value_3 + value_10;
    const double value_11 =
        e_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 +
            1];
    const double sum_20 = value_6 + value_3;
    const double sum_21 = value_6 +
        k_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 +
            2];
    const double sum_22 = value_6 + value_2;
    const double sum_23 = value_6 +
        k_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2 + 2) * pitch_1 + i * 2 +
            1];
    const double sum_24 = value_6 +
        k_0[static_cast<long long>(k * 2 - 1) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 +
            i * 2 + 1];
    const double value_12 =
        k_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 +
            i * 2 + 1];
    const double sum_25 = value_6 + value_12;
    const double value_13 =
        e_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2) * pitch_1 + i * 2];
    const double sum_26 = value_4 +
        k_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2) * pitch_1 + i * 2 -
            1];
    const double sum_27 = value_4 + value_7;
    const double sum_28 = value_4 +
        k_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2 - 1) * pitch_1 +
            i * 2];
    const double sum_29 = value_4 + value_10;
    const double sum_30 = value_4 + value;
    const double sum_31 = value_4 +
        k_0[static_cast<long long>(k * 2 + 2) * slice_1 + static_cast<long long>(j * 2) * pitch_1 + i * 2];
    const double value_14 =
        e_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2) * pitch_1 + i * 2 +
            1];
    const double sum_32 = value_7 + value_4;
    const double sum_33 = value_7 +
        k_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2) * pitch_1 + i * 2 +
            2];
    const double sum_34 = value_7 +
        k_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2 - 1) * pitch_1 +
            i * 2 + 1];
    const double sum_35 = value_7 + value_12;
    const double sum_36 = value_7 + value_2;
    const double sum_37 = value_7 +
        k_0[static_cast<long long>(k * 2 + 2) * slice_1 + static_cast<long long>(j * 2) * pitch_1 + i * 2 +
            1];
    const double value_15 =
        e_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 +
            i * 2];
    const double sum_38 = value_10 +
        k_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 +
            i * 2 - 1];
    const double sum_39 = value_10 + value_12;
    const double sum_40 = value_10 + value_4;
    const double sum_41 = value_10 +
        k_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2 + 2) * pitch_1 +
            i * 2];
    const double sum_42 = value_10 + value_3;
    const double sum_43 = value_10 +
        k_0[static_cast<long long>(k * 2 + 2) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 +
            i * 2];
    const double value_16 =
        e_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 +
            i * 2 + 1];
    const double sum_44 = value_12 + value_10;
    const double sum_45 = value_12 +
        k_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 +
            i * 2 + 2];
    const double sum_46 = value_12 + value_7;
    const double sum_47 = value_12 +
        k_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2 + 2) * pitch_1 +
            i * 2 + 1];
    const double sum_48 = value_12 + value_6;
    const double sum_49 = value_12 +
        k_0[static_cast<long long>(k * 2 + 2) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 +
            i * 2 + 1];
    double sum_13 = fma(sum_7 + sum_8 + sum_9 + sum_10 + sum_11 + sum_12, value_8,
                        (sum + sum_2 + sum_3 + sum_4 + sum_5 + sum_6) * value_5);
    sum_13 = fma(sum_14 + sum_15 + sum_16 + sum_17 + sum_18 + sum_19, value_9, sum_13);
    sum_13 = fma(sum_20 + sum_21 + sum_22 + sum_23 + sum_24 + sum_25, value_11, sum_13);
    sum_13 = fma(sum_26 + sum_27 + sum_28 + sum_29 + sum_30 + sum_31, value_13, sum_13);
    sum_13 = fma(sum_32 + sum_33 + sum_34 + sum_35 + sum_36 + sum_37, value_14, sum_13);
    sum_13 = fma(sum_38 + sum_39 + sum_40 + sum_41 + sum_42 + sum_43, value_15, sum_13);
    sum_13 = fma(sum_44 + sum_45 + sum_46 + sum_47 + sum_48 + sum_49, value_16, sum_13);
    double sum_50 = fma(-(0.5 * sum),
                        e_0[static_cast<long long>(k * 2) * slice_1 +
                            static_cast<long long>(j * 2) * pitch_1 + i * 2 - 1],
                        0.5 * sum_13);
    sum_50 = fma(-(0.5 * sum_2), value_8, sum_50);
    sum_50 = fma(-(0.5 * sum_3),
                 e_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2 - 1) * pitch_1 +
                     i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_4), value_9, sum_50);
    sum_50 = fma(-(0.5 * sum_5),
                 e_0[static_cast<long long>(k * 2 - 1) * slice_1 + static_cast<long long>(j * 2) * pitch_1 +
                     i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_6), value_13, sum_50);
    sum_50 = fma(-(0.5 * sum_7), value_5, sum_50);
    sum_50 = fma(-(0.5 * sum_8),
                 e_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2) * pitch_1 +
                     i * 2 + 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_9),
                 e_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2 - 1) * pitch_1 +
                     i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_10), value_11, sum_50);
    sum_50 = fma(-(0.5 * sum_11),
                 e_0[static_cast<long long>(k * 2 - 1) * slice_1 + static_cast<long long>(j * 2) * pitch_1 +
                     i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_12), value_14, sum_50);
    sum_50 = fma(-(0.5 * sum_14),
                 e_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 +
                     i * 2 - 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_15), value_11, sum_50);
    sum_50 = fma(-(0.5 * sum_16), value_5, sum_50);
    sum_50 = fma(-(0.5 * sum_17),
                 e_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2 + 2) * pitch_1 +
                     i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_18),
                 e_0[static_cast<long long>(k * 2 - 1) * slice_1 +
                     static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_19), value_15, sum_50);
    sum_50 = fma(-(0.5 * sum_20), value_9, sum_50);
    sum_50 = fma(-(0.5 * sum_21),
                 e_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2 + 1) * pitch_1 +
                     i * 2 + 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_22), value_8, sum_50);
    sum_50 = fma(-(0.5 * sum_23),
                 e_0[static_cast<long long>(k * 2) * slice_1 + static_cast<long long>(j * 2 + 2) * pitch_1 +
                     i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_24),
                 e_0[static_cast<long long>(k * 2 - 1) * slice_1 +
                     static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_25), value_16, sum_50);
    sum_50 = fma(-(0.5 * sum_26),
                 e_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2) * pitch_1 +
                     i * 2 - 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_27), value_14, sum_50);
    sum_50 = fma(-(0.5 * sum_28),
                 e_0[static_cast<long long>(k * 2 + 1) * slice_1 +
                     static_cast<long long>(j * 2 - 1) * pitch_1 + i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_29), value_15, sum_50);
    sum_50 = fma(-(0.5 * sum_30), value_5, sum_50);
    sum_50 = fma(-(0.5 * sum_31),
                 e_0[static_cast<long long>(k * 2 + 2) * slice_1 + static_cast<long long>(j * 2) * pitch_1 +
                     i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_32), value_13, sum_50);
    sum_50 = fma(-(0.5 * sum_33),
                 e_0[static_cast<long long>(k * 2 + 1) * slice_1 + static_cast<long long>(j * 2) * pitch_1 +
                     i * 2 + 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_34),
                 e_0[static_cast<long long>(k * 2 + 1) * slice_1 +
                     static_cast<long long>(j * 2 - 1) * pitch_1 + i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_35), value_16, sum_50);
    sum_50 = fma(-(0.5 * sum_36), value_8, sum_50);
    sum_50 = fma(-(0.5 * sum_37),
                 e_0[static_cast<long long>(k * 2 + 2) * slice_1 + static_cast<long long>(j * 2) * pitch_1 +
                     i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_38),
                 e_0[static_cast<long long>(k * 2 + 1) * slice_1 +
                     static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 - 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_39), value_16, sum_50);
    sum_50 = fma(-(0.5 * sum_40), value_13, sum_50);
    sum_50 = fma(-(0.5 * sum_41),
                 e_0[static_cast<long long>(k * 2 + 1) * slice_1 +
                     static_cast<long long>(j * 2 + 2) * pitch_1 + i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_42), value_9, sum_50);
    sum_50 = fma(-(0.5 * sum_43),
                 e_0[static_cast<long long>(k * 2 + 2) * slice_1 +
                     static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_44), value_15, sum_50);
    sum_50 = fma(-(0.5 * sum_45),
                 e_0[static_cast<long long>(k * 2 + 1) * slice_1 +
                     static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 + 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_46), value_14, sum_50);
    sum_50 = fma(-(0.5 * sum_47),
                 e_0[static_cast<long long>(k * 2 + 1) * slice_1 +
                     static_cast<long long>(j * 2 + 2) * pitch_1 + i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_48), value_11, sum_50);
    sum_50 = fma(-(0.5 * sum_49),
                 e_0[static_cast<long long>(k * 2 + 2) * slice_1 +
                     static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 + 1],
                 sum_50);
    const double d_1_value = 0.125 * fma(minus_inv_h_squared, sum_50,
                                         d_0[static_cast<long long>(k * 2) * slice_1 +
                                             static_cast<long long>(j * 2) * pitch_1 + i * 2] +
                                         d_0[static_cast<long long>(k * 2) * slice_1 +
                                             static_cast<long long>(j * 2) * pitch_1 + i * 2 + 1] +
                                         d_0[static_cast<long long>(k * 2) * slice_1 +
                                             static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2] +
                                         d_0[static_cast<long long>(k * 2) * slice_1 +
                                             static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 + 1] +
                                         d_0[static_cast<long long>(k * 2 + 1) * slice_1 +
                                             static_cast<long long>(j * 2) * pitch_1 + i * 2] +
                                         d_0[static_cast<long long>(k * 2 + 1) * slice_1 +
                                             static_cast<long long>(j * 2) * pitch_1 + i * 2 + 1] +
                                         d_0[static_cast<long long>(k * 2 + 1) * slice_1 +
                                             static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2] +
                                         d_0[static_cast<long long>(k * 2 + 1) * slice_1 +
                                             static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 + 1]);
    const double k_1_value = 0.125 * (sum_2 + sum_15 + sum_27 + sum_39);
    const double e_1_value = 0.0;
    d_1[at] = d_1_value;
    k_1[at] = k_1_value;
    e_1[at] = e_1_value;

    // Cells of k_1 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_k_1(k_1, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of e_1 near a face are shown by halo cells, too.
    const bool near_face_2 = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face_2 || i < 1 || i >= nx - 1) store_images_e_0(e_1, i, j, k, nx, ny, nz, pitch, slice);
}

// Reads e_1, d_1, k_1, writes e_1.
// Schedule: direct, blocks of 16x4x4 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    multigrid_poisson3d_e_1(const double* __restrict__ d_1, const double* __restrict__ k_1,
                            double* __restrict__ e_1, int nx, int ny, int nz, int pitch, long long slice,
                            double h_squared) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 0) {
        const double sum = k_1[at] + k_1[at - 1];
        const double sum_3 = k_1[at] + k_1[at + 1];
        const double sum_4 = k_1[at] + k_1[at - pitch];
        const double sum_5 = k_1[at] + k_1[at + pitch];
        const double sum_6 = k_1[at] + k_1[at - slice];
        const double sum_7 = k_1[at] + k_1[at + slice];
        double sum_2 = fma(0.5 * sum, e_1[at - 1], h_squared * d_1[at]);
        sum_2 = fma(0.5 * sum_3, e_1[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_1[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_1[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_1[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_1[at + slice], sum_2);
        e_1[at] =
            fma(1.15, fma(2.0, sum_2 / (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7), -e_1[at]), e_1[at]);

        // Cells of e_1 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_1, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads e_1, d_1, k_1, writes e_1.
// Schedule: direct, blocks of 16x4x4 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    multigrid_poisson3d_e_1_2(const double* __restrict__ d_1, const double* __restrict__ k_1,
                              double* __restrict__ e_1, int nx, int ny, int nz, int pitch, long long slice,
                              double h_squared) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 1) {
        const double sum = k_1[at] + k_1[at - 1];
        const double sum_3 = k_1[at] + k_1[at + 1];
        const double sum_4 = k_1[at] + k_1[at - pitch];
        const double sum_5 = k_1[at] + k_1[at + pitch];
        const double sum_6 = k_1[at] + k_1[at - slice];
        const double sum_7 = k_1[at] + k_1[at + slice];
        double sum_2 = fma(0.5 * sum, e_1[at - 1], h_squared * d_1[at]);
        sum_2 = fma(0.5 * sum_3, e_1[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_1[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_1[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_1[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_1[at + slice], sum_2);
        e_1[at] =
            fma(1.15, fma(2.0, sum_2 / (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7), -e_1[at]), e_1[at]);

        // Cells of e_1 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_1, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads e_1, k_1, d_1, writes d_2, k_2, e_2.
// Schedule: direct, blocks of 32x4x1 threads, 1x1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 1)
    multigrid_poisson3d_d_2(const double* __restrict__ e_1, const double* __restrict__ k_1,
                            const double* __restrict__ d_1, double* __restrict__ d_2,
                            double* __restrict__ k_2, double* __restrict__ e_2, int nx, int ny, int nz,
                            int pitch, int pitch_2, long long slice, long long slice_2,
                            double minus_inv_h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    const double value =
        k_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2) * pitch_2 + i * 2];
    const double sum = value +
        k_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2) * pitch_2 + i * 2 - 1];
    const double value_2 =
        k_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2) * pitch_2 + i * 2 + 1];
    const double sum_2 = value + value_2;
    const double sum_3 = value +
        k_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2 - 1) * pitch_2 + i * 2];
    const double value_3 =
        k_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2];
    const double sum_4 = value + value_3;
    const double sum_5 = value +
        k_1[static_cast<long long>(k * 2 - 1) * slice_2 + static_cast<long long>(j * 2) * pitch_2 + i * 2];
    const double value_4 =
        k_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2) * pitch_2 + i * 2];
    const double sum_6 = value + value_4;
    const double value_5 =
        e_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2) * pitch_2 + i * 2];
    const double sum_7 = value_2 + value;
    const double sum_8 = value_2 +
        k_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2) * pitch_2 + i * 2 + 2];
    const double sum_9 = value_2 +
        k_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2 - 1) * pitch_2 + i * 2 +
            1];
    const double value_6 =
        k_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 +
            1];
    const double sum_10 = value_2 + value_6;
    const double sum_11 = value_2 +
        k_1[static_cast<long long>(k * 2 - 1) * slice_2 + static_cast<long long>(j * 2) * pitch_2 + i * 2 +
            1];
    const double value_7 =
        k_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2) * pitch_2 + i * 2 +
            1];
    const double sum_12 = value_2 + value_7;
    const double value_8 =
        e_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2) * pitch_2 + i * 2 + 1];
    const double value_9 =
        e_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2];
    const double sum_14 = value_3 +
        k_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 -
            1];
    const double sum_15 = value_3 + value_6;
    const double sum_16 = value_3 + value;
    const double sum_17 = value_3 +
        k_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2 + 2) * pitch_2 + i * 2];
    const double sum_18 = value_3 +
        k_1[static_cast<long long>(k * 2 - 1) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 +
            i * 2];
    const double value_10 =
        k_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 +
            i * 2];
    const double sum_19 = value_3 + value_10;
    const double value_11 =
        e_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 +
            1];
    const double sum_20 = value_6 + value_3;
    const double sum_21 = value_6 +
        k_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 +
            2];
    const double sum_22 = value_6 + value_2;
    const double sum_23 = value_6 +
        k_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2 + 2) * pitch_2 + i * 2 +
            1];
    const double sum_24 = value_6 +
        k_1[static_cast<long long>(k * 2 - 1) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 +
            i * 2 + 1];
    const double value_12 =
        k_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 +
            i * 2 + 1];
    const double sum_25 = value_6 + value_12;
    const double value_13 =
        e_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2) * pitch_2 + i * 2];
    const double sum_26 = value_4 +
        k_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2) * pitch_2 + i * 2 -
            1];
    const double sum_27 = value_4 + value_7;
    const double sum_28 = value_4 +
        k_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2 - 1) * pitch_2 +
            i * 2];
    const double sum_29 = value_4 + value_10;
    const double sum_30 = value_4 + value;
    const double sum_31 = value_4 +
        k_1[static_cast<long long>(k * 2 + 2) * slice_2 + static_cast<long long>(j * 2) * pitch_2 + i * 2];
    const double value_14 =
        e_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2) * pitch_2 + i * 2 +
            1];
    const double sum_32 = value_7 + value_4;
    const double sum_33 = value_7 +
        k_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2) * pitch_2 + i * 2 +
            2];
    const double sum_34 = value_7 +
        k_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2 - 1) * pitch_2 +
            i * 2 + 1];
    const double sum_35 = value_7 + value_12;
    const double sum_36 = value_7 + value_2;
    const double sum_37 = value_7 +
        k_1[static_cast<long long>(k * 2 + 2) * slice_2 + static_cast<long long>(j * 2) * pitch_2 + i * 2 +
            1];
    const double value_15 =
        e_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 +
            i * 2];
    const double sum_38 = value_10 +
        k_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 +
            i * 2 - 1];
    const double sum_39 = value_10 + value_12;
    const double sum_40 = value_10 + value_4;
    const double sum_41 = value_10 +
        k_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2 + 2) * pitch_2 +
            i * 2];
    const double sum_42 = value_10 + value_3;
    const double sum_43 = value_10 +
        k_1[static_cast<long long>(k * 2 + 2) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 +
            i * 2];
    const double value_16 =
        e_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 +
            i * 2 + 1];
    const double sum_44 = value_12 + value_10;
    const double sum_45 = value_12 +
        k_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 +
            i * 2 + 2];
    const double sum_46 = value_12 + value_7;
    const double sum_47 = value_12 +
        k_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2 + 2) * pitch_2 +
            i * 2 + 1];
    const double sum_48 = value_12 + value_6;
    const double sum_49 = value_12 +
        k_1[static_cast<long long>(k * 2 + 2) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 +
            i * 2 + 1];
    double sum_13 = fma(sum_7 + sum_8 + sum_9 + sum_10 + sum_11 + sum_12, value_8,
                        (sum + sum_2 + sum_3 + sum_4 + sum_5 + sum_6) * value_5);
    sum_13 = fma(sum_14 + sum_15 + sum_16 + sum_17 + sum_18 + sum_19, value_9, sum_13);
    sum_13 = fma(sum_20 + sum_21 + sum_22 + sum_23 + sum_24 + sum_25, value_11, sum_13);
    sum_13 = fma(sum_26 + sum_27 + sum_28 + sum_29 + sum_30 + sum_31, value_13, sum_13);
    sum_13 = fma(sum_32 + sum_33 + sum_34 + sum_35 + sum_36 + sum_37, value_14, sum_13);
    sum_13 = fma(sum_38 + sum_39 + sum_40 + sum_41 + sum_42 + sum_43, value_15, sum_13);
    sum_13 = fma(sum_44 + sum_45 + sum_46 + sum_47 + sum_48 + sum_49, value_16, sum_13);
    double sum_50 = fma(-(0.5 * sum),
                        e_1[static_cast<long long>(k * 2) * slice_2 +
                            static_cast<long long>(j * 2) * pitch_2 + i * 2 - 1],
                        0.5 * sum_13);
    sum_50 = fma(-(0.5 * sum_2), value_8, sum_50);
    sum_50 = fma(-(0.5 * sum_3),
                 e_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2 - 1) * pitch_2 +
                     i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_4), value_9, sum_50);
    sum_50 = fma(-(0.5 * sum_5),
                 e_1[static_cast<long long>(k * 2 - 1) * slice_2 + static_cast<long long>(j * 2) * pitch_2 +
                     i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_6), value_13, sum_50);
    sum_50 = fma(-(0.5 * sum_7), value_5, sum_50);
    sum_50 = fma(-(0.5 * sum_8),
                 e_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2) * pitch_2 +
                     i * 2 + 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_9),
                 e_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2 - 1) * pitch_2 +
                     i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_10), value_11, sum_50);
    sum_50 = fma(-(0.5 * sum_11),
                 e_1[static_cast<long long>(k * 2 - 1) * slice_2 + static_cast<long long>(j * 2) * pitch_2 +
                     i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_12), value_14, sum_50);
    sum_50 = fma(-(0.5 * sum_14),
                 e_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 +
                     i * 2 - 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_15), value_11, sum_50);
    sum_50 = fma(-(0.5 * sum_16), value_5, sum_50);
    sum_50 = fma(-(0.5 * sum_17),
                 e_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2 + 2) * pitch_2 +
                     i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_18),
                 e_1[static_cast<long long>(k * 2 - 1) * slice_2 +
                     static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_19), value_15, sum_50);
    sum_50 = fma(-(0.5 * sum_20), value_9, sum_50);
    sum_50 = fma(-(0.5 * sum_21),
                 e_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2 + 1) * pitch_2 +
                     i * 2 + 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_22), value_8, sum_50);
    sum_50 = fma(-(0.5 * sum_23),
                 e_1[static_cast<long long>(k * 2) * slice_2 + static_cast<long long>(j * 2 + 2) * pitch_2 +
                     i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_24),
                 e_1[static_cast<long long>(k * 2 - 1) * slice_2 +
                     static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_25), value_16, sum_50);
    sum_50 = fma(-(0.5 * sum_26),
                 e_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2) * pitch_2 +
                     i * 2 - 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_27), value_14, sum_50);
    sum_50 = fma(-(0.5 * sum_28),
                 e_1[static_cast<long long>(k * 2 + 1) * slice_2 +
                     static_cast<long long>(j * 2 - 1) * pitch_2 + i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_29), value_15, sum_50);
    sum_50 = fma(-(0.5 * sum_30), value_5, sum_50);
    sum_50 = fma(-(0.5 * sum_31),
                 e_1[static_cast<long long>(k * 2 + 2) * slice_2 + static_cast<long long>(j * 2) * pitch_2 +
                     i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_32), value_13, sum_50);
    sum_50 = fma(-(0.5 * sum_33),
                 e_1[static_cast<long long>(k * 2 + 1) * slice_2 + static_cast<long long>(j * 2) * pitch_2 +
                     i * 2 + 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_34),
                 e_1[static_cast<long long>(k * 2 + 1) * slice_2 +
                     static_cast<long long>(j * 2 - 1) * pitch_2 + i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_35), value_16, sum_50);
    sum_50 = fma(-(0.5 * sum_36), value_8, sum_50);
    sum_50 = fma(-(0.5 * sum_37),
                 e_1[static_cast<long long>(k * 2 + 2) * slice_2 + static_cast<long long>(j * 2) * pitch_2 +
                     i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_38),
                 e_1[static_cast<long long>(k * 2 + 1) * slice_2 +
                     static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 - 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_39), value_16, sum_50);
    sum_50 = fma(-(0.5 * sum_40), value_13, sum_50);
    sum_50 = fma(-(0.5 * sum_41),
                 e_1[static_cast<long long>(k * 2 + 1) * slice_2 +
                     static_cast<long long>(j * 2 + 2) * pitch_2 + i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_42), value_9, sum_50);
    sum_50 = fma(-(0.5 * sum_43),
                 e_1[static_cast<long long>(k * 2 + 2) * slice_2 +
                     static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_44), value_15, sum_50);
    sum_50 = fma(-(0.5 * sum_45),
                 e_1[static_cast<long long>(k * 2 + 1) * slice_2 +
                     static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 + 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_46), value_14, sum_50);
    sum_50 = fma(-(0.5 * sum_47),
                 e_1[static_cast<long long>(k * 2 + 1) * slice_2 +
                     static_cast<long long>(j * 2 + 2) * pitch_2 + i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_48), value_11, sum_50);
    sum_50 = fma(-(0.5 * sum_49),
                 e_1[static_cast<long long>(k * 2 + 2) * slice_2 +
                     static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 + 1],
                 sum_50);
    const double d_2_value = 0.125 * fma(minus_inv_h_squared, sum_50,
                                         d_1[static_cast<long long>(k * 2) * slice_2 +
                                             static_cast<long long>(j * 2) * pitch_2 + i * 2] +
                                         d_1[static_cast<long long>(k * 2) * slice_2 +
                                             static_cast<long long>(j * 2) * pitch_2 + i * 2 + 1] +
                                         d_1[static_cast<long long>(k * 2) * slice_2 +
                                             static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2] +
                                         d_1[static_cast<long long>(k * 2) * slice_2 +
                                             static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 + 1] +
                                         d_1[static_cast<long long>(k * 2 + 1) * slice_2 +
                                             static_cast<long long>(j * 2) * pitch_2 + i * 2] +
                                         d_1[static_cast<long long>(k * 2 + 1) * slice_2 +
                                             static_cast<long long>(j * 2) * pitch_2 + i * 2 + 1] +
                                         d_1[static_cast<long long>(k * 2 + 1) * slice_2 +
                                             static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2] +
                                         d_1[static_cast<long long>(k * 2 + 1) * slice_2 +
                                             static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 + 1]);
    const double k_2_value = 0.125 * (sum_2 + sum_15 + sum_27 + sum_39);
    const double e_2_value = 0.0;
    d_2[at] = d_2_value;
    k_2[at] = k_2_value;
    e_2[at] = e_2_value;

    // Cells of k_2 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_k_1(k_2, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of e_2 near a face are shown by halo cells, too.
    const bool near_face_2 = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face_2 || i < 1 || i >= nx - 1) store_images_e_0(e_2, i, j, k, nx, ny, nz, pitch, slice);
}

// Reads e_2, d_2, k_2, writes e_2.
// Schedule: direct, blocks of 16x4x2 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 5)
    multigrid_poisson3d_e_2(const double* __restrict__ d_2, const double* __restrict__ k_2,
                            double* __restrict__ e_2, int nx, int ny, int nz, int pitch, long long slice,
                            double h_squared) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 0) {
        const double sum = k_2[at] + k_2[at - 1];
        const double sum_3 = k_2[at] + k_2[at + 1];
        const double sum_4 = k_2[at] + k_2[at - pitch];
        const double sum_5 = k_2[at] + k_2[at + pitch];
        const double sum_6 = k_2[at] + k_2[at - slice];
        const double sum_7 = k_2[at] + k_2[at + slice];
        double sum_2 = fma(0.5 * sum, e_2[at - 1], h_squared * d_2[at]);
        sum_2 = fma(0.5 * sum_3, e_2[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_2[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_2[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_2[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_2[at + slice], sum_2);
        e_2[at] =
            fma(1.15, fma(2.0, sum_2 / (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7), -e_2[at]), e_2[at]);

        // Cells of e_2 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_2, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads e_2, d_2, k_2, writes e_2.
// Schedule: direct, blocks of 16x4x2 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 5)
    multigrid_poisson3d_e_2_2(const double* __restrict__ d_2, const double* __restrict__ k_2,
                              double* __restrict__ e_2, int nx, int ny, int nz, int pitch, long long slice,
                              double h_squared) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 1) {
        const double sum = k_2[at] + k_2[at - 1];
        const double sum_3 = k_2[at] + k_2[at + 1];
        const double sum_4 = k_2[at] + k_2[at - pitch];
        const double sum_5 = k_2[at] + k_2[at + pitch];
        const double sum_6 = k_2[at] + k_2[at - slice];
        const double sum_7 = k_2[at] + k_2[at + slice];
        double sum_2 = fma(0.5 * sum, e_2[at - 1], h_squared * d_2[at]);
        sum_2 = fma(0.5 * sum_3, e_2[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_2[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_2[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_2[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_2[at + slice], sum_2);
        e_2[at] =
            fma(1.15, fma(2.0, sum_2 / (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7), -e_2[at]), e_2[at]);

        // Cells of e_2 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_2, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads e_2, k_2, d_2, writes d_3, k_3, e_3.
// Schedule: direct, blocks of 32x4x1 threads, 1x1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 1)
    multigrid_poisson3d_d_3(const double* __restrict__ e_2, const double* __restrict__ k_2,
                            const double* __restrict__ d_2, double* __restrict__ d_3,
                            double* __restrict__ k_3, double* __restrict__ e_3, int nx, int ny, int nz,
                            int pitch, int pitch_4, long long slice, long long slice_4,
                            double minus_inv_h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    const double value =
        k_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2) * pitch_4 + i * 2];
    const double sum = value +
        k_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2) * pitch_4 + i * 2 - 1];
    const double value_2 =
        k_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2) * pitch_4 + i * 2 + 1];
    const double sum_2 = value + value_2;
    const double sum_3 = value +
        k_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2 - 1) * pitch_4 + i * 2];
    const double value_3 =
        k_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2];
    const double sum_4 = value + value_3;
    const double sum_5 = value +
        k_2[static_cast<long long>(k * 2 - 1) * slice_4 + static_cast<long long>(j * 2) * pitch_4 + i * 2];
    const double value_4 =
        k_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2) * pitch_4 + i * 2];
    const double sum_6 = value + value_4;
    const double value_5 =
        e_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2) * pitch_4 + i * 2];
    const double sum_7 = value_2 + value;
    const double sum_8 = value_2 +
        k_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2) * pitch_4 + i * 2 + 2];
    const double sum_9 = value_2 +
        k_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2 - 1) * pitch_4 + i * 2 +
            1];
    const double value_6 =
        k_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 +
            1];
    const double sum_10 = value_2 + value_6;
    const double sum_11 = value_2 +
        k_2[static_cast<long long>(k * 2 - 1) * slice_4 + static_cast<long long>(j * 2) * pitch_4 + i * 2 +
            1];
    const double value_7 =
        k_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2) * pitch_4 + i * 2 +
            1];
    const double sum_12 = value_2 + value_7;
    const double value_8 =
        e_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2) * pitch_4 + i * 2 + 1];
    const double value_9 =
        e_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2];
    const double sum_14 = value_3 +
        k_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 -
            1];
    const double sum_15 = value_3 + value_6;
    const double sum_16 = value_3 + value;
    const double sum_17 = value_3 +
        k_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2 + 2) * pitch_4 + i * 2];
    const double sum_18 = value_3 +
        k_2[static_cast<long long>(k * 2 - 1) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 +
            i * 2];
    const double value_10 =
        k_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 +
            i * 2];
    const double sum_19 = value_3 + value_10;
    const double value_11 =
        e_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 +
            1];
    const double sum_20 = value_6 + value_3;
    const double sum_21 = value_6 +
        k_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 +
            2];
    const double sum_22 = value_6 + value_2;
    const double sum_23 = value_6 +
        k_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2 + 2) * pitch_4 + i * 2 +
            1];
    const double sum_24 = value_6 +
        k_2[static_cast<long long>(k * 2 - 1) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 +
            i * 2 + 1];
    const double value_12 =
        k_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 +
            i * 2 + 1];
    const double sum_25 = value_6 + value_12;
    const double value_13 =
        e_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2) * pitch_4 + i * 2];
    const double sum_26 = value_4 +
        k_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2) * pitch_4 + i * 2 -
            1];
    const double sum_27 = value_4 + value_7;
    const double sum_28 = value_4 +
        k_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2 - 1) * pitch_4 +
            i * 2];
    const double sum_29 = value_4 + value_10;
    const double sum_30 = value_4 + value;
    const double sum_31 = value_4 +
        k_2[static_cast<long long>(k * 2 + 2) * slice_4 + static_cast<long long>(j * 2) * pitch_4 + i * 2];
    const double value_14 =
        e_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2) * pitch_4 + i * 2 +
            1];
    const double sum_32 = value_7 + value_4;
    const double sum_33 = value_7 +
        k_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2) * pitch_4 + i * 2 +
            2];
    const double sum_34 = value_7 +
        k_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2 - 1) * pitch_4 +
            i * 2 + 1];
    const double sum_35 = value_7 + value_12;
    const double sum_36 = value_7 + value_2;
    const double sum_37 = value_7 +
        k_2[static_cast<long long>(k * 2 + 2) * slice_4 + static_cast<long long>(j * 2) * pitch_4 + i * 2 +
            1];
    const double value_15 =
        e_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 +
            i * 2];
    const double sum_38 = value_10 +
        k_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 +
            i * 2 - 1];
    const double sum_39 = value_10 + value_12;
    const double sum_40 = value_10 + value_4;
    const double sum_41 = value_10 +
        k_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2 + 2) * pitch_4 +
            i * 2];
    const double sum_42 = value_10 + value_3;
    const double sum_43 = value_10 +
        k_2[static_cast<long long>(k * 2 + 2) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 +
            i * 2];
    const double value_16 =
        e_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 +
            i * 2 + 1];
    const double sum_44 = value_12 + value_10;
    const double sum_45 = value_12 +
        k_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 +
            i * 2 + 2];
    const double sum_46 = value_12 + value_7;
    const double sum_47 = value_12 +
        k_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2 + 2) * pitch_4 +
            i * 2 + 1];
    const double sum_48 = value_12 + value_6;
    const double sum_49 = value_12 +
        k_2[static_cast<long long>(k * 2 + 2) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 +
            i * 2 + 1];
    double sum_13 = fma(sum_7 + sum_8 + sum_9 + sum_10 + sum_11 + sum_12, value_8,
                        (sum + sum_2 + sum_3 + sum_4 + sum_5 + sum_6) * value_5);
    sum_13 = fma(sum_14 + sum_15 + sum_16 + sum_17 + sum_18 + sum_19, value_9, sum_13);
    sum_13 = fma(sum_20 + sum_21 + sum_22 + sum_23 + sum_24 + sum_25, value_11, sum_13);
    sum_13 = fma(sum_26 + sum_27 + sum_28 + sum_29 + sum_30 + sum_31, value_13, sum_13);
    sum_13 = fma(sum_32 + sum_33 + sum_34 + sum_35 + sum_36 + sum_37, value_14, sum_13);
    sum_13 = fma(sum_38 + sum_39 + sum_40 + sum_41 + sum_42 + sum_43, value_15, sum_13);
    sum_13 = fma(sum_44 + sum_45 + sum_46 + sum_47 + sum_48 + sum_49, value_16, sum_13);
    double sum_50 = fma(-(0.5 * sum),
                        e_2[static_cast<long long>(k * 2) * slice_4 +
                            static_cast<long long>(j * 2) * pitch_4 + i * 2 - 1],
                        0.5 * sum_13);
    sum_50 = fma(-(0.5 * sum_2), value_8, sum_50);
    sum_50 = fma(-(0.5 * sum_3),
                 e_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2 - 1) * pitch_4 +
                     i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_4), value_9, sum_50);
    sum_50 = fma(-(0.5 * sum_5),
                 e_2[static_cast<long long>(k * 2 - 1) * slice_4 + static_cast<long long>(j * 2) * pitch_4 +
                     i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_6), value_13, sum_50);
    sum_50 = fma(-(0.5 * sum_7), value_5, sum_50);
    sum_50 = fma(-(0.5 * sum_8),
                 e_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2) * pitch_4 +
                     i * 2 + 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_9),
                 e_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2 - 1) * pitch_4 +
                     i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_10), value_11, sum_50);
    sum_50 = fma(-(0.5 * sum_11),
                 e_2[static_cast<long long>(k * 2 - 1) * slice_4 + static_cast<long long>(j * 2) * pitch_4 +
                     i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_12), value_14, sum_50);
    sum_50 = fma(-(0.5 * sum_14),
                 e_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 +
                     i * 2 - 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_15), value_11, sum_50);
    sum_50 = fma(-(0.5 * sum_16), value_5, sum_50);
    sum_50 = fma(-(0.5 * sum_17),
                 e_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2 + 2) * pitch_4 +
                     i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_18),
                 e_2[static_cast<long long>(k * 2 - 1) * slice_4 +
                     static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_19), value_15, sum_50);
    sum_50 = fma(-(0.5 * sum_20), value_9, sum_50);
    sum_50 = fma(-(0.5 * sum_21),
                 e_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2 + 1) * pitch_4 +
                     i * 2 + 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_22), value_8, sum_50);
    sum_50 = fma(-(0.5 * sum_23),
                 e_2[static_cast<long long>(k * 2) * slice_4 + static_cast<long long>(j * 2 + 2) * pitch_4 +
                     i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_24),
                 e_2[static_cast<long long>(k * 2 - 1) * slice_4 +
                     static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_25), value_16, sum_50);
    sum_50 = fma(-(0.5 * sum_26),
                 e_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2) * pitch_4 +
                     i * 2 - 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_27), value_14, sum_50);
    sum_50 = fma(-(0.5 * sum_28),
                 e_2[static_cast<long long>(k * 2 + 1) * slice_4 +
                     static_cast<long long>(j * 2 - 1) * pitch_4 + i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_29), value_15, sum_50);
    sum_50 = fma(-(0.5 * sum_30), value_5, sum_50);
    sum_50 = fma(-(0.5 * sum_31),
                 e_2[static_cast<long long>(k * 2 + 2) * slice_4 + static_cast<long long>(j * 2) * pitch_4 +
                     i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_32), value_13, sum_50);
    sum_50 = fma(-(0.5 * sum_33),
                 e_2[static_cast<long long>(k * 2 + 1) * slice_4 + static_cast<long long>(j * 2) * pitch_4 +
                     i * 2 + 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_34),
                 e_2[static_cast<long long>(k * 2 + 1) * slice_4 +
                     static_cast<long long>(j * 2 - 1) * pitch_4 + i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_35), value_16, sum_50);
    sum_50 = fma(-(0.5 * sum_36), value_8, sum_50);
    sum_50 = fma(-(0.5 * sum_37),
                 e_2[static_cast<long long>(k * 2 + 2) * slice_4 + static_cast<long long>(j * 2) * pitch_4 +
                     i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_38),
                 e_2[static_cast<long long>(k * 2 + 1) * slice_4 +
                     static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 - 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_39), value_16, sum_50);
    sum_50 = fma(-(0.5 * sum_40), value_13, sum_50);
    sum_50 = fma(-(0.5 * sum_41),
                 e_2[static_cast<long long>(k * 2 + 1) * slice_4 +
                     static_cast<long long>(j * 2 + 2) * pitch_4 + i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_42), value_9, sum_50);
    sum_50 = fma(-(0.5 * sum_43),
                 e_2[static_cast<long long>(k * 2 + 2) * slice_4 +
                     static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_44), value_15, sum_50);
    sum_50 = fma(-(0.5 * sum_45),
                 e_2[static_cast<long long>(k * 2 + 1) * slice_4 +
                     static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 + 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_46), value_14, sum_50);
    sum_50 = fma(-(0.5 * sum_47),
                 e_2[static_cast<long long>(k * 2 + 1) * slice_4 +
                     static_cast<long long>(j * 2 + 2) * pitch_4 + i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_48), value_11, sum_50);
    sum_50 = fma(-(0.5 * sum_49),
                 e_2[static_cast<long long>(k * 2 + 2) * slice_4 +
                     static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 + 1],
                 sum_50);
    const double d_3_value = 0.125 * fma(minus_inv_h_squared, sum_50,
                                         d_2[static_cast<long long>(k * 2) * slice_4 +
                                             static_cast<long long>(j * 2) * pitch_4 + i * 2] +
                                         d_2[static_cast<long long>(k * 2) * slice_4 +
                                             static_cast<long long>(j * 2) * pitch_4 + i * 2 + 1] +
                                         d_2[static_cast<long long>(k * 2) * slice_4 +
                                             static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2] +
                                         d_2[static_cast<long long>(k * 2) * slice_4 +
                                             static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 + 1] +
                                         d_2[static_cast<long long>(k * 2 + 1) * slice_4 +
                                             static_cast<long long>(j * 2) * pitch_4 + i * 2] +
                                         d_2[static_cast<long long>(k * 2 + 1) * slice_4 +
                                             static_cast<long long>(j * 2) * pitch_4 + i * 2 + 1] +
                                         d_2[static_cast<long long>(k * 2 + 1) * slice_4 +
                                             static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2] +
                                         d_2[static_cast<long long>(k * 2 + 1) * slice_4 +
                                             static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 + 1]);
    const double k_3_value = 0.125 * (sum_2 + sum_15 + sum_27 + sum_39);
    const double e_3_value = 0.0;
    d_3[at] = d_3_value;
    k_3[at] = k_3_value;
    e_3[at] = e_3_value;

    // Cells of k_3 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_k_1(k_3, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of e_3 near a face are shown by halo cells, too.
    const bool near_face_2 = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face_2 || i < 1 || i >= nx - 1) store_images_e_0(e_3, i, j, k, nx, ny, nz, pitch, slice);
}

// Reads e_3, d_3, k_3, writes e_3.
// Schedule: direct, blocks of 16x4x2 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 5)
    multigrid_poisson3d_e_3(const double* __restrict__ d_3, const double* __restrict__ k_3,
                            double* __restrict__ e_3, int nx, int ny, int nz, int pitch, long long slice,
                            double h_squared) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 0) {
        const double sum = k_3[at] + k_3[at - 1];
        const double sum_3 = k_3[at] + k_3[at + 1];
        const double sum_4 = k_3[at] + k_3[at - pitch];
        const double sum_5 = k_3[at] + k_3[at + pitch];
        const double sum_6 = k_3[at] + k_3[at - slice];
        const double sum_7 = k_3[at] + k_3[at + slice];
        double sum_2 = fma(0.5 * sum, e_3[at - 1], h_squared * d_3[at]);
        sum_2 = fma(0.5 * sum_3, e_3[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_3[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_3[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_3[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_3[at + slice], sum_2);
        e_3[at] =
            fma(1.15, fma(2.0, sum_2 / (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7), -e_3[at]), e_3[at]);

        // Cells of e_3 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_3, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads e_3, d_3, k_3, writes e_3.
// Schedule: direct, blocks of 16x4x2 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 5)
    multigrid_poisson3d_e_3_2(const double* __restrict__ d_3, const double* __restrict__ k_3,
                              double* __restrict__ e_3, int nx, int ny, int nz, int pitch, long long slice,
                              double h_squared) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 1) {
        const double sum = k_3[at] + k_3[at - 1];
        const double sum_3 = k_3[at] + k_3[at + 1];
        const double sum_4 = k_3[at] + k_3[at - pitch];
        const double sum_5 = k_3[at] + k_3[at + pitch];
        const double sum_6 = k_3[at] + k_3[at - slice];
        const double sum_7 = k_3[at] + k_3[at + slice];
        double sum_2 = fma(0.5 * sum, e_3[at - 1], h_squared * d_3[at]);
        sum_2 = fma(0.5 * sum_3, e_3[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_3[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_3[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_3[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_3[at + slice], sum_2);
        e_3[at] =
            fma(1.15, fma(2.0, sum_2 / (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7), -e_3[at]), e_3[at]);

        // Cells of e_3 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_3, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads e_3, k_3, d_3, writes d_4, k_4, e_4.
// Schedule: direct, blocks of 32x4x1 threads, 1x1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 1)
    multigrid_poisson3d_d_4(const double* __restrict__ e_3, const double* __restrict__ k_3,
                            const double* __restrict__ d_3, double* __restrict__ d_4,
                            double* __restrict__ k_4, double* __restrict__ e_4, int nx, int ny, int nz,
                            int pitch, int pitch_8, long long slice, long long slice_8,
                            double minus_inv_h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    const double value =
        k_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2) * pitch_8 + i * 2];
    const double sum = value +
        k_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2) * pitch_8 + i * 2 - 1];
    const double value_2 =
        k_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2) * pitch_8 + i * 2 + 1];
    const double sum_2 = value + value_2;
    const double sum_3 = value +
        k_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2 - 1) * pitch_8 + i * 2];
    const double value_3 =
        k_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2];
    const double sum_4 = value + value_3;
    const double sum_5 = value +
        k_3[static_cast<long long>(k * 2 - 1) * slice_8 + static_cast<long long>(j * 2) * pitch_8 + i * 2];
    const double value_4 =
        k_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2) * pitch_8 + i * 2];
    const double sum_6 = value + value_4;
    const double value_5 =
        e_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2) * pitch_8 + i * 2];
    const double sum_7 = value_2 + value;
    const double sum_8 = value_2 +
        k_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2) * pitch_8 + i * 2 + 2];
    const double sum_9 = value_2 +
        k_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2 - 1) * pitch_8 + i * 2 +
            1];
    const double value_6 =
        k_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 +
            1];
    const double sum_10 = value_2 + value_6;
    const double sum_11 = value_2 +
        k_3[static_cast<long long>(k * 2 - 1) * slice_8 + static_cast<long long>(j * 2) * pitch_8 + i * 2 +
            1];
    const double value_7 =
        k_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2) * pitch_8 + i * 2 +
            1];
    const double sum_12 = value_2 + value_7;
    const double value_8 =
        e_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2) * pitch_8 + i * 2 + 1];
    const double value_9 =
        e_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2];
    const double sum_14 = value_3 +
        k_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 -
            1];
    const double sum_15 = value_3 + value_6;
    const double sum_16 = value_3 + value;
    const double sum_17 = value_3 +
        k_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2 + 2) * pitch_8 + i * 2];
    const double sum_18 = value_3 +
        k_3[static_cast<long long>(k * 2 - 1) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 +
            i * 2];
    const double value_10 =
        k_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 +
            i * 2];
    const double sum_19 = value_3 + value_10;
    const double value_11 =
        e_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 +
            1];
    const double sum_20 = value_6 + value_3;
    const double sum_21 = value_6 +
        k_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 +
            2];
    const double sum_22 = value_6 + value_2;
    const double sum_23 = value_6 +
        k_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2 + 2) * pitch_8 + i * 2 +
            1];
    const double sum_24 = value_6 +
        k_3[static_cast<long long>(k * 2 - 1) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 +
            i * 2 + 1];
    const double value_12 =
        k_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 +
            i * 2 + 1];
    const double sum_25 = value_6 + value_12;
    const double value_13 =
        e_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2) * pitch_8 + i * 2];
    const double sum_26 = value_4 +
        k_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2) * pitch_8 + i * 2 -
            1];
    const double sum_27 = value_4 + value_7;
    const double sum_28 = value_4 +
        k_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2 - 1) * pitch_8 +
            i * 2];
    const double sum_29 = value_4 + value_10;
    const double sum_30 = value_4 + value;
    const double sum_31 = value_4 +
        k_3[static_cast<long long>(k * 2 + 2) * slice_8 + static_cast<long long>(j * 2) * pitch_8 + i * 2];
    const double value_14 =
        e_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2) * pitch_8 + i * 2 +
            1];
    const double sum_32 = value_7 + value_4;
    const double sum_33 = value_7 +
        k_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2) * pitch_8 + i * 2 +
            2];
    const double sum_34 = value_7 +
        k_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2 - 1) * pitch_8 +
            i * 2 + 1];
    const double sum_35 = value_7 + value_12;
    const double sum_36 = value_7 + value_2;
    const double sum_37 = value_7 +
        k_3[static_cast<long long>(k * 2 + 2) * slice_8 + static_cast<long long>(j * 2) * pitch_8 + i * 2 +
            1];
    const double value_15 =
        e_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 +
            i * 2];
    const double sum_38 = value_10 +
        k_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 +
            i * 2 - 1];
    const double sum_39 = value_10 + value_12;
    const double sum_40 = value_10 + value_4;
    const double sum_41 = value_10 +
        k_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2 + 2) * pitch_8 +
            i * 2];
    const double sum_42 = value_10 + value_3;
    const double sum_43 = value_10 +
        k_3[static_cast<long long>(k * 2 + 2) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 +
            i * 2];
    const double value_16 =
        e_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 +
            i * 2 + 1];
    const double sum_44 = value_12 + value_10;
    const double sum_45 = value_12 +
        k_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 +
            i * 2 + 2];
    const double sum_46 = value_12 + value_7;
    const double sum_47 = value_12 +
        k_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2 + 2) * pitch_8 +
            i * 2 + 1];
    const double sum_48 = value_12 + value_6;
    const double sum_49 = value_12 +
        k_3[static_cast<long long>(k * 2 + 2) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 +
            i * 2 + 1];
    double sum_13 = fma(sum_7 + sum_8 + sum_9 + sum_10 + sum_11 + sum_12, value_8,
                        (sum + sum_2 + sum_3 + sum_4 + sum_5 + sum_6) * value_5);
    sum_13 = fma(sum_14 + sum_15 + sum_16 + sum_17 + sum_18 + sum_19, value_9, sum_13);
    sum_13 = fma(sum_20 + sum_21 + sum_22 + sum_23 + sum_24 + sum_25, value_11, sum_13);
    sum_13 = fma(sum_26 + sum_27 + sum_28 + sum_29 + sum_30 + sum_31, value_13, sum_13);
    sum_13 = fma(sum_32 + sum_33 + sum_34 + sum_35 + sum_36 + sum_37, value_14, sum_13);
    sum_13 = fma(sum_38 + sum_39 + sum_40 + sum_41 + sum_42 + sum_43, value_15, sum_13);
    sum_13 = fma(sum_44 + sum_45 + sum_46 + sum_47 + sum_48 + sum_49, value_16, sum_13);
    double sum_50 = fma(-(0.5 * sum),
                        e_3[static_cast<long long>(k * 2) * slice_8 +
                            static_cast<long long>(j * 2) * pitch_8 + i * 2 - 1],
                        0.5 * sum_13);
    sum_50 = fma(-(0.5 * sum_2), value_8, sum_50);
    sum_50 = fma(-(0.5 * sum_3),
                 e_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2 - 1) * pitch_8 +
                     i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_4), value_9, sum_50);
    sum_50 = fma(-(0.5 * sum_5),
                 e_3[static_cast<long long>(k * 2 - 1) * slice_8 + static_cast<long long>(j * 2) * pitch_8 +
                     i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_6), value_13, sum_50);
    sum_50 = fma(-(0.5 * sum_7), value_5, sum_50);
    sum_50 = fma(-(0.5 * sum_8),
                 e_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2) * pitch_8 +
                     i * 2 + 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_9),
                 e_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2 - 1) * pitch_8 +
                     i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_10), value_11, sum_50);
    sum_50 = fma(-(0.5 * sum_11),
                 e_3[static_cast<long long>(k * 2 - 1) * slice_8 + static_cast<long long>(j * 2) * pitch_8 +
                     i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_12), value_14, sum_50);
    sum_50 = fma(-(0.5 * sum_14),
                 e_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 +
                     i * 2 - 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_15), value_11, sum_50);
    sum_50 = fma(-(0.5 * sum_16), value_5, sum_50);
    sum_50 = fma(-(0.5 * sum_17),
                 e_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2 + 2) * pitch_8 +
                     i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_18),
                 e_3[static_cast<long long>(k * 2 - 1) * slice_8 +
                     static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_19), value_15, sum_50);
    sum_50 = fma(-(0.5 * sum_20), value_9, sum_50);
    sum_50 = fma(-(0.5 * sum_21),
                 e_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2 + 1) * pitch_8 +
                     i * 2 + 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_22), value_8, sum_50);
    sum_50 = fma(-(0.5 * sum_23),
                 e_3[static_cast<long long>(k * 2) * slice_8 + static_cast<long long>(j * 2 + 2) * pitch_8 +
                     i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_24),
                 e_3[static_cast<long long>(k * 2 - 1) * slice_8 +
                     static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_25), value_16, sum_50);
    sum_50 = fma(-(0.5 * sum_26),
                 e_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2) * pitch_8 +
                     i * 2 - 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_27), value_14, sum_50);
    sum_50 = fma(-(0.5 * sum_28),
                 e_3[static_cast<long long>(k * 2 + 1) * slice_8 +
                     static_cast<long long>(j * 2 - 1) * pitch_8 + i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_29), value_15, sum_50);
    sum_50 = fma(-(0.5 * sum_30), value_5, sum_50);
    sum_50 = fma(-(0.5 * sum_31),
                 e_3[static_cast<long long>(k * 2 + 2) * slice_8 + static_cast<long long>(j * 2) * pitch_8 +
                     i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_32), value_13, sum_50);
    sum_50 = fma(-(0.5 * sum_33),
                 e_3[static_cast<long long>(k * 2 + 1) * slice_8 + static_cast<long long>(j * 2) * pitch_8 +
                     i * 2 + 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_34),
                 e_3[static_cast<long long>(k * 2 + 1) * slice_8 +
                     static_cast<long long>(j * 2 - 1) * pitch_8 + i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_35), value_16, sum_50);
    sum_50 = fma(-(0.5 * sum_36), value_8, sum_50);
    sum_50 = fma(-(0.5 * sum_37),
                 e_3[static_cast<long long>(k * 2 + 2) * slice_8 + static_cast<long long>(j * 2) * pitch_8 +
                     i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_38),
                 e_3[static_cast<long long>(k * 2 + 1) * slice_8 +
                     static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 - 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_39), value_16, sum_50);
    sum_50 = fma(-(0.5 * sum_40), value_13, sum_50);
    sum_50 = fma(-(0.5 * sum_41),
                 e_3[static_cast<long long>(k * 2 + 1) * slice_8 +
                     static_cast<long long>(j * 2 + 2) * pitch_8 + i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_42), value_9, sum_50);
    sum_50 = fma(-(0.5 * sum_43),
                 e_3[static_cast<long long>(k * 2 + 2) * slice_8 +
                     static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_44), value_15, sum_50);
    sum_50 = fma(-(0.5 * sum_45),
                 e_3[static_cast<long long>(k * 2 + 1) * slice_8 +
                     static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 + 2],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_46), value_14, sum_50);
    sum_50 = fma(-(0.5 * sum_47),
                 e_3[static_cast<long long>(k * 2 + 1) * slice_8 +
                     static_cast<long long>(j * 2 + 2) * pitch_8 + i * 2 + 1],
                 sum_50);
    sum_50 = fma(-(0.5 * sum_48), value_11, sum_50);
    sum_50 = fma(-(0.5 * sum_49),
                 e_3[static_cast<long long>(k * 2 + 2) * slice_8 +
                     static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 + 1],
                 sum_50);
    const double d_4_value = 0.125 * fma(minus_inv_h_squared, sum_50,
                                         d_3[static_cast<long long>(k * 2) * slice_8 +
                                             static_cast<long long>(j * 2) * pitch_8 + i * 2] +
                                         d_3[static_cast<long long>(k * 2) * slice_8 +
                                             static_cast<long long>(j * 2) * pitch_8 + i * 2 + 1] +
                                         d_3[static_cast<long long>(k * 2) * slice_8 +
                                             static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2] +
                                         d_3[static_cast<long long>(k * 2) * slice_8 +
                                             static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 + 1] +
                                         d_3[static_cast<long long>(k * 2 + 1) * slice_8 +
                                             static_cast<long long>(j * 2) * pitch_8 + i * 2] +
                                         d_3[static_cast<long long>(k * 2 + 1) * slice_8 +
                                             static_cast<long long>(j * 2) * pitch_8 + i * 2 + 1] +
                                         d_3[static_cast<long long>(k * 2 + 1) * slice_8 +
                                             static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2] +
                                         d_3[static_cast<long long>(k * 2 + 1) * slice_8 +
                                             static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 + 1]);
    const double k_4_value = 0.125 * (sum_2 + sum_15 + sum_27 + sum_39);
    const double e_4_value = 0.0;
    d_4[at] = d_4_value;
    k_4[at] = k_4_value;
    e_4[at] = e_4_value;

    // Cells of k_4 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_k_1(k_4, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of e_4 near a face are shown by halo cells, too.
    const bool near_face_2 = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face_2 || i < 1 || i >= nx - 1) store_images_e_0(e_4, i, j, k, nx, ny, nz, pitch, slice);
}

// Reads e_4, d_4, k_4, writes e_4.
// Schedule: direct, blocks of 16x4x2 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 5)
    multigrid_poisson3d_e_4(const double* __restrict__ d_4, const double* __restrict__ k_4,
                            double* __restrict__ e_4, int nx, int ny, int nz, int pitch, long long slice,
                            double h_squared) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 0) {
        const double sum = k_4[at] + k_4[at - 1];
        const double sum_3 = k_4[at] + k_4[at + 1];
        const double sum_4 = k_4[at] + k_4[at - pitch];
        const double sum_5 = k_4[at] + k_4[at + pitch];
        const double sum_6 = k_4[at] + k_4[at - slice];
        const double sum_7 = k_4[at] + k_4[at + slice];
        double sum_2 = fma(0.5 * sum, e_4[at - 1], h_squared * d_4[at]);
        sum_2 = fma(0.5 * sum_3, e_4[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_4[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_4[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_4[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_4[at + slice], sum_2);
        e_4[at] =
            fma(1.15, fma(2.0, sum_2 / (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7), -e_4[at]), e_4[at]);

        // Cells of e_4 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_4, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads e_4, d_4, k_4, writes e_4.
// Schedule: direct, blocks of 16x4x2 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 5)
    multigrid_poisson3d_e_4_2(const double* __restrict__ d_4, const double* __restrict__ k_4,
                              double* __restrict__ e_4, int nx, int ny, int nz, int pitch, long long slice,
                              double h_squared) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 1) {
        const double sum = k_4[at] + k_4[at - 1];
        const double sum_3 = k_4[at] + k_4[at + 1];
        const double sum_4 = k_4[at] + k_4[at - pitch];
        const double sum_5 = k_4[at] + k_4[at + pitch];
        const double sum_6 = k_4[at] + k_4[at - slice];
        const double sum_7 = k_4[at] + k_4[at + slice];
        double sum_2 = fma(0.5 * sum, e_4[at - 1], h_squared * d_4[at]);
        sum_2 = fma(0.5 * sum_3, e_4[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_4[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_4[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_4[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_4[at + slice], sum_2);
        e_4[at] =
            fma(1.15, fma(2.0, sum_2 / (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7), -e_4[at]), e_4[at]);

        // Cells of e_4 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_4, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads e_3, e_4, writes e_3.
// Schedule: direct, blocks of 32x4x1 threads, 1x1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    multigrid_poisson3d_e_3_3(const double* __restrict__ e_4, double* __restrict__ e_3, int nx, int ny,
                              int nz, int pitch, int pitch_16, long long slice, long long slice_16) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    e_3[at] = fma(0.25,
                  fma(0.25,
                      fma(0.25,
                          e_4[static_cast<long long>((k + 1) / 2 - 1) * slice_16 +
                              static_cast<long long>((j + 1) / 2 - 1) * pitch_16 + (i + 1) / 2 - 1] +
                          e_4[static_cast<long long>((k + 1) / 2 - 1) * slice_16 +
                              static_cast<long long>((j + 1) / 2 - 1) * pitch_16 + (i + 1) / 2] +
                          e_4[static_cast<long long>((k + 1) / 2 - 1) * slice_16 +
                              static_cast<long long>((j + 1) / 2) * pitch_16 + (i + 1) / 2 - 1] +
                          e_4[static_cast<long long>((k + 1) / 2 - 1) * slice_16 +
                              static_cast<long long>((j + 1) / 2) * pitch_16 + (i + 1) / 2] +
                          e_4[static_cast<long long>((k + 1) / 2) * slice_16 +
                              static_cast<long long>((j + 1) / 2 - 1) * pitch_16 + (i + 1) / 2 - 1] +
                          e_4[static_cast<long long>((k + 1) / 2) * slice_16 +
                              static_cast<long long>((j + 1) / 2 - 1) * pitch_16 + (i + 1) / 2] +
                          e_4[static_cast<long long>((k + 1) / 2) * slice_16 +
                              static_cast<long long>((j + 1) / 2) * pitch_16 + (i + 1) / 2 - 1] +
                          e_4[static_cast<long long>((k + 1) / 2) * slice_16 +
                              static_cast<long long>((j + 1) / 2) * pitch_16 + (i + 1) / 2],
                          0.5 * (e_4[static_cast<long long>((k + 1) / 2 - 1) * slice_16 +
                                     static_cast<long long>((j + 1) / 2 - 1) * pitch_16 + i / 2] +
                                 e_4[static_cast<long long>((k + 1) / 2 - 1) * slice_16 +
                                     static_cast<long long>((j + 1) / 2) * pitch_16 + i / 2] +
                                 e_4[static_cast<long long>((k + 1) / 2) * slice_16 +
                                     static_cast<long long>((j + 1) / 2 - 1) * pitch_16 + i / 2] +
                                 e_4[static_cast<long long>((k + 1) / 2) * slice_16 +
                                     static_cast<long long>((j + 1) / 2) * pitch_16 + i / 2])),
                      0.5 * fma(0.25,
                                e_4[static_cast<long long>((k + 1) / 2 - 1) * slice_16 +
                                    static_cast<long long>(j / 2) * pitch_16 + (i + 1) / 2 - 1] +
                                e_4[static_cast<long long>((k + 1) / 2 - 1) * slice_16 +
                                    static_cast<long long>(j / 2) * pitch_16 + (i + 1) / 2] +
                                e_4[static_cast<long long>((k + 1) / 2) * slice_16 +
                                    static_cast<long long>(j / 2) * pitch_16 + (i + 1) / 2 - 1] +
                                e_4[static_cast<long long>((k + 1) / 2) * slice_16 +
                                    static_cast<long long>(j / 2) * pitch_16 + (i + 1) / 2],
                                0.5 * (e_4[static_cast<long long>((k + 1) / 2 - 1) * slice_16 +
                                           static_cast<long long>(j / 2) * pitch_16 + i / 2] +
                                       e_4[static_cast<long long>((k + 1) / 2) * slice_16 +
                                           static_cast<long long>(j / 2) * pitch_16 + i / 2]))),
                  fma(0.5,
                      fma(0.25,
                          fma(0.25,
                              e_4[static_cast<long long>(k / 2) * slice_16 +
                                  static_cast<long long>((j + 1) / 2 - 1) * pitch_16 + (i + 1) / 2 - 1] +
                              e_4[static_cast<long long>(k / 2) * slice_16 +
                                  static_cast<long long>((j + 1) / 2 - 1) * pitch_16 + (i + 1) / 2] +
                              e_4[static_cast<long long>(k / 2) * slice_16 +
                                  static_cast<long long>((j + 1) / 2) * pitch_16 + (i + 1) / 2 - 1] +
                              e_4[static_cast<long long>(k / 2) * slice_16 +
                                  static_cast<long long>((j + 1) / 2) * pitch_16 + (i + 1) / 2],
                              0.5 * (e_4[static_cast<long long>(k / 2) * slice_16 +
                                         static_cast<long long>((j + 1) / 2 - 1) * pitch_16 + i / 2] +
                                     e_4[static_cast<long long>(k / 2) * slice_16 +
                                         static_cast<long long>((j + 1) / 2) * pitch_16 + i / 2])),
                          0.5 * fma(0.25,
                                    e_4[static_cast<long long>(k / 2) * slice_16 +
                                        static_cast<long long>(j / 2) * pitch_16 + (i + 1) / 2 - 1] +
                                    e_4[static_cast<long long>(k / 2) * slice_16 +
                                        static_cast<long long>(j / 2) * pitch_16 + (i + 1) / 2],
                                    0.5 * e_4[static_cast<long long>(k / 2) * slice_16 +
                                              static_cast<long long>(j / 2) * pitch_16 + i / 2])),
                      e_3[at]));

    // Cells of e_3 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_3, i, j, k, nx, ny, nz, pitch, slice);
}

// Reads e_3, d_3, k_3, writes e_3.
// Schedule: direct, blocks of 16x4x2 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 5)
    multigrid_poisson3d_e_3_4(const double* __restrict__ d_3, const double* __restrict__ k_3,
                              double* __restrict__ e_3, int nx, int ny, int nz, int pitch, long long slice,
                              double h_squared) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 0) {
        const double sum = k_3[at] + k_3[at - 1];
        const double sum_3 = k_3[at] + k_3[at + 1];
        const double sum_4 = k_3[at] + k_3[at - pitch];
        const double sum_5 = k_3[at] + k_3[at + pitch];
        const double sum_6 = k_3[at] + k_3[at - slice];
        const double sum_7 = k_3[at] + k_3[at + slice];
        double sum_2 = fma(0.5 * sum, e_3[at - 1], h_squared * d_3[at]);
        sum_2 = fma(0.5 * sum_3, e_3[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_3[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_3[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_3[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_3[at + slice], sum_2);
        e_3[at] =
            fma(1.15, fma(2.0, sum_2 / (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7), -e_3[at]), e_3[at]);

        // Cells of e_3 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_3, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads e_3, d_3, k_3, writes e_3.
// Schedule: direct, blocks of 16x4x2 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 5)
    multigrid_poisson3d_e_3_5(const double* __restrict__ d_3, const double* __restrict__ k_3,
                              double* __restrict__ e_3, int nx, int ny, int nz, int pitch, long long slice,
                              double h_squared) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 1) {
        const double sum = k_3[at] + k_3[at - 1];
        const double sum_3 = k_3[at] + k_3[at + 1];
        const double sum_4 = k_3[at] + k_3[at - pitch];
        const double sum_5 = k_3[at] + k_3[at + pitch];
        const double sum_6 = k_3[at] + k_3[at - slice];
        const double sum_7 = k_3[at] + k_3[at + slice];
        double sum_2 = fma(0.5 * sum, e_3[at - 1], h_squared * d_3[at]);
        sum_2 = fma(0.5 * sum_3, e_3[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_3[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_3[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_3[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_3[at + slice], sum_2);
        e_3[at] =
            fma(1.15, fma(2.0, sum_2 / (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7), -e_3[at]), e_3[at]);

        // Cells of e_3 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_3, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads e_2, e_3, writes e_2.
// Schedule: direct, blocks of 32x4x1 threads, 1x1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    multigrid_poisson3d_e_2_3(const double* __restrict__ e_3, double* __restrict__ e_2, int nx, int ny,
                              int nz, int pitch, int pitch_8, long long slice, long long slice_8) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    e_2[at] = fma(0.25,
                  fma(0.25,
                      fma(0.25,
                          e_3[static_cast<long long>((k + 1) / 2 - 1) * slice_8 +
                              static_cast<long long>((j + 1) / 2 - 1) * pitch_8 + (i + 1) / 2 - 1] +
                          e_3[static_cast<long long>((k + 1) / 2 - 1) * slice_8 +
                              static_cast<long long>((j + 1) / 2 - 1) * pitch_8 + (i + 1) / 2] +
                          e_3[static_cast<long long>((k + 1) / 2 - 1) * slice_8 +
                              static_cast<long long>((j + 1) / 2) * pitch_8 + (i + 1) / 2 - 1] +
                          e_3[static_cast<long long>((k + 1) / 2 - 1) * slice_8 +
                              static_cast<long long>((j + 1) / 2) * pitch_8 + (i + 1) / 2] +
                          e_3[static_cast<long long>((k + 1) / 2) * slice_8 +
                              static_cast<long long>((j + 1) / 2 - 1) * pitch_8 + (i + 1) / 2 - 1] +
                          e_3[static_cast<long long>((k + 1) / 2) * slice_8 +
                              static_cast<long long>((j + 1) / 2 - 1) * pitch_8 + (i + 1) / 2] +
                          e_3[static_cast<long long>((k + 1) / 2) * slice_8 +
                              static_cast<long long>((j + 1) / 2) * pitch_8 + (i + 1) / 2 - 1] +
                          e_3[static_cast<long long>((k + 1) / 2) * slice_8 +
                              static_cast<long long>((j + 1) / 2) * pitch_8 + (i + 1) / 2],
                          0.5 * (e_3[static_cast<long long>((k + 1) / 2 - 1) * slice_8 +
                                     static_cast<long long>((j + 1) / 2 - 1) * pitch_8 + i / 2] +
                                 e_3[static_cast<long long>((k + 1) / 2 - 1) * slice_8 +
                                     static_cast<long long>((j + 1) / 2) * pitch_8 + i / 2] +
                                 e_3[static_cast<long long>((k + 1) / 2) * slice_8 +
                                     static_cast<long long>((j + 1) / 2 - 1) * pitch_8 + i / 2] +
                                 e_3[static_cast<long long>((k + 1) / 2) * slice_8 +
                                     static_cast<long long>((j + 1) / 2) * pitch_8 + i / 2])),
                      0.5 * fma(0.25,
                                e_3[static_cast<long long>((k + 1) / 2 - 1) * slice_8 +
                                    static_cast<long long>(j / 2) * pitch_8 + (i + 1) / 2 - 1] +
                                e_3[static_cast<long long>((k + 1) / 2 - 1) * slice_8 +
                                    static_cast<long long>(j / 2) * pitch_8 + (i + 1) / 2] +
                                e_3[static_cast<long long>((k + 1) / 2) * slice_8 +
                                    static_cast<long long>(j / 2) * pitch_8 + (i + 1) / 2 - 1] +
                                e_3[static_cast<long long>((k + 1) / 2) * slice_8 +
                                    static_cast<long long>(j / 2) * pitch_8 + (i + 1) / 2],
                                0.5 * (e_3[static_cast<long long>((k + 1) / 2 - 1) * slice_8 +
                                           static_cast<long long>(j / 2) * pitch_8 + i / 2] +
                                       e_3[static_cast<long long>((k + 1) / 2) * slice_8 +
                                           static_cast<long long>(j / 2) * pitch_8 + i / 2]))),
                  fma(0.5,
                      fma(0.25,
                          fma(0.25,
                              e_3[static_cast<long long>(k / 2) * slice_8 +
                                  static_cast<long long>((j + 1) / 2 - 1) * pitch_8 + (i + 1) / 2 - 1] +
                              e_3[static_cast<long long>(k / 2) * slice_8 +
                                  static_cast<long long>((j + 1) / 2 - 1) * pitch_8 + (i + 1) / 2] +
                              e_3[static_cast<long long>(k / 2) * slice_8 +
                                  static_cast<long long>((j + 1) / 2) * pitch_8 + (i + 1) / 2 - 1] +
                              e_3[static_cast<long long>(k / 2) * slice_8 +
                                  static_cast<long long>((j + 1) / 2) * pitch_8 + (i + 1) / 2],
                              0.5 * (e_3[static_cast<long long>(k / 2) * slice_8 +
                                         static_cast<long long>((j + 1) / 2 - 1) * pitch_8 + i / 2] +
                                     e_3[static_cast<long long>(k / 2) * slice_8 +
                                         static_cast<long long>((j + 1) / 2) * pitch_8 + i / 2])),
                          0.5 * fma(0.25,
                                    e_3[static_cast<long long>(k / 2) * slice_8 +
                                        static_cast<long long>(j / 2) * pitch_8 + (i + 1) / 2 - 1] +
                                    e_3[static_cast<long long>(k / 2) * slice_8 +
                                        static_cast<long long>(j / 2) * pitch_8 + (i + 1) / 2],
                                    0.5 * e_3[static_cast<long long>(k / 2) * slice_8 +
                                              static_cast<long long>(j / 2) * pitch_8 + i / 2])),
                      e_2[at]));

    // Cells of e_2 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_2, i, j, k, nx, ny, nz, pitch, slice);
}

// Reads e_2, d_2, k_2, writes e_2.
// Schedule: direct, blocks of 16x4x2 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 5)
    multigrid_poisson3d_e_2_4(const double* __restrict__ d_2, const double* __restrict__ k_2,
                              double* __restrict__ e_2, int nx, int ny, int nz, int pitch, long long slice,
                              double h_squared) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 0) {
        const double sum = k_2[at] + k_2[at - 1];
        const double sum_3 = k_2[at] + k_2[at + 1];
        const double sum_4 = k_2[at] + k_2[at - pitch];
        const double sum_5 = k_2[at] + k_2[at + pitch];
        const double sum_6 = k_2[at] + k_2[at - slice];
        const double sum_7 = k_2[at] + k_2[at + slice];
        double sum_2 = fma(0.5 * sum, e_2[at - 1], h_squared * d_2[at]);
        sum_2 = fma(0.5 * sum_3, e_2[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_2[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_2[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_2[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_2[at + slice], sum_2);
        e_2[at] =
            fma(1.15, fma(2.0, sum_2 / (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7), -e_2[at]), e_2[at]);

        // Cells of e_2 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_2, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads e_2, d_2, k_2, writes e_2.
// Schedule: direct, blocks of 16x4x2 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 5)
    multigrid_poisson3d_e_2_5(const double* __restrict__ d_2, const double* __restrict__ k_2,
                              double* __restrict__ e_2, int nx, int ny, int nz, int pitch, long long slice,
                              double h_squared) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 1) {
        const double sum = k_2[at] + k_2[at - 1];
        const double sum_3 = k_2[at] + k_2[at + 1];
        const double sum_4 = k_2[at] + k_2[at - pitch];
        const double sum_5 = k_2[at] + k_2[at + pitch];
        const double sum_6 = k_2[at] + k_2[at - slice];
        const double sum_7 = k_2[at] + k_2[at + slice];
        double sum_2 = fma(0.5 * sum, e_2[at - 1], h_squared * d_2[at]);
        sum_2 = fma(0.5 * sum_3, e_2[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_2[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_2[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_2[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_2[at + slice], sum_2);
        e_2[at] =
            fma(1.15, fma(2.0, sum_2 / (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7), -e_2[at]), e_2[at]);

        // Cells of e_2 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_2, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads e_1, e_2, writes e_1.
// Schedule: direct, blocks of 32x4x1 threads, 1x1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    multigrid_poisson3d_e_1_3(const double* __restrict__ e_2, double* __restrict__ e_1, int nx, int ny,
                              int nz, int pitch, int pitch_4, long long slice, long long slice_4) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    e_1[at] = fma(0.25,
                  fma(0.25,
                      fma(0.25,
                          e_2[static_cast<long long>((k + 1) / 2 - 1) * slice_4 +
                              static_cast<long long>((j + 1) / 2 - 1) * pitch_4 + (i + 1) / 2 - 1] +
                          e_2[static_cast<long long>((k + 1) / 2 - 1) * slice_4 +
                              static_cast<long long>((j + 1) / 2 - 1) * pitch_4 + (i + 1) / 2] +
                          e_2[static_cast<long long>((k + 1) / 2 - 1) * slice_4 +
                              static_cast<long long>((j + 1) / 2) * pitch_4 + (i + 1) / 2 - 1] +
                          e_2[static_cast<long long>((k + 1) / 2 - 1) * slice_4 +
                              static_cast<long long>((j + 1) / 2) * pitch_4 + (i + 1) / 2] +
                          e_2[static_cast<long long>((k + 1) / 2) * slice_4 +
                              static_cast<long long>((j + 1) / 2 - 1) * pitch_4 + (i + 1) / 2 - 1] +
                          e_2[static_cast<long long>((k + 1) / 2) * slice_4 +
                              static_cast<long long>((j + 1) / 2 - 1) * pitch_4 + (i + 1) / 2] +
                          e_2[static_cast<long long>((k + 1) / 2) * slice_4 +
                              static_cast<long long>((j + 1) / 2) * pitch_4 + (i + 1) / 2 - 1] +
                          e_2[static_cast<long long>((k + 1) / 2) * slice_4 +
                              static_cast<long long>((j + 1) / 2) * pitch_4 + (i + 1) / 2],
                          0.5 * (e_2[static_cast<long long>((k + 1) / 2 - 1) * slice_4 +
                                     static_cast<long long>((j + 1) / 2 - 1) * pitch_4 + i / 2] +
                                 e_2[static_cast<long long>((k + 1) / 2 - 1) * slice_4 +
                                     static_cast<long long>((j + 1) / 2) * pitch_4 + i / 2] +
                                 e_2[static_cast<long long>((k + 1) / 2) * slice_4 +
                                     static_cast<long long>((j + 1) / 2 - 1) * pitch_4 + i / 2] +
                                 e_2[static_cast<long long>((k + 1) / 2) * slice_4 +
                                     static_cast<long long>((j + 1) / 2) * pitch_4 + i / 2])),
                      0.5 * fma(0.25,
                                e_2[static_cast<long long>((k + 1) / 2 - 1) * slice_4 +
                                    static_cast<long long>(j / 2) * pitch_4 + (i + 1) / 2 - 1] +
                                e_2[static_cast<long long>((k + 1) / 2 - 1) * slice_4 +
                                    static_cast<long long>(j / 2) * pitch_4 + (i + 1) / 2] +
                                e_2[static_cast<long long>((k + 1) / 2) * slice_4 +
                                    static_cast<long long>(j / 2) * pitch_4 + (i + 1) / 2 - 1] +
                                e_2[static_cast<long long>((k + 1) / 2) * slice_4 +
                                    static_cast<long long>(j / 2) * pitch_4 + (i + 1) / 2],
                                0.5 * (e_2[static_cast<long long>((k + 1) / 2 - 1) * slice_4 +
                                           static_cast<long long>(j / 2) * pitch_4 + i / 2] +
                                       e_2[static_cast<long long>((k + 1) / 2) * slice_4 +
                                           static_cast<long long>(j / 2) * pitch_4 + i / 2]))),
                  fma(0.5,
                      fma(0.25,
                          fma(0.25,
                              e_2[static_cast<long long>(k / 2) * slice_4 +
                                  static_cast<long long>((j + 1) / 2 - 1) * pitch_4 + (i + 1) / 2 - 1] +
                              e_2[static_cast<long long>(k / 2) * slice_4 +
                                  static_cast<long long>((j + 1) / 2 - 1) * pitch_4 + (i + 1) / 2] +
                              e_2[static_cast<long long>(k / 2) * slice_4 +
                                  static_cast<long long>((j + 1) / 2) * pitch_4 + (i + 1) / 2 - 1] +
                              e_2[static_cast<long long>(k / 2) * slice_4 +
                                  static_cast<long long>((j + 1) / 2) * pitch_4 + (i + 1) / 2],
                              0.5 * (e_2[static_cast<long long>(k / 2) * slice_4 +
                                         static_cast<long long>((j + 1) / 2 - 1) * pitch_4 + i / 2] +
                                     e_2[static_cast<long long>(k / 2) * slice_4 +
                                         static_cast<long long>((j + 1) / 2) * pitch_4 + i / 2])),
                          0.5 * fma(0.25,
                                    e_2[static_cast<long long>(k / 2) * slice_4 +
                                        static_cast<long long>(j / 2) * pitch_4 + (i + 1) / 2 - 1] +
                                    e_2[static_cast<long long>(k / 2) * slice_4 +
                                        static_cast<long long>(j / 2) * pitch_4 + (i + 1) / 2],
                                    0.5 * e_2[static_cast<long long>(k / 2) * slice_4 +
                                              static_cast<long long>(j / 2) * pitch_4 + i / 2])),
                      e_1[at]));

    // Cells of e_1 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_1, i, j, k, nx, ny, nz, pitch, slice);
}

// Reads e_1, d_1, k_1, writes e_1.
// Schedule: direct, blocks of 16x4x4 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    multigrid_poisson3d_e_1_4(const double* __restrict__ d_1, const double* __restrict__ k_1,
                              double* __restrict__ e_1, int nx, int ny, int nz, int pitch, long long slice,
                              double h_squared) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 0) {
        const double sum = k_1[at] + k_1[at - 1];
        const double sum_3 = k_1[at] + k_1[at + 1];
        const double sum_4 = k_1[at] + k_1[at - pitch];
        const double sum_5 = k_1[at] + k_1[at + pitch];
        const double sum_6 = k_1[at] + k_1[at - slice];
        const double sum_7 = k_1[at] + k_1[at + slice];
        double sum_2 = fma(0.5 * sum, e_1[at - 1], h_squared * d_1[at]);
        sum_2 = fma(0.5 * sum_3, e_1[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_1[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_1[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_1[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_1[at + slice], sum_2);
        e_1[at] =
            fma(1.15, fma(2.0, sum_2 / (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7), -e_1[at]), e_1[at]);

        // Cells of e_1 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_1, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads e_1, d_1, k_1, writes e_1.
// Schedule: direct, blocks of 16x4x4 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    multigrid_poisson3d_e_1_5(const double* __restrict__ d_1, const double* __restrict__ k_1,
                              double* __restrict__ e_1, int nx, int ny, int nz, int pitch, long long slice,
                              double h_squared) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 1) {
        const double sum = k_1[at] + k_1[at - 1];
        const double sum_3 = k_1[at] + k_1[at + 1];
        const double sum_4 = k_1[at] + k_1[at - pitch];
        const double sum_5 = k_1[at] + k_1[at + pitch];
        const double sum_6 = k_1[at] + k_1[at - slice];
        const double sum_7 = k_1[at] + k_1[at + slice];
        double sum_2 = fma(0.5 * sum, e_1[at - 1], h_squared * d_1[at]);
        sum_2 = fma(0.5 * sum_3, e_1[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_1[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_1[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_1[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_1[at + slice], sum_2);
        e_1[at] =
            fma(1.15, fma(2.0, sum_2 / (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7), -e_1[at]), e_1[at]);

        // Cells of e_1 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_1, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads e_0, e_1, writes e_0.
// Schedule: direct, blocks of 32x4x1 threads, 1x1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    multigrid_poisson3d_e_0_3(const double* __restrict__ e_1, double* __restrict__ e_0, int nx, int ny,
                              int nz, int pitch, int pitch_2, long long slice, long long slice_2) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    e_0[at] = fma(0.25,
                  fma(0.25,
                      fma(0.25,
                          e_1[static_cast<long long>((k + 1) / 2 - 1) * slice_2 +
                              static_cast<long long>((j + 1) / 2 - 1) * pitch_2 + (i + 1) / 2 - 1] +
                          e_1[static_cast<long long>((k + 1) / 2 - 1) * slice_2 +
                              static_cast<long long>((j + 1) / 2 - 1) * pitch_2 + (i + 1) / 2] +
                          e_1[static_cast<long long>((k + 1) / 2 - 1) * slice_2 +
                              static_cast<long long>((j + 1) / 2) * pitch_2 + (i + 1) / 2 - 1] +
                          e_1[static_cast<long long>((k + 1) / 2 - 1) * slice_2 +
                              static_cast<long long>((j + 1) / 2) * pitch_2 + (i + 1) / 2] +
                          e_1[static_cast<long long>((k + 1) / 2) * slice_2 +
                              static_cast<long long>((j + 1) / 2 - 1) * pitch_2 + (i + 1) / 2 - 1] +
                          e_1[static_cast<long long>((k + 1) / 2) * slice_2 +
                              static_cast<long long>((j + 1) / 2 - 1) * pitch_2 + (i + 1) / 2] +
                          e_1[static_cast<long long>((k + 1) / 2) * slice_2 +
                              static_cast<long long>((j + 1) / 2) * pitch_2 + (i + 1) / 2 - 1] +
                          e_1[static_cast<long long>((k + 1) / 2) * slice_2 +
                              static_cast<long long>((j + 1) / 2) * pitch_2 + (i + 1) / 2],
                          0.5 * (e_1[static_cast<long long>((k + 1) / 2 - 1) * slice_2 +
                                     static_cast<long long>((j + 1) / 2 - 1) * pitch_2 + i / 2] +
                                 e_1[static_cast<long long>((k + 1) / 2 - 1) * slice_2 +
                                     static_cast<long long>((j + 1) / 2) * pitch_2 + i / 2] +
                                 e_1[static_cast<long long>((k + 1) / 2) * slice_2 +
                                     static_cast<long long>((j + 1) / 2 - 1) * pitch_2 + i / 2] +
                                 e_1[static_cast<long long>((k + 1) / 2) * slice_2 +
                                     static_cast<long long>((j + 1) / 2) * pitch_2 + i / 2])),
                      0.5 * fma(0.25,
                                e_1[static_cast<long long>((k + 1) / 2 - 1) * slice_2 +
                                    static_cast<long long>(j / 2) * pitch_2 + (i + 1) / 2 - 1] +
                                e_1[static_cast<long long>((k + 1) / 2 - 1) * slice_2 +
                                    static_cast<long long>(j / 2) * pitch_2 + (i + 1) / 2] +
                                e_1[static_cast<long long>((k + 1) / 2) * slice_2 +
                                    static_cast<long long>(j / 2) * pitch_2 + (i + 1) / 2 - 1] +
                                e_1[static_cast<long long>((k + 1) / 2) * slice_2 +
                                    static_cast<long long>(j / 2) * pitch_2 + (i + 1) / 2],
                                0.5 * (e_1[static_cast<long long>((k + 1) / 2 - 1) * slice_2 +
                                           static_cast<long long>(j / 2) * pitch_2 + i / 2] +
                                       e_1[static_cast<long long>((k + 1) / 2) * slice_2 +
                                           static_cast<long long>(j / 2) * pitch_2 + i / 2]))),
                  fma(0.5,
                      fma(0.25,
                          fma(0.25,
                              e_1[static_cast<long long>(k / 2) * slice_2 +
                                  static_cast<long long>((j + 1) / 2 - 1) * pitch_2 + (i + 1) / 2 - 1] +
                              e_1[static_cast<long long>(k / 2) * slice_2 +
                                  static_cast<long long>((j + 1) / 2 - 1) * pitch_2 + (i + 1) / 2] +
                              e_1[static_cast<long long>(k / 2) * slice_2 +
                                  static_cast<long long>((j + 1) / 2) * pitch_2 + (i + 1) / 2 - 1] +
                              e_1[static_cast<long long>(k / 2) * slice_2 +
                                  static_cast<long long>((j + 1) / 2) * pitch_2 + (i + 1) / 2],
                              0.5 * (e_1[static_cast<long long>(k / 2) * slice_2 +
                                         static_cast<long long>((j + 1) / 2 - 1) * pitch_2 + i / 2] +
                                     e_1[static_cast<long long>(k / 2) * slice_2 +
                                         static_cast<long long>((j + 1) / 2) * pitch_2 + i / 2])),
                          0.5 * fma(0.25,
                                    e_1[static_cast<long long>(k / 2) * slice_2 +
                                        static_cast<long long>(j / 2) * pitch_2 + (i + 1) / 2 - 1] +
                                    e_1[static_cast<long long>(k / 2) * slice_2 +
                                        static_cast<long long>(j / 2) * pitch_2 + (i + 1) / 2],
                                    0.5 * e_1[static_cast<long long>(k / 2) * slice_2 +
                                              static_cast<long long>(j / 2) * pitch_2 + i / 2])),
                      e_0[at]));

    // Cells of e_0 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_0, i, j, k, nx, ny, nz, pitch, slice);
}

// Reads k_0, e_0, d_0, writes e_0.
// Schedule: direct, blocks of 32x4x4 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    multigrid_poisson3d_e_0_4(const double* __restrict__ k_0, const double* __restrict__ d_0,
                              double* __restrict__ e_0, int nx, int ny, int nz, int pitch, long long slice,
                              double h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 4, kThreadsZ = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 0) {
        const double sum = k_0[at] + k_0[at - 1];
        const double sum_3 = k_0[at] + k_0[at + 1];
        const double sum_4 = k_0[at] + k_0[at - pitch];
        const double sum_5 = k_0[at] + k_0[at + pitch];
        const double sum_6 = k_0[at] + k_0[at - slice];
        const double sum_7 = k_0[at] + k_0[at + slice];
        double sum_2 = fma(0.5 * sum, e_0[at - 1], h_squared * d_0[at]);
        sum_2 = fma(0.5 * sum_3, e_0[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_0[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_0[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_0[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_0[at + slice], sum_2);
        e_0[at] = fma(1.15, sum_2 / (0.5 * (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7)) - e_0[at], e_0[at]);

        // Cells of e_0 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_0, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads k_0, e_0, d_0, writes e_0.
// Schedule: direct, blocks of 32x4x4 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    multigrid_poisson3d_e_0_5(const double* __restrict__ k_0, const double* __restrict__ d_0,
                              double* __restrict__ e_0, int nx, int ny, int nz, int pitch, long long slice,
                              double h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 4, kThreadsZ = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(wrap_add(i, j), k), 2) == 1) {
        const double sum = k_0[at] + k_0[at - 1];
        const double sum_3 = k_0[at] + k_0[at + 1];
        const double sum_4 = k_0[at] + k_0[at - pitch];
        const double sum_5 = k_0[at] + k_0[at + pitch];
        const double sum_6 = k_0[at] + k_0[at - slice];
        const double sum_7 = k_0[at] + k_0[at + slice];
        double sum_2 = fma(0.5 * sum, e_0[at - 1], h_squared * d_0[at]);
        sum_2 = fma(0.5 * sum_3, e_0[at + 1], sum_2);
        sum_2 = fma(0.5 * sum_4, e_0[at - pitch], sum_2);
        sum_2 = fma(0.5 * sum_5, e_0[at + pitch], sum_2);
        sum_2 = fma(0.5 * sum_6, e_0[at - slice], sum_2);
        sum_2 = fma(0.5 * sum_7, e_0[at + slice], sum_2);
        e_0[at] = fma(1.15, sum_2 / (0.5 * (sum + sum_3 + sum_4 + sum_5 + sum_6 + sum_7)) - e_0[at], e_0[at]);

        // Cells of e_0 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_0, i, j, k, nx, ny, nz, pitch, slice);
    }
}

// Reads u, e_0, writes u_next.
// Schedule: direct, blocks of 32x4x1 threads, 2x1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 9)
    multigrid_poisson3d_u(const double* __restrict__ u, const double* __restrict__ e_0,
                          double* __restrict__ u_next, int nx, int ny, int nz, int pitch, long long slice) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    double u_cells[kCellsX];
    load2(u_cells, u + k * slice + static_cast<long long>(j) * pitch + i);
    double e_0_cells[kCellsX];
    load2(e_0_cells, e_0 + k * slice + static_cast<long long>(j) * pitch + i);

    double u_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x)
        u_next_result[x] = u_cells[x] + e_0_cells[x];
    if (i + kCellsX <= nx)
        store2(u_next + k * slice + static_cast<long long>(j) * pitch + i, u_next_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) u_next[k * slice + static_cast<long long>(j) * pitch + i + x] = u_next_result[x];

    // Cells of u_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face || i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x < 1 || i + x >= nx - 1)
                if (i + x < nx) store_images_e_0(u_next, i + x, j, k, nx, ny, nz, pitch, slice);
}

// Reads f, k_0, u_next, reduces to rest.
// Schedule: direct, blocks of 32x4x4 threads, 2x2x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    multigrid_poisson3d_rest(const double* __restrict__ f, const double* __restrict__ k_0,
                             const double* __restrict__ u_next, int nx, int ny, int nz, int pitch,
                             long long slice, double minus_inv_h_squared, double* __restrict__ rest_partials)
    {
    constexpr int kCellsX = 2, kCellsY = 2;
    constexpr int kThreadsX = 32, kThreadsY = 4, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = (blockIdx.y * kThreadsY + threadIdx.y) * kCellsY;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;

    double rest_of_thread = 0.0;
    if (i < nx && j < ny && k < nz) {
        // Where the rows of this thread's window start.
        long long row[kCellsY + 2];
#pragma unroll
        for (int y = 0; y < kCellsY + 2; ++y)
            row[y] = static_cast<long long>(min(j + y - 1, ny)) * pitch;
        long long plane[3];
#pragma unroll
        for (int z = 0; z < 3; ++z)
            plane[z] = (k + z - 1) * slice;

        double f_cells[kCellsY][kCellsX];
#pragma unroll
        for (int y = 0; y < 2; ++y)
            load2(f_cells[y], f + plane[1] + row[y + 1] + i);
        double k_0_cells[3][kCellsY + 2][kCellsX + 2];
#pragma unroll
        for (int y = 1; y < 3; ++y)
            load2(&k_0_cells[0][y][1], k_0 + plane[0] + row[y] + i);
        load2(&k_0_cells[1][0][1], k_0 + plane[1] + row[0] + i);
#pragma unroll
        for (int y = 1; y < 3; ++y) {
            const double* k_0_row = k_0 + plane[1] + row[y] + i;
            k_0_cells[1][y][0] = k_0_row[-1];
            load2(&k_0_cells[1][y][1], k_0_row);
            k_0_cells[1][y][3] = k_0_row[2];
        }
        load2(&k_0_cells[1][3][1], k_0 + plane[1] + row[3] + i);
#pragma unroll
        for (int y = 1; y < 3; ++y)
            load2(&k_0_cells[2][y][1], k_0 + plane[2] + row[y] + i);
        double u_next_cells[3][kCellsY + 2][kCellsX + 2];
#pragma unroll
        for (int y = 1; y < 3; ++y)
            load2(&u_next_cells[0][y][1], u_next + plane[0] + row[y] + i);
        load2(&u_next_cells[1][0][1], u_next + plane[1] + row[0] + i);
#pragma unroll
        for (int y = 1; y < 3; ++y) {
            const double* u_next_row = u_next + plane[1] + row[y] + i;
            u_next_cells[1][y][0] = u_next_row[-1];
            load2(&u_next_cells[1][y][1], u_next_row);
            u_next_cells[1][y][3] = u_next_row[2];
        }
        load2(&u_next_cells[1][3][1], u_next + plane[1] + row[3] + i);
#pragma unroll
        for (int y = 1; y < 3; ++y)
            load2(&u_next_cells[2][y][1], u_next + plane[2] + row[y] + i);

#pragma unroll
        for (int y = 0; y < kCellsY; ++y)
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                const double sum = k_0_cells[1][y + 1][x + 1] + k_0_cells[1][y + 1][x];
                const double sum_2 = k_0_cells[1][y + 1][x + 1] + k_0_cells[1][y + 1][x + 2];
                const double sum_3 = k_0_cells[1][y + 1][x + 1] + k_0_cells[1][y][x + 1];
                const double sum_4 = k_0_cells[1][y + 1][x + 1] + k_0_cells[1][y + 2][x + 1];
                const double sum_5 = k_0_cells[1][y + 1][x + 1] + k_0_cells[0][y + 1][x + 1];
                const double sum_6 = k_0_cells[1][y + 1][x + 1] + k_0_cells[2][y + 1][x + 1];
                double sum_7 = fma(-(0.5 * sum), u_next_cells[1][y + 1][x],
                                   0.5 * (sum + sum_2 + sum_3 + sum_4 + sum_5 +
                                          sum_6) * u_next_cells[1][y + 1][x + 1]);
                sum_7 = fma(-(0.5 * sum_2), u_next_cells[1][y + 1][x + 2], sum_7);
                sum_7 = fma(-(0.5 * sum_3), u_next_cells[1][y][x + 1], sum_7);
                sum_7 = fma(-(0.5 * sum_4), u_next_cells[1][y + 2][x + 1], sum_7);
                sum_7 = fma(-(0.5 * sum_5), u_next_cells[0][y + 1][x + 1], sum_7);
                sum_7 = fma(-(0.5 * sum_6), u_next_cells[2][y + 1][x + 1], sum_7);
                const double sum_8 = fma(minus_inv_h_squared, sum_7, f_cells[y][x]);
                if (i + x < nx && j + y < ny) rest_of_thread += sum_8 * sum_8;
            }
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double rest_of_block = block_sum(rest_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        rest_partials[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = rest_of_block;
}
