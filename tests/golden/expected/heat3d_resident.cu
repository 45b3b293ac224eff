// heat3d: CUDA kernels of a stencil, emitted by Halocline.
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
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(__cvta_generic_to_global(to)), "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3])
                 : "memory");
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

// Reads u, writes u_next.
// Schedule: direct, blocks of 32x4x4 threads, 4x2x4 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    heat3d_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz, int pitch,
                long long slice, float lambda_dt) {
    constexpr int kCellsX = 4;
    constexpr int kCellsY = 2;
    constexpr int kCellsZ = 4;
    constexpr int kThreadsX = 32;
    constexpr int kThreadsY = 4;
    constexpr int kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = (blockIdx.y * kThreadsY + threadIdx.y) * kCellsY;
    const int k = (blockIdx.z * kThreadsZ + threadIdx.z) * kCellsZ;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[kCellsY + 2];
#pragma unroll
    for (int y = 0; y < kCellsY + 2; ++y) {
        row[y] = static_cast<long long>(min(j + y - 1, ny)) * pitch;
    }
    long long plane[kCellsZ + 2];
#pragma unroll
    for (int z = 0; z < kCellsZ + 2; ++z) {
        plane[z] = min(k + z - 1, nz) * slice;
    }

    float u_cells[kCellsZ + 2][kCellsY + 2][kCellsX + 2];
#pragma unroll
    for (int y = 1; y < 3; ++y) {
        load4(&u_cells[0][y][1], u + plane[0] + row[y] + i);
    }
#pragma unroll
    for (int z = 1; z < 5; ++z) {
        load4(&u_cells[z][0][1], u + plane[z] + row[0] + i);
    }
#pragma unroll
    for (int z = 1; z < 5; ++z) {
#pragma unroll
        for (int y = 1; y < 3; ++y) {
            const float* u_row = u + plane[z] + row[y] + i;
            u_cells[z][y][0] = u_row[-1];
            load4(&u_cells[z][y][1], u_row);
            u_cells[z][y][5] = u_row[4];
        }
    }
#pragma unroll
    for (int z = 1; z < 5; ++z) {
        load4(&u_cells[z][3][1], u + plane[z] + row[3] + i);
    }
#pragma unroll
    for (int y = 1; y < 3; ++y) {
        load4(&u_cells[5][y][1], u + plane[5] + row[y] + i);
    }

#pragma unroll
    for (int z = 0; z < kCellsZ; ++z) {
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
            float u_next_result[kCellsX];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                u_next_result[x] = fmaf(lambda_dt,
                                        fmaf(-6.0f, u_cells[z + 1][y + 1][x + 1],
                                             u_cells[z + 1][y + 1][x] + u_cells[z + 1][y + 1][x + 2] +
                                             u_cells[z + 1][y][x + 1] + u_cells[z + 1][y + 2][x + 1] +
                                             u_cells[z][y + 1][x + 1] + u_cells[z + 2][y + 1][x + 1]),
                                        u_cells[z + 1][y + 1][x + 1]);
            }
            if (j + y < ny && k + z < nz) {
                if (i + kCellsX <= nx) {
                    store4(u_next + plane[z + 1] + row[y + 1] + i, u_next_result);
                } else {
#pragma unroll
                    for (int x = 0; x < kCellsX; ++x) {
                        if (i + x < nx) u_next[plane[z + 1] + row[y + 1] + i + x] = u_next_result[x];
                    }
                }
            }
        }
    }
}

// All time steps of a launch, with the grid on the chip. Reads u, writes u_next.
// Schedule: resident threads=32x2x4 cells=4x4x4.
// Blocks wait for each other: launched so that all are there at once.
extern "C" __global__ void __launch_bounds__(256, 1)
    heat3d_resident(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz,
                    long long u_half, int pitch, int steps_sent, int steps, long long slice, float lambda_dt,
                    long long* u_exchange) {
    extern __shared__ double shared_memory[];
    constexpr int kThreadsX = 32;
    constexpr int kThreadsY = 2;
    constexpr int kThreads = 256;
    constexpr int kCellsX = 4;
    constexpr int kCellsY = 4;
    constexpr int kCellsZ = 4;
    constexpr int kTileX = 128;
    constexpr int kTileY = 8;
    constexpr int kTileZ = 16;
    constexpr int kNoPacket = -1073741824;  // negative whatever offset is added
    constexpr int kRow = 136;               // of cells in shared memory, with those around
    constexpr int kPlane = 1360;
    constexpr int kSlot = 24480;            // cells of one level in shared memory
    constexpr int kMessages = 4096;         // rows of threads that a block may send
    constexpr int kSideMessages = 64;       // columns of threads

    // The block's box of the grid, and the thread's first cell in it.
    const int thread = (threadIdx.z * kThreadsY + threadIdx.y) * kThreadsX + threadIdx.x;
    const int box_i = blockIdx.x * kTileX;
    const int in_i = threadIdx.x * kCellsX;
    const int box_j = blockIdx.y * kTileY;
    const int in_j = threadIdx.y * kCellsY;
    const int box_k = blockIdx.z * kTileZ;
    const int in_k = threadIdx.z * kCellsZ;
    const bool is_first = threadIdx.x % 32 == 0;
    const bool is_last = threadIdx.x % 32 == 31;

    auto& u_box = *reinterpret_cast<float(*)[2 * kSlot]>(shared_memory);
    // Cells that are not in the grid are zero.
#pragma unroll 1
    for (int index = thread; index < 2 * kSlot; index += kThreads) {
        u_box[index] = 0.0f;
    }
    __syncthreads();
    const int blocks_k = (nz + kTileZ - 1) / kTileZ;
    const int blocks_j = (ny + kTileY - 1) / kTileY;
    const int blocks_i = (nx + kTileX - 1) / kTileX;
    const int blocks = blocks_k * blocks_j * blocks_i;
    const int block = (blockIdx.z * blocks_j + blockIdx.y) * blocks_i + blockIdx.x;

    const int first = static_cast<int>((box_k + in_k) * slice + static_cast<long long>(box_j + in_j) * pitch +
                                       box_i + in_i);
    const int u_place = (in_k + 1) * kPlane + (in_j + 1) * kRow + in_i + 4;

    // The thread's own cells, and those around them that it reads.
    float u_cells[6][6][6] = {};
#pragma unroll
    for (int z = 0; z < kCellsZ; ++z) {
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
            load4(&u_cells[z + 1][y + 1][1], u + first + z * static_cast<int>(slice) + y * pitch);
            share4(u_box + u_place + z * kPlane + y * kRow, &u_cells[z + 1][y + 1][1]);
        }
    }

    // Around the box of u: the ghost cells that each thread fills in, from the grid and then from packets of
    // other blocks.
    int u_around[7];
    int u_source[7];
#pragma unroll
    for (int pass = 0; pass < 2; ++pass) {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const int index = thread + pass * kThreads;
            const int i = box_i + index % kThreadsX * kCellsX + x;
            const int j = box_j + index / kThreadsX % kTileY;
            const int layer = index / (kThreadsX * kTileY);
            const int k = box_k + (layer < 1 ? layer - 1 : kTileZ + layer - 1);
            const int place = (k - box_k + 1) * kPlane + (j - box_j + 1) * kRow + i - box_i + 4;
            const bool shows = !(i < 0 || i >= nx || j < 0 || j >= ny || k < 0 || k >= nz);
            const int source = static_cast<int>(k * slice + static_cast<long long>(j) * pitch + i);
            if (x == 0) {
                u_around[pass] = place;
                const int message = ((k / kTileZ * blocks_j + j / kTileY) * blocks_i +
                                     i / kTileX) * kMessages +
                    (k % kTileZ * kTileY + j % kTileY) * kThreadsX + i % kTileX / kCellsX;
                u_source[pass] = shows ? message : kNoPacket;
            }
            u_box[place] = shows ? u[source] : 10.0f;
            if (!shows) u_box[kSlot + place] = 10.0f;
        }
    }
#pragma unroll
    for (int pass = 0; pass < 4; ++pass) {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const int index = thread + pass * kThreads;
            const int i = box_i + index % kThreadsX * kCellsX + x;
            const int layer = index / kThreadsX % 2;
            const int j = box_j + (layer < 1 ? layer - 1 : kTileY + layer - 1);
            const int k = box_k + index / (kThreadsX * 2);
            const int place = (k - box_k + 1) * kPlane + (j - box_j + 1) * kRow + i - box_i + 4;
            const bool shows = !(i < 0 || i >= nx || j < 0 || j >= ny || k < 0 || k >= nz);
            const int source = static_cast<int>(k * slice + static_cast<long long>(j) * pitch + i);
            if (x == 0) {
                u_around[pass + 2] = place;
                const int message = ((k / kTileZ * blocks_j + j / kTileY) * blocks_i +
                                     i / kTileX) * kMessages +
                    (k % kTileZ * kTileY + j % kTileY) * kThreadsX + i % kTileX / kCellsX;
                u_source[pass + 2] = shows ? message : kNoPacket;
            }
            u_box[place] = shows ? u[source] : 10.0f;
            if (!shows) u_box[kSlot + place] = 10.0f;
        }
    }
#pragma unroll
    for (int x = 0; x < kCellsY; ++x) {
        const int layer = thread % 2;
        const int i = box_i + (layer < 1 ? layer - 1 : kTileX + layer - 1);
        const int j = box_j + thread / 2 % kThreadsY * kCellsY + x;
        const int k = box_k + thread / (2 * kThreadsY);
        const bool is_there = thread / (2 * kThreadsY) < kTileZ;
        const int place = (k - box_k + 1) * kPlane + (j - box_j + 1) * kRow + i - box_i + 4;
        const bool shows = is_there && !(i < 0 || i >= nx || j < 0 || j >= ny || k < 0 || k >= nz);
        const int source = static_cast<int>(k * slice + static_cast<long long>(j) * pitch + i);
        if (x == 0) {
            u_around[6] = place;
            const int message = ((k / kTileZ * blocks_j + j / kTileY) * blocks_i +
                                 i / kTileX) * kSideMessages +
                (k % kTileZ * 2 + (i % kTileX < 1 ? i % kTileX : i % kTileX - kTileX + 2)) * kThreadsY +
                j % kTileY / kCellsY;
            u_source[6] = shows ? message : kNoPacket;
        }
        if (is_there) u_box[place] = shows ? u[source] : 10.0f;
        if (is_there && !shows) u_box[kSlot + place] = 10.0f;
    }

    // A bit for each row of the thread that other blocks need.
    int u_sends = 0;
#pragma unroll
    for (int z = 0; z < kCellsZ; ++z) {
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
            if ((box_j > 0 && in_j + y < 1) || (box_j + kTileY < ny && in_j + y >= kTileY - 1) ||
                (box_k > 0 && in_k + z < 1) || (box_k + kTileZ < nz && in_k + z >= kTileZ - 1)) {
                u_sends = with_bit(u_sends, z * kCellsY + y);
            }
        }
    }
    const int u_message = block * kMessages + (in_k * kTileY + in_j) * kThreadsX + in_i / kCellsX;
    // The same for its columns, at the lower face and at the upper one.
    int u_side_sends = 0;
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        if ((box_i > 0 && in_i + x < 1) || (in_i + x < 1 && box_i + kTileX < nx && in_i + x >= kTileX - 1)) {
            u_side_sends = with_bit(u_side_sends, x);
        }
    }
    const int u_low_message = block * kSideMessages + (in_k * 2 + in_i) * kThreadsY + in_j / kCellsY;
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        if (box_i + kTileX < nx && in_i + x >= kTileX - 1) u_side_sends = with_bit(u_side_sends, x + 4);
    }
    const int u_high_message = block * kSideMessages + (in_k * 2 + in_i - kTileX + 2) * kThreadsY +
        in_j / kCellsY;
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
        long long* u_low_message_to2 = u_packets + u_low_message + blocks * kSideMessages * 2 +
            blocks * kMessages * 3;
        long long* u_high_message_to = u_packets + u_high_message * 2 + blocks * kMessages * 3;
        long long* u_high_message_to2 = u_packets + u_high_message + blocks * kSideMessages * 2 +
            blocks * kMessages * 3;
        float u_next_cells[4][4][4];

        // The next u.
#pragma unroll
        for (int y = 0; y < 4; ++y) {
            load4(&u_cells[0][y + 1][1], u_box + u_at_now + u_place - kPlane + y * kRow);
        }
#pragma unroll
        for (int z = -2; z < kCellsZ; ++z) {
            if (z < kCellsZ - 2) {
                load4(&u_cells[z + 3][0][1], u_box + u_at_now + u_place + (z + 2) * kPlane - kRow);
                load4(&u_cells[z + 3][5][1], u_box + u_at_now + u_place + (z + 2) * kPlane + 4 * kRow);
#pragma unroll
                for (int y = 0; y < 4; ++y) {
                    u_cells[z + 3][y + 1][0] = __shfl_up_sync(0xffffffff, u_cells[z + 3][y + 1][4], 1);
                    u_cells[z + 3][y + 1][5] = __shfl_down_sync(0xffffffff, u_cells[z + 3][y + 1][1], 1);
                    if (is_first) {
                        u_cells[z + 3][y + 1][0] =
                            u_box[u_at_now + u_place + (z + 2) * kPlane + y * kRow - 1];
                    }
                    if (is_last) {
                        u_cells[z + 3][y + 1][5] =
                            u_box[u_at_now + u_place + (z + 2) * kPlane + y * kRow + 4];
                    }
                }
            }
            if (z >= kCellsZ - 2 && z < kCellsZ - 1) {
#pragma unroll
                for (int y = 0; y < 4; ++y) {
                    load4(&u_cells[z + 3][y + 1][1],
                          u_box + u_at_now + u_place + (z + 2) * kPlane + y * kRow);
                }
            }
            if (z >= 0) {
#pragma unroll
                for (int y = 0; y < kCellsY; ++y) {
#pragma unroll
                    for (int x = 0; x < kCellsX; ++x) {
                        u_next_cells[z][y][x] = fmaf(lambda_dt,
                                                     fmaf(-6.0f, u_cells[z + 1][y + 1][x + 1],
                                                          u_cells[z + 1][y + 1][x] +
                                                          u_cells[z + 1][y + 1][x + 2] +
                                                          u_cells[z + 1][y][x + 1] +
                                                          u_cells[z + 1][y + 2][x + 1] +
                                                          u_cells[z][y + 1][x + 1] +
                                                          u_cells[z + 2][y + 1][x + 1]),
                                                     u_cells[z + 1][y + 1][x + 1]);
                    }
                    if (y < 1 || y >= kCellsY - 1 || z < 1 || z >= kCellsZ - 1) {
                        share4(u_box + u_at_next + u_place + z * kPlane + y * kRow, u_next_cells[z][y]);
                    }
                    send3_f32(u_message_to + (z * kTileY + y) * kThreadsX * 2, u_next_cells[z][y][0],
                              u_next_cells[z][y][1], u_next_cells[z][y][2], epoch,
                              has_bit(u_sends, z * kCellsY + y));
                    send_f32(u_message_to2 + (z * kTileY + y) * kThreadsX, u_next_cells[z][y][3], epoch,
                             has_bit(u_sends, z * kCellsY + y));
                }
                if (u_side_sends != 0) {
                    send3_f32(u_low_message_to + z * 2 * kThreadsY * 2, u_next_cells[z][0][0],
                              u_next_cells[z][1][0], u_next_cells[z][2][0], epoch, has_bit(u_side_sends, 0));
                    send_f32(u_low_message_to2 + z * 2 * kThreadsY, u_next_cells[z][3][0], epoch,
                             has_bit(u_side_sends, 0));
                    send3_f32(u_high_message_to + (z * 2 + 3) * kThreadsY * 2, u_next_cells[z][0][3],
                              u_next_cells[z][1][3], u_next_cells[z][2][3], epoch, has_bit(u_side_sends, 7));
                    send_f32(u_high_message_to2 + (z * 2 + 3) * kThreadsY, u_next_cells[z][3][3], epoch,
                             has_bit(u_side_sends, 7));
                }
            }
        }

        int u_offsets[14];
#pragma unroll
        for (int pass = 0; pass < 6; ++pass) {
            u_offsets[pass] = u_source[pass] * 2;
            u_offsets[pass + 7] = u_source[pass] + blocks * kMessages * 2;
        }
        u_offsets[6] = u_source[6] * 2 + blocks * kMessages * 3;
        u_offsets[13] = u_source[6] + blocks * kSideMessages * 2 + blocks * kMessages * 3;
        long long u_received[21];
        poll_packets(u_received, u_offsets, 7, 7, u_packets, epoch);
#pragma unroll
        for (int pass = 0; pass < 6; ++pass) {
            if (u_source[pass] >= 0) {
                float values[4];
                values[0] = low_f32(u_received[pass * 2]);
                values[1] = high_f32(u_received[pass * 2]);
                values[2] = low_f32(u_received[pass * 2 + 1]);
                values[3] = low_f32(u_received[pass + 14]);
                share4(u_box + u_at_next + u_around[pass], values);
            }
        }
        if (u_source[6] >= 0) {
            u_box[u_at_next + u_around[6]] = low_f32(u_received[12]);
            u_box[u_at_next + u_around[6] + kRow] = high_f32(u_received[12]);
            u_box[u_at_next + u_around[6] + 2 * kRow] = low_f32(u_received[13]);
            u_box[u_at_next + u_around[6] + 3 * kRow] = low_f32(u_received[20]);
        }
        __syncthreads();
#pragma unroll
        for (int z = 0; z < kCellsZ; ++z) {
#pragma unroll
            for (int y = 0; y < kCellsY; ++y) {
#pragma unroll
                for (int x = 0; x < kCellsX; ++x) {
                    u_cells[z + 1][y + 1][x + 1] = u_next_cells[z][y][x];
                }
            }
        }
    }

#pragma unroll
    for (int z = 0; z < kCellsZ; ++z) {
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                u_next[first + z * static_cast<int>(slice) + y * pitch + x] = u_cells[z + 1][y + 1][x + 1];
            }
        }
    }
}
