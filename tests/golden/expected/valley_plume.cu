// valley_plume: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y, 1 below and 1 above along z.
// wind lies over z alone: z is contiguous.
// shelter lies over x and y alone: x is contiguous, with rows `pitch` elements apart.
// stability lies over z alone: z is contiguous.

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

// The greater of two; NaN where either is.
__device__ __forceinline__ double keep_max(double a, double b) {
    return a > b || a != a ? a : b;
}

// The greatest of the block's threads; thread 0 gets it.
__device__ inline double block_max(double value) {
    __shared__ double of_warp[32];
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int warps = blockDim.x * blockDim.y * blockDim.z / 32;
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = keep_max(value, __shfl_down_sync(~0u, value, lanes));
    __syncthreads();  // an earlier call's results have been read
    if (thread % 32 == 0) of_warp[thread / 32] = value;
    __syncthreads();
    if (thread >= 32) return value;
    value = of_warp[thread < warps ? thread : 0];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = keep_max(value, __shfl_down_sync(~0u, value, lanes));
    return value;
}

// Stores a cell once more wherever the halo shows it: x clamp.
__device__ inline void store_images_flux(float* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                         long long slice) {
    if (i >= 1) return;
    const float value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int x = i == 0 ? -1 : i; x < i + 1; ++x)
        u[k * slice + static_cast<long long>(j) * pitch + x] = value;
}

// Reads smoke, wind, shelter, stability, writes flux, up.
// Schedule: direct, blocks of 8x8x4 threads, 2x1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 5)
    valley_plume_flux(const float* __restrict__ smoke, const float* __restrict__ wind,
                      const float* __restrict__ shelter, const float* __restrict__ stability,
                      float* __restrict__ flux, float* __restrict__ up, int nx, int ny, int nz, int pitch,
                      long long slice, float mixing_over_dz) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long plane[2];
#pragma unroll
    for (int z = 0; z < 2; ++z)
        plane[z] = (k + z) * slice;

    float smoke_cells[2][kCellsX];
#pragma unroll
    for (int z = 0; z < 2; ++z)
        load2(smoke_cells[z], smoke + plane[z] + static_cast<long long>(j) * pitch + i);

    float flux_result[kCellsX];
    float up_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const float u_value =
            wind[k] * (1.0f - shelter[static_cast<long long>(j) * pitch + min(i + x, nx - 1)]);
        const float flux_value = u_value * smoke_cells[0][x];
        const float up_value = mixing_over_dz * (stability[k] * (smoke_cells[1][x] - smoke_cells[0][x]));
        flux_result[x] = flux_value;
        up_result[x] = up_value;
    }
    if (i + kCellsX <= nx) {
        store2(flux + plane[0] + static_cast<long long>(j) * pitch + i, flux_result);
        store2(up + plane[0] + static_cast<long long>(j) * pitch + i, up_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) flux[plane[0] + static_cast<long long>(j) * pitch + i + x] = flux_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) up[plane[0] + static_cast<long long>(j) * pitch + i + x] = up_result[x];
    }

    // Cells of flux near a face are shown by halo cells, too.
    if (i < 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (i + x < 1)
                if (i + x < nx) store_images_flux(flux, i + x, j, k, nx, ny, nz, pitch, slice);
}

// Stores a cell once more wherever the halo shows it: x fixed and clamp, y clamp, z clamp.
__device__ inline void store_images_smoke(float* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                          long long slice) {
    if (i < nx - 1 && j >= 1 && j < ny - 1 && k < nz - 1) return;
    const float value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int z = k; z < (k == nz - 1 ? nz + 1 : k + 1); ++z)
        for (int y = j == 0 ? -1 : j; y < (j == ny - 1 ? ny + 1 : j + 1); ++y)
            for (int x = i; x < (i == nx - 1 ? nx + 1 : i + 1); ++x)
                u[z * slice + static_cast<long long>(y) * pitch + x] = value;
}

// Reads smoke, flux, up, writes smoke_next, reduces to most.
// Schedule: direct, blocks of 32x4x1 threads, 2x1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 8)
    valley_plume_smoke(const float* __restrict__ smoke, const float* __restrict__ flux,
                       const float* __restrict__ up, float* __restrict__ smoke_next, int nx, int ny, int nz,
                       int pitch, long long slice, float dt, float h, float h_2, float stack_y,
                       float minus_inv_h, float inv_dz, float inv_h_squared, float minus_inv_h_squared,
                       float mixing, double* __restrict__ most_partials) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z;

    double most_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny && k < nz) {
        // Where the rows of this thread's window start.
        long long row[3];
#pragma unroll
        for (int y = 0; y < 3; ++y)
            row[y] = static_cast<long long>(j + y - 1) * pitch;
        long long plane[2];
#pragma unroll
        for (int z = 0; z < 2; ++z)
            plane[z] = (k + z - 1) * slice;

        float smoke_cells[3][kCellsX + 2];
        load2(&smoke_cells[0][1], smoke + plane[1] + row[0] + i);
        const float* smoke_row = smoke + plane[1] + row[1] + i;
        smoke_cells[1][0] = smoke_row[-1];
        load2(&smoke_cells[1][1], smoke_row);
        smoke_cells[1][3] = smoke_row[2];
        load2(&smoke_cells[2][1], smoke + plane[1] + row[2] + i);
        float flux_cells[kCellsX + 1];
        const float* flux_row = flux + plane[1] + row[1] + i;
        flux_cells[0] = flux_row[-1];
        load2(&flux_cells[1], flux_row);
        float up_cells[2][kCellsX];
#pragma unroll
        for (int z = 0; z < 2; ++z)
            load2(up_cells[z], up + plane[z] + row[1] + i);

        float smoke_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            float sum = fmaf(minus_inv_h, flux_cells[x + 1] - flux_cells[x],
                             fabsf(static_cast<float>(i + x) * h - 400.0f) < h_2 &&
                             fabsf(static_cast<float>(j) * h - stack_y) < h_2 &&
                             static_cast<float>(k) == 3.0f ? 1.0f : 0.0f);
            sum = fmaf(inv_dz, up_cells[1][x] - up_cells[0][x], sum);
            sum = fmaf(mixing,
                       fmaf(minus_inv_h_squared, smoke_cells[1][x + 1],
                            inv_h_squared * (smoke_cells[1][x] + smoke_cells[1][x + 2] +
                                             smoke_cells[0][x + 1] + smoke_cells[2][x + 1])),
                       sum);
            const float smoke_new = fmaf(dt, sum, smoke_cells[1][x + 1]);
            smoke_next_result[x] = smoke_new;
            if (i + x < nx) most_of_thread = keep_max(most_of_thread, static_cast<double>(smoke_new));
        }
        if (i + kCellsX <= nx)
            store2(smoke_next + plane[1] + row[1] + i, smoke_next_result);
        else
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) smoke_next[plane[1] + row[1] + i + x] = smoke_next_result[x];

        // Cells of smoke_next near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k >= nz - 1;
        if (near_face || i + 1 >= nx - 1)
#pragma unroll 1
            for (int x = 0; x < 2; ++x)
                if (near_face || i + x >= nx - 1)
                    if (i + x < nx) store_images_smoke(smoke_next, i + x, j, k, nx, ny, nz, pitch, slice);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double most_of_block = block_max(most_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        most_partials[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = most_of_block;
}

// In place of valley_plume_smoke in steps whose results nobody reads; leaves out most.
// Reads smoke, flux, up, writes smoke_next.
// Schedule: direct, blocks of 32x4x1 threads, 2x1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 8)
    valley_plume_smoke_states(const float* __restrict__ smoke, const float* __restrict__ flux,
                              const float* __restrict__ up, float* __restrict__ smoke_next, int nx, int ny,
                              int nz, int pitch, long long slice, float dt, float h, float h_2, float stack_y,
                              float minus_inv_h, float inv_dz, float inv_h_squared, float minus_inv_h_squared,
                              float mixing) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[3];
#pragma unroll
    for (int y = 0; y < 3; ++y)
        row[y] = static_cast<long long>(j + y - 1) * pitch;
    long long plane[2];
#pragma unroll
    for (int z = 0; z < 2; ++z)
        plane[z] = (k + z - 1) * slice;

    float smoke_cells[3][kCellsX + 2];
    load2(&smoke_cells[0][1], smoke + plane[1] + row[0] + i);
    const float* smoke_row = smoke + plane[1] + row[1] + i;
    smoke_cells[1][0] = smoke_row[-1];
    load2(&smoke_cells[1][1], smoke_row);
    smoke_cells[1][3] = smoke_row[2];
    load2(&smoke_cells[2][1], smoke + plane[1] + row[2] + i);
    float flux_cells[kCellsX + 1];
    const float* flux_row = flux + plane[1] + row[1] + i;
    flux_cells[0] = flux_row[-1];
    load2(&flux_cells[1], flux_row);
    float up_cells[2][kCellsX];
#pragma unroll
    for (int z = 0; z < 2; ++z)
        load2(up_cells[z], up + plane[z] + row[1] + i);

    float smoke_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        float sum = fmaf(minus_inv_h, flux_cells[x + 1] - flux_cells[x],
                         fabsf(static_cast<float>(i + x) * h - 400.0f) < h_2 &&
                         fabsf(static_cast<float>(j) * h - stack_y) < h_2 && static_cast<float>(k) == 3.0f ?
                         1.0f : 0.0f);
        sum = fmaf(inv_dz, up_cells[1][x] - up_cells[0][x], sum);
        sum = fmaf(mixing,
                   fmaf(minus_inv_h_squared, smoke_cells[1][x + 1],
                        inv_h_squared * (smoke_cells[1][x] + smoke_cells[1][x + 2] + smoke_cells[0][x + 1] +
                                         smoke_cells[2][x + 1])),
                   sum);
        smoke_next_result[x] = fmaf(dt, sum, smoke_cells[1][x + 1]);
    }
    if (i + kCellsX <= nx)
        store2(smoke_next + plane[1] + row[1] + i, smoke_next_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) smoke_next[plane[1] + row[1] + i + x] = smoke_next_result[x];

    // Cells of smoke_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1 || k >= nz - 1;
    if (near_face || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x >= nx - 1)
                if (i + x < nx) store_images_smoke(smoke_next, i + x, j, k, nx, ny, nz, pitch, slice);
}
