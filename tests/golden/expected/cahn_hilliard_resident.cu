// cahn_hilliard: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

// Two neighbouring elements at once; `from` is aligned to both.
__device__ __forceinline__ void load2(float* to, const float* from) {
    const float2 pair = *reinterpret_cast<const float2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
}

// The same to shared memory.
__device__ __forceinline__ void share2(float* to, const float* from) {
    *reinterpret_cast<float2*>(to) = make_float2(from[0], from[1]);
}

// Messages between blocks are packets of 16 bytes or of 8: values and, last, their epoch, the step's number.
// A packet becomes visible as a whole: it needs no fence and no flag. Small ones come first, then large.

__device__ __forceinline__ void send2_f32(long long* packets, int message, int messages, int epoch,
                                          bool is_needed, const float* from, int stride) {
    asm volatile(
        "{ .reg .pred p; .reg .b64 low, high; .reg .b128 large; setp.ne.s32 p, %4, 0;"
        " mov.b64 low, {%1, %2}; mov.b64 high, {0, %3}; mov.b128 large, {low, high};"
        " @p st.relaxed.gpu.global.b128 [%0], large; }" ::"l"(
            reinterpret_cast<longlong2*>(packets + messages) + message),
        "f"(from[0]), "f"(from[stride]), "r"(epoch), "r"(static_cast<int>(is_needed))
        : "memory");
}

// Loads a message, two values in a packet. Returns 0 if all packets are of this epoch.
template <int kValues>
__device__ __forceinline__ int receive(const long long* packets, int message, int messages, int epoch,
                                       float (&to)[kValues]) {
    int differs = 0;
#pragma unroll
    for (int value = 0; value < kValues; value += 2) {
        int none, its_epoch;
        asm volatile(
            "{ .reg .b64 low, high; .reg .b128 large; ld.relaxed.gpu.global.b128 large, [%4];"
            " mov.b128 {low, high}, large; mov.b64 {%0, %1}, low; mov.b64 {%2, %3}, high; }"
            : "=f"(to[value]), "=f"(to[value + 1]), "=r"(none), "=r"(its_epoch)
            : "l"(reinterpret_cast<const longlong2*>(packets + messages) + message + value / 2 * messages)
            : "memory");
        differs |= its_epoch ^ epoch;
    }
    return differs;
}

// Polls messages until all are of this epoch, with all loads at once; a negative number is no message.
template <class Values, int kCount>
__device__ __forceinline__ void poll(const long long* packets, int messages, int epoch,
                                     const int (&message)[kCount], Values (&to)[kCount]) {
    int differs;
    do {
        differs = 0;
#pragma unroll
        for (int m = 0; m < kCount; ++m)
            differs |= receive(packets, max(message[m], 0), messages, epoch, to[m]) & ~(message[m] >> 31);
    } while (differs != 0);
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
__device__ inline void store_images_mu(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 1); y < ny + 1; y += ny)
        for (int x = first_image(i, nx, 1); x < nx + 1; x += nx)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Reads c, writes mu, reduces to energy.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cahn_hilliard_mu(const float* __restrict__ c, float* __restrict__ mu, int nx, int ny, int pitch,
                     float minus_gamma, float gamma, double* __restrict__ energy_partials) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double energy_of_thread = 0.0;
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const float product = c[at] * c[at];
        const float mu_value = fmaf(minus_gamma,
                                    fmaf(-4.0f, c[at], c[at - 1] + c[at + 1] + c[at - pitch] + c[at + pitch]),
                                    fmaf(product, c[at], -c[at]));
        const float difference = product - 1.0f;
        const float difference_2 = c[at + 1] - c[at];
        const float difference_3 = c[at + pitch] - c[at];
        mu[at] = mu_value;
        energy_of_thread += static_cast<double>(fmaf(gamma,
                                                     fmaf(difference_3, difference_3,
                                                          difference_2 * difference_2),
                                                     0.25f * (difference * difference)));

        // Cells of mu near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_mu(mu, i, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double energy_of_block = block_sum(energy_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        energy_partials[blockIdx.x + gridDim.x * blockIdx.y] = energy_of_block;
}

// In place of cahn_hilliard_mu in steps whose results nobody reads; leaves out energy.
// Reads c, writes mu.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cahn_hilliard_mu_states(const float* __restrict__ c, float* __restrict__ mu, int nx, int ny, int pitch,
                            float minus_gamma) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    mu[at] = fmaf(minus_gamma, fmaf(-4.0f, c[at], c[at - 1] + c[at + 1] + c[at - pitch] + c[at + pitch]),
                  fmaf(c[at] * c[at], c[at], -c[at]));

    // Cells of mu near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_mu(mu, i, j, nx, ny, pitch);
}

// Reads c, mu, writes c_next, reduces to mass.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cahn_hilliard_c(const float* __restrict__ c, const float* __restrict__ mu, float* __restrict__ c_next,
                    int nx, int ny, int pitch, float dt_M, double* __restrict__ mass_partials) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double mass_of_thread = 0.0;
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const float c_new =
            fmaf(dt_M, fmaf(-4.0f, mu[at], mu[at - 1] + mu[at + 1] + mu[at - pitch] + mu[at + pitch]), c[at]);
        c_next[at] = c_new;
        mass_of_thread += static_cast<double>(c_new);

        // Cells of c_next near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_mu(c_next, i, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double mass_of_block = block_sum(mass_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        mass_partials[blockIdx.x + gridDim.x * blockIdx.y] = mass_of_block;
}

// In place of cahn_hilliard_c in steps whose results nobody reads; leaves out mass.
// Reads c, mu, writes c_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cahn_hilliard_c_states(const float* __restrict__ c, const float* __restrict__ mu,
                           float* __restrict__ c_next, int nx, int ny, int pitch, float dt_M) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    c_next[at] =
        fmaf(dt_M, fmaf(-4.0f, mu[at], mu[at - 1] + mu[at + 1] + mu[at - pitch] + mu[at + pitch]), c[at]);

    // Cells of c_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_mu(c_next, i, j, nx, ny, pitch);
}

// All time steps of a launch, with the grid on the chip. Reads c, writes c_next.
// Schedule: resident threads=32x8 cells=2x2.
// Blocks wait for each other: launched so that all are there at once.
extern "C" __global__ void __launch_bounds__(256, 1)
    cahn_hilliard_resident(const float* __restrict__ c, float* __restrict__ c_next, int nx, int ny,
                           long long c_half, long long mu_half, int pitch, int steps_sent, int steps,
                           float minus_gamma, float dt_M, long long* c_exchange, long long* mu_exchange) {
    extern __shared__ double shared_memory[];
    constexpr int kThreadsX = 32, kThreadsY = 8;
    constexpr int kCellsX = 2, kCellsY = 2;
    constexpr int kTileX = 64, kTileY = 16;
    constexpr int kBoxX = 68, kBoxY = 18;  // in shared memory, with cells around
    constexpr int kRows = 512;             // of threads, which a block may send
    constexpr int kMessages = 528;         // those rows, and columns of threads

    // The block's box of the grid, and the thread's first cell in it.
    const int thread = threadIdx.y * kThreadsX + threadIdx.x;
    const int box_i = blockIdx.x * kTileX;
    const int in_i = threadIdx.x * kCellsX;
    const int box_j = blockIdx.y * kTileY;
    const int in_j = threadIdx.y * kCellsY;
    const bool is_first = threadIdx.x % 32 == 0;
    const bool is_last = threadIdx.x % 32 == 31;
    auto& c_flat = *reinterpret_cast<float(*)[2][kBoxY * kBoxX]>(shared_memory);
    const int start = in_j * kBoxX + in_i;
    auto& c_box = *reinterpret_cast<float(*)[2][kBoxY][kBoxX]>(c_flat[0] + start);
    auto& mu_flat = *reinterpret_cast<float(*)[kBoxY * kBoxX]>(shared_memory + 1224);
    auto& mu_box = *reinterpret_cast<float(*)[kBoxY][kBoxX]>(mu_flat + start);
    const int blocks_i = (nx + kTileX - 1) / kTileX;
    const int c_messages = (ny + kTileY - 1) / kTileY * blocks_i * kMessages;
    const auto row_message = [&](int i, int j) {
        return (j / kTileY * blocks_i + i / kTileX) * kMessages + j % kTileY * kThreadsX +
            i % kTileX / kCellsX;
    };
    const auto column_message = [&](int i, int j) {
        return (j / kTileY * blocks_i + i / kTileX) * kMessages + kRows +
            (i % kTileX < 1 ? 0 : 1) * kThreadsY + j % kTileY / kCellsY;
    };
    const int mu_messages = (ny + kTileY - 1) / kTileY * blocks_i * kMessages;
    const int first = static_cast<int>(static_cast<long long>(box_j + in_j) * pitch + box_i + in_i);

    // The thread's own cells, and those around them that it reads.
    float c_cells[4][4] = {};
#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
        load2(&c_cells[y + 1][1], c + first + y * pitch);
        share2(c_box[0][y + 1] + 2, &c_cells[y + 1][1]);
    }

    // The ghost cells of c that this thread fills in: at first from the grid, later from messages.
    int c_around[2];
    int c_source[2];
#pragma unroll
    for (int pass = 0; pass < 2; ++pass) {
        int i = box_i;
        int j = box_j;
        if (pass < 1) {
            i += thread % kThreadsX * kCellsX;
            j += thread / kThreadsX < 1 ? -1 : kTileY;
        } else {
            i += thread % 2 < 1 ? -1 : kTileX;
            j += thread / 2 * kCellsY;
        }
        const bool is_there = (pass >= 1 || thread / kThreadsX < 2) && (pass < 1 || thread / 2 < kThreadsY);
#pragma unroll
        for (int cell = 0; cell < kCellsX; ++cell) {
            const int place = (j - box_j + 1) * kBoxX + i - box_i + 2;
            const int source_i = i >= nx ? i - nx : i < 0 ? i + nx : i;
            const int source_j = j >= ny ? j - ny : j < 0 ? j + ny : j;
            const int source = static_cast<int>(static_cast<long long>(source_j) * pitch + source_i);
            if (cell == 0) {
                c_around[pass] = place;
                c_source[pass] = is_there ?
                    (pass < 1 ? row_message(source_i, source_j) : column_message(source_i, source_j)) : -1;
            }
            if (is_there) c_flat[0][place] = c[source];
            i += pass < 1 ? 1 : 0;
            j += pass < 1 ? 0 : 1;
        }
    }

    // A bit for each row of the thread that other blocks need.
    int c_sends = 0;
#pragma unroll
    for (int y = 0; y < kCellsY; ++y)
        if (in_j + y < 1 || in_j + y >= kTileY - 1) c_sends |= 1 << y;
    const int c_message = row_message(box_i + in_i, box_j + in_j);
    // The same for its columns, at the lower face and at the upper one.
    const int c_side_sends = (in_i == 0 ? 1 : 0) | (in_i == kTileX - kCellsX ? 2 : 0);
    const int c_low_message = column_message(box_i + in_i, box_j + in_j);
    const int c_high_message = column_message(box_i + in_i + 1, box_j + in_j);
    long long* c_packets = c_exchange + (steps_sent + 1) % 2 * c_half;
    long long c_to_next = steps_sent % 2 == 0 ? -c_half : c_half;

    // The ghost cells of mu that this thread fills in: at first from the grid, later from messages.
    int mu_around[2];
    int mu_source[2];
#pragma unroll
    for (int pass = 0; pass < 2; ++pass) {
        int i = box_i;
        int j = box_j;
        if (pass < 1) {
            i += thread % kThreadsX * kCellsX;
            j += thread / kThreadsX < 1 ? -1 : kTileY;
        } else {
            i += thread % 2 < 1 ? -1 : kTileX;
            j += thread / 2 * kCellsY;
        }
        const bool is_there = (pass >= 1 || thread / kThreadsX < 2) && (pass < 1 || thread / 2 < kThreadsY);
        const int place = (j - box_j + 1) * kBoxX + i - box_i + 2;
        const int source_i = i >= nx ? i - nx : i < 0 ? i + nx : i;
        const int source_j = j >= ny ? j - ny : j < 0 ? j + ny : j;
        mu_around[pass] = place;
        mu_source[pass] = is_there ?
            (pass < 1 ? row_message(source_i, source_j) : column_message(source_i, source_j)) : -1;
    }

    // A bit for each row of the thread that other blocks need.
    int mu_sends = 0;
#pragma unroll
    for (int y = 0; y < kCellsY; ++y)
        if (in_j + y < 1 || in_j + y >= kTileY - 1) mu_sends |= 1 << y;
    const int mu_message = row_message(box_i + in_i, box_j + in_j);
    // The same for its columns, at the lower face and at the upper one.
    const int mu_side_sends = (in_i == 0 ? 1 : 0) | (in_i == kTileX - kCellsX ? 2 : 0);
    const int mu_low_message = column_message(box_i + in_i, box_j + in_j);
    const int mu_high_message = column_message(box_i + in_i + 1, box_j + in_j);
    long long* mu_packets = mu_exchange + (steps_sent + 1) % 2 * mu_half;
    long long mu_to_next = steps_sent % 2 == 0 ? -mu_half : mu_half;
    __syncthreads();

#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        const int now = step % 2;
        const int next = (step + 1) % 2;
        const int epoch = steps_sent + step + 1;
        float c_next_cells[2][2];
        float mu_cells[4][4];

        // The next mu.
        load2(&c_cells[0][1], c_box[now][0] + 2);
        load2(&c_cells[3][1], c_box[now][3] + 2);
#pragma unroll
        for (int y = 0; y < 2; ++y) {
            c_cells[y + 1][0] = __shfl_up_sync(0xffffffff, c_cells[y + 1][2], 1);
            c_cells[y + 1][3] = __shfl_down_sync(0xffffffff, c_cells[y + 1][1], 1);
            if (is_first) c_cells[y + 1][0] = c_box[now][y + 1][1];
            if (is_last) c_cells[y + 1][3] = c_box[now][y + 1][4];
        }
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                mu_cells[y + 1][x + 1] = fmaf(minus_gamma,
                                              fmaf(-4.0f, c_cells[y + 1][x + 1],
                                                   c_cells[y + 1][x] + c_cells[y + 1][x + 2] +
                                                   c_cells[y][x + 1] + c_cells[y + 2][x + 1]),
                                              fmaf(c_cells[y + 1][x + 1] * c_cells[y + 1][x + 1],
                                                   c_cells[y + 1][x + 1], -c_cells[y + 1][x + 1]));
            share2(mu_box[y + 1] + 2, &mu_cells[y + 1][1]);
            send2_f32(mu_packets, mu_message + y * kThreadsX, mu_messages, epoch, (mu_sends & 1 << y) != 0,
                      mu_cells[y + 1] + 1, 1);
        }
        if (mu_side_sends != 0) {
            send2_f32(mu_packets, mu_low_message, mu_messages, epoch, (mu_side_sends & 1) != 0,
                      mu_cells[1] + 1, 4);
            send2_f32(mu_packets, mu_high_message, mu_messages, epoch, (mu_side_sends & 1 << 1) != 0,
                      mu_cells[1] + 2, 4);
        }

        float mu_received[2][2];
        poll(mu_packets, mu_messages, epoch, mu_source, mu_received);
        if (mu_source[0] >= 0) share2(mu_flat + mu_around[0], mu_received[0]);
        if (mu_source[1] >= 0)
#pragma unroll
            for (int y = 0; y < kCellsY; ++y)
                mu_flat[mu_around[1] + y * kBoxX] = mu_received[1][y];
        __syncthreads();

        // The next c.
        load2(&mu_cells[0][1], mu_box[0] + 2);
        load2(&mu_cells[3][1], mu_box[3] + 2);
#pragma unroll
        for (int y = 0; y < 2; ++y) {
            mu_cells[y + 1][0] = __shfl_up_sync(0xffffffff, mu_cells[y + 1][2], 1);
            mu_cells[y + 1][3] = __shfl_down_sync(0xffffffff, mu_cells[y + 1][1], 1);
            if (is_first) mu_cells[y + 1][0] = mu_box[y + 1][1];
            if (is_last) mu_cells[y + 1][3] = mu_box[y + 1][4];
        }
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                c_next_cells[y][x] = fmaf(dt_M,
                                          fmaf(-4.0f, mu_cells[y + 1][x + 1],
                                               mu_cells[y + 1][x] + mu_cells[y + 1][x + 2] +
                                               mu_cells[y][x + 1] + mu_cells[y + 2][x + 1]),
                                          c_cells[y + 1][x + 1]);
            share2(c_box[next][y + 1] + 2, c_next_cells[y]);
            send2_f32(c_packets, c_message + y * kThreadsX, c_messages, epoch, (c_sends & 1 << y) != 0,
                      c_next_cells[y], 1);
        }
        if (c_side_sends != 0) {
            send2_f32(c_packets, c_low_message, c_messages, epoch, (c_side_sends & 1) != 0, c_next_cells[0],
                      2);
            send2_f32(c_packets, c_high_message, c_messages, epoch, (c_side_sends & 1 << 1) != 0,
                      c_next_cells[0] + 1, 2);
        }

        float c_received[2][2];
        poll(c_packets, c_messages, epoch, c_source, c_received);
        if (c_source[0] >= 0) share2(c_flat[next] + c_around[0], c_received[0]);
        if (c_source[1] >= 0)
#pragma unroll
            for (int y = 0; y < kCellsY; ++y)
                c_flat[next][c_around[1] + y * kBoxX] = c_received[1][y];
        __syncthreads();
#pragma unroll
        for (int y = 0; y < kCellsY; ++y)
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                c_cells[y + 1][x + 1] = c_next_cells[y][x];
        c_packets += c_to_next;
        c_to_next = -c_to_next;
        mu_packets += mu_to_next;
        mu_to_next = -mu_to_next;
    }

#pragma unroll
    for (int y = 0; y < kCellsY; ++y)
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            c_next[first + y * pitch + x] = c_cells[y + 1][x + 1];
}
