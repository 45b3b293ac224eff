// elastic2d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 2 below and 2 above along x, 2 below and 2 above along y.

// Two neighbouring elements at once; `from` is aligned to both.
__device__ __forceinline__ void load2(float* to, const float* from) {
    const float2 pair = *reinterpret_cast<const float2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
}

// As one instruction: where both ways of a branch store, compilers would take vectors apart.
__device__ __forceinline__ void store2(float* to, const float* from) {
    __stwb(reinterpret_cast<float2*>(to), make_float2(from[0], from[1]));
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
__device__ inline void store_images_vx(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 2 && j >= 2 && j < ny - 1) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 1); y < ny + 2; y += ny)
        for (int x = first_image(i, nx, 2); x < nx + 1; x += nx)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Stores a cell once more wherever the halo shows it: x periodic, y periodic.
__device__ inline void store_images_vy(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 2 && i < nx - 1 && j >= 1 && j < ny - 2) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 2); y < ny + 1; y += ny)
        for (int x = first_image(i, nx, 1); x < nx + 2; x += nx)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Reads vx, sxx, sxy, vy, syy, writes vx_next, vy_next, reduces to kinetic, reduces to kinetic_y.
// Schedule: direct, blocks of 32x8 threads, 2x1 cells a thread.
// At least 28 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 3)
    elastic2d_vx(const float* __restrict__ vx, const float* __restrict__ sxx, const float* __restrict__ sxy,
                 const float* __restrict__ vy, const float* __restrict__ syy, float* __restrict__ vx_next,
                 float* __restrict__ vy_next, int nx, int ny, int pitch, float dt_over_rho, float inv_h,
                 float minus_inv_h, float rho, double* __restrict__ kinetic_partials,
                 double* __restrict__ kinetic_y_partials) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 32, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double kinetic_of_thread = 0.0;
    double kinetic_y_of_thread = 0.0;
    if (i < nx && j < ny) {
        // Where the rows of this thread's window start.
        long long row[5];
#pragma unroll
        for (int y = 0; y < 5; ++y)
            row[y] = static_cast<long long>(j + y - 2) * pitch;

        float vx_cells[kCellsX];
        load2(vx_cells, vx + row[2] + i);
        float sxx_cells[kCellsX + 3];
        const float* sxx_row = sxx + row[2] + i;
        sxx_cells[0] = sxx_row[-1];
        load2(&sxx_cells[1], sxx_row);
        load2(&sxx_cells[3], sxx_row + 2);
        float sxy_cells[4][kCellsX + 3];
#pragma unroll
        for (int y = 0; y < 2; ++y)
            load2(&sxy_cells[y][2], sxy + row[y] + i);
        const float* sxy_row = sxy + row[2] + i;
        load2(sxy_cells[2], sxy_row - 2);
        load2(&sxy_cells[2][2], sxy_row);
        sxy_cells[2][4] = sxy_row[2];
        load2(&sxy_cells[3][2], sxy + row[3] + i);
        float vy_cells[kCellsX];
        load2(vy_cells, vy + row[2] + i);
        float syy_cells[4][kCellsX];
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load2(syy_cells[y], syy + row[y + 1] + i);

        float vx_next_result[kCellsX];
        float vy_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const float vx_new = fmaf(dt_over_rho,
                                      fmaf(minus_inv_h,
                                           sxx_cells[x + 3] - sxx_cells[x] + sxy_cells[3][x + 2] -
                                           sxy_cells[0][x + 2],
                                           inv_h * (sxx_cells[x + 2] - sxx_cells[x + 1] +
                                                    sxy_cells[2][x + 2] - sxy_cells[1][x + 2])),
                                      vx_cells[x]);
            const float vy_new = fmaf(dt_over_rho,
                                      fmaf(minus_inv_h,
                                           sxy_cells[2][x + 3] - sxy_cells[2][x] + syy_cells[3][x] -
                                           syy_cells[0][x],
                                           inv_h * (sxy_cells[2][x + 2] - sxy_cells[2][x + 1] +
                                                    syy_cells[2][x] - syy_cells[1][x])),
                                      vy_cells[x]);
            vx_next_result[x] = vx_new;
            vy_next_result[x] = vy_new;
            if (i + x < nx) {
                kinetic_of_thread += static_cast<double>(rho * (vx_new * vx_new));
                kinetic_y_of_thread += static_cast<double>(rho * (vy_new * vy_new));
            }
        }
        if (i + kCellsX <= nx) {
            store2(vx_next + row[2] + i, vx_next_result);
            store2(vy_next + row[2] + i, vy_next_result);
        } else {
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) vx_next[row[2] + i + x] = vx_next_result[x];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) vy_next[row[2] + i + x] = vy_next_result[x];
        }

        // Cells of vx_next near a face are shown by halo cells, too.
        const bool near_face = j < 2 || j >= ny - 1;
        if (near_face || i < 1 || i + 1 >= nx - 2)
#pragma unroll 1
            for (int x = 0; x < 2; ++x)
                if (near_face || i + x < 1 || i + x >= nx - 2)
                    if (i + x < nx) store_images_vx(vx_next, i + x, j, nx, ny, pitch);

        // Cells of vy_next near a face are shown by halo cells, too.
        const bool near_face_2 = j < 1 || j >= ny - 2;
        if (near_face_2 || i < 2 || i + 1 >= nx - 1)
#pragma unroll 1
            for (int x = 0; x < 2; ++x)
                if (near_face_2 || i + x < 2 || i + x >= nx - 1)
                    if (i + x < nx) store_images_vy(vy_next, i + x, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double kinetic_of_block = block_sum(kinetic_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        kinetic_partials[blockIdx.x + gridDim.x * blockIdx.y] = kinetic_of_block;
    const double kinetic_y_of_block = block_sum(kinetic_y_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        kinetic_y_partials[blockIdx.x + gridDim.x * blockIdx.y] = kinetic_y_of_block;
}

// In place of elastic2d_vx in steps whose results nobody reads; leaves out kinetic, kinetic_y.
// Reads vx, sxx, sxy, vy, syy, writes vx_next, vy_next.
// Schedule: direct, blocks of 32x8 threads, 2x1 cells a thread.
// At least 28 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 3)
    elastic2d_vx_states(const float* __restrict__ vx, const float* __restrict__ sxx,
                        const float* __restrict__ sxy, const float* __restrict__ vy,
                        const float* __restrict__ syy, float* __restrict__ vx_next,
                        float* __restrict__ vy_next, int nx, int ny, int pitch, float dt_over_rho,
                        float inv_h, float minus_inv_h) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 32, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[5];
#pragma unroll
    for (int y = 0; y < 5; ++y)
        row[y] = static_cast<long long>(j + y - 2) * pitch;

    float vx_cells[kCellsX];
    load2(vx_cells, vx + row[2] + i);
    float sxx_cells[kCellsX + 3];
    const float* sxx_row = sxx + row[2] + i;
    sxx_cells[0] = sxx_row[-1];
    load2(&sxx_cells[1], sxx_row);
    load2(&sxx_cells[3], sxx_row + 2);
    float sxy_cells[4][kCellsX + 3];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load2(&sxy_cells[y][2], sxy + row[y] + i);
    const float* sxy_row = sxy + row[2] + i;
    load2(sxy_cells[2], sxy_row - 2);
    load2(&sxy_cells[2][2], sxy_row);
    sxy_cells[2][4] = sxy_row[2];
    load2(&sxy_cells[3][2], sxy + row[3] + i);
    float vy_cells[kCellsX];
    load2(vy_cells, vy + row[2] + i);
    float syy_cells[4][kCellsX];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load2(syy_cells[y], syy + row[y + 1] + i);

    float vx_next_result[kCellsX];
    float vy_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const float vx_new = fmaf(dt_over_rho,
                                  fmaf(minus_inv_h,
                                       sxx_cells[x + 3] - sxx_cells[x] + sxy_cells[3][x + 2] -
                                       sxy_cells[0][x + 2],
                                       inv_h * (sxx_cells[x + 2] - sxx_cells[x + 1] + sxy_cells[2][x + 2] -
                                                sxy_cells[1][x + 2])),
                                  vx_cells[x]);
        const float vy_new = fmaf(dt_over_rho,
                                  fmaf(minus_inv_h,
                                       sxy_cells[2][x + 3] - sxy_cells[2][x] + syy_cells[3][x] -
                                       syy_cells[0][x],
                                       inv_h * (sxy_cells[2][x + 2] - sxy_cells[2][x + 1] + syy_cells[2][x] -
                                                syy_cells[1][x])),
                                  vy_cells[x]);
        vx_next_result[x] = vx_new;
        vy_next_result[x] = vy_new;
    }
    if (i + kCellsX <= nx) {
        store2(vx_next + row[2] + i, vx_next_result);
        store2(vy_next + row[2] + i, vy_next_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) vx_next[row[2] + i + x] = vx_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) vy_next[row[2] + i + x] = vy_next_result[x];
    }

    // Cells of vx_next near a face are shown by halo cells, too.
    const bool near_face = j < 2 || j >= ny - 1;
    if (near_face || i < 1 || i + 1 >= nx - 2)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x < 1 || i + x >= nx - 2)
                if (i + x < nx) store_images_vx(vx_next, i + x, j, nx, ny, pitch);

    // Cells of vy_next near a face are shown by halo cells, too.
    const bool near_face_2 = j < 1 || j >= ny - 2;
    if (near_face_2 || i < 2 || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face_2 || i + x < 2 || i + x >= nx - 1)
                if (i + x < nx) store_images_vy(vy_next, i + x, j, nx, ny, pitch);
}

// Stores a cell once more wherever the halo shows it: x periodic.
__device__ inline void store_images_sxx(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 2 && i < nx - 1) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int x = first_image(i, nx, 1); x < nx + 2; x += nx)
        u[static_cast<long long>(j) * pitch + x] = value;
}

// Stores a cell once more wherever the halo shows it: y periodic.
__device__ inline void store_images_syy(float* u, int i, int j, int nx, int ny, int pitch) {
    if (j >= 2 && j < ny - 1) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 1); y < ny + 2; y += ny)
        u[static_cast<long long>(y) * pitch + i] = value;
}

// Stores a cell once more wherever the halo shows it: x periodic, y periodic.
__device__ inline void store_images_sxy(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 2 && j >= 1 && j < ny - 2) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 2); y < ny + 1; y += ny)
        for (int x = first_image(i, nx, 2); x < nx + 1; x += nx)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Reads sxx, sxy, syy, vx_next, vy_next, writes sxx_next, syy_next, sxy_next, reduces to stretch, reduces to
// shear.
// Schedule: direct, blocks of 32x8 threads, 2x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 3)
    elastic2d_sxx(const float* __restrict__ sxx, const float* __restrict__ sxy, const float* __restrict__ syy,
                  const float* __restrict__ vx_next, const float* __restrict__ vy_next,
                  float* __restrict__ sxx_next, float* __restrict__ syy_next, float* __restrict__ sxy_next,
                  int nx, int ny, int pitch, float inv_h, float minus_inv_h, float dt, float lambda, float mu,
                  float dt_mu, float inv_mu, float minus_lambda_over_mu, float inv_mu_2,
                  double* __restrict__ stretch_partials, double* __restrict__ shear_partials) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 32, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double stretch_of_thread = 0.0;
    double shear_of_thread = 0.0;
    if (i < nx && j < ny) {
        // Where the rows of this thread's window start.
        long long row[5];
#pragma unroll
        for (int y = 0; y < 5; ++y)
            row[y] = static_cast<long long>(j + y - 2) * pitch;

        float sxx_cells[kCellsX];
        load2(sxx_cells, sxx + row[2] + i);
        float sxy_cells[kCellsX];
        load2(sxy_cells, sxy + row[2] + i);
        float syy_cells[kCellsX];
        load2(syy_cells, syy + row[2] + i);
        float vx_next_cells[4][kCellsX + 3];
        load2(&vx_next_cells[0][2], vx_next + row[1] + i);
        const float* vx_next_row = vx_next + row[2] + i;
        load2(vx_next_cells[1], vx_next_row - 2);
        load2(&vx_next_cells[1][2], vx_next_row);
        vx_next_cells[1][4] = vx_next_row[2];
#pragma unroll
        for (int y = 2; y < 4; ++y)
            load2(&vx_next_cells[y][2], vx_next + row[y + 1] + i);
        float vy_next_cells[4][kCellsX + 3];
#pragma unroll
        for (int y = 0; y < 2; ++y)
            load2(&vy_next_cells[y][1], vy_next + row[y] + i);
        const float* vy_next_row = vy_next + row[2] + i;
        vy_next_cells[2][0] = vy_next_row[-1];
        load2(&vy_next_cells[2][1], vy_next_row);
        load2(&vy_next_cells[2][3], vy_next_row + 2);
        load2(&vy_next_cells[3][1], vy_next + row[3] + i);

        float sxx_next_result[kCellsX];
        float syy_next_result[kCellsX];
        float sxy_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const float exx_value = fmaf(minus_inv_h, vx_next_cells[1][x + 3] - vx_next_cells[1][x],
                                         inv_h * (vx_next_cells[1][x + 2] - vx_next_cells[1][x + 1]));
            const float eyy_value = fmaf(minus_inv_h, vy_next_cells[3][x + 1] - vy_next_cells[0][x + 1],
                                         inv_h * (vy_next_cells[2][x + 1] - vy_next_cells[1][x + 1]));
            const float product = lambda * (exx_value + eyy_value);
            const float sxx_new = fmaf(dt, fmaf(mu, exx_value, product), sxx_cells[x]);
            const float syy_new = fmaf(dt, fmaf(mu, eyy_value, product), syy_cells[x]);
            const float sxy_new = fmaf(dt_mu,
                                       fmaf(minus_inv_h,
                                            vx_next_cells[3][x + 2] - vx_next_cells[0][x + 2] +
                                            vy_next_cells[2][x + 3] - vy_next_cells[2][x],
                                            inv_h * (vx_next_cells[2][x + 2] - vx_next_cells[1][x + 2] +
                                                     vy_next_cells[2][x + 2] - vy_next_cells[2][x + 1])),
                                       sxy_cells[x]);
            sxx_next_result[x] = sxx_new;
            syy_next_result[x] = syy_new;
            sxy_next_result[x] = sxy_new;
            if (i + x < nx) {
                stretch_of_thread += static_cast<double>(fmaf(minus_lambda_over_mu,
                                                              (sxx_cells[x] + syy_cells[x]) * (sxx_new +
                                                                                               syy_new),
                                                              inv_mu * fmaf(syy_cells[x], syy_new,
                                                                            sxx_cells[x] * sxx_new)));
                shear_of_thread += static_cast<double>(inv_mu_2 * (sxy_cells[x] * sxy_new));
            }
        }
        if (i + kCellsX <= nx) {
            store2(sxx_next + row[2] + i, sxx_next_result);
            store2(syy_next + row[2] + i, syy_next_result);
            store2(sxy_next + row[2] + i, sxy_next_result);
        } else {
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) sxx_next[row[2] + i + x] = sxx_next_result[x];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) syy_next[row[2] + i + x] = syy_next_result[x];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) sxy_next[row[2] + i + x] = sxy_next_result[x];
        }

        // Cells of sxx_next near a face are shown by halo cells, too.
        if (i < 2 || i + 1 >= nx - 1)
#pragma unroll 1
            for (int x = 0; x < 2; ++x)
                if (i + x < 2 || i + x >= nx - 1)
                    if (i + x < nx) store_images_sxx(sxx_next, i + x, j, nx, ny, pitch);

        // Cells of syy_next near a face are shown by halo cells, too.
        if (j < 2 || j >= ny - 1)
#pragma unroll 1
            for (int x = 0; x < 2; ++x)
                if (i + x < nx) store_images_syy(syy_next, i + x, j, nx, ny, pitch);

        // Cells of sxy_next near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 2;
        if (near_face || i < 1 || i + 1 >= nx - 2)
#pragma unroll 1
            for (int x = 0; x < 2; ++x)
                if (near_face || i + x < 1 || i + x >= nx - 2)
                    if (i + x < nx) store_images_sxy(sxy_next, i + x, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double stretch_of_block = block_sum(stretch_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        stretch_partials[blockIdx.x + gridDim.x * blockIdx.y] = stretch_of_block;
    const double shear_of_block = block_sum(shear_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        shear_partials[blockIdx.x + gridDim.x * blockIdx.y] = shear_of_block;
}

// In place of elastic2d_sxx in steps whose results nobody reads; leaves out stretch, shear.
// Reads sxx, sxy, syy, vx_next, vy_next, writes sxx_next, syy_next, sxy_next.
// Schedule: direct, blocks of 32x8 threads, 2x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 3)
    elastic2d_sxx_states(const float* __restrict__ sxx, const float* __restrict__ sxy,
                         const float* __restrict__ syy, const float* __restrict__ vx_next,
                         const float* __restrict__ vy_next, float* __restrict__ sxx_next,
                         float* __restrict__ syy_next, float* __restrict__ sxy_next, int nx, int ny,
                         int pitch, float inv_h, float minus_inv_h, float dt, float lambda, float mu,
                         float dt_mu) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 32, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[5];
#pragma unroll
    for (int y = 0; y < 5; ++y)
        row[y] = static_cast<long long>(j + y - 2) * pitch;

    float sxx_cells[kCellsX];
    load2(sxx_cells, sxx + row[2] + i);
    float sxy_cells[kCellsX];
    load2(sxy_cells, sxy + row[2] + i);
    float syy_cells[kCellsX];
    load2(syy_cells, syy + row[2] + i);
    float vx_next_cells[4][kCellsX + 3];
    load2(&vx_next_cells[0][2], vx_next + row[1] + i);
    const float* vx_next_row = vx_next + row[2] + i;
    load2(vx_next_cells[1], vx_next_row - 2);
    load2(&vx_next_cells[1][2], vx_next_row);
    vx_next_cells[1][4] = vx_next_row[2];
#pragma unroll
    for (int y = 2; y < 4; ++y)
        load2(&vx_next_cells[y][2], vx_next + row[y + 1] + i);
    float vy_next_cells[4][kCellsX + 3];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load2(&vy_next_cells[y][1], vy_next + row[y] + i);
    const float* vy_next_row = vy_next + row[2] + i;
    vy_next_cells[2][0] = vy_next_row[-1];
    load2(&vy_next_cells[2][1], vy_next_row);
    load2(&vy_next_cells[2][3], vy_next_row + 2);
    load2(&vy_next_cells[3][1], vy_next + row[3] + i);

    float sxx_next_result[kCellsX];
    float syy_next_result[kCellsX];
    float sxy_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const float exx_value = fmaf(minus_inv_h, vx_next_cells[1][x + 3] - vx_next_cells[1][x],
                                     inv_h * (vx_next_cells[1][x + 2] - vx_next_cells[1][x + 1]));
        const float eyy_value = fmaf(minus_inv_h, vy_next_cells[3][x + 1] - vy_next_cells[0][x + 1],
                                     inv_h * (vy_next_cells[2][x + 1] - vy_next_cells[1][x + 1]));
        const float product = lambda * (exx_value + eyy_value);
        const float sxx_new = fmaf(dt, fmaf(mu, exx_value, product), sxx_cells[x]);
        const float syy_new = fmaf(dt, fmaf(mu, eyy_value, product), syy_cells[x]);
        const float sxy_new = fmaf(dt_mu,
                                   fmaf(minus_inv_h,
                                        vx_next_cells[3][x + 2] - vx_next_cells[0][x + 2] +
                                        vy_next_cells[2][x + 3] - vy_next_cells[2][x],
                                        inv_h * (vx_next_cells[2][x + 2] - vx_next_cells[1][x + 2] +
                                                 vy_next_cells[2][x + 2] - vy_next_cells[2][x + 1])),
                                   sxy_cells[x]);
        sxx_next_result[x] = sxx_new;
        syy_next_result[x] = syy_new;
        sxy_next_result[x] = sxy_new;
    }
    if (i + kCellsX <= nx) {
        store2(sxx_next + row[2] + i, sxx_next_result);
        store2(syy_next + row[2] + i, syy_next_result);
        store2(sxy_next + row[2] + i, sxy_next_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) sxx_next[row[2] + i + x] = sxx_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) syy_next[row[2] + i + x] = syy_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) sxy_next[row[2] + i + x] = sxy_next_result[x];
    }

    // Cells of sxx_next near a face are shown by halo cells, too.
    if (i < 2 || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (i + x < 2 || i + x >= nx - 1)
                if (i + x < nx) store_images_sxx(sxx_next, i + x, j, nx, ny, pitch);

    // Cells of syy_next near a face are shown by halo cells, too.
    if (j < 2 || j >= ny - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (i + x < nx) store_images_syy(syy_next, i + x, j, nx, ny, pitch);

    // Cells of sxy_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 2;
    if (near_face || i < 1 || i + 1 >= nx - 2)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x < 1 || i + x >= nx - 2)
                if (i + x < nx) store_images_sxy(sxy_next, i + x, j, nx, ny, pitch);
}
