// What a GPU delivers at most (measure.h). Blocks have 256 threads. Loads and stores that are measured are
// written as volatile instructions, so that none is left out and each goes to the memory that is meant.

struct alignas(16) Vector {
    unsigned a, b, c, d;
};

__device__ Vector load_through_l2(const Vector* from) {
    Vector value;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.a), "=r"(value.b), "=r"(value.c), "=r"(value.d)
                 : "l"(from)
                 : "memory");
    return value;
}

__device__ void store_in_l2(Vector* to, Vector value) {
    asm volatile("st.global.cg.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(to), "r"(value.a), "r"(value.b), "r"(value.c), "r"(value.d)
                 : "memory");
}

extern "C" __global__ void empty_kernel() {}

// One vector a thread.
extern "C" __global__ void copy_vectors(Vector* to, const Vector* from, long long count) {
    const long long i = blockIdx.x * 256LL + threadIdx.x;
    if (i < count) to[i] = from[i];
}

// Four vectors a thread, again and again; the arrays are to fit the L2 cache.
extern "C" __global__ void copy_in_l2(Vector* to, const Vector* from, int repeats) {
    const int stride = gridDim.x * 256, first = blockIdx.x * 256 + threadIdx.x;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        Vector values[4];
#pragma unroll
        for (int k = 0; k < 4; ++k)
            values[k] = load_through_l2(from + first + k * stride);
#pragma unroll
        for (int k = 0; k < 4; ++k)
            store_in_l2(to + first + k * stride, values[k]);
    }
}

// Barriers of all blocks by a counter, which begins at 0. Where the blocks do not all run at once none
// would ever be let through: after a while that is noted in `gave_up`, and all blocks end.
extern "C" __global__ void grid_barriers(unsigned* counter, unsigned* gave_up, int rounds) {
    __shared__ bool stop;
    constexpr long long kMostCycles = 200000000;
    for (int round = 1; round <= rounds; ++round) {
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(counter, 1u);
            stop = false;
            const unsigned wanted = round * gridDim.x;
            const long long start = clock64();
            while (*(volatile unsigned*)counter < wanted) {
                if (*(volatile unsigned*)gave_up == 0 && clock64() - start < kMostCycles) continue;
                atomicExch(gave_up, 1u);
                stop = true;
                break;
            }
            __threadfence();
        }
        __syncthreads();
        if (stop) return;
    }
}
