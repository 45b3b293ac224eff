// cahn_hilliard_cook: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

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

// The four random words of one cell in one step: Philox4x32-10 (Salmon et al., 2011). Nothing is kept between
// calls.
__device__ __forceinline__ void philox(unsigned* words, int i, int j, int k, int stream, long long step,
                                       long long seed) {
    unsigned a = i, b = j, c = k, d = static_cast<unsigned>(step);
    unsigned key0 = static_cast<unsigned>(seed), key1 = stream;
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const unsigned high_a = __umulhi(a, 0xD2511F53u), low_a = a * 0xD2511F53u;
        const unsigned high_c = __umulhi(c, 0xCD9E8D57u), low_c = c * 0xCD9E8D57u;
        a = high_c ^ b ^ key0;
        b = low_c;
        c = high_a ^ d ^ key1;
        d = low_a;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    words[0] = a;
    words[1] = b;
    words[2] = c;
    words[3] = d;
}

// The logarithm of a number in (0, 1], to a unit of the last place: that of a power of two, and of a fraction
// from 2/3 to 4/3.
__device__ __forceinline__ float log_of_fraction(float value) {
    const int bits = __float_as_int(value);
    const int exponent = (bits - 0x3f2aaaab) & ~0x7fffff;
    const float x = __int_as_float(bits - exponent) - 1.0f;
    float sum = -0.12948957f;
    sum = fmaf(x, sum, 0.14004758f);
    sum = fmaf(x, sum, -0.12167156f);
    sum = fmaf(x, sum, 0.14001161f);
    sum = fmaf(x, sum, -0.16682306f);
    sum = fmaf(x, sum, 0.20010747f);
    sum = fmaf(x, sum, -0.24999717f);
    sum = fmaf(x, sum, 0.3333321f);
    sum = fmaf(x, sum, -0.5f);
    return fmaf(static_cast<float>(exponent), 8.2629582e-8f, fmaf(x * x, sum, x));  // log(2) / 2^23
}

// Of mean 0 and variance 1, by Box and Muller. Two calls share a radius and an angle: one takes the cosine,
// the other the sine. All devices compute the same bits.
__device__ __forceinline__ float random_normal_f32(int i, int j, int k, int stream, long long step,
                                                   long long seed) {
    unsigned words[4];
    philox(words, i, j, k, stream / 2, step, seed);
    const float logarithm = log_of_fraction((static_cast<float>(words[0]) + 0.5f) * 0x1p-32f);
    const float square = fmaxf(-2.0f * logarithm, 1e-30f);
    // The root as the hardware rounds it, without its branch for numbers that do not occur here.
    const float inverse = rsqrtf(square), rough = square * inverse;
    const float radius = fmaf(fmaf(-rough, rough, square), 0.5f * inverse, rough);

    // The angle is that of the nearest quarter turn, and a rest of half of one at most, in half turns.
    const int turn = static_cast<int>(words[1] >> 8), quarters = (turn + (1 << 21)) >> 22;
    const float angle = static_cast<float>(turn - (quarters << 22)) * 0x1p-23f, x = angle * angle;
    float cosine = fmaf(x, 0.23136424f, -1.3350506f);
    cosine = fmaf(x, fmaf(x, fmaf(x, cosine, 4.0587077f), -4.9348021f), 1.0f);
    float sine = fmaf(x, -0.58941877f, 2.5498052f);
    sine = angle * fmaf(x, fmaf(x, sine, -5.1677089f), 3.1415927f);
    const int quarter = stream % 2 == 0 ? quarters + 1 : quarters;  // a cosine is the sine a quarter turn on
    const float wave = radius * (quarter % 2 == 0 ? sine : cosine);
    return __int_as_float(__float_as_int(wave) ^ ((quarter & 2) << 30));
}

// Stores a cell once more wherever the halo shows it: x periodic, y periodic.
__device__ inline void store_images_mu(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 1); y < ny + 1; y += ny)
        for (int x = first_image(i, nx, 1); x < nx + 1; x += nx)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Stores a cell once more wherever the halo shows it: x periodic.
__device__ inline void store_images_jx(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int x = first_image(i, nx, 0); x < nx + 1; x += nx)
        u[static_cast<long long>(j) * pitch + x] = value;
}

// Stores a cell once more wherever the halo shows it: y periodic.
__device__ inline void store_images_jy(float* u, int i, int j, int nx, int ny, int pitch) {
    if (j >= 1) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 0); y < ny + 1; y += ny)
        u[static_cast<long long>(y) * pitch + i] = value;
}

// Reads c, writes mu, jx, jy.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 8)
    cahn_hilliard_cook_mu(const float* __restrict__ c, float* __restrict__ mu, float* __restrict__ jx,
                          float* __restrict__ jy, int nx, int ny, int pitch, float minus_gamma,
                          long long step, long long seed) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const float mu_value = fmaf(minus_gamma,
                                fmaf(-4.0f, c[at], c[at - 1] + c[at + 1] + c[at - pitch] + c[at + pitch]),
                                fmaf(c[at] * c[at], c[at], -c[at]));
    const float jx_value = random_normal_f32(i, j, 0, 0, step, seed);
    const float jy_value = random_normal_f32(i, j, 0, 1, step, seed);
    mu[at] = mu_value;
    jx[at] = jx_value;
    jy[at] = jy_value;

    // Cells of mu near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_mu(mu, i, j, nx, ny, pitch);

    // Cells of jx near a face are shown by halo cells, too.
    if (i < 1) store_images_jx(jx, i, j, nx, ny, pitch);

    // Cells of jy near a face are shown by halo cells, too.
    if (j < 1) store_images_jy(jy, i, j, nx, ny, pitch);
}

// Reads c, mu, jx, jy, writes c_next, reduces to mass, reduces to spread.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 20 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 9)
    cahn_hilliard_cook_c(const float* __restrict__ c, const float* __restrict__ mu,
                         const float* __restrict__ jx, const float* __restrict__ jy,
                         float* __restrict__ c_next, int nx, int ny, int pitch, float M_dt, float scale,
                         double* __restrict__ mass_partials, double* __restrict__ spread_partials) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double mass_of_thread = 0.0;
    double spread_of_thread = 0.0;
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const float c_new = fmaf(scale, jx[at + 1] - jx[at] + jy[at + pitch] - jy[at],
                                 fmaf(M_dt,
                                      fmaf(-4.0f, mu[at],
                                           mu[at - 1] + mu[at + 1] + mu[at - pitch] + mu[at + pitch]),
                                      c[at]));
        const double value = static_cast<double>(c_new);
        c_next[at] = c_new;
        mass_of_thread += static_cast<double>(c_new);
        spread_of_thread += value * value;

        // Cells of c_next near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_mu(c_next, i, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double mass_of_block = block_sum(mass_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        mass_partials[blockIdx.x + gridDim.x * blockIdx.y] = mass_of_block;
    const double spread_of_block = block_sum(spread_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        spread_partials[blockIdx.x + gridDim.x * blockIdx.y] = spread_of_block;
}

// In place of cahn_hilliard_cook_c in steps whose results nobody reads; leaves out mass, spread.
// Reads c, mu, jx, jy, writes c_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 20 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 9)
    cahn_hilliard_cook_c_states(const float* __restrict__ c, const float* __restrict__ mu,
                                const float* __restrict__ jx, const float* __restrict__ jy,
                                float* __restrict__ c_next, int nx, int ny, int pitch, float M_dt,
                                float scale) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    c_next[at] = fmaf(scale, jx[at + 1] - jx[at] + jy[at + pitch] - jy[at],
                      fmaf(M_dt,
                           fmaf(-4.0f, mu[at], mu[at - 1] + mu[at + 1] + mu[at - pitch] + mu[at + pitch]),
                           c[at]));

    // Cells of c_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_mu(c_next, i, j, nx, ny, pitch);
}
