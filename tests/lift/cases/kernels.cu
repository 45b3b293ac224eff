// CUDA kernels: those with a thread for each cell are lifted.
#include <cuda_runtime.h>
#include <math.h>
#include <cstdio>

// case heat_kernel: a guard around the cell
__global__ void heat_kernel(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, float k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
        int c = j * nx + i;
        out[c] = in[c] + k * (in[c - 1] + in[c + 1] + in[c - nx] + in[c + nx] - 4.0f * in[c]);
    }
}

// case early_return: threads outside of the grid return at once
__global__ void __launch_bounds__(256)
    early_return(double* __restrict__ w, const double* __restrict__ u, int nx, int ny, int nz) {
    const int x = threadIdx.x + blockDim.x * blockIdx.x;
    const int y = threadIdx.y + blockDim.y * blockIdx.y;
    const int z = threadIdx.z + blockDim.z * blockIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    const size_t plane = (size_t)nx * ny;
    const size_t c = z * plane + y * nx + x;
    w[c] = (u[c - 1] + u[c + 1] + u[c - nx] + u[c + nx] + u[c - plane] + u[c + plane]) / 6.0;
}

// case planes_in_a_loop: two axes by threads, the third by a loop
__global__ void planes_in_a_loop(const float* __restrict__ u, float* __restrict__ w, int nx, int ny, int nz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny) return;
    for (int k = 1; k < nz - 1; ++k) {
        int c = (k * ny + j) * nx + i;
        w[c] = u[c + nx * ny] - 2 * u[c] + u[c - nx * ny];
    }
}

// case grid_stride: threads that go on to further cells
__global__ void grid_stride(int n, const float* __restrict__ u, float* __restrict__ w) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        w[i] = 2.0f * u[i] * u[i];
}

__constant__ float c_weight[3];
__device__ float slope(const float* f, int at) {
    return f[at + 1] - f[at - 1];
}

// case constant_memory: weights in constant memory, a function of the device
__global__ void constant_memory(int n, const float* __restrict__ f, float* __restrict__ df) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 2 && i < n - 2) df[i] = c_weight[0] * slope(f, i) + c_weight[1] * (f[i + 2] - f[i - 2]);
}

// case in_place_race refused: another thread writes: a kernel that overwrites what its neighbours read
__global__ void in_place_race(int n, float* u) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) u[i] = 0.5f * (u[i - 1] + u[i + 1]);
}

// case no_guard refused: how many cells there are: a kernel that relies on the launch
__global__ void no_guard(const float* __restrict__ u, float* __restrict__ w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    w[i] = 2 * u[i];
}

int main() {
    float *a = nullptr, *b = nullptr;
    heat_kernel<<<dim3(4, 4), dim3(16, 16)>>>(a, b, 64, 64, 0.1f);
    std::printf("done\n");
    return 0;
}

// case functions_of_math: functions of <math.h> in a kernel
__global__ void functions_of_math(const float* __restrict__ u, float* __restrict__ w, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) w[i] = sqrtf(fabsf(u[i - 1])) + fmaxf(u[i], 0.5f) * expf(u[i + 1]) + sqrt(u[i]);
}

// case own_functions_of_cuda: max, __ldg, __expf and the like
__global__ void own_functions_of_cuda(const float* __restrict__ u, float* __restrict__ w, int n) {
    int i = __umul24(blockIdx.x, blockDim.x) + threadIdx.x;
    const int last = min(n - 1, n);
    if (i >= max(1, 0) && i < last) {
        float a = __ldg(&u[i - 1]), b = max(u[i], 0.5f) * min(u[i + 1], u[i]);
        w[i] = __expf(a) + rsqrtf(b + 1.0f) * __fmul_rn(a, 2.0f) + __fdividef(b, 3.0f);
    }
}

__device__ inline float size_of(float4 v) {
    return v.x + v.y + v.z + v.w;
}

// case vector_of_cuda: a vector that is made in a cell
__global__ void vector_of_cuda(const float* __restrict__ u, float* __restrict__ w, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1 || i >= n - 1) return;
    float4 around = make_float4(u[i - 1], u[i], u[i + 1], 1.0f);
    w[i] = around.x + around.z - 2 * around.y + around.w;
}

// case numbered_through: one index for all cells, from which that of the row and that in the row are made
__global__ void numbered_through(const float* __restrict__ u, float* __restrict__ w, int nx, int ny) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= nx * ny) return;
    int i = idx % nx, j = idx / nx;
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1)
        w[idx] = 0.25f * (u[idx - 1] + u[idx + 1] + u[idx - nx] + u[idx + nx]);
}

// case planes_numbered_through: the same in three dimensions, with what is beyond the edges left out
__global__ void planes_numbered_through(const double* __restrict__ u, double* __restrict__ w, int nx, int ny,
                                        int nz) {
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = idx % nx, j = idx / nx % ny, k = idx / (nx * ny);
    if (k >= nz) return;
    double sum = 2 * u[idx];
    if (i > 0) sum += u[idx - 1];
    if (j < ny - 1) sum += u[idx + nx];
    w[idx] = sum - u[k == 0 ? idx : idx - nx * ny];
}

// case fixed_rows: rows of a fixed length
__global__ void fixed_rows(const float* __restrict__ u, float* __restrict__ w) {
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < 40 * 30) {
        const int j = idx / 40, i = idx % 40;
        if (i > 0 && j > 0) w[j * 40 + i] = u[idx - 1] + u[idx - 40];
    }
}

// case rows_of_any_number refused: how many cells there are is not said: a number of cells alone
__global__ void rows_of_any_number(const float* __restrict__ u, float* __restrict__ w, int nx, int n) {
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= n) return;
    const int i = idx % nx, j = idx / nx;
    w[j * nx + i] = i > 0 ? u[idx - 1] : 0.0f;
}

// case heat_in_planes: a loop over planes, where beyond a face is the cell itself
__global__ void heat_in_planes(const float* __restrict__ power, const float* __restrict__ in,
                               float* __restrict__ out, int nx, int ny, int nz, float side, float up) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x, j = blockDim.y * blockIdx.y + threadIdx.y;
    if (i >= nx || j >= ny) return;
    for (int k = 0; k < nz; ++k) {
        const int c = i + nx * (j + ny * k);
        const int w = i == 0 ? c : c - 1, e = i == nx - 1 ? c : c + 1;
        const int n = j == 0 ? c : c - nx, s = j == ny - 1 ? c : c + nx;
        const int b = k == 0 ? c : c - nx * ny, t = k == nz - 1 ? c : c + nx * ny;
        out[c] = in[c] + side * (in[w] + in[e] + in[n] + in[s]) + up * (in[b] + in[t]) + power[c];
    }
}

// case clamped_by_functions: min and max of CUDA as indices
__global__ void clamped_by_functions(const float* __restrict__ u, float* __restrict__ w, int nx, int ny) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x, j = blockDim.y * blockIdx.y + threadIdx.y;
    if (i >= nx || j >= ny) return;
    w[j * nx + i] = u[j * nx + max(i - 1, 0)] + u[min(j + 1, ny - 1) * nx + i];
}

// case before_the_row refused: before the first cell: threads of which it is not known how many there are
__global__ void before_the_row(const float* __restrict__ u, float* __restrict__ w, int n) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) w[i] = i - 1 >= -1 ? u[i - 1] : 0.0f;
}
