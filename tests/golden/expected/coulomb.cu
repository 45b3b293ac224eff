// coulomb: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 0 below and 0 above along x, 0 below and 0 above along y, 0 below and 0 above along z.

// Four neighbouring elements at once; `from` is aligned to all four.
__device__ __forceinline__ void load4(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

// Copies four elements between aligned places.
__device__ __forceinline__ void copy4(float* to, const float* from) {
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}

// 1 / sqrt(x) as the hardware approximates it; where x is below the normal numbers it counts as 0.
__device__ __forceinline__ float fast_rsqrt(float x) {
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// Writes potential, sums over the rows of atoms.
// Schedule: direct, blocks of 16x4x2 threads, 2x1x1 cells a thread.
// At least 4 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 8)
    coulomb_step(const float* __restrict__ atoms, float* __restrict__ potential, int nx, int ny, int nz,
                 int n_atoms, int pitch, long long slice, float h) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 2;
    constexpr int kCellsX = 2;
    constexpr int kRowsOf_atoms = 256;

    const int i = blockIdx.x * (kThreadsX * kCellsX) + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;

    // What the rows of the tables do not change.
    const float pos_y = static_cast<float>(j) * h + -8.0625f;
    const float pos_z = static_cast<float>(k) * h + -4.0625f;
    float pos_x[kCellsX];
    float sum_over_atoms[kCellsX];
#pragma unroll
    for (int cell = 0; cell < kCellsX; ++cell) {
        pos_x[cell] = static_cast<float>(i + cell * kThreadsX) * h + -16.0625f;
        sum_over_atoms[cell] = 0.0f;
    }

    // The rows of atoms, a chunk after the other.
    alignas(16) __shared__ float atoms_chunk[kRowsOf_atoms * 4];
    for (int first = 0; first < n_atoms; first += kRowsOf_atoms) {
        const int rows = min(kRowsOf_atoms, n_atoms - first);
        __syncthreads();
        for (int row = threadIdx.x + kThreadsX * threadIdx.y + kThreadsX * kThreadsY * threadIdx.z;
             row < rows; row += kThreadsX * kThreadsY * kThreadsZ)
            copy4(&atoms_chunk[row * 4], atoms + static_cast<long long>(first + row) * 4);
        __syncthreads();
        for (int row = 0; row < rows; ++row) {
            float atoms_row[4];
            load4(atoms_row, atoms_chunk + row * 4);
            const float atoms_x = atoms_row[0];
            const float atoms_y = atoms_row[1];
            const float atoms_z = atoms_row[2];
            const float atoms_q = atoms_row[3];
            float of_row = 0.0f;
            {
                const float difference = pos_z - atoms_z;
                const float difference_2 = pos_y - atoms_y;
                of_row = fmaf(difference_2, difference_2, difference * difference);
            }
#pragma unroll
            for (int cell = 0; cell < kCellsX; ++cell) {
                const float difference = pos_x[cell] - atoms_x;
                sum_over_atoms[cell] =
                    fmaf(atoms_q, fast_rsqrt(fmaf(difference, difference, of_row)), sum_over_atoms[cell]);
            }
        }
    }

#pragma unroll
    for (int cell = 0; cell < kCellsX; ++cell)
        if (i + cell * kThreadsX < nx && j < ny && k < nz) {
            const long long at = k * slice + static_cast<long long>(j) * pitch + i + cell * kThreadsX;
            potential[at] = sum_over_atoms[cell];
        }
}
