// CUDA kernels whose threads share memory: a block loads its cells and those around them, waits, and
// computes.
#include <cuda_runtime.h>

#define TILE 8
#define R 2

// case tile_of_row: cells beside a block are loaded by its first threads
__global__ void tile_of_row(int nx, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[TILE + 2 * R];
    int i = blockIdx.x * TILE + threadIdx.x, at = threadIdx.x + R;
    if (i < nx) s[at] = u[i];
    if (threadIdx.x < R) {
        if (i >= R) s[at - R] = u[i - R];
        if (i + TILE < nx) s[at + TILE] = u[i + TILE];
    }
    __syncthreads();
    if (i >= R && i < nx - R) {
        float sum = 0.0f;
        for (int k = -R; k <= R; k++)
            sum += s[at + k];
        w[i] = sum;
    }
}

// case tile_with_walls: threads at the edge of a block load its halo, which is zero beyond the grid
__global__ void tile_with_walls(int nx, int ny, const float* __restrict__ u, float* __restrict__ w, float k) {
    __shared__ float s[TILE + 2][TILE + 2];
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const int i = blockIdx.x * TILE + threadIdx.x, j = blockIdx.y * TILE + threadIdx.y;
    if (i < nx && j < ny) {
        const int c = j * nx + i;
        s[ty][tx] = u[c];
        if (tx == 1) s[ty][0] = i > 0 ? u[c - 1] : 0.0f;
        if (tx == TILE || i == nx - 1) s[ty][tx + 1] = i < nx - 1 ? u[c + 1] : 0.0f;
        if (ty == 1) s[0][tx] = j > 0 ? u[c - nx] : 0.0f;
        if (ty == TILE || j == ny - 1) s[ty + 1][tx] = j < ny - 1 ? u[c + nx] : 0.0f;
    }
    __syncthreads();
    if (i < nx && j < ny)
        w[j * nx + i] = s[ty][tx] + k * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx] -
                                         4.0f * s[ty][tx]);
}

// case filled_together: all threads fill the tile, each some of its elements, with clamped cells
__global__ void filled_together(int nx, int ny, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[TILE + 2][TILE + 2];
    const int x0 = blockIdx.x * TILE - 1, y0 = blockIdx.y * TILE - 1;
    for (int p = threadIdx.y * TILE + threadIdx.x; p < (TILE + 2) * (TILE + 2); p += TILE * TILE) {
        const int sy = p / (TILE + 2), sx = p % (TILE + 2);
        s[sy][sx] = u[min(max(y0 + sy, 0), ny - 1) * nx + min(max(x0 + sx, 0), nx - 1)];
    }
    __syncthreads();
    const int i = blockIdx.x * TILE + threadIdx.x, j = blockIdx.y * TILE + threadIdx.y;
    if (i >= nx || j >= ny) return;
    w[j * nx + i] = s[threadIdx.y][threadIdx.x + 1] + s[threadIdx.y + 2][threadIdx.x + 2];
}

// case overlapped_tiles: a thread for each cell of the tile, of which those inside compute
__global__ void overlapped_tiles(int nx, int ny, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int i = blockIdx.x * (TILE - 2) + tx - 1, j = blockIdx.y * (TILE - 2) + ty - 1;
    if (i < 0 || j < 0 || i >= nx || j >= ny) return;
    s[ty][tx] = u[j * nx + i];
    __syncthreads();
    const bool is_inside = tx > 0 && tx < TILE - 1 && ty > 0 && ty < TILE - 1;
    if (is_inside && i > 0 && j > 0 && i < nx - 1 && j < ny - 1)
        w[j * nx + i] = 0.25f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
}

// case tile_of_planes: three axes, and what is loaded is computed first
__global__ void tile_of_planes(int nx, int ny, int nz, const double* __restrict__ a,
                               const double* __restrict__ b, double* __restrict__ w) {
    __shared__ double s[2][4][5];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y,
              k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;
    const int c = (k * ny + j) * nx + i;
    s[threadIdx.z][threadIdx.y][threadIdx.x + 1] = a[c] * b[c];
    if (threadIdx.x == 0 && i > 0) s[threadIdx.z][threadIdx.y][0] = a[c - 1] * b[c - 1];
    __syncthreads();
    if (i > 0) w[c] = s[threadIdx.z][threadIdx.y][threadIdx.x + 1] - s[threadIdx.z][threadIdx.y][threadIdx.x];
}

// case two_steps_in_a_tile: what is computed of the tile is shared, too, behind a second barrier
__global__ void two_steps_in_a_tile(int nx, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[TILE], t[TILE];
    const int tx = threadIdx.x, i = blockIdx.x * (TILE - 4) + tx - 2;
    s[tx] = i >= 0 && i < nx ? u[i] : 0.0f;
    __syncthreads();
    if (tx > 0 && tx < TILE - 1) t[tx] = 0.5f * (s[tx - 1] + s[tx + 1]);
    __syncthreads();
    if (tx > 1 && tx < TILE - 2 && i < nx) w[i] = t[tx - 1] - t[tx + 1];
}

// case weights_in_shared_memory: given numbers that the first threads load
__global__ void weights_in_shared_memory(int nx, const float* __restrict__ weight,
                                         const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float c[3];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 3) c[threadIdx.x] = weight[threadIdx.x];
    __syncthreads();
    if (i > 0 && i < nx - 1) w[i] = c[0] * u[i - 1] + c[1] * u[i] + c[2] * u[i + 1];
}

void launch_all(float* a, float* b, double* d, int nx, int ny, int nz) {
    const dim3 threads(TILE, TILE);
    const dim3 blocks((nx + TILE - 3) / (TILE - 2), (ny + TILE - 3) / (TILE - 2));
    overlapped_tiles<<<blocks, threads>>>(nx, ny, a, b);
    filled_together<<<dim3(nx / TILE + 1, ny / TILE + 1), threads>>>(nx, ny, a, b);
    tile_of_planes<<<dim3(nx / 4 + 1, ny / 4 + 1, nz / 2 + 1), dim3(4, 4, 2)>>>(nx, ny, nz, d, d, d);
    two_steps_in_a_tile<<<nx / (TILE - 4) + 1, TILE>>>(nx, a, b);
    weights_in_shared_memory<<<nx / 4 + 1, 4>>>(nx, a, b, b);
}

// case block_that_is_said --assume blockDim.x=32: how many threads a block has is said by the user
__global__ void block_that_is_said(int nx, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < nx ? u[i] : 0.0f;
    __syncthreads();
    if (i < nx) w[i] = s[threadIdx.x] - (threadIdx.x > 0 ? s[threadIdx.x - 1] : i > 0 ? u[i - 1] : 0.0f);
}

// case block_of_any_size refused: how many threads a block has along x is not said: nobody says it
__global__ void block_of_any_size(int nx, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = u[i];
    __syncthreads();
    if (i > 0 && i < nx) w[i] = s[threadIdx.x];
}

// case no_halo refused: that no thread has written: neighbours of another block
__global__ void no_halo(int nx, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[TILE + 2];
    int i = blockIdx.x * TILE + threadIdx.x;
    s[threadIdx.x + 1] = u[i];
    __syncthreads();
    if (i > 0 && i < nx - 1) w[i] = s[threadIdx.x] + s[threadIdx.x + 2];
}

// case half_a_halo refused: in front of a barrier in some cells: a halo that is not loaded at the last block
__global__ void half_a_halo(int nx, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[TILE + 1];
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i < nx) s[threadIdx.x] = u[i];
    if (threadIdx.x == TILE - 1 && i < nx - 2) s[TILE] = u[i + 1];
    __syncthreads();
    if (i < nx - 1) w[i] = s[threadIdx.x + 1];
}

// case no_barrier refused: that no thread has written in front of a barrier: threads that do not wait
__global__ void no_barrier(int nx, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[TILE + 1];
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i < nx) s[threadIdx.x + 1] = u[i];
    if (threadIdx.x == 0 && i > 0 && i < nx) s[0] = u[i - 1];
    if (i > 0 && i < nx) w[i] = s[threadIdx.x];
}

// case used_again refused: with no barrier between: a tile that is filled again while others read it
__global__ void used_again(int nx, const float* __restrict__ u, const float* __restrict__ v,
                           float* __restrict__ w) {
    __shared__ float s[TILE + 1];
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i >= nx) return;
    s[threadIdx.x + 1] = u[i];
    if (threadIdx.x == 0) s[0] = i > 0 ? u[i - 1] : 0.0f;
    __syncthreads();
    float left = s[threadIdx.x];
    s[threadIdx.x + 1] = v[i];
    __syncthreads();
    w[i] = left + s[threadIdx.x + 1];
}

// case barrier_in_a_branch refused: in a branch of a condition: threads that may not come to the barrier
__global__ void barrier_in_a_branch(int nx, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i < nx) {
        s[threadIdx.x] = u[i];
        __syncthreads();
        w[i] = s[threadIdx.x];
    }
}

// case plane_after_plane: a tile of one plane after the other
__global__ void plane_after_plane(int nx, int nz, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[TILE + 1];
    int i = blockIdx.x * TILE + threadIdx.x;
    for (int k = 0; k < nz; k++) {
        if (i < nx) s[threadIdx.x + 1] = u[k * nx + i];
        if (threadIdx.x == 0) s[0] = i > 0 ? u[k * nx + i - 1] : 0.0f;
        __syncthreads();
        if (i < nx) w[k * nx + i] = s[threadIdx.x];
        __syncthreads();
    }
}

// case planes_around_a_tile: this plane in shared memory, those around it in registers
__global__ void planes_around_a_tile(int nx, int ny, int nz, const float* __restrict__ u,
                                     float* __restrict__ w) {
    __shared__ float s[4 + 2][TILE + 2];
    const int i = blockIdx.x * TILE + threadIdx.x, j = blockIdx.y * 4 + threadIdx.y;
    const int plane = nx * ny, x = threadIdx.x + 1, y = threadIdx.y + 1;
    const bool is_cell = i < nx && j < ny;
    int c = j * nx + i;
    float below, here, above;
    if (is_cell) {
        below = u[c];
        here = u[c + plane];
    }
    for (int k = 1; k < nz - 1; k++) {
        c += plane;
        if (is_cell) above = u[c + plane];
        __syncthreads();
        if (is_cell) s[y][x] = here;
        if (threadIdx.x == 0 && j < ny) s[y][0] = i > 0 ? u[c - 1] : 0.0f;
        if (threadIdx.x == TILE - 1 && j < ny) s[y][TILE + 1] = i + 1 < nx ? u[c + 1] : 0.0f;
        if (threadIdx.y == 0 && i < nx) s[0][x] = j > 0 ? u[c - nx] : 0.0f;
        if (threadIdx.y == 3 && i < nx) s[5][x] = j + 1 < ny ? u[c + nx] : 0.0f;
        __syncthreads();
        if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1)
            w[c] = below + above + s[y][x - 1] + s[y][x + 1] + s[y - 1][x] + s[y + 1][x] - 6 * s[y][x];
        below = here;
        here = above;
    }
}

// case tile_of_the_last_plane refused: that no thread has written: a tile of the iteration before
__global__ void tile_of_the_last_plane(int nx, int nz, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[TILE];
    const int i = blockIdx.x * TILE + threadIdx.x;
    s[threadIdx.x] = i < nx ? u[i] : 0.0f;
    for (int k = 1; k < nz; k++) {
        __syncthreads();
        if (i < nx) w[k * nx + i] = s[(threadIdx.x + 1) % TILE];
        __syncthreads();
        s[threadIdx.x] = i < nx ? u[k * nx + i] : 0.0f;
    }
}

// case one_barrier_a_plane refused: in the iteration before or after: a tile that others still read
__global__ void one_barrier_a_plane(int nx, int nz, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[TILE + 1];
    const int i = blockIdx.x * TILE + threadIdx.x;
    for (int k = 0; k < nz; k++) {
        if (i < nx) s[threadIdx.x + 1] = u[k * nx + i];
        if (threadIdx.x == 0) s[0] = i > 0 ? u[k * nx + i - 1] : 0.0f;
        __syncthreads();
        if (i < nx) w[k * nx + i] = s[threadIdx.x];
    }
}

// case past_the_tile refused: elements, and thread (7, 0, 0) of a block uses number 8: too short a tile
__global__ void past_the_tile(int nx, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i < nx) s[threadIdx.x] = u[i];
    __syncthreads();
    if (i < nx - 1) w[i] = s[threadIdx.x + 1];
}

// case two_writers refused: and not the same: two threads that write one element
__global__ void two_writers(int nx, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[TILE / 2];
    int i = blockIdx.x * TILE + threadIdx.x;
    s[threadIdx.x / 2] = i < nx ? u[i] : 0.0f;
    __syncthreads();
    if (i < nx) w[i] = s[threadIdx.x / 2];
}

// case another_neighbour refused: does something else with its cell: the last thread sees another cell
__global__ void another_neighbour(int nx, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    s[threadIdx.x] = i < nx ? u[i] : 0.0f;
    __syncthreads();
    if (i < nx) w[i] = s[(threadIdx.x + 1) % TILE];
}

// case tile_in_place refused: other threads read it into shared memory: a tile of the array that is written
__global__ void tile_in_place(int nx, float* u) {
    __shared__ float s[TILE + 1];
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i < nx) s[threadIdx.x + 1] = u[i];
    if (threadIdx.x == 0 && i < nx) s[0] = i > 0 ? u[i - 1] : 0.0f;
    __syncthreads();
    if (i < nx) u[i] = s[threadIdx.x];
}

// case some_leave refused: leave the kernel here in front of a barrier: threads of which some leave
__global__ void some_leave(int nx, int last, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i >= nx) {
        if (last > 3) return;
        i = nx - 1;
    }
    s[threadIdx.x] = u[i];
    __syncthreads();
    w[i] = s[threadIdx.x];
}

// case two_cells_a_thread refused: some cells have no thread: a thread that computes two cells
__global__ void two_cells_a_thread(int nx, const float* __restrict__ u, float* __restrict__ w) {
    __shared__ float s[2 * TILE];
    int i = blockIdx.x * (2 * TILE) + threadIdx.x;
    if (i < nx) s[threadIdx.x] = u[i];
    if (i + TILE < nx) s[threadIdx.x + TILE] = u[i + TILE];
    __syncthreads();
    if (i < nx) w[i] = s[threadIdx.x];
    if (i + TILE < nx) w[i + TILE] = s[threadIdx.x + TILE];
}
void launch_it(float* a, float* b, int nx) {
    two_cells_a_thread<<<nx / (2 * TILE) + 1, TILE>>>(nx, a, b);
}

// case size_of_the_launch refused: said where the kernel is launched: a size that the launch says
__global__ void size_of_the_launch(int nx, const float* __restrict__ u, float* __restrict__ w) {
    extern __shared__ float held[];
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i < nx) held[threadIdx.x] = u[i];
    __syncthreads();
    if (i < nx) w[i] = held[threadIdx.x];
}
