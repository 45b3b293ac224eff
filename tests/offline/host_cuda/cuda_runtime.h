// The part of the CUDA runtime that the offline launcher uses, on the CPU, for tests: "device" memory is the
// host's, a block's threads take turns, and blocks run one after the other. Texts that include it have their
// launches and dynamic shared memory rewritten (offline_emulated_test.cpp).
#pragma once

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __shared__ static
#define __constant__ static
#define __launch_bounds__(...)

#include "cuda_lanes.h"

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct float2 {
    float x, y;
};
struct float4 {
    float x, y, z, w;
};
struct double2 {
    double x, y;
};
inline float2 make_float2(float x, float y) {
    return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w) {
    return {x, y, z, w};
}
inline double2 make_double2(double x, double y) {
    return {x, y};
}
struct int4 {
    int x, y, z, w;
};
struct longlong2 {
    long long x, y;
};
struct ushort2 {
    unsigned short x, y;
};
struct ushort4 {
    unsigned short x, y, z, w;
};
inline ushort2 make_ushort2(unsigned short x, unsigned short y) {
    return {x, y};
}
inline ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z, unsigned short w) {
    return {x, y, z, w};
}
struct uchar4 {
    unsigned char x, y, z, w;
};
inline int4 make_int4(int x, int y, int z, int w) {
    return {x, y, z, w};
}
inline longlong2 make_longlong2(long long x, long long y) {
    return {x, y};
}
inline uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) {
    return {x, y, z, w};
}
inline int min(int a, int b) {
    return a < b ? a : b;
}
inline int max(int a, int b) {
    return a > b ? a : b;
}
inline double __longlong_as_double(long long bits) {
    double value;
    std::memcpy(&value, &bits, 8);
    return value;
}
inline long long __double_as_longlong(double value) {
    long long bits;
    std::memcpy(&bits, &value, 8);
    return bits;
}
inline float __uint_as_float(unsigned bits) {
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}
inline unsigned __float_as_uint(float value) {
    unsigned bits;
    std::memcpy(&bits, &value, 4);
    return bits;
}
inline float __int_as_float(int bits) {
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}

// ---- one launch
// ------------------------------------------------------------------------------------------------

inline dim3 threadIdx, blockIdx, blockDim, gridDim;

// Of threads that take turns: one that waits lets the others go on.
class HostBarrier {
public:
    explicit HostBarrier(int threads) : threads_(threads) {}
    void arrive_and_wait();

private:
    int threads_, arrived_ = 0;
    unsigned turn_ = 0;
};

struct HostWarp {
    HostBarrier together{32};
    double values[32];
};
#if defined(__x86_64__)
// Where a thread was left. swapcontext() asks the system to keep the signal mask, which takes most of its
// time.
struct HostContext {
    void* stack_pointer = nullptr;

    // The registers that a call must keep go on the old stack, and come from the new one.
    __attribute__((naked, noinline)) static void change_stack(void** /*from*/, void* /*to*/) {
        asm("pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
            "movq %rsp, (%rdi)\n movq %rsi, %rsp\n"
            "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n ret");
    }
    void go_on(HostContext& from) { change_stack(&from.stack_pointer, stack_pointer); }
    void begin(char* stack, std::size_t bytes, void (*entry)()) {
        auto* top = reinterpret_cast<std::uintptr_t*>(stack + bytes / 16 * 16);
        // As after a call: the stack is aligned to 16 before the return address (here: none) is pushed.
        *--top = 0;
        *--top = reinterpret_cast<std::uintptr_t>(entry);
        for (int kept = 0; kept < 6; ++kept)
            *--top = 0;
        stack_pointer = top;
    }
};
#else
struct HostContext {
    ucontext_t context;
    void go_on(HostContext& from) { swapcontext(&from.context, &context); }
    void begin(char* stack, std::size_t bytes, void (*entry)()) {
        getcontext(&context);
        context.uc_stack.ss_sp = stack;
        context.uc_stack.ss_size = bytes;
        context.uc_link = nullptr;
        makecontext(&context, entry, 0);
    }
};
#endif

// One after the other, each until it waits; a context of its own is cheaper than a thread of the system.
struct HostBlock {
    explicit HostBlock(int threads)
        : together(threads),
          warps(static_cast<std::size_t>(threads + 31) / 32),
          contexts(threads),
          stacks(new char[kStack * static_cast<std::size_t>(threads)]),
          shared(new double[kSharedDoubles]) {}
    static constexpr std::size_t kStack = 64 << 10;  // bytes
    static constexpr int kSharedDoubles = 29056;
    HostBarrier together;
    std::vector<HostWarp> warps;
    std::vector<HostContext> contexts;  // by thread
    std::vector<bool> ended;            // likewise
    std::unique_ptr<char[]> stacks;
    std::unique_ptr<double[]> shared;
    dim3 index;
};
inline HostBlock* host_block = nullptr;
inline HostContext host_scheduler;
inline int host_thread = 0;
inline double* host_shared_memory = nullptr;  // of the block that runs

inline void host_let_others_run() {
    host_scheduler.go_on(host_block->contexts[host_thread]);
}

inline void HostBarrier::arrive_and_wait() {
    const unsigned turn = turn_;
    if (++arrived_ == threads_) {
        arrived_ = 0;
        ++turn_;
    }
    while (turn_ == turn)
        host_let_others_run();
}

inline void __syncthreads() {
    host_block->together.arrive_and_wait();
}

// Whole warps only: each lane puts its value down and takes that of another; its own where that one has none.
template <class T>
T host_shuffle(T value, int from) {
    HostWarp& warp = host_block->warps[static_cast<std::size_t>(host_thread / 32)];
    warp.values[host_thread % 32] = value;
    warp.together.arrive_and_wait();
    const T result = from >= 0 && from < 32 ? static_cast<T>(warp.values[from]) : value;
    warp.together.arrive_and_wait();
    return result;
}
template <class T>
T __shfl_down_sync(unsigned, T value, int lanes) {
    return host_shuffle(value, host_thread % 32 + lanes);
}
template <class T>
void __stwb(T* address, T value) {
    *address = value;
}
template <class T>
T __shfl_up_sync(unsigned, T value, int lanes) {
    return host_shuffle(value, host_thread % 32 - lanes);
}
template <class T>
T __shfl_sync(unsigned, T value, int lane) {
    return host_shuffle(value, lane);
}
inline void __syncwarp() {
    host_block->warps[static_cast<std::size_t>(host_thread / 32)].together.arrive_and_wait();
}

// What blocks hand to each other: who looks for it may have to wait until others have run.
inline void halo_store_packet(long long* to, unsigned long long word) {
    *to = static_cast<long long>(word);
}
inline unsigned long long halo_load_packet(const long long* from) {
    host_let_others_run();
    return static_cast<unsigned long long>(*from);
}
inline unsigned long long halo_words(unsigned low, unsigned high) {
    return static_cast<unsigned long long>(high) << 32 | low;
}

inline void (*host_kernel)(void*) = nullptr;
inline void* host_arguments = nullptr;

// What a thread's context runs.
inline void host_run_thread() {
    host_kernel(host_arguments);
    host_block->ended[host_thread] = true;
    host_let_others_run();
}

inline void host_begin_block(HostBlock& block, dim3 index) {
    const int threads = static_cast<int>(block.contexts.size());
    block.index = index;
    block.together = HostBarrier(threads);
    for (HostWarp& warp : block.warps)
        warp.together = HostBarrier(32);
    block.ended.assign(threads, false);
    for (int thread = 0; thread < threads; ++thread) {
        block.contexts[thread].begin(block.stacks.get() + HostBlock::kStack * thread, HostBlock::kStack,
                                     host_run_thread);
    }
}

// Each thread of a block until it waits; returns how many ended.
inline unsigned host_run_block(HostBlock& block, dim3 threads) {
    unsigned ended = 0;
    host_block = &block;
    host_shared_memory = block.shared.get();
    blockIdx = block.index;
    const int count = static_cast<int>(block.contexts.size());
    for (host_thread = 0; host_thread < count; ++host_thread) {
        if (block.ended[host_thread]) continue;
        const unsigned t = static_cast<unsigned>(host_thread);
        threadIdx = dim3(t % threads.x, t / threads.x % threads.y, t / (threads.x * threads.y));
        block.contexts[host_thread].go_on(host_scheduler);
        if (block.ended[host_thread]) ++ended;
    }
    return ended;
}

// together: all blocks at once, as they may wait for each other.
template <class Kernel>
void host_launch_blocks(dim3 blocks, dim3 threads, bool together, Kernel kernel) {
    host_kernel = [](void* arguments) { (*static_cast<Kernel*>(arguments))(); };
    host_arguments = &kernel;
    blockDim = threads;
    gridDim = blocks;
    const int count = static_cast<int>(threads.x * threads.y * threads.z);
    const unsigned all = blocks.x * blocks.y * blocks.z, at_once = together ? all : 1;
    // Kept for the launches that follow: their memory costs more than a short kernel.
    static std::map<int, std::vector<std::unique_ptr<HostBlock>>> kept;
    std::vector<std::unique_ptr<HostBlock>>& running = kept[count];
    while (running.size() < at_once)
        running.push_back(std::make_unique<HostBlock>(count));
    for (unsigned first = 0; first < all; first += at_once) {
        for (unsigned b = first; b < first + at_once; ++b)
            host_begin_block(*running[b - first],
                             dim3(b % blocks.x, b / blocks.x % blocks.y, b / (blocks.x * blocks.y)));
        for (unsigned left = at_once * count; left > 0;)
            for (unsigned b = 0; b < at_once; ++b)
                left -= host_run_block(*running[b], threads);
    }
}
template <class Kernel>
void host_launch(dim3 blocks, dim3 threads, Kernel kernel) {
    host_launch_blocks(blocks, threads, false, kernel);
}
using cudaStream_t = struct HostStream*;
template <class Kernel>
void host_launch(dim3 blocks, dim3 threads, int, cudaStream_t, Kernel kernel) {
    host_launch(blocks, threads, kernel);
}

// ---- memory
// ----------------------------------------------------------------------------------------------------

enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation };
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };

struct cudaPitchedPtr {
    void* ptr;
    std::size_t pitch, xsize, ysize;
};
struct cudaExtent {
    std::size_t width, height, depth;
};
struct cudaMemcpy3DParms {
    cudaPitchedPtr srcPtr, dstPtr;
    cudaExtent extent;
    cudaMemcpyKind kind;
};
inline cudaPitchedPtr make_cudaPitchedPtr(void* ptr, std::size_t pitch, std::size_t xsize,
                                          std::size_t ysize) {
    return {ptr, pitch, xsize, ysize};
}
inline cudaExtent make_cudaExtent(std::size_t width, std::size_t height, std::size_t depth) {
    return {width, height, depth};
}

inline const char* cudaGetErrorString(cudaError_t) {
    return "an error";
}
inline cudaError_t cudaGetLastError() {
    return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
    return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* all) {
    *available = *all = std::size_t{1} << 28;
    return cudaSuccess;
}
// A program that ends with memory which it has not given back fails.
struct HostAllocations {
    int live = 0;
    ~HostAllocations() {
        if (live == 0) return;
        std::fprintf(stderr, "%d allocations were not freed\n", live);
        std::_Exit(9);
    }
};
inline HostAllocations host_allocations;

template <class T>
cudaError_t cudaMalloc(T** memory, std::size_t bytes) {
    *memory = static_cast<T*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    if (*memory == nullptr) return cudaErrorMemoryAllocation;
    ++host_allocations.live;
    return cudaSuccess;
}
inline cudaError_t cudaFree(void* memory) {
    if (memory != nullptr) --host_allocations.live;
    std::free(memory);
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
    std::memset(memory, value, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t) {
    return cudaMemset(memory, value, bytes);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                                   cudaStream_t) {
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMallocHost(long long** memory, std::size_t bytes) {
    *memory = static_cast<long long*>(std::malloc(bytes));
    return cudaSuccess;
}
inline cudaError_t cudaFreeHost(void* memory) {
    std::free(memory);
    return cudaSuccess;
}
using cudaEvent_t = struct HostEvent*;
constexpr unsigned cudaEventDisableTiming = 2;
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned) {
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
    return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) {
    return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t) {
    return cudaSuccess;
}
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
inline cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t) {
    for (std::size_t z = 0; z < copy->extent.depth; ++z) {
        for (std::size_t y = 0; y < copy->extent.height; ++y) {
            char* to =
                static_cast<char*>(copy->dstPtr.ptr) + (z * copy->dstPtr.ysize + y) * copy->dstPtr.pitch;
            const char* from = static_cast<const char*>(copy->srcPtr.ptr) +
                               (z * copy->srcPtr.ysize + y) * copy->srcPtr.pitch;
            std::memcpy(to, from, copy->extent.width);
        }
    }
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
    const cudaMemcpy3DParms copy = {{const_cast<void*>(from), from_pitch, width, height},
                                    {to, to_pitch, width, height},
                                    {width, height, 1},
                                    kind};
    return cudaMemcpy3DAsync(&copy, stream);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, std::size_t bytes, std::size_t,
                                    cudaMemcpyKind, cudaStream_t) {
    std::memcpy(&symbol, from, bytes);
    return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel*, cudaFuncAttribute, int bytes) {
    return bytes <= 8 * HostBlock::kSharedDoubles ? cudaSuccess : cudaErrorMemoryAllocation;
}

// ---- blocks that wait for each other
// ---------------------------------------------------------------------------

enum cudaDeviceAttr { cudaDevAttrCooperativeLaunch, cudaDevAttrMultiProcessorCount, cudaDevAttrNothing };
inline cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
    *value = attribute == cudaDevAttrCooperativeLaunch     ? 1
             : attribute == cudaDevAttrMultiProcessorCount ? 132
                                                           : 0;
    return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel*, int, std::size_t) {
    *blocks = 1;
    return cudaSuccess;
}
template <class... Parameters, std::size_t... I>
void host_launch_together(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, void** arguments,
                          std::index_sequence<I...>) {
    host_launch_blocks(blocks, threads, true,
                       [&] { kernel(*static_cast<std::decay_t<Parameters>*>(arguments[I])...); });
}
template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads,
                                        void** arguments, std::size_t, cudaStream_t) {
    host_launch_together(kernel, blocks, threads, arguments, std::index_sequence_for<Parameters...>());
    return cudaSuccess;
}
