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
    for (int y = j == 0 ? -2 : j; y < (j == ny - 1 ? ny + 2 : j + 1); ++y)
        for (int x = i == 0 ? -2 : i; x < (i == nx - 1 ? nx + 2 : i + 1); ++x)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Reads u, u_prev, writes u_next, reduces to height.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 10)
    wave2d_step(const float* __restrict__ u, const float* __restrict__ u_prev, float* __restrict__ u_next,
                int nx, int ny, int pitch, float c_squared_dt_dt, double* __restrict__ height_partials) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

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
        if (near_face || i < 1 || i >= nx - 1) store_images_u(u_next, i, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double height_of_block = block_max(height_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        height_partials[blockIdx.x + gridDim.x * blockIdx.y] = height_of_block;
}

// In place of wave2d_step in steps whose results nobody reads; leaves out height.
// Reads u, u_prev, writes u_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 10)
    wave2d_step_states(const float* __restrict__ u, const float* __restrict__ u_prev,
                       float* __restrict__ u_next, int nx, int ny, int pitch, float c_squared_dt_dt) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

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
    if (near_face || i < 1 || i >= nx - 1) store_images_u(u_next, i, j, nx, ny, pitch);
}

// All time steps of a launch, with the grid on the chip. Reads u, u_prev, writes u_next, u_next_2.
// Schedule: resident threads=32x4 cells=4x2 keep=in_place.
// Blocks wait for each other: launched so that all are there at once.
extern "C" __global__ void __launch_bounds__(128, 1)
    wave2d_resident(const float* __restrict__ u, const float* __restrict__ u_prev, float* __restrict__ u_next,
                    float* __restrict__ u_next_2, int nx, int ny, long long u_half, int pitch, int steps_sent,
                    int steps, float c_squared_dt_dt, long long* u_exchange) {
    extern __shared__ double shared_memory[];
    constexpr int kThreadsX = 32, kThreadsY = 4, kThreads = 128;
    constexpr int kCellsX = 4, kCellsY = 2;
    constexpr int kTileX = 128, kTileY = 8;
    constexpr int kBoxX = 136, kBoxY = 12;  // in shared memory, with cells around
    constexpr int kRows = 256;              // of threads, which a block may send
    constexpr int kMessages = 272;          // those rows, and columns of threads

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
    auto& u_flat = *reinterpret_cast<float(*)[kBoxY * kBoxX]>(shared_memory);
    const int start = in_j * kBoxX + in_i;
    auto& u_box = *reinterpret_cast<float(*)[kBoxY][kBoxX]>(u_flat + start);
    // Cells that are not in the grid are zero.
#pragma unroll 1
    for (int index = thread; index < kBoxY * kBoxX; index += kThreads)
        u_flat[index] = 0.0f;
    __syncthreads();
    const int blocks_i = (nx + kTileX - 1) / kTileX;
    const int u_messages = (ny + kTileY - 1) / kTileY * blocks_i * kMessages;
    const auto row_message = [&](int i, int j) {
        return (j / kTileY * blocks_i + i / kTileX) * kMessages + j % kTileY * kThreadsX +
            i % kTileX / kCellsX;
    };
    const auto column_message = [&](int i, int j) {
        return (j / kTileY * blocks_i + i / kTileX) * kMessages + kRows +
            (i % kTileX < 2 ? i % kTileX : i % kTileX - min(nx - (i - i % kTileX), kTileX) + 4) * kThreadsY +
            j % kTileY / kCellsY;
    };
    const int first = static_cast<int>(static_cast<long long>(box_j + in_j) * pitch + box_i + in_i);

    // The thread's own cells, and those around them that it reads.
    float u_cells[6][8] = {};
    float u_before_cells[2][4] = {};
#pragma unroll
    for (int y = 0; y < kCellsY; ++y)
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (in_i + x < size_i && in_j + y < size_j) {
                u_cells[y + 2][x + 2] = u[first + y * pitch + x];
                u_box[y + 2][x + 4] = u_cells[y + 2][x + 2];
                u_before_cells[y][x] = u_prev[first + y * pitch + x];
            }

    // The ghost cells of u that this thread fills in: at first from the grid, later from messages.
    int u_around[2];
    int u_source[2];
#pragma unroll
    for (int pass = 0; pass < 2; ++pass) {
        int i = box_i;
        int j = box_j;
        if (pass < 1) {
            const int layer = thread / kThreadsX;
            i += thread % kThreadsX * kCellsX;
            j += layer < 2 ? layer - 2 : size_j + layer - 2;
        } else {
            const int layer = thread % 4;
            i += layer < 2 ? layer - 2 : size_i + layer - 2;
            j += thread / 4 * kCellsY;
        }
        const bool is_there = pass < 1 || thread / 4 < kThreadsY;
#pragma unroll
        for (int cell = 0; cell < (pass < 1 ? kCellsX : kCellsY); ++cell) {
            const bool is_in = is_there && (pass >= 1 || i < box_i + size_i) &&
                (pass < 1 || j < box_j + size_j);
            const int place = (j - box_j + 2) * kBoxX + i - box_i + 4;
            const int source_i = i >= nx ? nx - 1 : i < 0 ? 0 : i;
            const int source_j = j >= ny ? ny - 1 : j < 0 ? 0 : j;
            const int source = static_cast<int>(static_cast<long long>(source_j) * pitch + source_i);
            if (cell == 0) {
                u_around[pass] = place;
                u_source[pass] = is_in ?
                    (pass < 1 ? row_message(source_i, source_j) : column_message(source_i, source_j)) : -1;
            }
            if (is_in) u_flat[place] = u[source];
            i += pass < 1 ? 1 : 0;
            j += pass < 1 ? 0 : 1;
        }
    }

    // A bit for each row of the thread that other blocks need.
    int u_sends = 0;
#pragma unroll
    for (int y = 0; y < kCellsY; ++y)
        if (in_i < size_i && in_j + y < size_j && (in_j + y < 2 || in_j + y >= size_j - 2)) u_sends |= 1 << y;
    const int u_message = row_message(box_i + in_i, box_j + in_j);
    // The same for its columns, at the lower face and at the upper one.
    int u_side_sends = 0;
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        if (in_i + x < size_i && in_i + x < 2) u_side_sends |= 1 << x;
        if (in_i + x < size_i && in_i + x >= size_i - 2) u_side_sends |= 1 << (x + kCellsX);
    }
    const int u_low_message = column_message(box_i + in_i, box_j + in_j);
    const int u_high_message = column_message(box_i + in_i + 3, box_j + in_j);
    long long* u_packets = u_exchange + (steps_sent + 1) % 2 * u_half;
    long long u_to_next = steps_sent % 2 == 0 ? -u_half : u_half;
    __syncthreads();

#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        const int epoch = steps_sent + step + 1;
        float u_next_cells[2][4];

        // The next u.
        if (is_cut)
#pragma unroll
            for (int y = 0; y < kCellsY; ++y)
                if (in_j + y >= size_j) load4(&u_cells[y + 2][2], u_box[y + 2] + 4);
#pragma unroll
        for (int y = -2; y < 0; ++y)
            load4(&u_cells[y + 2][2], u_box[y + 2] + 4);
#pragma unroll
        for (int y = 2; y < 4; ++y)
            load4(&u_cells[y + 2][2], u_box[y + 2] + 4);
#pragma unroll
        for (int y = 0; y < 2; ++y) {
            u_cells[y + 2][1] = __shfl_up_sync(0xffffffff, u_cells[y + 2][5], 1);
            u_cells[y + 2][0] = __shfl_up_sync(0xffffffff, u_cells[y + 2][4], 1);
            u_cells[y + 2][6] = __shfl_down_sync(0xffffffff, u_cells[y + 2][2], 1);
            u_cells[y + 2][7] = __shfl_down_sync(0xffffffff, u_cells[y + 2][3], 1);
            if (is_first) {
                u_cells[y + 2][1] = u_box[y + 2][3];
                u_cells[y + 2][0] = u_box[y + 2][2];
            }
            if (is_last) {
                u_cells[y + 2][6] = u_box[y + 2][8];
                u_cells[y + 2][7] = u_box[y + 2][9];
            }
        }
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
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
            send4_f32(u_packets, u_message + y * kThreadsX, u_messages, epoch, (u_sends & 1 << y) != 0,
                      u_next_cells[y], 1);
        }
        if (u_side_sends != 0) {
            send2_f32(u_packets, u_low_message, u_messages, epoch, (u_side_sends & 1) != 0, u_next_cells[0],
                      4);
            send2_f32(u_packets, u_low_message + kThreadsY, u_messages, epoch, (u_side_sends & 1 << 1) != 0,
                      u_next_cells[0] + 1, 4);
            send2_f32(u_packets, u_high_message + -1 * kThreadsY, u_messages, epoch,
                      (u_side_sends & 1 << 6) != 0, u_next_cells[0] + 2, 4);
            send2_f32(u_packets, u_high_message, u_messages, epoch, (u_side_sends & 1 << 7) != 0,
                      u_next_cells[0] + 3, 4);
        }
        // All threads have read these levels: the next ones take their place.
        __syncthreads();
#pragma unroll
        for (int y = 0; y < kCellsY; ++y)
            if (in_i < size_i && in_j + y < size_j) share4(u_box[y + 2] + 4, u_next_cells[y]);

        float u_received[1][4];
        float u_received2[1][2];
        poll_all(u_packets, u_messages, epoch, u_source, u_received, u_received2);
        if (u_source[0] >= 0) share4(u_flat + u_around[0], u_received[0]);
        if (u_source[1] >= 0)
#pragma unroll
            for (int y = 0; y < kCellsY; ++y)
                u_flat[u_around[1] + y * kBoxX] = u_received2[0][y];
        __syncthreads();
#pragma unroll
        for (int y = 0; y < kCellsY; ++y)
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                u_before_cells[y][x] = u_cells[y + 2][x + 2];
                u_cells[y + 2][x + 2] = u_next_cells[y][x];
            }
        u_packets += u_to_next;
        u_to_next = -u_to_next;
    }

#pragma unroll
    for (int y = 0; y < kCellsY; ++y)
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (in_i + x < size_i && in_j + y < size_j) {
                u_next[first + y * pitch + x] = u_cells[y + 2][x + 2];
                u_next_2[first + y * pitch + x] = u_before_cells[y][x];
            }
}
