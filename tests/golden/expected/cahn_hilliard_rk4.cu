// cahn_hilliard_rk4: CUDA kernels of a stencil, emitted by Halocline.
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

// The lowest of the cells index, index - n, … that lies in the halo of width `low` or above it.
__device__ __forceinline__ int first_image(int index, int n, int low) {
    while (index - n >= -low)
        index -= n;
    return index;
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

// Stores a cell once more wherever the halo shows it: x periodic, y periodic.
__device__ inline void store_images_mu1(double* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1) return;
    const double value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 1); y < ny + 1; y += ny)
        for (int x = first_image(i, nx, 1); x < nx + 1; x += nx)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Reads c, writes mu1, reduces to energy.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 16)
    cahn_hilliard_rk4_mu1(const double* __restrict__ c, double* __restrict__ mu1, int nx, int ny, int pitch,
                          double minus_gamma, double gamma, double* __restrict__ energy_partials) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double energy_of_thread = 0.0;
    if (i < nx && j < ny) {
        // Where the rows of this thread's window start.
        long long row[3];
#pragma unroll
        for (int y = 0; y < 3; ++y)
            row[y] = static_cast<long long>(j + y - 1) * pitch;

        double c_cells[3][kCellsX + 2];
        load2(&c_cells[0][1], c + row[0] + i);
        const double* c_row = c + row[1] + i;
        c_cells[1][0] = c_row[-1];
        load2(&c_cells[1][1], c_row);
        c_cells[1][3] = c_row[2];
        load2(&c_cells[2][1], c + row[2] + i);

        double mu1_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const double product = c_cells[1][x + 1] * c_cells[1][x + 1];
            const double mu1_value = fma(minus_gamma,
                                         fma(-4.0, c_cells[1][x + 1],
                                             c_cells[1][x] + c_cells[1][x + 2] + c_cells[0][x + 1] +
                                             c_cells[2][x + 1]),
                                         fma(product, c_cells[1][x + 1], -c_cells[1][x + 1]));
            const double difference = product - 1.0;
            const double difference_2 = c_cells[1][x + 2] - c_cells[1][x + 1];
            const double difference_3 = c_cells[2][x + 1] - c_cells[1][x + 1];
            mu1_result[x] = mu1_value;
            if (i + x < nx)
                energy_of_thread += fma(gamma, fma(difference_3, difference_3, difference_2 * difference_2),
                                        0.25 * (difference * difference));
        }
        if (i + kCellsX <= nx)
            store2(mu1 + row[1] + i, mu1_result);
        else
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) mu1[row[1] + i + x] = mu1_result[x];

        // Cells of mu1 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
            for (int x = 0; x < 2; ++x)
                if (near_face || i + x < 1 || i + x >= nx - 1)
                    if (i + x < nx) store_images_mu1(mu1, i + x, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double energy_of_block = block_sum(energy_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        energy_partials[blockIdx.x + gridDim.x * blockIdx.y] = energy_of_block;
}

// In place of cahn_hilliard_rk4_mu1 in steps whose results nobody reads; leaves out energy.
// Reads c, writes mu1.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 16)
    cahn_hilliard_rk4_mu1_states(const double* __restrict__ c, double* __restrict__ mu1, int nx, int ny,
                                 int pitch, double minus_gamma) {
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

    double c_cells[3][kCellsX + 2];
    load2(&c_cells[0][1], c + row[0] + i);
    const double* c_row = c + row[1] + i;
    c_cells[1][0] = c_row[-1];
    load2(&c_cells[1][1], c_row);
    c_cells[1][3] = c_row[2];
    load2(&c_cells[2][1], c + row[2] + i);

    double mu1_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x)
        mu1_result[x] = fma(minus_gamma,
                            fma(-4.0, c_cells[1][x + 1],
                                c_cells[1][x] + c_cells[1][x + 2] + c_cells[0][x + 1] + c_cells[2][x + 1]),
                            fma(c_cells[1][x + 1] * c_cells[1][x + 1], c_cells[1][x + 1],
                                -c_cells[1][x + 1]));
    if (i + kCellsX <= nx)
        store2(mu1 + row[1] + i, mu1_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) mu1[row[1] + i + x] = mu1_result[x];

    // Cells of mu1 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x < 1 || i + x >= nx - 1)
                if (i + x < nx) store_images_mu1(mu1, i + x, j, nx, ny, pitch);
}

// Reads c, mu1, writes c2.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 15)
    cahn_hilliard_rk4_c2(const double* __restrict__ c, const double* __restrict__ mu1,
                         double* __restrict__ c2, int nx, int ny, int pitch, double dt_M) {
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

    double c_cells[kCellsX];
    load2(c_cells, c + row[1] + i);
    double mu1_cells[3][kCellsX + 2];
    load2(&mu1_cells[0][1], mu1 + row[0] + i);
    const double* mu1_row = mu1 + row[1] + i;
    mu1_cells[1][0] = mu1_row[-1];
    load2(&mu1_cells[1][1], mu1_row);
    mu1_cells[1][3] = mu1_row[2];
    load2(&mu1_cells[2][1], mu1 + row[2] + i);

    double c2_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x)
        c2_result[x] = fma(dt_M,
                           fma(-4.0, mu1_cells[1][x + 1],
                               mu1_cells[1][x] + mu1_cells[1][x + 2] + mu1_cells[0][x + 1] +
                               mu1_cells[2][x + 1]),
                           c_cells[x]);
    if (i + kCellsX <= nx)
        store2(c2 + row[1] + i, c2_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) c2[row[1] + i + x] = c2_result[x];

    // Cells of c2 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x < 1 || i + x >= nx - 1)
                if (i + x < nx) store_images_mu1(c2, i + x, j, nx, ny, pitch);
}

// Reads c2, writes mu2.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 16)
    cahn_hilliard_rk4_mu2(const double* __restrict__ c2, double* __restrict__ mu2, int nx, int ny, int pitch,
                          double minus_gamma) {
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

    double c2_cells[3][kCellsX + 2];
    load2(&c2_cells[0][1], c2 + row[0] + i);
    const double* c2_row = c2 + row[1] + i;
    c2_cells[1][0] = c2_row[-1];
    load2(&c2_cells[1][1], c2_row);
    c2_cells[1][3] = c2_row[2];
    load2(&c2_cells[2][1], c2 + row[2] + i);

    double mu2_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x)
        mu2_result[x] = fma(minus_gamma,
                            fma(-4.0, c2_cells[1][x + 1],
                                c2_cells[1][x] + c2_cells[1][x + 2] + c2_cells[0][x + 1] +
                                c2_cells[2][x + 1]),
                            fma(c2_cells[1][x + 1] * c2_cells[1][x + 1], c2_cells[1][x + 1],
                                -c2_cells[1][x + 1]));
    if (i + kCellsX <= nx)
        store2(mu2 + row[1] + i, mu2_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) mu2[row[1] + i + x] = mu2_result[x];

    // Cells of mu2 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x < 1 || i + x >= nx - 1)
                if (i + x < nx) store_images_mu1(mu2, i + x, j, nx, ny, pitch);
}

// Reads c, mu2, writes c3.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 15)
    cahn_hilliard_rk4_c3(const double* __restrict__ c, const double* __restrict__ mu2,
                         double* __restrict__ c3, int nx, int ny, int pitch, double dt_M) {
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

    double c_cells[kCellsX];
    load2(c_cells, c + row[1] + i);
    double mu2_cells[3][kCellsX + 2];
    load2(&mu2_cells[0][1], mu2 + row[0] + i);
    const double* mu2_row = mu2 + row[1] + i;
    mu2_cells[1][0] = mu2_row[-1];
    load2(&mu2_cells[1][1], mu2_row);
    mu2_cells[1][3] = mu2_row[2];
    load2(&mu2_cells[2][1], mu2 + row[2] + i);

    double c3_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x)
        c3_result[x] = fma(dt_M,
                           fma(-4.0, mu2_cells[1][x + 1],
                               mu2_cells[1][x] + mu2_cells[1][x + 2] + mu2_cells[0][x + 1] +
                               mu2_cells[2][x + 1]),
                           c_cells[x]);
    if (i + kCellsX <= nx)
        store2(c3 + row[1] + i, c3_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) c3[row[1] + i + x] = c3_result[x];

    // Cells of c3 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x < 1 || i + x >= nx - 1)
                if (i + x < nx) store_images_mu1(c3, i + x, j, nx, ny, pitch);
}

// Reads c3, writes mu3.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 16)
    cahn_hilliard_rk4_mu3(const double* __restrict__ c3, double* __restrict__ mu3, int nx, int ny, int pitch,
                          double minus_gamma) {
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

    double c3_cells[3][kCellsX + 2];
    load2(&c3_cells[0][1], c3 + row[0] + i);
    const double* c3_row = c3 + row[1] + i;
    c3_cells[1][0] = c3_row[-1];
    load2(&c3_cells[1][1], c3_row);
    c3_cells[1][3] = c3_row[2];
    load2(&c3_cells[2][1], c3 + row[2] + i);

    double mu3_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x)
        mu3_result[x] = fma(minus_gamma,
                            fma(-4.0, c3_cells[1][x + 1],
                                c3_cells[1][x] + c3_cells[1][x + 2] + c3_cells[0][x + 1] +
                                c3_cells[2][x + 1]),
                            fma(c3_cells[1][x + 1] * c3_cells[1][x + 1], c3_cells[1][x + 1],
                                -c3_cells[1][x + 1]));
    if (i + kCellsX <= nx)
        store2(mu3 + row[1] + i, mu3_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) mu3[row[1] + i + x] = mu3_result[x];

    // Cells of mu3 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x < 1 || i + x >= nx - 1)
                if (i + x < nx) store_images_mu1(mu3, i + x, j, nx, ny, pitch);
}

// Reads c, mu3, writes c4.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 15)
    cahn_hilliard_rk4_c4(const double* __restrict__ c, const double* __restrict__ mu3,
                         double* __restrict__ c4, int nx, int ny, int pitch, double dt_M) {
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

    double c_cells[kCellsX];
    load2(c_cells, c + row[1] + i);
    double mu3_cells[3][kCellsX + 2];
    load2(&mu3_cells[0][1], mu3 + row[0] + i);
    const double* mu3_row = mu3 + row[1] + i;
    mu3_cells[1][0] = mu3_row[-1];
    load2(&mu3_cells[1][1], mu3_row);
    mu3_cells[1][3] = mu3_row[2];
    load2(&mu3_cells[2][1], mu3 + row[2] + i);

    double c4_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x)
        c4_result[x] = fma(dt_M,
                           fma(-4.0, mu3_cells[1][x + 1],
                               mu3_cells[1][x] + mu3_cells[1][x + 2] + mu3_cells[0][x + 1] +
                               mu3_cells[2][x + 1]),
                           c_cells[x]);
    if (i + kCellsX <= nx)
        store2(c4 + row[1] + i, c4_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) c4[row[1] + i + x] = c4_result[x];

    // Cells of c4 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x < 1 || i + x >= nx - 1)
                if (i + x < nx) store_images_mu1(c4, i + x, j, nx, ny, pitch);
}

// Reads c4, writes mu4.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 16)
    cahn_hilliard_rk4_mu4(const double* __restrict__ c4, double* __restrict__ mu4, int nx, int ny, int pitch,
                          double minus_gamma) {
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

    double c4_cells[3][kCellsX + 2];
    load2(&c4_cells[0][1], c4 + row[0] + i);
    const double* c4_row = c4 + row[1] + i;
    c4_cells[1][0] = c4_row[-1];
    load2(&c4_cells[1][1], c4_row);
    c4_cells[1][3] = c4_row[2];
    load2(&c4_cells[2][1], c4 + row[2] + i);

    double mu4_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x)
        mu4_result[x] = fma(minus_gamma,
                            fma(-4.0, c4_cells[1][x + 1],
                                c4_cells[1][x] + c4_cells[1][x + 2] + c4_cells[0][x + 1] +
                                c4_cells[2][x + 1]),
                            fma(c4_cells[1][x + 1] * c4_cells[1][x + 1], c4_cells[1][x + 1],
                                -c4_cells[1][x + 1]));
    if (i + kCellsX <= nx)
        store2(mu4 + row[1] + i, mu4_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) mu4[row[1] + i + x] = mu4_result[x];

    // Cells of mu4 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x < 1 || i + x >= nx - 1)
                if (i + x < nx) store_images_mu1(mu4, i + x, j, nx, ny, pitch);
}

// Reads c, mu1, mu2, mu3, mu4, writes c_next, reduces to mass.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 48 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 8)
    cahn_hilliard_rk4_c(const double* __restrict__ c, const double* __restrict__ mu1,
                        const double* __restrict__ mu2, const double* __restrict__ mu3,
                        const double* __restrict__ mu4, double* __restrict__ c_next, int nx, int ny,
                        int pitch, double dt_M, double* __restrict__ mass_partials) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double mass_of_thread = 0.0;
    if (i < nx && j < ny) {
        // Where the rows of this thread's window start.
        long long row[3];
#pragma unroll
        for (int y = 0; y < 3; ++y)
            row[y] = static_cast<long long>(j + y - 1) * pitch;

        double c_cells[kCellsX];
        load2(c_cells, c + row[1] + i);
        double mu1_cells[3][kCellsX + 2];
        load2(&mu1_cells[0][1], mu1 + row[0] + i);
        const double* mu1_row = mu1 + row[1] + i;
        mu1_cells[1][0] = mu1_row[-1];
        load2(&mu1_cells[1][1], mu1_row);
        mu1_cells[1][3] = mu1_row[2];
        load2(&mu1_cells[2][1], mu1 + row[2] + i);
        double mu2_cells[3][kCellsX + 2];
        load2(&mu2_cells[0][1], mu2 + row[0] + i);
        const double* mu2_row = mu2 + row[1] + i;
        mu2_cells[1][0] = mu2_row[-1];
        load2(&mu2_cells[1][1], mu2_row);
        mu2_cells[1][3] = mu2_row[2];
        load2(&mu2_cells[2][1], mu2 + row[2] + i);
        double mu3_cells[3][kCellsX + 2];
        load2(&mu3_cells[0][1], mu3 + row[0] + i);
        const double* mu3_row = mu3 + row[1] + i;
        mu3_cells[1][0] = mu3_row[-1];
        load2(&mu3_cells[1][1], mu3_row);
        mu3_cells[1][3] = mu3_row[2];
        load2(&mu3_cells[2][1], mu3 + row[2] + i);
        double mu4_cells[3][kCellsX + 2];
        load2(&mu4_cells[0][1], mu4 + row[0] + i);
        const double* mu4_row = mu4 + row[1] + i;
        mu4_cells[1][0] = mu4_row[-1];
        load2(&mu4_cells[1][1], mu4_row);
        mu4_cells[1][3] = mu4_row[2];
        load2(&mu4_cells[2][1], mu4 + row[2] + i);

        double c_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const double c_new = fma(dt_M,
                                     fma(2.0,
                                         mu2_cells[1][x] + mu3_cells[1][x] + mu2_cells[1][x + 2] +
                                         mu3_cells[1][x + 2] + mu2_cells[0][x + 1] + mu3_cells[0][x + 1] +
                                         mu2_cells[2][x + 1] + mu3_cells[2][x + 1],
                                         fma(-4.0,
                                             fma(2.0, mu2_cells[1][x + 1] + mu3_cells[1][x + 1],
                                                 mu1_cells[1][x + 1] + mu4_cells[1][x + 1]),
                                             mu1_cells[1][x] + mu4_cells[1][x] + mu1_cells[1][x + 2] +
                                             mu4_cells[1][x + 2] + mu1_cells[0][x + 1] + mu4_cells[0][x + 1] +
                                             mu1_cells[2][x + 1] + mu4_cells[2][x + 1])),
                                     c_cells[x]);
            c_next_result[x] = c_new;
            if (i + x < nx) mass_of_thread += c_new;
        }
        if (i + kCellsX <= nx)
            store2(c_next + row[1] + i, c_next_result);
        else
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) c_next[row[1] + i + x] = c_next_result[x];

        // Cells of c_next near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
            for (int x = 0; x < 2; ++x)
                if (near_face || i + x < 1 || i + x >= nx - 1)
                    if (i + x < nx) store_images_mu1(c_next, i + x, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double mass_of_block = block_sum(mass_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        mass_partials[blockIdx.x + gridDim.x * blockIdx.y] = mass_of_block;
}

// In place of cahn_hilliard_rk4_c in steps whose results nobody reads; leaves out mass.
// Reads c, mu1, mu2, mu3, mu4, writes c_next.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 48 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 8)
    cahn_hilliard_rk4_c_states(const double* __restrict__ c, const double* __restrict__ mu1,
                               const double* __restrict__ mu2, const double* __restrict__ mu3,
                               const double* __restrict__ mu4, double* __restrict__ c_next, int nx, int ny,
                               int pitch, double dt_M) {
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

    double c_cells[kCellsX];
    load2(c_cells, c + row[1] + i);
    double mu1_cells[3][kCellsX + 2];
    load2(&mu1_cells[0][1], mu1 + row[0] + i);
    const double* mu1_row = mu1 + row[1] + i;
    mu1_cells[1][0] = mu1_row[-1];
    load2(&mu1_cells[1][1], mu1_row);
    mu1_cells[1][3] = mu1_row[2];
    load2(&mu1_cells[2][1], mu1 + row[2] + i);
    double mu2_cells[3][kCellsX + 2];
    load2(&mu2_cells[0][1], mu2 + row[0] + i);
    const double* mu2_row = mu2 + row[1] + i;
    mu2_cells[1][0] = mu2_row[-1];
    load2(&mu2_cells[1][1], mu2_row);
    mu2_cells[1][3] = mu2_row[2];
    load2(&mu2_cells[2][1], mu2 + row[2] + i);
    double mu3_cells[3][kCellsX + 2];
    load2(&mu3_cells[0][1], mu3 + row[0] + i);
    const double* mu3_row = mu3 + row[1] + i;
    mu3_cells[1][0] = mu3_row[-1];
    load2(&mu3_cells[1][1], mu3_row);
    mu3_cells[1][3] = mu3_row[2];
    load2(&mu3_cells[2][1], mu3 + row[2] + i);
    double mu4_cells[3][kCellsX + 2];
    load2(&mu4_cells[0][1], mu4 + row[0] + i);
    const double* mu4_row = mu4 + row[1] + i;
    mu4_cells[1][0] = mu4_row[-1];
    load2(&mu4_cells[1][1], mu4_row);
    mu4_cells[1][3] = mu4_row[2];
    load2(&mu4_cells[2][1], mu4 + row[2] + i);

    double c_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x)
        c_next_result[x] = fma(dt_M,
                               fma(2.0,
                                   mu2_cells[1][x] + mu3_cells[1][x] + mu2_cells[1][x + 2] +
                                   mu3_cells[1][x + 2] + mu2_cells[0][x + 1] + mu3_cells[0][x + 1] +
                                   mu2_cells[2][x + 1] + mu3_cells[2][x + 1],
                                   fma(-4.0,
                                       fma(2.0, mu2_cells[1][x + 1] + mu3_cells[1][x + 1],
                                           mu1_cells[1][x + 1] + mu4_cells[1][x + 1]),
                                       mu1_cells[1][x] + mu4_cells[1][x] + mu1_cells[1][x + 2] +
                                       mu4_cells[1][x + 2] + mu1_cells[0][x + 1] + mu4_cells[0][x + 1] +
                                       mu1_cells[2][x + 1] + mu4_cells[2][x + 1])),
                               c_cells[x]);
    if (i + kCellsX <= nx)
        store2(c_next + row[1] + i, c_next_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) c_next[row[1] + i + x] = c_next_result[x];

    // Cells of c_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x < 1 || i + x >= nx - 1)
                if (i + x < nx) store_images_mu1(c_next, i + x, j, nx, ny, pitch);
}
