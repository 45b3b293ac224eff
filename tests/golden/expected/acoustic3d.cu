// acoustic3d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 4 below and 4 above along x, 4 below and 4 above along y, 4 below and 4 above along z.

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

// Reads p, p_prev, v, writes p_next.
// Schedule: direct, blocks of 32x4x4 threads, 4x1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    acoustic3d_step(const float* __restrict__ p, const float* __restrict__ p_prev,
                    const float* __restrict__ v, float* __restrict__ p_next, int nx, int ny, int nz,
                    int pitch, long long slice, float dt_squared) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 32, kThreadsY = 4, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[9];
#pragma unroll
    for (int y = 0; y < 9; ++y)
        row[y] = static_cast<long long>(j + y - 4) * pitch;
    long long plane[9];
#pragma unroll
    for (int z = 0; z < 9; ++z)
        plane[z] = (k + z - 4) * slice;

    float p_cells[9][9][kCellsX + 8];
#pragma unroll
    for (int z = 0; z < 4; ++z)
        load4(&p_cells[z][4][4], p + plane[z] + row[4] + i);
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(&p_cells[4][y][4], p + plane[4] + row[y] + i);
    const float* p_row = p + plane[4] + row[4] + i;
    load4(p_cells[4][4], p_row - 4);
    load4(&p_cells[4][4][4], p_row);
    load4(&p_cells[4][4][8], p_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load4(&p_cells[4][y][4], p + plane[4] + row[y] + i);
#pragma unroll
    for (int z = 5; z < 9; ++z)
        load4(&p_cells[z][4][4], p + plane[z] + row[4] + i);
    float p_prev_cells[kCellsX];
    load4(p_prev_cells, p_prev + plane[4] + row[4] + i);
    float v_cells[kCellsX];
    load4(v_cells, v + plane[4] + row[4] + i);

    float p_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        float sum = fmaf(-0.08541667f, p_cells[4][4][x + 4],
                         0.016f * (p_cells[4][4][x + 3] + p_cells[4][4][x + 5] + p_cells[4][3][x + 4] +
                                   p_cells[4][5][x + 4] + p_cells[3][4][x + 4] + p_cells[5][4][x + 4]));
        sum = fmaf(-0.002f,
                   p_cells[4][4][x + 2] + p_cells[4][4][x + 6] + p_cells[4][2][x + 4] + p_cells[4][6][x + 4] +
                   p_cells[2][4][x + 4] + p_cells[6][4][x + 4], sum);
        sum = fmaf(0.00025396826f,
                   p_cells[4][4][x + 1] + p_cells[4][4][x + 7] + p_cells[4][1][x + 4] + p_cells[4][7][x + 4] +
                   p_cells[1][4][x + 4] + p_cells[7][4][x + 4], sum);
        sum = fmaf(-1.7857143e-05f,
                   p_cells[4][4][x] + p_cells[4][4][x + 8] + p_cells[4][0][x + 4] + p_cells[4][8][x + 4] +
                   p_cells[0][4][x + 4] + p_cells[8][4][x + 4], sum);
        p_next_result[x] = fmaf(dt_squared, v_cells[x] * v_cells[x] * sum,
                                fmaf(2.0f, p_cells[4][4][x + 4], -p_prev_cells[x]));
    }
    if (i + kCellsX <= nx)
        store4(p_next + plane[4] + row[4] + i, p_next_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) p_next[plane[4] + row[4] + i + x] = p_next_result[x];
}
