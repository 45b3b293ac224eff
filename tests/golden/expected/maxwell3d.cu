// maxwell3d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y, 1 below and 1 above along z.

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

// Stores a cell once more wherever the halo shows it: y clamp, z clamp.
__device__ inline void store_images_h_x(float* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                        long long slice) {
    if (j >= 1 && k >= 1) return;
    const float value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int z = k == 0 ? -1 : k; z < k + 1; ++z)
        for (int y = j == 0 ? -1 : j; y < j + 1; ++y)
            u[z * slice + static_cast<long long>(y) * pitch + i] = value;
}

// Stores a cell once more wherever the halo shows it: x clamp, z clamp.
__device__ inline void store_images_h_y(float* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                        long long slice) {
    if (i >= 1 && k >= 1) return;
    const float value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int z = k == 0 ? -1 : k; z < k + 1; ++z)
        for (int x = i == 0 ? -1 : i; x < i + 1; ++x)
            u[z * slice + static_cast<long long>(j) * pitch + x] = value;
}

// Stores a cell once more wherever the halo shows it: x clamp, y clamp.
__device__ inline void store_images_h_z(float* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                        long long slice) {
    if (i >= 1 && j >= 1) return;
    const float value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int y = j == 0 ? -1 : j; y < j + 1; ++y)
        for (int x = i == 0 ? -1 : i; x < i + 1; ++x)
            u[k * slice + static_cast<long long>(y) * pitch + x] = value;
}

// Reads h_x, h_y, h_z, e_x, e_y, e_z, writes h_x_next, h_y_next, h_z_next.
// Schedule: direct, blocks of 4x8x4 threads, 4x2x1 cells a thread.
// At least 36 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 4)
    maxwell3d_h_x(const float* __restrict__ h_x, const float* __restrict__ h_y, const float* __restrict__ h_z,
                  const float* __restrict__ e_x, const float* __restrict__ e_y, const float* __restrict__ e_z,
                  float* __restrict__ h_x_next, float* __restrict__ h_y_next, float* __restrict__ h_z_next,
                  int nx, int ny, int nz, int pitch, long long slice, float minus_dt, float scale,
                  float scale_2, float scale_3, float scale_4, float scale_5, float scale_6) {
    constexpr int kCellsX = 4, kCellsY = 2;
    constexpr int kThreadsX = 4, kThreadsY = 8, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = (blockIdx.y * kThreadsY + threadIdx.y) * kCellsY;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[kCellsY + 1];
#pragma unroll
    for (int y = 0; y < kCellsY + 1; ++y)
        row[y] = static_cast<long long>(min(j + y, ny)) * pitch;
    long long plane[2];
#pragma unroll
    for (int z = 0; z < 2; ++z)
        plane[z] = (k + z) * slice;

    float h_x_cells[kCellsY][kCellsX];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load4(h_x_cells[y], h_x + plane[0] + row[y] + i);
    float h_y_cells[kCellsY][kCellsX];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load4(h_y_cells[y], h_y + plane[0] + row[y] + i);
    float h_z_cells[kCellsY][kCellsX];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load4(h_z_cells[y], h_z + plane[0] + row[y] + i);
    float e_x_cells[2][kCellsY + 1][kCellsX];
#pragma unroll
    for (int y = 0; y < 3; ++y)
        load4(e_x_cells[0][y], e_x + plane[0] + row[y] + i);
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load4(e_x_cells[1][y], e_x + plane[1] + row[y] + i);
    float e_y_cells[2][kCellsY][kCellsX + 1];
#pragma unroll
    for (int y = 0; y < 2; ++y) {
        const float* e_y_row = e_y + plane[0] + row[y] + i;
        load4(e_y_cells[0][y], e_y_row);
        e_y_cells[0][y][4] = e_y_row[4];
    }
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load4(e_y_cells[1][y], e_y + plane[1] + row[y] + i);
    float e_z_cells[kCellsY + 1][kCellsX + 1];
#pragma unroll
    for (int y = 0; y < 2; ++y) {
        const float* e_z_row = e_z + plane[0] + row[y] + i;
        load4(e_z_cells[y], e_z_row);
        e_z_cells[y][4] = e_z_row[4];
    }
    load4(e_z_cells[2], e_z + plane[0] + row[2] + i);

#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
        float h_x_next_result[kCellsX];
        float h_y_next_result[kCellsX];
        float h_z_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const float h_x_new = fmaf(minus_dt,
                                       fmaf(scale_2, e_y_cells[1][y][x] - e_y_cells[0][y][x],
                                            scale * (e_z_cells[y + 1][x] - e_z_cells[y][x])),
                                       h_x_cells[y][x]);
            const float h_y_new = fmaf(minus_dt,
                                       fmaf(scale_4, e_z_cells[y][x + 1] - e_z_cells[y][x],
                                            scale_3 * (e_x_cells[1][y][x] - e_x_cells[0][y][x])),
                                       h_y_cells[y][x]);
            const float h_z_new = fmaf(minus_dt,
                                       fmaf(scale_6, e_x_cells[0][y + 1][x] - e_x_cells[0][y][x],
                                            scale_5 * (e_y_cells[0][y][x + 1] - e_y_cells[0][y][x])),
                                       h_z_cells[y][x]);
            h_x_next_result[x] = h_x_new;
            h_y_next_result[x] = h_y_new;
            h_z_next_result[x] = h_z_new;
        }
        if (j + y < ny) {
            if (i + kCellsX <= nx) {
                store4(h_x_next + plane[0] + row[y] + i, h_x_next_result);
                store4(h_y_next + plane[0] + row[y] + i, h_y_next_result);
                store4(h_z_next + plane[0] + row[y] + i, h_z_next_result);
            } else {
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) h_x_next[plane[0] + row[y] + i + x] = h_x_next_result[x];
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) h_y_next[plane[0] + row[y] + i + x] = h_y_next_result[x];
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) h_z_next[plane[0] + row[y] + i + x] = h_z_next_result[x];
            }
        }
    }

    // Cells of h_x_next near a face are shown by halo cells, too.
    if (j < 1 || k < 1)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
#pragma unroll 1
            for (int y = 0; y < 2; ++y)
                if (i + x < nx && j + y < ny)
                    store_images_h_x(h_x_next, i + x, j + y, k, nx, ny, nz, pitch, slice);

    // Cells of h_y_next near a face are shown by halo cells, too.
    const bool near_face = k < 1;
    if (near_face || i < 1)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (near_face || i + x < 1)
#pragma unroll 1
                for (int y = 0; y < 2; ++y)
                    if (i + x < nx && j + y < ny)
                        store_images_h_y(h_y_next, i + x, j + y, k, nx, ny, nz, pitch, slice);

    // Cells of h_z_next near a face are shown by halo cells, too.
    const bool near_face_2 = j < 1;
    if (near_face_2 || i < 1)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (near_face_2 || i + x < 1)
#pragma unroll 1
                for (int y = 0; y < 2; ++y)
                    if (i + x < nx && j + y < ny)
                        store_images_h_z(h_z_next, i + x, j + y, k, nx, ny, nz, pitch, slice);
}

// Reads e_x, e_y, e_z, h_x_next, h_y_next, h_z_next, writes e_x_next, e_y_next, e_z_next.
// Schedule: direct, blocks of 4x8x4 threads, 4x2x1 cells a thread.
// At least 36 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 4)
    maxwell3d_e_x(const float* __restrict__ e_x, const float* __restrict__ e_y, const float* __restrict__ e_z,
                  const float* __restrict__ h_x_next, const float* __restrict__ h_y_next,
                  const float* __restrict__ h_z_next, float* __restrict__ e_x_next,
                  float* __restrict__ e_y_next, float* __restrict__ e_z_next, int nx, int ny, int nz,
                  int pitch, long long slice, float dt, float scale, float scale_2, float scale_3,
                  float scale_4, float scale_5, float scale_6) {
    constexpr int kCellsX = 4, kCellsY = 2;
    constexpr int kThreadsX = 4, kThreadsY = 8, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = (blockIdx.y * kThreadsY + threadIdx.y) * kCellsY;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[kCellsY + 1];
#pragma unroll
    for (int y = 0; y < kCellsY + 1; ++y)
        row[y] = static_cast<long long>(min(j + y - 1, ny)) * pitch;
    long long plane[2];
#pragma unroll
    for (int z = 0; z < 2; ++z)
        plane[z] = (k + z - 1) * slice;

    float e_x_cells[kCellsY][kCellsX];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load4(e_x_cells[y], e_x + plane[1] + row[y + 1] + i);
    float e_y_cells[kCellsY][kCellsX];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load4(e_y_cells[y], e_y + plane[1] + row[y + 1] + i);
    float e_z_cells[kCellsY][kCellsX];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load4(e_z_cells[y], e_z + plane[1] + row[y + 1] + i);
    float h_x_next_cells[2][kCellsY + 1][kCellsX];
#pragma unroll
    for (int y = 1; y < 3; ++y)
        load4(h_x_next_cells[0][y], h_x_next + plane[0] + row[y] + i);
#pragma unroll
    for (int y = 0; y < 3; ++y)
        load4(h_x_next_cells[1][y], h_x_next + plane[1] + row[y] + i);
    float h_y_next_cells[2][kCellsY][kCellsX + 1];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load4(&h_y_next_cells[0][y][1], h_y_next + plane[0] + row[y + 1] + i);
#pragma unroll
    for (int y = 0; y < 2; ++y) {
        const float* h_y_next_row = h_y_next + plane[1] + row[y + 1] + i;
        h_y_next_cells[1][y][0] = h_y_next_row[-1];
        load4(&h_y_next_cells[1][y][1], h_y_next_row);
    }
    float h_z_next_cells[kCellsY + 1][kCellsX + 1];
    load4(&h_z_next_cells[0][1], h_z_next + plane[1] + row[0] + i);
#pragma unroll
    for (int y = 1; y < 3; ++y) {
        const float* h_z_next_row = h_z_next + plane[1] + row[y] + i;
        h_z_next_cells[y][0] = h_z_next_row[-1];
        load4(&h_z_next_cells[y][1], h_z_next_row);
    }

#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
        float e_x_next_result[kCellsX];
        float e_y_next_result[kCellsX];
        float e_z_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const float e_x_new = fmaf(dt,
                                       fmaf(scale_2,
                                            h_y_next_cells[1][y][x + 1] - h_y_next_cells[0][y][x + 1],
                                            scale * (h_z_next_cells[y + 1][x + 1] -
                                                     h_z_next_cells[y][x + 1])),
                                       e_x_cells[y][x]);
            const float e_y_new = fmaf(dt,
                                       fmaf(scale_4, h_z_next_cells[y + 1][x + 1] - h_z_next_cells[y + 1][x],
                                            scale_3 * (h_x_next_cells[1][y + 1][x] -
                                                       h_x_next_cells[0][y + 1][x])),
                                       e_y_cells[y][x]);
            const float e_z_new = fmaf(dt,
                                       fmaf(scale_6, h_x_next_cells[1][y + 1][x] - h_x_next_cells[1][y][x],
                                            scale_5 * (h_y_next_cells[1][y][x + 1] -
                                                       h_y_next_cells[1][y][x])),
                                       e_z_cells[y][x]);
            e_x_next_result[x] = e_x_new;
            e_y_next_result[x] = e_y_new;
            e_z_next_result[x] = e_z_new;
        }
        if (j + y < ny) {
            if (i + kCellsX <= nx) {
                store4(e_x_next + plane[1] + row[y + 1] + i, e_x_next_result);
                store4(e_y_next + plane[1] + row[y + 1] + i, e_y_next_result);
                store4(e_z_next + plane[1] + row[y + 1] + i, e_z_next_result);
            } else {
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) e_x_next[plane[1] + row[y + 1] + i + x] = e_x_next_result[x];
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) e_y_next[plane[1] + row[y + 1] + i + x] = e_y_next_result[x];
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) e_z_next[plane[1] + row[y + 1] + i + x] = e_z_next_result[x];
            }
        }
    }
}
