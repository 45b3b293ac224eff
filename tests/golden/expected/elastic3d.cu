// elastic3d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 2 below and 2 above along x, 2 below and 2 above along y, 2 below and 2 above along z.

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

// The lowest of the cells index, index - n, … that lies in the halo of width `low` or above it.
__device__ __forceinline__ int first_image(int index, int n, int low) {
    while (index - n >= -low)
        index -= n;
    return index;
}

// Stores a cell once more wherever the halo shows it: x periodic, y periodic.
__device__ inline void store_images_vx(float* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                       long long slice) {
    if (i >= 1 && i < nx - 2 && j >= 2 && j < ny - 1) return;
    const float value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 1); y < ny + 2; y += ny)
        for (int x = first_image(i, nx, 2); x < nx + 1; x += nx)
            u[k * slice + static_cast<long long>(y) * pitch + x] = value;
}

// Stores a cell once more wherever the halo shows it: x periodic, y periodic.
__device__ inline void store_images_vy(float* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                       long long slice) {
    if (i >= 2 && i < nx - 1 && j >= 1 && j < ny - 2) return;
    const float value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 2); y < ny + 1; y += ny)
        for (int x = first_image(i, nx, 1); x < nx + 2; x += nx)
            u[k * slice + static_cast<long long>(y) * pitch + x] = value;
}

// Stores a cell once more wherever the halo shows it: x periodic, y periodic.
__device__ inline void store_images_vz(float* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                       long long slice) {
    if (i >= 2 && i < nx - 1 && j >= 2 && j < ny - 1) return;
    const float value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 1); y < ny + 2; y += ny)
        for (int x = first_image(i, nx, 1); x < nx + 2; x += nx)
            u[k * slice + static_cast<long long>(y) * pitch + x] = value;
}

// Reads vx, buoyancy, sxx, sxy, sxz, vy, syy, syz, vz, szz, writes vx_next, vy_next, vz_next.
// Schedule: direct, blocks of 8x8x4 threads, 4x1x1 cells a thread.
// At least 52 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    elastic3d_vx(const float* __restrict__ vx, const float* __restrict__ buoyancy,
                 const float* __restrict__ sxx, const float* __restrict__ sxy, const float* __restrict__ sxz,
                 const float* __restrict__ vy, const float* __restrict__ syy, const float* __restrict__ syz,
                 const float* __restrict__ vz, const float* __restrict__ szz, float* __restrict__ vx_next,
                 float* __restrict__ vy_next, float* __restrict__ vz_next, int nx, int ny, int nz, int pitch,
                 long long slice, float dt) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 8, kThreadsY = 8, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[5];
#pragma unroll
    for (int y = 0; y < 5; ++y)
        row[y] = static_cast<long long>(j + y - 2) * pitch;
    long long plane[5];
#pragma unroll
    for (int z = 0; z < 5; ++z)
        plane[z] = (k + z - 2) * slice;

    float vx_cells[kCellsX];
    load4(vx_cells, vx + plane[2] + row[2] + i);
    float buoyancy_cells[2][2][kCellsX + 1];
    const float* buoyancy_row = buoyancy + plane[2] + row[2] + i;
    load4(buoyancy_cells[0][0], buoyancy_row);
    buoyancy_cells[0][0][4] = buoyancy_row[4];
    load4(buoyancy_cells[0][1], buoyancy + plane[2] + row[3] + i);
    load4(buoyancy_cells[1][0], buoyancy + plane[3] + row[2] + i);
    float sxx_cells[kCellsX + 3];
    const float* sxx_row = sxx + plane[2] + row[2] + i;
    sxx_cells[0] = sxx_row[-1];
    load4(&sxx_cells[1], sxx_row);
    sxx_cells[5] = sxx_row[4];
    sxx_cells[6] = sxx_row[5];
    float sxy_cells[4][kCellsX + 3];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load4(&sxy_cells[y][2], sxy + plane[2] + row[y] + i);
    const float* sxy_row = sxy + plane[2] + row[2] + i;
    sxy_cells[2][1] = sxy_row[-1];
    sxy_cells[2][0] = sxy_row[-2];
    load4(&sxy_cells[2][2], sxy_row);
    sxy_cells[2][6] = sxy_row[4];
    load4(&sxy_cells[3][2], sxy + plane[2] + row[3] + i);
    float sxz_cells[4][kCellsX + 3];
#pragma unroll
    for (int z = 0; z < 2; ++z)
        load4(&sxz_cells[z][2], sxz + plane[z] + row[2] + i);
    const float* sxz_row = sxz + plane[2] + row[2] + i;
    sxz_cells[2][1] = sxz_row[-1];
    sxz_cells[2][0] = sxz_row[-2];
    load4(&sxz_cells[2][2], sxz_row);
    sxz_cells[2][6] = sxz_row[4];
    load4(&sxz_cells[3][2], sxz + plane[3] + row[2] + i);
    float vy_cells[kCellsX];
    load4(vy_cells, vy + plane[2] + row[2] + i);
    float syy_cells[4][kCellsX];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(syy_cells[y], syy + plane[2] + row[y + 1] + i);
    float syz_cells[4][4][kCellsX];
#pragma unroll
    for (int z = 0; z < 2; ++z)
        load4(syz_cells[z][2], syz + plane[z] + row[2] + i);
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(syz_cells[2][y], syz + plane[2] + row[y] + i);
    load4(syz_cells[3][2], syz + plane[3] + row[2] + i);
    float vz_cells[kCellsX];
    load4(vz_cells, vz + plane[2] + row[2] + i);
    float szz_cells[4][kCellsX];
#pragma unroll
    for (int z = 0; z < 4; ++z)
        load4(szz_cells[z], szz + plane[z + 1] + row[2] + i);

    float vx_next_result[kCellsX];
    float vy_next_result[kCellsX];
    float vz_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const float vx_new = fmaf(dt,
                                  (buoyancy_cells[0][0][x] +
                                   buoyancy_cells[0][0][x + 1]) * fmaf(-0.004166667f,
                                                                       sxx_cells[x + 3] - sxx_cells[x] +
                                                                       sxy_cells[3][x + 2] -
                                                                       sxy_cells[0][x + 2] +
                                                                       sxz_cells[3][x + 2] -
                                                                       sxz_cells[0][x + 2],
                                                                       0.1125f * (sxx_cells[x + 2] -
                                                                                  sxx_cells[x + 1] +
                                                                                  sxy_cells[2][x + 2] -
                                                                                  sxy_cells[1][x + 2] +
                                                                                  sxz_cells[2][x + 2] -
                                                                                  sxz_cells[1][x + 2])),
                                  vx_cells[x]);
        const float vy_new = fmaf(dt,
                                  (buoyancy_cells[0][0][x] + buoyancy_cells[0][1][x]) * fmaf(-0.004166667f,
                                                                                             sxy_cells[2][x +
                                                                                                          3] -
                                                                                             sxy_cells[2][x] +
                                                                                             syy_cells[3][x] -
                                                                                             syy_cells[0][x] +
                                                                                             syz_cells[3][2][x] -
                                                                                             syz_cells[0][2][x],
                                                                                             0.1125f * (sxy_cells[2][x +
                                                                                                                     2] -
                                                                                                        sxy_cells[2][x +
                                                                                                                     1] +
                                                                                                        syy_cells[2][x] -
                                                                                                        syy_cells[1][x] +
                                                                                                        syz_cells[2][2][x] -
                                                                                                        syz_cells[1][2][x])),
                                  vy_cells[x]);
        const float vz_new = fmaf(dt,
                                  (buoyancy_cells[0][0][x] + buoyancy_cells[1][0][x]) * fmaf(-0.004166667f,
                                                                                             sxz_cells[2][x +
                                                                                                          3] -
                                                                                             sxz_cells[2][x] +
                                                                                             syz_cells[2][3][x] -
                                                                                             syz_cells[2][0][x] +
                                                                                             szz_cells[3][x] -
                                                                                             szz_cells[0][x],
                                                                                             0.1125f * (sxz_cells[2][x +
                                                                                                                     2] -
                                                                                                        sxz_cells[2][x +
                                                                                                                     1] +
                                                                                                        syz_cells[2][2][x] -
                                                                                                        syz_cells[2][1][x] +
                                                                                                        szz_cells[2][x] -
                                                                                                        szz_cells[1][x])),
                                  vz_cells[x]);
        vx_next_result[x] = vx_new;
        vy_next_result[x] = vy_new;
        vz_next_result[x] = vz_new;
    }
    if (i + kCellsX <= nx) {
        store4(vx_next + plane[2] + row[2] + i, vx_next_result);
        store4(vy_next + plane[2] + row[2] + i, vy_next_result);
        store4(vz_next + plane[2] + row[2] + i, vz_next_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) vx_next[plane[2] + row[2] + i + x] = vx_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) vy_next[plane[2] + row[2] + i + x] = vy_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) vz_next[plane[2] + row[2] + i + x] = vz_next_result[x];
    }

    // Cells of vx_next near a face are shown by halo cells, too.
    const bool near_face = j < 2 || j >= ny - 1;
    if (near_face || i < 1 || i + 3 >= nx - 2)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (near_face || i + x < 1 || i + x >= nx - 2)
                if (i + x < nx) store_images_vx(vx_next, i + x, j, k, nx, ny, nz, pitch, slice);

    // Cells of vy_next near a face are shown by halo cells, too.
    const bool near_face_2 = j < 1 || j >= ny - 2;
    if (near_face_2 || i < 2 || i + 3 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (near_face_2 || i + x < 2 || i + x >= nx - 1)
                if (i + x < nx) store_images_vy(vy_next, i + x, j, k, nx, ny, nz, pitch, slice);

    // Cells of vz_next near a face are shown by halo cells, too.
    const bool near_face_3 = j < 2 || j >= ny - 1;
    if (near_face_3 || i < 2 || i + 3 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (near_face_3 || i + x < 2 || i + x >= nx - 1)
                if (i + x < nx) store_images_vz(vz_next, i + x, j, k, nx, ny, nz, pitch, slice);
}

// Stores a cell once more wherever the halo shows it: x periodic.
__device__ inline void store_images_sxx(float* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                        long long slice) {
    if (i >= 2 && i < nx - 1) return;
    const float value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int x = first_image(i, nx, 1); x < nx + 2; x += nx)
        u[k * slice + static_cast<long long>(j) * pitch + x] = value;
}

// Stores a cell once more wherever the halo shows it: y periodic.
__device__ inline void store_images_syy(float* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                        long long slice) {
    if (j >= 2 && j < ny - 1) return;
    const float value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 1); y < ny + 2; y += ny)
        u[k * slice + static_cast<long long>(y) * pitch + i] = value;
}

// Stores a cell once more wherever the halo shows it: x periodic, y periodic.
__device__ inline void store_images_sxy(float* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                        long long slice) {
    if (i >= 1 && i < nx - 2 && j >= 1 && j < ny - 2) return;
    const float value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 2); y < ny + 1; y += ny)
        for (int x = first_image(i, nx, 2); x < nx + 1; x += nx)
            u[k * slice + static_cast<long long>(y) * pitch + x] = value;
}

// Stores a cell once more wherever the halo shows it: x periodic.
__device__ inline void store_images_sxz(float* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                        long long slice) {
    if (i >= 1 && i < nx - 2) return;
    const float value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int x = first_image(i, nx, 2); x < nx + 1; x += nx)
        u[k * slice + static_cast<long long>(j) * pitch + x] = value;
}

// Stores a cell once more wherever the halo shows it: y periodic.
__device__ inline void store_images_syz(float* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                        long long slice) {
    if (j >= 1 && j < ny - 2) return;
    const float value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 2); y < ny + 1; y += ny)
        u[k * slice + static_cast<long long>(y) * pitch + i] = value;
}

// Reads sxx, sxy, sxz, syy, syz, szz, vx_next, vy_next, vz_next, lambda, mu, writes sxx_next, syy_next,
// szz_next, sxy_next, sxz_next, syz_next.
// Schedule: direct, blocks of 8x8x4 threads, 4x1x1 cells a thread.
// At least 68 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    elastic3d_sxx(const float* __restrict__ sxx, const float* __restrict__ sxy, const float* __restrict__ sxz,
                  const float* __restrict__ syy, const float* __restrict__ syz, const float* __restrict__ szz,
                  const float* __restrict__ vx_next, const float* __restrict__ vy_next,
                  const float* __restrict__ vz_next, const float* __restrict__ lambda,
                  const float* __restrict__ mu, float* __restrict__ sxx_next, float* __restrict__ syy_next,
                  float* __restrict__ szz_next, float* __restrict__ sxy_next, float* __restrict__ sxz_next,
                  float* __restrict__ syz_next, int nx, int ny, int nz, int pitch, long long slice, float dt,
                  float dt_2) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 8, kThreadsY = 8, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[5];
#pragma unroll
    for (int y = 0; y < 5; ++y)
        row[y] = static_cast<long long>(j + y - 2) * pitch;
    long long plane[5];
#pragma unroll
    for (int z = 0; z < 5; ++z)
        plane[z] = (k + z - 2) * slice;

    float sxx_cells[kCellsX];
    load4(sxx_cells, sxx + plane[2] + row[2] + i);
    float sxy_cells[kCellsX];
    load4(sxy_cells, sxy + plane[2] + row[2] + i);
    float sxz_cells[kCellsX];
    load4(sxz_cells, sxz + plane[2] + row[2] + i);
    float syy_cells[kCellsX];
    load4(syy_cells, syy + plane[2] + row[2] + i);
    float syz_cells[kCellsX];
    load4(syz_cells, syz + plane[2] + row[2] + i);
    float szz_cells[kCellsX];
    load4(szz_cells, szz + plane[2] + row[2] + i);
    float vx_next_cells[4][4][kCellsX + 3];
    load4(&vx_next_cells[0][1][2], vx_next + plane[1] + row[2] + i);
    load4(&vx_next_cells[1][0][2], vx_next + plane[2] + row[1] + i);
    const float* vx_next_row = vx_next + plane[2] + row[2] + i;
    vx_next_cells[1][1][1] = vx_next_row[-1];
    vx_next_cells[1][1][0] = vx_next_row[-2];
    load4(&vx_next_cells[1][1][2], vx_next_row);
    vx_next_cells[1][1][6] = vx_next_row[4];
#pragma unroll
    for (int y = 2; y < 4; ++y)
        load4(&vx_next_cells[1][y][2], vx_next + plane[2] + row[y + 1] + i);
#pragma unroll
    for (int z = 2; z < 4; ++z)
        load4(&vx_next_cells[z][1][2], vx_next + plane[z + 1] + row[2] + i);
    float vy_next_cells[4][4][kCellsX + 3];
    load4(&vy_next_cells[0][2][1], vy_next + plane[1] + row[2] + i);
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load4(&vy_next_cells[1][y][1], vy_next + plane[2] + row[y] + i);
    const float* vy_next_row = vy_next + plane[2] + row[2] + i;
    vy_next_cells[1][2][0] = vy_next_row[-1];
    load4(&vy_next_cells[1][2][1], vy_next_row);
    vy_next_cells[1][2][5] = vy_next_row[4];
    vy_next_cells[1][2][6] = vy_next_row[5];
    load4(&vy_next_cells[1][3][1], vy_next + plane[2] + row[3] + i);
#pragma unroll
    for (int z = 2; z < 4; ++z)
        load4(&vy_next_cells[z][2][1], vy_next + plane[z + 1] + row[2] + i);
    float vz_next_cells[4][4][kCellsX + 3];
#pragma unroll
    for (int z = 0; z < 2; ++z)
        load4(&vz_next_cells[z][1][1], vz_next + plane[z] + row[2] + i);
    load4(&vz_next_cells[2][0][1], vz_next + plane[2] + row[1] + i);
    const float* vz_next_row = vz_next + plane[2] + row[2] + i;
    vz_next_cells[2][1][0] = vz_next_row[-1];
    load4(&vz_next_cells[2][1][1], vz_next_row);
    vz_next_cells[2][1][5] = vz_next_row[4];
    vz_next_cells[2][1][6] = vz_next_row[5];
#pragma unroll
    for (int y = 2; y < 4; ++y)
        load4(&vz_next_cells[2][y][1], vz_next + plane[2] + row[y + 1] + i);
    load4(&vz_next_cells[3][1][1], vz_next + plane[3] + row[2] + i);
    float lambda_cells[kCellsX];
    load4(lambda_cells, lambda + plane[2] + row[2] + i);
    float mu_cells[2][2][kCellsX + 1];
#pragma unroll
    for (int y = 0; y < 2; ++y) {
        const float* mu_row = mu + plane[2] + row[y + 2] + i;
        load4(mu_cells[0][y], mu_row);
        mu_cells[0][y][4] = mu_row[4];
    }
    const float* mu_row_2 = mu + plane[3] + row[2] + i;
    load4(mu_cells[1][0], mu_row_2);
    mu_cells[1][0][4] = mu_row_2[4];
    load4(mu_cells[1][1], mu + plane[3] + row[3] + i);

    float sxx_next_result[kCellsX];
    float syy_next_result[kCellsX];
    float szz_next_result[kCellsX];
    float sxy_next_result[kCellsX];
    float sxz_next_result[kCellsX];
    float syz_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const float exx_value = fmaf(-0.004166667f, vx_next_cells[1][1][x + 3] - vx_next_cells[1][1][x],
                                     0.1125f * (vx_next_cells[1][1][x + 2] - vx_next_cells[1][1][x + 1]));
        const float eyy_value = fmaf(-0.004166667f, vy_next_cells[1][3][x + 1] - vy_next_cells[1][0][x + 1],
                                     0.1125f * (vy_next_cells[1][2][x + 1] - vy_next_cells[1][1][x + 1]));
        const float ezz_value = fmaf(-0.004166667f, vz_next_cells[3][1][x + 1] - vz_next_cells[0][1][x + 1],
                                     0.1125f * (vz_next_cells[2][1][x + 1] - vz_next_cells[1][1][x + 1]));
        const float swelling_value = lambda_cells[x] * (exx_value + eyy_value + ezz_value);
        const float product = 2.0f * mu_cells[0][0][x];
        const float sxx_new = fmaf(dt, fmaf(product, exx_value, swelling_value), sxx_cells[x]);
        const float syy_new = fmaf(dt, fmaf(product, eyy_value, swelling_value), syy_cells[x]);
        const float szz_new = fmaf(dt, fmaf(product, ezz_value, swelling_value), szz_cells[x]);
        const float sum = mu_cells[0][0][x] + mu_cells[0][0][x + 1];
        const float sxy_new = fmaf(dt_2,
                                   (sum + mu_cells[0][1][x] + mu_cells[0][1][x + 1]) * fmaf(-0.004166667f,
                                                                                            vx_next_cells[1][3][x +
                                                                                                                2] -
                                                                                            vx_next_cells[1][0][x +
                                                                                                                2] +
                                                                                            vy_next_cells[1][2][x +
                                                                                                                3] -
                                                                                            vy_next_cells[1][2][x],
                                                                                            0.1125f * (vx_next_cells[1][2][x +
                                                                                                                           2] -
                                                                                                       vx_next_cells[1][1][x +
                                                                                                                           2] +
                                                                                                       vy_next_cells[1][2][x +
                                                                                                                           2] -
                                                                                                       vy_next_cells[1][2][x +
                                                                                                                           1])),
                                   sxy_cells[x]);
        const float sxz_new = fmaf(dt_2,
                                   (sum + mu_cells[1][0][x] + mu_cells[1][0][x + 1]) * fmaf(-0.004166667f,
                                                                                            vx_next_cells[3][1][x +
                                                                                                                2] -
                                                                                            vx_next_cells[0][1][x +
                                                                                                                2] +
                                                                                            vz_next_cells[2][1][x +
                                                                                                                3] -
                                                                                            vz_next_cells[2][1][x],
                                                                                            0.1125f * (vx_next_cells[2][1][x +
                                                                                                                           2] -
                                                                                                       vx_next_cells[1][1][x +
                                                                                                                           2] +
                                                                                                       vz_next_cells[2][1][x +
                                                                                                                           2] -
                                                                                                       vz_next_cells[2][1][x +
                                                                                                                           1])),
                                   sxz_cells[x]);
        const float syz_new = fmaf(dt_2,
                                   (mu_cells[0][0][x] + mu_cells[0][1][x] +
                                    (mu_cells[1][0][x] + mu_cells[1][1][x])) * fmaf(-0.004166667f,
                                                                                    vy_next_cells[3][2][x +
                                                                                                        1] -
                                                                                    vy_next_cells[0][2][x +
                                                                                                        1] +
                                                                                    vz_next_cells[2][3][x +
                                                                                                        1] -
                                                                                    vz_next_cells[2][0][x +
                                                                                                        1],
                                                                                    0.1125f * (vy_next_cells[2][2][x +
                                                                                                                   1] -
                                                                                               vy_next_cells[1][2][x +
                                                                                                                   1] +
                                                                                               vz_next_cells[2][2][x +
                                                                                                                   1] -
                                                                                               vz_next_cells[2][1][x +
                                                                                                                   1])),
                                   syz_cells[x]);
        sxx_next_result[x] = sxx_new;
        syy_next_result[x] = syy_new;
        szz_next_result[x] = szz_new;
        sxy_next_result[x] = sxy_new;
        sxz_next_result[x] = sxz_new;
        syz_next_result[x] = syz_new;
    }
    if (i + kCellsX <= nx) {
        store4(sxx_next + plane[2] + row[2] + i, sxx_next_result);
        store4(syy_next + plane[2] + row[2] + i, syy_next_result);
        store4(szz_next + plane[2] + row[2] + i, szz_next_result);
        store4(sxy_next + plane[2] + row[2] + i, sxy_next_result);
        store4(sxz_next + plane[2] + row[2] + i, sxz_next_result);
        store4(syz_next + plane[2] + row[2] + i, syz_next_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) sxx_next[plane[2] + row[2] + i + x] = sxx_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) syy_next[plane[2] + row[2] + i + x] = syy_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) szz_next[plane[2] + row[2] + i + x] = szz_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) sxy_next[plane[2] + row[2] + i + x] = sxy_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) sxz_next[plane[2] + row[2] + i + x] = sxz_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) syz_next[plane[2] + row[2] + i + x] = syz_next_result[x];
    }

    // Cells of sxx_next near a face are shown by halo cells, too.
    if (i < 2 || i + 3 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (i + x < 2 || i + x >= nx - 1)
                if (i + x < nx) store_images_sxx(sxx_next, i + x, j, k, nx, ny, nz, pitch, slice);

    // Cells of syy_next near a face are shown by halo cells, too.
    if (j < 2 || j >= ny - 1)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (i + x < nx) store_images_syy(syy_next, i + x, j, k, nx, ny, nz, pitch, slice);

    // Cells of sxy_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 2;
    if (near_face || i < 1 || i + 3 >= nx - 2)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (near_face || i + x < 1 || i + x >= nx - 2)
                if (i + x < nx) store_images_sxy(sxy_next, i + x, j, k, nx, ny, nz, pitch, slice);

    // Cells of sxz_next near a face are shown by halo cells, too.
    if (i < 1 || i + 3 >= nx - 2)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (i + x < 1 || i + x >= nx - 2)
                if (i + x < nx) store_images_sxz(sxz_next, i + x, j, k, nx, ny, nz, pitch, slice);

    // Cells of syz_next near a face are shown by halo cells, too.
    if (j < 1 || j >= ny - 2)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (i + x < nx) store_images_syz(syz_next, i + x, j, k, nx, ny, nz, pitch, slice);
}
