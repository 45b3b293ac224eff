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
    __stwb(reinterpret_cast<float4*>(to), make_float4(from[0], from[1], from[2], from[3]));
}

__device__ __forceinline__ void share4(float* to, const float* from) {
    *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
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

__device__ __forceinline__ void send4_f32(long long* packets, int message, int messages, int epoch,
                                          bool is_needed, const float* from, int stride) {
    asm volatile(
        "{ .reg .pred p; .reg .b64 low, high, small; .reg .b128 large; setp.ne.s32 p, %7, 0;"
        " mov.b64 low, {%2, %3}; mov.b64 high, {%4, %6}; mov.b128 large, {low, high};"
        " mov.b64 small, {%5, %6}; @p st.relaxed.gpu.global.b128 [%0], large;"
        " @p st.relaxed.gpu.global.b64 [%1], small; }" ::"l"(
            reinterpret_cast<longlong2*>(packets + messages) + message),
        "l"(packets + message), "f"(from[0]), "f"(from[stride]), "f"(from[2 * stride]), "f"(from[3 * stride]),
        "r"(epoch), "r"(static_cast<int>(is_needed))
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

// Loads a message. Returns 0 if both of its packets are of this epoch.
__device__ __forceinline__ int receive(const long long* packets, int message, int messages, int epoch,
                                       float (&to)[4]) {
    int epochs[2];
    asm volatile(
        "{ .reg .b64 low, high, small; .reg .b128 large; ld.relaxed.gpu.global.b128 large, [%6];"
        " ld.relaxed.gpu.global.b64 small, [%7]; mov.b128 {low, high}, large; mov.b64 {%0, %1}, low;"
        " mov.b64 {%2, %4}, high; mov.b64 {%3, %5}, small; }"
        : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3]), "=r"(epochs[0]), "=r"(epochs[1])
        : "l"(reinterpret_cast<const longlong2*>(packets + messages) + message), "l"(packets + message)
        : "memory");
    return (epochs[0] ^ epoch) | (epochs[1] ^ epoch);
}

// Polls messages of several sizes until all are of this epoch; a negative number is no message. All loads are
// issued before the first one is waited for.
template <class Values, int kCount, class... More>
__device__ __forceinline__ int receive_all(const long long* packets, int messages, int epoch,
                                           const int* message, Values (&to)[kCount], More&... more) {
    int differs = 0;
#pragma unroll
    for (int m = 0; m < kCount; ++m)
        differs |= receive(packets, max(message[m], 0), messages, epoch, to[m]) & ~(message[m] >> 31);
    if constexpr (sizeof...(more) > 0)
        differs |= receive_all(packets, messages, epoch, message + kCount, more...);
    return differs;
}

template <class... Values>
__device__ __forceinline__ void poll_all(const long long* packets, int messages, int epoch,
                                         const int* message, Values&... to) {
    while (receive_all(packets, messages, epoch, message, to...) != 0) {
    }
}

// Reads u, writes u_next.
// Schedule: direct, blocks of 32x4x4 threads, 4x2x4 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    heat3d_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz, int pitch,
                long long slice, float lambda_dt) {
    constexpr int kCellsX = 4, kCellsY = 2, kCellsZ = 4;
    constexpr int kThreadsX = 32, kThreadsY = 4, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = (blockIdx.y * kThreadsY + threadIdx.y) * kCellsY;
    const int k = (blockIdx.z * kThreadsZ + threadIdx.z) * kCellsZ;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[kCellsY + 2];
#pragma unroll
    for (int y = 0; y < kCellsY + 2; ++y)
        row[y] = static_cast<long long>(min(j + y - 1, ny)) * pitch;
    long long plane[kCellsZ + 2];
#pragma unroll
    for (int z = 0; z < kCellsZ + 2; ++z)
        plane[z] = min(k + z - 1, nz) * slice;

    float u_cells[kCellsZ + 2][kCellsY + 2][kCellsX + 2];
#pragma unroll
    for (int y = 1; y < 3; ++y)
        load4(&u_cells[0][y][1], u + plane[0] + row[y] + i);
#pragma unroll
    for (int z = 1; z < 5; ++z)
        load4(&u_cells[z][0][1], u + plane[z] + row[0] + i);
#pragma unroll
    for (int z = 1; z < 5; ++z)
#pragma unroll
        for (int y = 1; y < 3; ++y) {
            const float* u_row = u + plane[z] + row[y] + i;
            u_cells[z][y][0] = u_row[-1];
            load4(&u_cells[z][y][1], u_row);
            u_cells[z][y][5] = u_row[4];
        }
#pragma unroll
    for (int z = 1; z < 5; ++z)
        load4(&u_cells[z][3][1], u + plane[z] + row[3] + i);
#pragma unroll
    for (int y = 1; y < 3; ++y)
        load4(&u_cells[5][y][1], u + plane[5] + row[y] + i);

#pragma unroll
    for (int z = 0; z < kCellsZ; ++z)
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
            float u_next_result[kCellsX];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                u_next_result[x] = fmaf(lambda_dt,
                                        fmaf(-6.0f, u_cells[z + 1][y + 1][x + 1],
                                             u_cells[z + 1][y + 1][x] + u_cells[z + 1][y + 1][x + 2] +
                                             u_cells[z + 1][y][x + 1] + u_cells[z + 1][y + 2][x + 1] +
                                             u_cells[z][y + 1][x + 1] + u_cells[z + 2][y + 1][x + 1]),
                                        u_cells[z + 1][y + 1][x + 1]);
            if (j + y < ny && k + z < nz) {
                if (i + kCellsX <= nx)
                    store4(u_next + plane[z + 1] + row[y + 1] + i, u_next_result);
                else
#pragma unroll
                    for (int x = 0; x < kCellsX; ++x)
                        if (i + x < nx) u_next[plane[z + 1] + row[y + 1] + i + x] = u_next_result[x];
            }
        }
}

// All time steps of a launch, with the grid on the chip. Reads u, writes u_next.
// Schedule: resident threads=32x8x1 cells=4x2x8 keep=shared.
// Blocks wait for each other: launched so that all are there at once.
extern "C" __global__ void __launch_bounds__(256, 1)
    heat3d_resident(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz,
                    long long u_half, int pitch, int steps_sent, int steps, long long slice, float lambda_dt,
                    long long* u_exchange) {
    extern __shared__ double shared_memory[];
    constexpr int kThreadsX = 32, kThreadsY = 8, kThreads = 256;
    constexpr int kCellsX = 4, kCellsY = 2, kCellsZ = 8;
    constexpr int kTileX = 128, kTileY = 16, kTileZ = 8;
    constexpr int kBoxX = 136, kBoxY = 18, kBoxZ = 10;  // in shared memory, with cells around
    constexpr int kRows = 4096;                         // of threads, which a block may send
    constexpr int kMessages = 4224;                     // those rows, and columns of threads

    // The block's box of the grid, and the thread's first cell in it.
    const int thread = threadIdx.y * kThreadsX + threadIdx.x;
    const int box_i = blockIdx.x * kTileX;
    const int in_i = threadIdx.x * kCellsX;
    const int box_j = blockIdx.y * kTileY;
    const int in_j = threadIdx.y * kCellsY;
    const int box_k = blockIdx.z * kTileZ;
    const int in_k = 0;
    const bool is_first = threadIdx.x % 32 == 0;
    const bool is_last = threadIdx.x % 32 == 31;
    auto& u_flat = *reinterpret_cast<float(*)[kBoxZ * kBoxY * kBoxX]>(shared_memory);
    const int start = (in_k * kBoxY + in_j) * kBoxX + in_i;
    auto& u_box = *reinterpret_cast<float(*)[kBoxZ][kBoxY][kBoxX]>(u_flat + start);
    const int blocks_j = (ny + kTileY - 1) / kTileY;
    const int blocks_i = (nx + kTileX - 1) / kTileX;
    const int u_messages = (nz + kTileZ - 1) / kTileZ * blocks_j * blocks_i * kMessages;
    const auto row_message = [&](int i, int j, int k) {
        return ((k / kTileZ * blocks_j + j / kTileY) * blocks_i + i / kTileX) * kMessages +
            (k % kTileZ * kTileY + j % kTileY) * kThreadsX + i % kTileX / kCellsX;
    };
    const auto column_message = [&](int i, int j, int k) {
        return ((k / kTileZ * blocks_j + j / kTileY) * blocks_i + i / kTileX) * kMessages + kRows +
            (k % kTileZ * 2 + (i % kTileX < 1 ? 0 : 1)) * kThreadsY + j % kTileY / kCellsY;
    };
    const int first = static_cast<int>((box_k + in_k) * slice + static_cast<long long>(box_j + in_j) * pitch +
                                       box_i + in_i);

    // The thread's own cells, and those around them that it reads.
#pragma unroll
    for (int z = 0; z < kCellsZ; ++z)
#pragma unroll
        for (int y = 0; y < kCellsY; ++y)
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                u_box[z + 1][y + 1][x + 4] = u[first + z * static_cast<int>(slice) + y * pitch + x];

    // The ghost cells of u that this thread fills in: at first from the grid, later from messages.
    int u_around[7];
    int u_source[7];
#pragma unroll
    for (int pass = 0; pass < 7; ++pass) {
        int i = box_i;
        int j = box_j;
        int k = box_k;
        if (pass < 4) {
            const int index = thread + pass * kThreads;
            i += index % kThreadsX * kCellsX;
            j += index / kThreadsX % kTileY;
            k += index / (kThreadsX * kTileY) < 1 ? -1 : kTileZ;
        } else if (pass < 6) {
            const int index = thread + (pass - 4) * kThreads;
            i += index % kThreadsX * kCellsX;
            j += index / kThreadsX % 2 < 1 ? -1 : kTileY;
            k += index / (kThreadsX * 2);
        } else {
            i += thread % 2 < 1 ? -1 : kTileX;
            j += thread / 2 % kThreadsY * kCellsY;
            k += thread / (2 * kThreadsY);
        }
        const bool is_there = pass < 6 || thread / (2 * kThreadsY) < kTileZ;
#pragma unroll
        for (int cell = 0; cell < (pass < 4 ? kCellsX : pass < 6 ? kCellsX : kCellsY); ++cell) {
            const int place = ((k - box_k + 1) * kBoxY + j - box_j + 1) * kBoxX + i - box_i + 4;
            const bool shows = is_there && i >= 0 && i < nx && j >= 0 && j < ny && k >= 0 && k < nz;
            const int source = static_cast<int>(k * slice + static_cast<long long>(j) * pitch + i);
            if (cell == 0) {
                u_around[pass] = place;
                u_source[pass] = shows ? (pass < 6 ? row_message(i, j, k) : column_message(i, j, k)) : -1;
            }
            if (is_there) u_flat[place] = shows ? u[source] : 10.0f;
            i += pass < 6 ? 1 : 0;
            j += pass < 6 ? 0 : 1;
        }
    }

    // A bit for each row of the thread that other blocks need.
    int u_sends = 0;
#pragma unroll
    for (int z = 0; z < kCellsZ; ++z)
#pragma unroll
        for (int y = 0; y < kCellsY; ++y)
            if ((box_j > 0 && in_j + y < 1) || (box_j + kTileY < ny && in_j + y >= kTileY - 1) ||
                (box_k > 0 && in_k + z < 1) || (box_k + kTileZ < nz && in_k + z >= kTileZ - 1))
                u_sends |= 1 << (z * kCellsY + y);
    const int u_message = row_message(box_i + in_i, box_j + in_j, box_k + in_k);
    // The same for its columns, at the lower face and at the upper one.
    const int u_side_sends = (box_i > 0 && in_i == 0 ? 1 : 0) |
        (box_i + kTileX < nx && in_i == kTileX - kCellsX ? 2 : 0);
    const int u_low_message = column_message(box_i + in_i, box_j + in_j, box_k + in_k);
    const int u_high_message = column_message(box_i + in_i + 3, box_j + in_j, box_k + in_k);
    long long* u_packets = u_exchange + (steps_sent + 1) % 2 * u_half;
    long long u_to_next = steps_sent % 2 == 0 ? -u_half : u_half;
    __syncthreads();

#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        const int epoch = steps_sent + step + 1;
        float u_cells[10][4][6];
        float u_next_cells[8][2][4];

        // The next u.
#pragma unroll
        for (int z = -3; z < kCellsZ; ++z) {
            if (z >= -2 && z < kCellsZ - 2) {
                load4(&u_cells[z + 3][0][1], u_box[z + 3][0] + 4);
#pragma unroll
                for (int y = 0; y < 2; ++y)
                    load4(&u_cells[z + 3][y + 1][1], u_box[z + 3][y + 1] + 4);
                load4(&u_cells[z + 3][3][1], u_box[z + 3][3] + 4);
#pragma unroll
                for (int y = 0; y < 2; ++y) {
                    u_cells[z + 3][y + 1][0] = __shfl_up_sync(0xffffffff, u_cells[z + 3][y + 1][4], 1);
                    u_cells[z + 3][y + 1][5] = __shfl_down_sync(0xffffffff, u_cells[z + 3][y + 1][1], 1);
                    if (is_first) u_cells[z + 3][y + 1][0] = u_box[z + 3][y + 1][3];
                    if (is_last) u_cells[z + 3][y + 1][5] = u_box[z + 3][y + 1][8];
                }
            } else if (z < kCellsZ - 1) {
#pragma unroll
                for (int y = 0; y < 2; ++y)
                    load4(&u_cells[z + 3][y + 1][1], u_box[z + 3][y + 1] + 4);
            }
            if (z >= 0) {
#pragma unroll
                for (int y = 0; y < kCellsY; ++y) {
#pragma unroll
                    for (int x = 0; x < kCellsX; ++x)
                        u_next_cells[z][y][x] = fmaf(lambda_dt,
                                                     fmaf(-6.0f, u_cells[z + 1][y + 1][x + 1],
                                                          u_cells[z + 1][y + 1][x] +
                                                          u_cells[z + 1][y + 1][x + 2] +
                                                          u_cells[z + 1][y][x + 1] +
                                                          u_cells[z + 1][y + 2][x + 1] +
                                                          u_cells[z][y + 1][x + 1] +
                                                          u_cells[z + 2][y + 1][x + 1]),
                                                     u_cells[z + 1][y + 1][x + 1]);
                    send4_f32(u_packets, u_message + (z * kTileY + y) * kThreadsX, u_messages, epoch,
                              (u_sends & 1 << (z * kCellsY + y)) != 0, u_next_cells[z][y], 1);
                }
                if (u_side_sends != 0) {
                    send2_f32(u_packets, u_low_message + z * 2 * kThreadsY, u_messages, epoch,
                              (u_side_sends & 1) != 0, u_next_cells[z][0], 4);
                    send2_f32(u_packets, u_high_message + z * 2 * kThreadsY, u_messages, epoch,
                              (u_side_sends & 1 << 1) != 0, u_next_cells[z][0] + 3, 4);
                }
                // All threads have read this plane: that of the next level takes its place.
                __syncthreads();
#pragma unroll
                for (int y = 0; y < kCellsY; ++y)
                    share4(u_box[z + 1][y + 1] + 4, u_next_cells[z][y]);
            }
        }

        float u_received[6][4];
        float u_received2[1][2];
        poll_all(u_packets, u_messages, epoch, u_source, u_received, u_received2);
#pragma unroll
        for (int pass = 0; pass < 6; ++pass)
            if (u_source[pass] >= 0) share4(u_flat + u_around[pass], u_received[pass]);
        if (u_source[6] >= 0)
#pragma unroll
            for (int y = 0; y < kCellsY; ++y)
                u_flat[u_around[6] + y * kBoxX] = u_received2[0][y];
        __syncthreads();
        u_packets += u_to_next;
        u_to_next = -u_to_next;
    }

#pragma unroll
    for (int z = 0; z < kCellsZ; ++z)
#pragma unroll
        for (int y = 0; y < kCellsY; ++y)
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                u_next[first + z * static_cast<int>(slice) + y * pitch + x] = u_box[z + 1][y + 1][x + 4];
}
