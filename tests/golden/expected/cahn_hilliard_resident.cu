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

__device__ __forceinline__ int with_bit(int bits, int bit) {
    return bits | 1 << bit;
}

__device__ __forceinline__ bool has_bit(int bits, int bit) {
    return (bits >> bit & 1) != 0;
}

__device__ __forceinline__ unsigned long long join_words(unsigned low, unsigned high) {
    return static_cast<unsigned long long>(high) << 32 | low;
}

// A packet of 16 bytes: values and, in its last four bytes, the epoch that they are of; visible as a whole,
// too.
__device__ __forceinline__ void store_packet2(long long* to, unsigned long long low, unsigned long long high,
                                              bool is_needed) {
    asm volatile(
        "{ .reg .b128 packet; .reg .pred p; mov.b128 packet, {%1, %2}; setp.ne.s32 p, %3, 0;"
        " @p st.relaxed.gpu.global.b128 [%0], packet; }" ::"l"(to),
        "l"(low), "l"(high), "r"(static_cast<int>(is_needed))
        : "memory");
}

__device__ __forceinline__ void send2_f32(long long* to, float a, float b, int epoch, bool is_needed) {
    store_packet2(to, join_words(__float_as_uint(a), __float_as_uint(b)), join_words(0, epoch), is_needed);
}

__device__ __forceinline__ void load_packet(long long* packet, const long long* from) {
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(packet[0]) : "l"(from) : "memory");
}

__device__ __forceinline__ void load_packet2(long long* packet, const long long* from) {
    asm volatile("{ .reg .b128 both; ld.relaxed.gpu.global.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
                 : "=l"(packet[0]), "=l"(packet[1])
                 : "l"(from)
                 : "memory");
}

// Polls packets, first those of 16 bytes and then those of 8, until all are of this epoch. Each lies `source`
// words from `from`; a negative source is no packet. All loads are issued before the first one is waited for.
__device__ __forceinline__ void poll_packets(long long* packets, const int* source, int wide, int narrow,
                                             const long long* from, int epoch) {
    int differs;
    do {
#pragma unroll
        for (int p = 0; p < wide; ++p)
            load_packet2(&packets[2 * p], from + max(source[p], 0));
#pragma unroll
        for (int p = wide; p < wide + narrow; ++p)
            load_packet(&packets[wide + p], from + max(source[p], 0));
        differs = 0;
#pragma unroll
        for (int p = 0; p < wide + narrow; ++p) {
            const int its_epoch = static_cast<int>(packets[p < wide ? 2 * p + 1 : wide + p] >> 32);
            differs |= (its_epoch ^ epoch) & ~(source[p] >> 31);
        }
    } while (differs != 0);
}

__device__ __forceinline__ float low_f32(long long word) {
    return __uint_as_float(static_cast<unsigned>(word));
}

__device__ __forceinline__ float high_f32(long long word) {
    return __uint_as_float(static_cast<unsigned>(word >> 32));
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
    for (int y = first_image(j, ny, 1); y < ny + 1; y += ny) {
        for (int x = first_image(i, nx, 1); x < nx + 1; x += nx) {
            u[static_cast<long long>(y) * pitch + x] = value;
        }
    }
}

// Reads c, writes mu, reduces to energy.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cahn_hilliard_mu(const float* __restrict__ c, float* __restrict__ mu, int nx, int ny, int pitch,
                     float minus_gamma, float gamma, double* __restrict__ energy_partials) {
    constexpr int kThreadsX = 32;
    constexpr int kThreadsY = 4;

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
        if (near_face || i < 1 || i >= nx - 1) {
            store_images_mu(mu, i, j, nx, ny, pitch);
        }
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double energy_of_block = block_sum(energy_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
        energy_partials[blockIdx.x + gridDim.x * blockIdx.y] = energy_of_block;
    }
}

// In place of cahn_hilliard_mu in steps whose results nobody reads; leaves out energy.
// Reads c, writes mu.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cahn_hilliard_mu_states(const float* __restrict__ c, float* __restrict__ mu, int nx, int ny, int pitch,
                            float minus_gamma) {
    constexpr int kThreadsX = 32;
    constexpr int kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    mu[at] = fmaf(minus_gamma, fmaf(-4.0f, c[at], c[at - 1] + c[at + 1] + c[at - pitch] + c[at + pitch]),
                  fmaf(c[at] * c[at], c[at], -c[at]));

    // Cells of mu near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) {
        store_images_mu(mu, i, j, nx, ny, pitch);
    }
}

// Reads c, mu, writes c_next, reduces to mass.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cahn_hilliard_c(const float* __restrict__ c, const float* __restrict__ mu, float* __restrict__ c_next,
                    int nx, int ny, int pitch, float dt_M, double* __restrict__ mass_partials) {
    constexpr int kThreadsX = 32;
    constexpr int kThreadsY = 4;

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
        if (near_face || i < 1 || i >= nx - 1) {
            store_images_mu(c_next, i, j, nx, ny, pitch);
        }
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double mass_of_block = block_sum(mass_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
        mass_partials[blockIdx.x + gridDim.x * blockIdx.y] = mass_of_block;
    }
}

// In place of cahn_hilliard_c in steps whose results nobody reads; leaves out mass.
// Reads c, mu, writes c_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cahn_hilliard_c_states(const float* __restrict__ c, const float* __restrict__ mu,
                           float* __restrict__ c_next, int nx, int ny, int pitch, float dt_M) {
    constexpr int kThreadsX = 32;
    constexpr int kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    c_next[at] =
        fmaf(dt_M, fmaf(-4.0f, mu[at], mu[at - 1] + mu[at + 1] + mu[at - pitch] + mu[at + pitch]), c[at]);

    // Cells of c_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) {
        store_images_mu(c_next, i, j, nx, ny, pitch);
    }
}

// All time steps of a launch, with the grid on the chip. Reads c, writes c_next.
// Schedule: resident threads=32x8 cells=2x2.
// Blocks wait for each other: launched so that all are there at once.
extern "C" __global__ void __launch_bounds__(256, 1)
    cahn_hilliard_resident(const float* __restrict__ c, float* __restrict__ c_next, int nx, int ny,
                           long long c_half, long long mu_half, int pitch, int steps_sent, int steps,
                           float minus_gamma, float dt_M, long long* c_exchange, long long* mu_exchange) {
    extern __shared__ double shared_memory[];
    constexpr int kThreadsX = 32;
    constexpr int kThreadsY = 8;
    constexpr int kThreads = 256;
    constexpr int kCellsX = 2;
    constexpr int kCellsY = 2;
    constexpr int kTileX = 64;
    constexpr int kTileY = 16;
    constexpr int kNoPacket = -1073741824;  // negative whatever offset is added
    constexpr int kRow = 68;                // of cells in shared memory, with those around
    constexpr int kSlot = 1224;             // cells of one level in shared memory
    constexpr int kMessages = 512;          // rows of threads that a block may send
    constexpr int kSideMessages = 16;       // columns of threads

    // The block's box of the grid, and the thread's first cell in it.
    const int thread = threadIdx.y * kThreadsX + threadIdx.x;
    const int box_i = blockIdx.x * kTileX;
    const int in_i = threadIdx.x * kCellsX;
    const int box_j = blockIdx.y * kTileY;
    const int in_j = threadIdx.y * kCellsY;
    const bool is_first = threadIdx.x % 32 == 0;
    const bool is_last = threadIdx.x % 32 == 31;

    auto& c_box = *reinterpret_cast<float(*)[2 * kSlot]>(shared_memory);
    auto& mu_box = *reinterpret_cast<float(*)[kSlot]>(shared_memory + 1224);
    // Cells that are not in the grid are zero.
#pragma unroll 1
    for (int index = thread; index < 2 * kSlot; index += kThreads) {
        c_box[index] = 0.0f;
    }
#pragma unroll 1
    for (int index = thread; index < kSlot; index += kThreads) {
        mu_box[index] = 0.0f;
    }
    __syncthreads();
    const int blocks_j = (ny + kTileY - 1) / kTileY;
    const int blocks_i = (nx + kTileX - 1) / kTileX;
    const int blocks = blocks_j * blocks_i;
    const int block = blockIdx.y * blocks_i + blockIdx.x;

    const int first = static_cast<int>(static_cast<long long>(box_j + in_j) * pitch + box_i + in_i);
    const int c_place = (in_j + 1) * kRow + in_i + 2;
    const int mu_place = (in_j + 1) * kRow + in_i + 2;

    // The thread's own cells, and those around them that it reads.
    float c_cells[4][4] = {};
#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
        load2(&c_cells[y + 1][1], c + first + y * pitch);
        share2(c_box + c_place + y * kRow, &c_cells[y + 1][1]);
    }

    // Around the box of c: the ghost cells that each thread fills in, from the grid and then from packets of
    // other blocks.
    int c_around[2];
    int c_source[2];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const int i = box_i + thread % kThreadsX * kCellsX + x;
        const int layer = thread / kThreadsX;
        const int j = box_j + (layer < 1 ? layer - 1 : kTileY + layer - 1);
        const bool is_there = layer < 2;
        const int place = (j - box_j + 1) * kRow + i - box_i + 2;
        const int source_i = i >= nx ? i - nx : i < 0 ? i + nx : i;
        const int source_j = j >= ny ? j - ny : j < 0 ? j + ny : j;
        const int source = static_cast<int>(static_cast<long long>(source_j) * pitch + source_i);
        if (x == 0) {
            c_around[0] = place;
            const int message = (source_j / kTileY * blocks_i + source_i / kTileX) * kMessages +
                source_j % kTileY * kThreadsX + source_i % kTileX / kCellsX;
            c_source[0] = is_there ? message * 2 : kNoPacket;
        }
        if (is_there) c_box[place] = c[source];
    }
#pragma unroll
    for (int x = 0; x < kCellsY; ++x) {
        const int layer = thread % 2;
        const int i = box_i + (layer < 1 ? layer - 1 : kTileX + layer - 1);
        const int j = box_j + thread / 2 * kCellsY + x;
        const bool is_there = thread / 2 < kThreadsY;
        const int place = (j - box_j + 1) * kRow + i - box_i + 2;
        const int source_i = i >= nx ? i - nx : i < 0 ? i + nx : i;
        const int source_j = j >= ny ? j - ny : j < 0 ? j + ny : j;
        const int source = static_cast<int>(static_cast<long long>(source_j) * pitch + source_i);
        if (x == 0) {
            c_around[1] = place;
            const int message = (source_j / kTileY * blocks_i + source_i / kTileX) * kSideMessages +
                (source_i % kTileX < 1 ? source_i % kTileX : source_i % kTileX - kTileX + 2) * kThreadsY +
                source_j % kTileY / kCellsY;
            c_source[1] = is_there ? message * 2 + blocks * kMessages * 2 : kNoPacket;
        }
        if (is_there) c_box[place] = c[source];
    }

    // A bit for each row of the thread that other blocks need.
    int c_sends = 0;
#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
        if (in_j + y < 1 || in_j + y >= kTileY - 1) c_sends = with_bit(c_sends, y);
    }
    const int c_message = block * kMessages + in_j * kThreadsX + in_i / kCellsX;
    // The same for its columns, at the lower face and at the upper one.
    int c_side_sends = 0;
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        if (in_i + x < 1) c_side_sends = with_bit(c_side_sends, x);
    }
    const int c_low_message = block * kSideMessages + in_i * kThreadsY + in_j / kCellsY;
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        if (in_i + x >= kTileX - 1) c_side_sends = with_bit(c_side_sends, x + 2);
    }
    const int c_high_message = block * kSideMessages + (in_i - kTileX + 2) * kThreadsY + in_j / kCellsY;

    // Around the box of mu: the ghost cells that each thread fills in, from the grid and then from packets of
    // other blocks.
    int mu_around[2];
    int mu_source[2];
    {
        const int i = box_i + thread % kThreadsX * kCellsX;
        const int layer = thread / kThreadsX;
        const int j = box_j + (layer < 1 ? layer - 1 : kTileY + layer - 1);
        const bool is_there = layer < 2;
        const int place = (j - box_j + 1) * kRow + i - box_i + 2;
        const int source_i = i >= nx ? i - nx : i < 0 ? i + nx : i;
        const int source_j = j >= ny ? j - ny : j < 0 ? j + ny : j;
        mu_around[0] = place;
        const int message = (source_j / kTileY * blocks_i + source_i / kTileX) * kMessages +
            source_j % kTileY * kThreadsX + source_i % kTileX / kCellsX;
        mu_source[0] = is_there ? message * 2 : kNoPacket;
    }
    {
        const int layer = thread % 2;
        const int i = box_i + (layer < 1 ? layer - 1 : kTileX + layer - 1);
        const int j = box_j + thread / 2 * kCellsY;
        const bool is_there = thread / 2 < kThreadsY;
        const int place = (j - box_j + 1) * kRow + i - box_i + 2;
        const int source_i = i >= nx ? i - nx : i < 0 ? i + nx : i;
        const int source_j = j >= ny ? j - ny : j < 0 ? j + ny : j;
        mu_around[1] = place;
        const int message = (source_j / kTileY * blocks_i + source_i / kTileX) * kSideMessages +
            (source_i % kTileX < 1 ? source_i % kTileX : source_i % kTileX - kTileX + 2) * kThreadsY +
            source_j % kTileY / kCellsY;
        mu_source[1] = is_there ? message * 2 + blocks * kMessages * 2 : kNoPacket;
    }

    // A bit for each row of the thread that other blocks need.
    int mu_sends = 0;
#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
        if (in_j + y < 1 || in_j + y >= kTileY - 1) mu_sends = with_bit(mu_sends, y);
    }
    const int mu_message = block * kMessages + in_j * kThreadsX + in_i / kCellsX;
    // The same for its columns, at the lower face and at the upper one.
    int mu_side_sends = 0;
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        if (in_i + x < 1) mu_side_sends = with_bit(mu_side_sends, x);
    }
    const int mu_low_message = block * kSideMessages + in_i * kThreadsY + in_j / kCellsY;
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        if (in_i + x >= kTileX - 1) mu_side_sends = with_bit(mu_side_sends, x + 2);
    }
    const int mu_high_message = block * kSideMessages + (in_i - kTileX + 2) * kThreadsY + in_j / kCellsY;
    __syncthreads();

#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        const int c_at_now = step % 2 * kSlot;
        const int c_at_next = (step + 1) % 2 * kSlot;
        const int epoch = steps_sent + step + 1;
        long long* c_packets = c_exchange + epoch % 2 * c_half;
        long long* c_message_to = c_packets + c_message * 2;
        long long* c_low_message_to = c_packets + c_low_message * 2 + blocks * kMessages * 2;
        long long* c_high_message_to = c_packets + c_high_message * 2 + blocks * kMessages * 2;
        long long* mu_packets = mu_exchange + epoch % 2 * mu_half;
        long long* mu_message_to = mu_packets + mu_message * 2;
        long long* mu_low_message_to = mu_packets + mu_low_message * 2 + blocks * kMessages * 2;
        long long* mu_high_message_to = mu_packets + mu_high_message * 2 + blocks * kMessages * 2;
        float c_next_cells[2][2];
        float mu_cells[4][4];

        // The next mu.
        load2(&c_cells[0][1], c_box + c_at_now + c_place - kRow);
        load2(&c_cells[3][1], c_box + c_at_now + c_place + 2 * kRow);
#pragma unroll
        for (int y = 0; y < 2; ++y) {
            c_cells[y + 1][0] = __shfl_up_sync(0xffffffff, c_cells[y + 1][2], 1);
            c_cells[y + 1][3] = __shfl_down_sync(0xffffffff, c_cells[y + 1][1], 1);
            if (is_first) c_cells[y + 1][0] = c_box[c_at_now + c_place + y * kRow - 1];
            if (is_last) c_cells[y + 1][3] = c_box[c_at_now + c_place + y * kRow + 2];
        }
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                mu_cells[y + 1][x + 1] = fmaf(minus_gamma,
                                              fmaf(-4.0f, c_cells[y + 1][x + 1],
                                                   c_cells[y + 1][x] + c_cells[y + 1][x + 2] +
                                                   c_cells[y][x + 1] + c_cells[y + 2][x + 1]),
                                              fmaf(c_cells[y + 1][x + 1] * c_cells[y + 1][x + 1],
                                                   c_cells[y + 1][x + 1], -c_cells[y + 1][x + 1]));
            }
            share2(mu_box + mu_place + y * kRow, &mu_cells[y + 1][1]);
            send2_f32(mu_message_to + y * kThreadsX * 2, mu_cells[y + 1][1], mu_cells[y + 1][2], epoch,
                      has_bit(mu_sends, y));
        }
        if (mu_side_sends != 0) {
            send2_f32(mu_low_message_to, mu_cells[1][1], mu_cells[2][1], epoch, has_bit(mu_side_sends, 0));
            send2_f32(mu_high_message_to + kThreadsY * 2, mu_cells[1][2], mu_cells[2][2], epoch,
                      has_bit(mu_side_sends, 3));
        }

        long long mu_received[4];
        poll_packets(mu_received, mu_source, 2, 0, mu_packets, epoch);
        if (mu_source[0] >= 0) {
            float values[2];
            values[0] = low_f32(mu_received[0]);
            values[1] = high_f32(mu_received[0]);
            share2(mu_box + mu_around[0], values);
        }
        if (mu_source[1] >= 0) {
            mu_box[mu_around[1]] = low_f32(mu_received[2]);
            mu_box[mu_around[1] + kRow] = high_f32(mu_received[2]);
        }
        __syncthreads();

        // The next c.
        load2(&mu_cells[0][1], mu_box + mu_place - kRow);
        load2(&mu_cells[3][1], mu_box + mu_place + 2 * kRow);
#pragma unroll
        for (int y = 0; y < 2; ++y) {
            mu_cells[y + 1][0] = __shfl_up_sync(0xffffffff, mu_cells[y + 1][2], 1);
            mu_cells[y + 1][3] = __shfl_down_sync(0xffffffff, mu_cells[y + 1][1], 1);
            if (is_first) mu_cells[y + 1][0] = mu_box[mu_place + y * kRow - 1];
            if (is_last) mu_cells[y + 1][3] = mu_box[mu_place + y * kRow + 2];
        }
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                c_next_cells[y][x] = fmaf(dt_M,
                                          fmaf(-4.0f, mu_cells[y + 1][x + 1],
                                               mu_cells[y + 1][x] + mu_cells[y + 1][x + 2] +
                                               mu_cells[y][x + 1] + mu_cells[y + 2][x + 1]),
                                          c_cells[y + 1][x + 1]);
            }
            share2(c_box + c_at_next + c_place + y * kRow, c_next_cells[y]);
            send2_f32(c_message_to + y * kThreadsX * 2, c_next_cells[y][0], c_next_cells[y][1], epoch,
                      has_bit(c_sends, y));
        }
        if (c_side_sends != 0) {
            send2_f32(c_low_message_to, c_next_cells[0][0], c_next_cells[1][0], epoch,
                      has_bit(c_side_sends, 0));
            send2_f32(c_high_message_to + kThreadsY * 2, c_next_cells[0][1], c_next_cells[1][1], epoch,
                      has_bit(c_side_sends, 3));
        }

        long long c_received[4];
        poll_packets(c_received, c_source, 2, 0, c_packets, epoch);
        if (c_source[0] >= 0) {
            float values[2];
            values[0] = low_f32(c_received[0]);
            values[1] = high_f32(c_received[0]);
            share2(c_box + c_at_next + c_around[0], values);
        }
        if (c_source[1] >= 0) {
            c_box[c_at_next + c_around[1]] = low_f32(c_received[2]);
            c_box[c_at_next + c_around[1] + kRow] = high_f32(c_received[2]);
        }
        __syncthreads();
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                c_cells[y + 1][x + 1] = c_next_cells[y][x];
            }
        }
    }

#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            c_next[first + y * pitch + x] = c_cells[y + 1][x + 1];
        }
    }
}
