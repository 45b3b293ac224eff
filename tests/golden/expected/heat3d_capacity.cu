// heat3d_capacity: CUDA kernels of a stencil, emitted by Halocline.
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

// Reads Te, Cp, writes Te_next.
// Schedule: direct, blocks of 8x8x2 threads, 4x1x2 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 4)
    heat3d_capacity_step(const float* __restrict__ Te, const float* __restrict__ Cp,
                         float* __restrict__ Te_next, int nx, int ny, int nz, int pitch, long long slice,
                         float dt_lambda) {
    constexpr int kCellsX = 4, kCellsZ = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8, kThreadsZ = 2;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = (blockIdx.z * kThreadsZ + threadIdx.z) * kCellsZ;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[3];
#pragma unroll
    for (int y = 0; y < 3; ++y)
        row[y] = static_cast<long long>(j + y - 1) * pitch;
    long long plane[kCellsZ + 2];
#pragma unroll
    for (int z = 0; z < kCellsZ + 2; ++z)
        plane[z] = min(k + z - 1, nz) * slice;

    float Te_cells[kCellsZ + 2][3][kCellsX + 2];
    load4(&Te_cells[0][1][1], Te + plane[0] + row[1] + i);
#pragma unroll
    for (int z = 1; z < 3; ++z)
        load4(&Te_cells[z][0][1], Te + plane[z] + row[0] + i);
#pragma unroll
    for (int z = 1; z < 3; ++z) {
        const float* Te_row = Te + plane[z] + row[1] + i;
        Te_cells[z][1][0] = Te_row[-1];
        load4(&Te_cells[z][1][1], Te_row);
        Te_cells[z][1][5] = Te_row[4];
    }
#pragma unroll
    for (int z = 1; z < 3; ++z)
        load4(&Te_cells[z][2][1], Te + plane[z] + row[2] + i);
    load4(&Te_cells[3][1][1], Te + plane[3] + row[1] + i);
    float Cp_cells[kCellsZ][kCellsX];
#pragma unroll
    for (int z = 0; z < 2; ++z)
        load4(Cp_cells[z], Cp + plane[z + 1] + row[1] + i);

#pragma unroll
    for (int z = 0; z < kCellsZ; ++z) {
        float Te_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const float Te_inside = fmaf(divide(dt_lambda, Cp_cells[z][x]),
                                         fmaf(-6.0f, Te_cells[z + 1][1][x + 1],
                                              Te_cells[z + 1][1][x] + Te_cells[z + 1][1][x + 2] +
                                              Te_cells[z + 1][0][x + 1] + Te_cells[z + 1][2][x + 1] +
                                              Te_cells[z][1][x + 1] + Te_cells[z + 2][1][x + 1]),
                                         Te_cells[z + 1][1][x + 1]);
            const bool inside = i + x >= 1 && i + x < nx - 1 && j >= 1 && j < ny - 1 && k + z >= 1 &&
                k + z < nz - 1;
            Te_next_result[x] = inside ? Te_inside : Te_cells[z + 1][1][x + 1];
        }
        if (k + z < nz) {
            if (i + kCellsX <= nx)
                store4(Te_next + plane[z + 1] + row[1] + i, Te_next_result);
            else
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) Te_next[plane[z + 1] + row[1] + i + x] = Te_next_result[x];
        }
    }
}
