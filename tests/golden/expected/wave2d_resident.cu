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
// blocks as a whole, so that no fence and no flag is needed. The store is predicated: a branch would take the
// vector apart.
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

// All time steps of a launch, with the grid on the chip. Reads u, u_prev, writes u_next, u_next_2.
// Schedule: resident threads=32x4 cells=4x2.
// Blocks wait for each other: launched so that all are there at once.
extern "C" __global__ void __launch_bounds__(128, 1)
    wave2d_resident(const float* __restrict__ u, const float* __restrict__ u_prev, float* __restrict__ u_next,
                    float* __restrict__ u_next_2, int nx, int ny, long long u_half, int pitch, int steps_sent,
                    int steps, float c_squared_dt_dt, long long* u_words) {
    extern __shared__ double shared_memory[];
    // The block's box of the grid, and the thread's first cell in it.
    const int thread = threadIdx.y * 32 + threadIdx.x;
    const int box_i = blockIdx.x * 128;
    const int size_i = min(nx - box_i, 128);
    const int in_i = threadIdx.x * 4;
    const int box_j = blockIdx.y * 8;
    const int size_j = min(ny - box_j, 8);
    const int in_j = threadIdx.y * 2;
    // The grid may end between the thread's rows.
    const bool is_cut = in_j + 2 > size_j;
    const bool is_first = threadIdx.x % 32 == 0;
    const bool is_last = threadIdx.x % 32 == 31 || in_i + 4 == size_i;

    auto& u_box = *reinterpret_cast<float(*)[3264]>(shared_memory);
    // What no cell of the grid is in holds zeros.
#pragma unroll 1
    for (int index = thread; index < 3264; index += 128) {
        u_box[index] = 0.0f;
    }
    __syncthreads();
    const int blocks_j = (ny + 7) / 8;
    const int blocks_i = (nx + 127) / 128;
    const int blocks = blocks_j * blocks_i;
    const int block = blockIdx.y * blocks_i + blockIdx.x;

    const int first = static_cast<int>(static_cast<long long>(box_j + in_j) * pitch + box_i + in_i);
    const int u_place = (in_j + 2) * 136 + in_i + 4;

    // The thread's own cells, and those around them that it reads.
    float u_cells[6][8] = {};
    float u_before_cells[2][4] = {};
#pragma unroll
    for (int y = 0; y < 2; ++y) {
#pragma unroll
        for (int x = 0; x < 4; ++x) {
            if (in_i + x < size_i && in_j + y < size_j) {
                u_cells[y + 2][x + 2] = u[first + y * pitch + x];
                u_box[u_place + y * 136 + x] = u_cells[y + 2][x + 2];
                u_before_cells[y][x] = u_prev[first + y * pitch + x];
            }
        }
    }

    // Around the box of u: places in it, and the cells of the grid that they show.
    // What shows none has a negative source.
    int u_around[2];
    int u_source[2];
#pragma unroll
    for (int x = 0; x < 4; ++x) {
        const int i = box_i + thread % 32 * 4 + x;
        const int j = box_j + (thread / 32 < 2 ? thread / 32 - 2 : size_j + thread / 32 - 2);
        const bool is_there = thread / 32 < 4 && thread % 32 * 4 + x < size_i;
        const int place = (j - box_j + 2) * 136 + i - box_i + 4;
        const bool shows = is_there;
        const int source = static_cast<int>(static_cast<long long>(j >= ny ? ny - 1 : j < 0 ? 0 : j) * pitch +
                                            (i >= nx ? nx - 1 : i < 0 ? 0 : i));
        if (x == 0) {
            u_around[0] = place;
            const int unit = ((j >= ny ? ny - 1 : j < 0 ? 0 : j) / 8 * blocks_i +
                              (i >= nx ? nx - 1 : i < 0 ? 0 : i) / 128) * 256 +
                (j >= ny ? ny - 1 : j < 0 ? 0 : j) % 8 * 32 + (i >= nx ? nx - 1 : i < 0 ? 0 : i) % 128 / 4;
            u_source[0] = shows ? unit : -1073741824;
        }
        if (shows) u_box[place] = u[source];
    }
#pragma unroll
    for (int x = 0; x < 2; ++x) {
        const int i = box_i + (thread % 4 < 2 ? thread % 4 - 2 : size_i + thread % 4 - 2);
        const int j = box_j + thread / 4 * 2 + x;
        const bool is_there = thread / 4 < 4 && thread / 4 * 2 + x < size_j;
        const int place = (j - box_j + 2) * 136 + i - box_i + 4;
        const bool shows = is_there;
        const int source = static_cast<int>(static_cast<long long>(j >= ny ? ny - 1 : j < 0 ? 0 : j) * pitch +
                                            (i >= nx ? nx - 1 : i < 0 ? 0 : i));
        if (x == 0) {
            u_around[1] = place;
            const int unit = ((j >= ny ? ny - 1 : j < 0 ? 0 : j) / 8 * blocks_i +
                              (i >= nx ? nx - 1 : i < 0 ? 0 : i) / 128) * 16 +
                ((i >= nx ? nx - 1 : i < 0 ? 0 : i) % 128 < 2 ? (i >= nx ? nx - 1 : i < 0 ? 0 : i) % 128 :
                 (i >= nx ? nx - 1 : i < 0 ? 0 : i) % 128 -
                 min(nx - ((i >= nx ? nx - 1 : i < 0 ? 0 : i) - (i >= nx ? nx - 1 : i < 0 ? 0 : i) % 128),
                     128) + 4) * 4 + (j >= ny ? ny - 1 : j < 0 ? 0 : j) % 8 / 2;
            u_source[1] = shows ? unit * 2 + blocks * 256 * 3 : -1073741824;
        }
        if (shows) u_box[place] = u[source];
    }

    // A bit for each of the thread's rows that other blocks read.
    int u_sends = 0;
#pragma unroll
    for (int y = 0; y < 2; ++y) {
        if (in_i < size_i && in_j + y < size_j && (in_j + y < 2 || in_j + y >= size_j - 2)) {
            u_sends = with_bit(u_sends, y);
        }
    }
    const int u_unit = block * 256 + in_j * 32 + in_i / 4;
    // The same for its columns, on either side.
    int u_side_sends = 0;
#pragma unroll
    for (int x = 0; x < 4; ++x) {
        if (in_i + x < size_i && in_i + x < 2) u_side_sends = with_bit(u_side_sends, x);
    }
    const int u_low_unit = block * 16 + in_i * 4 + in_j / 2;
#pragma unroll
    for (int x = 0; x < 4; ++x) {
        if (in_i + x < size_i && in_i + x >= size_i - 2) u_side_sends = with_bit(u_side_sends, x + 4);
    }
    const int u_high_unit = block * 16 + (in_i - size_i + 4) * 4 + in_j / 2;
    __syncthreads();

#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        const int u_at_now = step % 2 * 1632;
        const int u_at_next = (step + 1) % 2 * 1632;
        const int tag = steps_sent + step + 1;
        long long* u_unit_to = u_words + static_cast<long long>(tag % 2) * u_half +
            static_cast<long long>(u_unit * 2);
        long long* u_unit_to2 = u_words + static_cast<long long>(tag % 2) * u_half +
            static_cast<long long>(u_unit + blocks * 256 * 2);
        long long* u_low_unit_to = u_words + static_cast<long long>(tag % 2) * u_half +
            static_cast<long long>(u_low_unit * 2 + blocks * 256 * 3);
        long long* u_high_unit_to = u_words + static_cast<long long>(tag % 2) * u_half +
            static_cast<long long>(u_high_unit * 2 + blocks * 256 * 3);
        float u_next_cells[2][4];

        // The next u.
        if (is_cut) {
#pragma unroll
            for (int y = 0; y < 2; ++y) {
                if (in_j + y >= size_j) {
                    load4(&u_cells[y + 2][2], u_box + u_at_now + u_place + y * 136);
                }
            }
        }
#pragma unroll
        for (int y = -2; y < 0; ++y) {
            load4(&u_cells[y + 2][2], u_box + u_at_now + u_place + y * 136);
        }
#pragma unroll
        for (int y = 2; y < 4; ++y) {
            load4(&u_cells[y + 2][2], u_box + u_at_now + u_place + y * 136);
        }
#pragma unroll
        for (int y = 0; y < 2; ++y) {
            u_cells[y + 2][1] = __shfl_up_sync(0xffffffff, u_cells[y + 2][5], 1);
            u_cells[y + 2][0] = __shfl_up_sync(0xffffffff, u_cells[y + 2][4], 1);
            u_cells[y + 2][6] = __shfl_down_sync(0xffffffff, u_cells[y + 2][2], 1);
            u_cells[y + 2][7] = __shfl_down_sync(0xffffffff, u_cells[y + 2][3], 1);
            if (is_first) {
                u_cells[y + 2][1] = u_box[u_at_now + u_place + y * 136 - 1];
                u_cells[y + 2][0] = u_box[u_at_now + u_place + y * 136 - 2];
            }
            if (is_last) {
                u_cells[y + 2][6] = u_box[u_at_now + u_place + y * 136 + 4];
                u_cells[y + 2][7] = u_box[u_at_now + u_place + y * 136 + 5];
            }
        }
#pragma unroll
        for (int y = 0; y < 2; ++y) {
#pragma unroll
            for (int x = 0; x < 4; ++x) {
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
                share4(u_box + u_at_next + u_place + y * 136, u_next_cells[y]);
            }
            send3_f32(u_unit_to + y * 32 * 2, u_next_cells[y][0], u_next_cells[y][1], u_next_cells[y][2], tag,
                      has_bit(u_sends, y));
            send_f32(u_unit_to2 + y * 32, u_next_cells[y][3], tag, has_bit(u_sends, y));
        }
        if (u_side_sends != 0) {
            send2_f32(u_low_unit_to, u_next_cells[0][0], u_next_cells[1][0], tag, has_bit(u_side_sends, 0));
            send2_f32(u_low_unit_to + 8, u_next_cells[0][1], u_next_cells[1][1], tag,
                      has_bit(u_side_sends, 1));
            send2_f32(u_high_unit_to + 16, u_next_cells[0][2], u_next_cells[1][2], tag,
                      has_bit(u_side_sends, 6));
            send2_f32(u_high_unit_to + 24, u_next_cells[0][3], u_next_cells[1][3], tag,
                      has_bit(u_side_sends, 7));
        }

        int u_looks[3];
        u_looks[0] = u_source[0] * 2;
        u_looks[2] = u_source[0] + blocks * 256 * 2;
        u_looks[1] = u_source[1];
        long long u_seen[5];
        poll_packets(u_seen, u_looks, 2, 1, u_words + static_cast<long long>(tag % 2) * u_half, tag);
        if (u_source[0] >= 0) {
            float came[4];
            came[0] = low_f32(u_seen[0]);
            came[1] = high_f32(u_seen[0]);
            came[2] = low_f32(u_seen[1]);
            came[3] = low_f32(u_seen[4]);
            share4(u_box + u_at_next + u_around[0], came);
        }
        if (u_source[1] >= 0) {
            u_box[u_at_next + u_around[1]] = low_f32(u_seen[2]);
            u_box[u_at_next + u_around[1] + 136] = high_f32(u_seen[2]);
        }
        __syncthreads();
#pragma unroll
        for (int y = 0; y < 2; ++y) {
#pragma unroll
            for (int x = 0; x < 4; ++x) {
                u_before_cells[y][x] = u_cells[y + 2][x + 2];
                u_cells[y + 2][x + 2] = u_next_cells[y][x];
            }
        }
    }

#pragma unroll
    for (int y = 0; y < 2; ++y) {
#pragma unroll
        for (int x = 0; x < 4; ++x) {
            if (in_i + x < size_i && in_j + y < size_j) {
                u_next[first + y * pitch + x] = u_cells[y + 2][x + 2];
                u_next_2[first + y * pitch + x] = u_before_cells[y][x];
            }
        }
    }
}
