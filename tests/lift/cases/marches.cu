// CUDA kernels whose threads go through an array plane by plane, and keep cells of it in registers on the
// way.
#include <cuda_runtime.h>

// case planes_in_registers: three planes in registers, the first and the last one outside of the loop
__global__ void planes_in_registers(const float* __restrict__ p, const float* __restrict__ t,
                                    float* __restrict__ next, int nx, int ny, int nz, float cx, float cz) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    int j = blockDim.y * blockIdx.y + threadIdx.y;
    int c = i + j * nx;
    int xy = nx * ny;
    int W = (i == 0) ? c : c - 1;
    int E = (i == nx - 1) ? c : c + 1;
    float below, here, above;
    below = here = t[c];
    above = t[c + xy];
    next[c] = here + cx * (t[W] + t[E]) + cz * (below + above) + p[c];
    c += xy;
    W += xy;
    E += xy;
    for (int k = 1; k < nz - 1; ++k) {
        below = here;
        here = above;
        above = t[c + xy];
        next[c] = here + cx * (t[W] + t[E]) + cz * (below + above) + p[c];
        c += xy;
        W += xy;
        E += xy;
    }
    below = here;
    here = above;
    next[c] = here + cx * (t[W] + t[E]) + cz * (below + above) + p[c];
}

void launch_planes(const float* p, const float* t, float* next, int nx, int ny, int nz) {
    dim3 block(32, 4);
    dim3 grid(nx / 32, (ny + block.y - 1) / block.y);
    planes_in_registers<<<grid, block>>>(p, t, next, nx, ny, nz, 0.1f, 0.2f);
}

// case planes_ahead: two planes on each side in arrays of registers, which are shifted in loops
__global__ void planes_ahead(const float* __restrict__ u, float* __restrict__ w, int nx, int ny, int nz) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    const int plane = nx * ny;
    bool is_inside = true;
    if (i >= nx || j >= ny) is_inside = false;
    float behind[2], ahead[2], here;
    int in = j * nx + i;
    for (int r = 0; r >= 0; r--) {
        if (is_inside) behind[r] = u[in];
        in += plane;
    }
    if (is_inside) here = u[in];
    int out = in;
    in += plane;
    for (int r = 0; r < 2; r++) {
        if (is_inside) ahead[r] = u[in];
        in += plane;
    }
    for (int k = 2; k < nz - 2; k++) {
        for (int r = 1; r > 0; r--)
            behind[r] = behind[r - 1];
        behind[0] = here;
        here = ahead[0];
        for (int r = 0; r < 1; r++)
            ahead[r] = ahead[r + 1];
        if (is_inside) ahead[1] = u[in];
        in += plane;
        out += plane;
        float sum = here;
        for (int r = 0; r < 2; r++)
            sum += 0.5f * (behind[r] + ahead[r]);
        if (is_inside) w[out] = sum;
    }
}

// case few_threads refused: how many cells there are is not said: threads that nothing holds back
__global__ void few_threads(const float* __restrict__ u, float* __restrict__ w, int nz, int nx) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    float below = u[c];
    for (int k = 1; k < nz; k++) {
        const float here = u[c + nx];
        w[c + nx] = here - below;
        below = here;
        c += nx;
    }
}

// case other_threads refused: how many cells there are is not said: launched with another number of threads
__global__ void other_threads(const float* __restrict__ u, float* __restrict__ w, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    w[i] = 2 * u[i];
}
void launch_other(const float* u, float* w, int n) {
    other_threads<<<n / 64 + 1, 64>>>(u, w, n);
}

// case written_back refused: a loop keeps cells of it in variables: what is read ahead is written
__global__ void written_back(float* u, int nx, int nz) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nx) return;
    float below = u[i];
    for (int k = 1; k < nz; k++) {
        const float here = u[k * nx + i];
        u[k * nx + i] = here - below;
        below = here;
    }
}
