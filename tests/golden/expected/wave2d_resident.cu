// wave2d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 2 below and 2 above along x, 2 below and 2 above along y.

// Four neighbouring elements at once; `from` is aligned to all four.
__device__ __forceinline__ void load4(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

__device__ __forceinline__ void share4(float* to, const float* from) {
    *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
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

// A packet holds values and, in its last four bytes, the epoch that they are of. It becomes visible to other
// blocks as a whole, so that no fence and no flag is needed. The PTX predicates the store itself: no branch
// surrounds it.
__device__ __forceinline__ void store_packet(long long* to, unsigned long long word, bool is_needed) {
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p st.relaxed.gpu.global.u64 [%0], %1; }" ::"l"(to),
                 "l"(word), "r"(static_cast<int>(is_needed))
                 : "memory");
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

__device__ __forceinline__ void send_f32(long long* to, float value, int epoch, bool is_needed) {
    store_packet(to, join_words(__float_as_uint(value), epoch), is_needed);
}

__device__ __forceinline__ void send2_f32(long long* to, float a, float b, int epoch, bool is_needed) {
    store_packet2(to, join_words(__float_as_uint(a), __float_as_uint(b)), join_words(0, epoch), is_needed);
}

__device__ __forceinline__ void send3_f32(long long* to, float a, float b, float c, int epoch,
                                          bool is_needed) {
    store_packet2(to, join_words(__float_as_uint(a), __float_as_uint(b)),
                  join_words(__float_as_uint(c), epoch), is_needed);
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

// The greater of two; NaN where either is.
__device__ __forceinline__ double keep_max(double a, double b) {
    return a > b || a != a ? a : b;
}

// The greatest of the block's threads; thread 0 gets it.
__device__ inline double block_max(double value) {
    __shared__ double of_warp[32];
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int warps = blockDim.x * blockDim.y * blockDim.z / 32;
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = keep_max(value, __shfl_down_sync(~0u, value, lanes));
    __syncthreads();  // an earlier call's results have been read
    if (thread % 32 == 0) of_warp[thread / 32] = value;
    __syncthreads();
    if (thread >= 32) return value;
    value = of_warp[thread < warps ? thread : 0];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = keep_max(value, __shfl_down_sync(~0u, value, lanes));
    return value;
}

// Stores a cell once more wherever the halo shows it: x clamp, y clamp.
__device__ inline void store_images_u(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = j == 0 ? -2 : j; y < (j == ny - 1 ? ny + 2 : j + 1); ++y) {
        for (int x = i == 0 ? -2 : i; x < (i == nx - 1 ? nx + 2 : i + 1); ++x) {
            u[static_cast<long long>(y) * pitch + x] = value;
        }
    }
}

// Reads u, u_prev, writes u_next, reduces to height.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 10)
    wave2d_step(const float* __restrict__ u, const float* __restrict__ u_prev, float* __restrict__ u_next,
                int nx, int ny, int pitch, float c_squared_dt_dt, double* __restrict__ height_partials) {
    constexpr int kThreadsX = 32;
    constexpr int kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double height_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        u_next[at] = fmaf(c_squared_dt_dt,
                          fmaf(-0.083333336f, u[at - 2] + u[at + 2] + u[at - 2 * pitch] + u[at + 2 * pitch],
                               fmaf(-5.0f, u[at],
                                    1.3333334f * (u[at - 1] + u[at + 1] + u[at - pitch] + u[at + pitch]))),
                          fmaf(2.0f, u[at], -u_prev[at]));
        height_of_thread = keep_max(height_of_thread, static_cast<double>(fabsf(u[at])));

        // Cells of u_next near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) {
            store_images_u(u_next, i, j, nx, ny, pitch);
        }
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double height_of_block = block_max(height_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
        height_partials[blockIdx.x + gridDim.x * blockIdx.y] = height_of_block;
    }
}

// In place of wave2d_step in steps whose results nobody reads; leaves out height.
// Reads u, u_prev, writes u_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 10)
    wave2d_step_states(const float* __restrict__ u, const float* __restrict__ u_prev,
                       float* __restrict__ u_next, int nx, int ny, int pitch, float c_squared_dt_dt) {
    constexpr int kThreadsX = 32;
    constexpr int kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    u_next[at] = fmaf(c_squared_dt_dt,
                      fmaf(-0.083333336f, u[at - 2] + u[at + 2] + u[at - 2 * pitch] + u[at + 2 * pitch],
                           fmaf(-5.0f, u[at],
                                1.3333334f * (u[at - 1] + u[at + 1] + u[at - pitch] + u[at + pitch]))),
                      fmaf(2.0f, u[at], -u_prev[at]));

    // Cells of u_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) {
        store_images_u(u_next, i, j, nx, ny, pitch);
    }
}

// All time steps of a launch, with the grid on the chip. Reads u, u_prev, writes u_next, u_next_2.
// Schedule: resident threads=32x4 cells=4x2.
// Blocks wait for each other: launched so that all are there at once.
extern "C" __global__ void __launch_bounds__(128, 1)
    wave2d_resident(const float* __restrict__ u, const float* __restrict__ u_prev, float* __restrict__ u_next,
                    float* __restrict__ u_next_2, int nx, int ny, long long u_half, int pitch, int steps_sent,
                    int steps, float c_squared_dt_dt, long long* u_exchange) {
    extern __shared__ double shared_memory[];
    constexpr int kThreadsX = 32;
    constexpr int kThreadsY = 4;
    constexpr int kThreads = 128;
    constexpr int kCellsX = 4;
    constexpr int kCellsY = 2;
    constexpr int kTileX = 128;
    constexpr int kTileY = 8;
    constexpr int kNoPacket = -1073741824;  // negative whatever offset is added
    constexpr int kRow = 136;               // of cells in shared memory, with those around
    constexpr int kSlot = 1632;             // cells of one level in shared memory
    constexpr int kMessages = 256;          // rows of threads that a block may send
    constexpr int kSideMessages = 16;       // columns of threads

    // The block's box of the grid, and the thread's first cell in it.
    const int thread = threadIdx.y * kThreadsX + threadIdx.x;
    const int box_i = blockIdx.x * kTileX;
    const int size_i = min(nx - box_i, kTileX);
    const int in_i = threadIdx.x * kCellsX;
    const int box_j = blockIdx.y * kTileY;
    const int size_j = min(ny - box_j, kTileY);
    const int in_j = threadIdx.y * kCellsY;
    // The grid may end between the thread's rows.
    const bool is_cut = in_j + 2 > size_j;
    const bool is_first = threadIdx.x % 32 == 0;
    const bool is_last = threadIdx.x % 32 == 31 || in_i + 4 == size_i;

    auto& u_box = *reinterpret_cast<float(*)[2 * kSlot]>(shared_memory);
    // Cells that are not in the grid are zero.
#pragma unroll 1
    for (int index = thread; index < 2 * kSlot; index += kThreads) {
        u_box[index] = 0.0f;
    }
    __syncthreads();
    const int blocks_j = (ny + kTileY - 1) / kTileY;
    const int blocks_i = (nx + kTileX - 1) / kTileX;
    const int blocks = blocks_j * blocks_i;
    const int block = blockIdx.y * blocks_i + blockIdx.x;

    const int first = static_cast<int>(static_cast<long long>(box_j + in_j) * pitch + box_i + in_i);
    const int u_place = (in_j + 2) * kRow + in_i + 4;

    // The thread's own cells, and those around them that it reads.
    float u_cells[6][8] = {};
    float u_before_cells[2][4] = {};
#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            if (in_i + x < size_i && in_j + y < size_j) {
                u_cells[y + 2][x + 2] = u[first + y * pitch + x];
                u_box[u_place + y * kRow + x] = u_cells[y + 2][x + 2];
                u_before_cells[y][x] = u_prev[first + y * pitch + x];
            }
        }
    }

    // Around the box of u: the ghost cells that each thread fills in, from the grid and then from packets of
    // other blocks.
    int u_around[2];
    int u_source[2];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const int i = box_i + thread % kThreadsX * kCellsX + x;
        const int layer = thread / kThreadsX;
        const int j = box_j + (layer < 2 ? layer - 2 : size_j + layer - 2);
        const bool is_there = thread % kThreadsX * kCellsX + x < size_i;
        const int place = (j - box_j + 2) * kRow + i - box_i + 4;
        const int source_i = i >= nx ? nx - 1 : i < 0 ? 0 : i;
        const int source_j = j >= ny ? ny - 1 : j < 0 ? 0 : j;
        const int source = static_cast<int>(static_cast<long long>(source_j) * pitch + source_i);
        if (x == 0) {
            u_around[0] = place;
            const int message = (source_j / kTileY * blocks_i + source_i / kTileX) * kMessages +
                source_j % kTileY * kThreadsX + source_i % kTileX / kCellsX;
            u_source[0] = is_there ? message : kNoPacket;
        }
        if (is_there) u_box[place] = u[source];
    }
#pragma unroll
    for (int x = 0; x < kCellsY; ++x) {
        const int layer = thread % 4;
        const int i = box_i + (layer < 2 ? layer - 2 : size_i + layer - 2);
        const int j = box_j + thread / 4 * kCellsY + x;
        const bool is_there = thread / 4 < kThreadsY && thread / 4 * kCellsY + x < size_j;
        const int place = (j - box_j + 2) * kRow + i - box_i + 4;
        const int source_i = i >= nx ? nx - 1 : i < 0 ? 0 : i;
        const int source_j = j >= ny ? ny - 1 : j < 0 ? 0 : j;
        const int source = static_cast<int>(static_cast<long long>(source_j) * pitch + source_i);
        if (x == 0) {
            u_around[1] = place;
            const int message = (source_j / kTileY * blocks_i + source_i / kTileX) * kSideMessages +
                (source_i % kTileX < 2 ? source_i % kTileX :
                 source_i % kTileX - min(nx - (source_i - source_i % kTileX), kTileX) + 4) * kThreadsY +
                source_j % kTileY / kCellsY;
            u_source[1] = is_there ? message * 2 + blocks * kMessages * 3 : kNoPacket;
        }
        if (is_there) u_box[place] = u[source];
    }

    // A bit for each row of the thread that other blocks need.
    int u_sends = 0;
#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
        if (in_i < size_i && in_j + y < size_j && (in_j + y < 2 || in_j + y >= size_j - 2)) {
            u_sends = with_bit(u_sends, y);
        }
    }
    const int u_message = block * kMessages + in_j * kThreadsX + in_i / kCellsX;
    // The same for its columns, at the lower face and at the upper one.
    int u_side_sends = 0;
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        if (in_i + x < size_i && in_i + x < 2) u_side_sends = with_bit(u_side_sends, x);
    }
    const int u_low_message = block * kSideMessages + in_i * kThreadsY + in_j / kCellsY;
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        if (in_i + x < size_i && in_i + x >= size_i - 2) u_side_sends = with_bit(u_side_sends, x + 4);
    }
    const int u_high_message = block * kSideMessages + (in_i - size_i + 4) * kThreadsY + in_j / kCellsY;
    __syncthreads();

#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        const int u_at_now = step % 2 * kSlot;
        const int u_at_next = (step + 1) % 2 * kSlot;
        const int epoch = steps_sent + step + 1;
        long long* u_packets = u_exchange + epoch % 2 * u_half;
        long long* u_message_to = u_packets + u_message * 2;
        long long* u_message_to2 = u_packets + u_message + blocks * kMessages * 2;
        long long* u_low_message_to = u_packets + u_low_message * 2 + blocks * kMessages * 3;
        long long* u_high_message_to = u_packets + u_high_message * 2 + blocks * kMessages * 3;
        float u_next_cells[2][4];

        // The next u.
        if (is_cut) {
#pragma unroll
            for (int y = 0; y < kCellsY; ++y) {
                if (in_j + y >= size_j) {
                    load4(&u_cells[y + 2][2], u_box + u_at_now + u_place + y * kRow);
                }
            }
        }
#pragma unroll
        for (int y = -2; y < 0; ++y) {
            load4(&u_cells[y + 2][2], u_box + u_at_now + u_place + y * kRow);
        }
#pragma unroll
        for (int y = 2; y < 4; ++y) {
            load4(&u_cells[y + 2][2], u_box + u_at_now + u_place + y * kRow);
        }
#pragma unroll
        for (int y = 0; y < 2; ++y) {
            u_cells[y + 2][1] = __shfl_up_sync(0xffffffff, u_cells[y + 2][5], 1);
            u_cells[y + 2][0] = __shfl_up_sync(0xffffffff, u_cells[y + 2][4], 1);
            u_cells[y + 2][6] = __shfl_down_sync(0xffffffff, u_cells[y + 2][2], 1);
            u_cells[y + 2][7] = __shfl_down_sync(0xffffffff, u_cells[y + 2][3], 1);
            if (is_first) {
                u_cells[y + 2][1] = u_box[u_at_now + u_place + y * kRow - 1];
                u_cells[y + 2][0] = u_box[u_at_now + u_place + y * kRow - 2];
            }
            if (is_last) {
                u_cells[y + 2][6] = u_box[u_at_now + u_place + y * kRow + 4];
                u_cells[y + 2][7] = u_box[u_at_now + u_place + y * kRow + 5];
            }
        }
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                u_next_cells[y][x] = fmaf(c_squared_dt_dt,
                                          fmaf(-0.083333336f,
                                               u_cells[y + 2][x] + u_cells[y + 2][x + 4] + u_cells[y][x + 2] +
                                               u_cells[y + 4][x + 2],
                                               fmaf(-5.0f, u_cells[y + 2][x + 2],
                                                    1.3333334f * (u_cells[y + 2][x + 1] +
                                                                  u_cells[y + 2][x + 3] +
                                                                  u_cells[y + 1][x + 2] +
                                                                  u_cells[y + 3][x + 2]))),
                                          fmaf(2.0f, u_cells[y + 2][x + 2], -u_before_cells[y][x]));
            }
            if (in_i < size_i && in_j + y < size_j) {
                share4(u_box + u_at_next + u_place + y * kRow, u_next_cells[y]);
            }
            send3_f32(u_message_to + y * kThreadsX * 2, u_next_cells[y][0], u_next_cells[y][1],
                      u_next_cells[y][2], epoch, has_bit(u_sends, y));
            send_f32(u_message_to2 + y * kThreadsX, u_next_cells[y][3], epoch, has_bit(u_sends, y));
        }
        if (u_side_sends != 0) {
            send2_f32(u_low_message_to, u_next_cells[0][0], u_next_cells[1][0], epoch,
                      has_bit(u_side_sends, 0));
            send2_f32(u_low_message_to + kThreadsY * 2, u_next_cells[0][1], u_next_cells[1][1], epoch,
                      has_bit(u_side_sends, 1));
            send2_f32(u_high_message_to + 2 * kThreadsY * 2, u_next_cells[0][2], u_next_cells[1][2], epoch,
                      has_bit(u_side_sends, 6));
            send2_f32(u_high_message_to + 3 * kThreadsY * 2, u_next_cells[0][3], u_next_cells[1][3], epoch,
                      has_bit(u_side_sends, 7));
        }

        int u_offsets[3];
        u_offsets[0] = u_source[0] * 2;
        u_offsets[2] = u_source[0] + blocks * kMessages * 2;
        u_offsets[1] = u_source[1];
        long long u_received[5];
        poll_packets(u_received, u_offsets, 2, 1, u_packets, epoch);
        if (u_source[0] >= 0) {
            float values[4];
            values[0] = low_f32(u_received[0]);
            values[1] = high_f32(u_received[0]);
            values[2] = low_f32(u_received[1]);
            values[3] = low_f32(u_received[4]);
            share4(u_box + u_at_next + u_around[0], values);
        }
        if (u_source[1] >= 0) {
            u_box[u_at_next + u_around[1]] = low_f32(u_received[2]);
            u_box[u_at_next + u_around[1] + kRow] = high_f32(u_received[2]);
        }
        __syncthreads();
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                u_before_cells[y][x] = u_cells[y + 2][x + 2];
                u_cells[y + 2][x + 2] = u_next_cells[y][x];
            }
        }
    }

#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            if (in_i + x < size_i && in_j + y < size_j) {
                u_next[first + y * pitch + x] = u_cells[y + 2][x + 2];
                u_next_2[first + y * pitch + x] = u_before_cells[y][x];
            }
        }
    }
}
