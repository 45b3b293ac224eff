// A stand-in for libcuda.so.1 on host memory. "GPU code" is a word that names one of the modules below;
// kernels are functions here. With HALO_FAKE_ALL_KERNELS what a real compiler made has all kernels, which do
// nothing. Work of a stream is done at once, except while it is captured.
#include "fake_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runtime/cuda/driver.h"

using namespace fake_gpu;
using namespace halo::rt::cuda;

namespace {

constexpr int kNoContext = 201;       // CUDA_ERROR_INVALID_CONTEXT
constexpr int kInvalidValue = 1;      // CUDA_ERROR_INVALID_VALUE
constexpr int kCapturing = 900;       // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
constexpr std::size_t kHeader = 256;  // bytes before what is allocated, which hold its size
constexpr int kNobodys = 0x55;  // the bytes of memory that holds nothing, as it is allocated and as it goes

thread_local Context current_context = nullptr;
bool capturing = false;
std::set<Stream> capturing_streams;  // the one that a recording began in, and those that have joined it
std::set<Event> captured_events;
std::vector<std::function<void()>> captured;
std::map<Graph, std::vector<GraphNode>> nodes;  // of graphs that are made of them, in their order

int told(const char* name) {
    const auto found = state.fail_next.find(name);
    if (found == state.fail_next.end()) return kSuccess;
    const int result = found->second;
    state.fail_next.erase(found);
    return result;
}

// At the top of each function that works in a context.
#define ENTER(name)                                    \
    if (const int result = told(#name)) return result; \
    if (current_context == nullptr) return kNoContext

int in_stream(Stream stream, std::function<void()> work) {
    state.last_stream = stream;
    if (capturing_streams.contains(stream))
        captured.push_back(std::move(work));
    else
        work();
    return kSuccess;
}

Kernel* as_kernel(Function function) {
    return reinterpret_cast<Kernel*>(function);
}

char* bytes_at(Address address) {
    return static_cast<char*>(to_pointer(address));
}

char* place(const CopySide& side, std::size_t y, std::size_t z) {
    char* start = side.memory_kind == kHostMemory ? static_cast<char*>(const_cast<void*>(side.host))
                                                  : bytes_at(side.device);
    return start + side.x + ((side.z + z) * side.height + side.y + y) * side.pitch;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) FakeLibcuda* fake_libcuda() {
    state.current_context = [] { return static_cast<void*>(current_context); };
    return &state;
}

int cuInit(unsigned) {
    return state.init_result;
}
int cuDriverGetVersion(int* version) {
    return *version = 13000, told("cuDriverGetVersion");
}
int cuGetErrorName(int result, const char** text) {
    *text = result == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : result == kOutOfMemory  ? "CUDA_ERROR_OUT_OF_MEMORY"
                                      : nullptr;
    return *text != nullptr ? kSuccess : kInvalidValue;
}
int cuGetErrorString(int result, const char** text) {
    *text = result == kIllegalAddress ? "an illegal memory access was encountered" : nullptr;
    return *text != nullptr ? kSuccess : kInvalidValue;
}
int cuDeviceGetCount(int* count) {
    return *count = state.devices, told("cuDeviceGetCount");
}
int cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return ordinal >= 0 && ordinal < state.devices ? kSuccess : 101;
}
int cuDeviceGetName(char* name, int bytes, int) {
    std::strncpy(name, "Fake GPU", static_cast<std::size_t>(bytes));
    return kSuccess;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
    switch (attribute) {
        case kMaxThreadsPerBlock:
            *value = 1024;
            break;
        case kMultiprocessors:
            *value = 132;
            break;
        case kCapabilityMajor:
            *value = state.capability_major;
            break;
        case kL2Bytes:
            *value = 50 << 20;
            break;
        case kCapabilityMinor:
            *value = 0;
            break;
        case kRegistersPerMultiprocessor:
            *value = 65536;
            break;
        case kCooperativeLaunch:
            *value = 1;
            break;
        case kSharedBytesPerBlockOptIn:
            *value = 232448;
            break;
        default:
            return kInvalidValue;  // as of attributes that went with newer drivers
    }
    return kSuccess;
}
int cuDeviceGetUuid_v2(void* uuid, int device) {
    std::memset(uuid, device, 16);
    return kSuccess;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
    *bytes = static_cast<std::size_t>(state.total_bytes);
    return kSuccess;
}
int cuDevicePrimaryCtxRetain(Context* context, int) {
    if (const int result = told("cuDevicePrimaryCtxRetain")) return result;
    *context = reinterpret_cast<Context>(&state);
    ++state.retained_contexts;
    return kSuccess;
}
int cuDevicePrimaryCtxRelease_v2(int) {
    return --state.retained_contexts, kSuccess;
}
int cuCtxSetCurrent(Context context) {
    current_context = context;
    return kSuccess;
}
int cuCtxGetCurrent(Context* context) {
    return *context = current_context, kSuccess;
}
int cuCtxGetDevice(int* device) {
    ENTER(cuCtxGetDevice);
    return *device = 0, kSuccess;
}
int cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
    ENTER(cuMemGetInfo_v2);
    *free_bytes = static_cast<std::size_t>(state.total_bytes - state.used_bytes);
    *total_bytes = static_cast<std::size_t>(state.total_bytes);
    return kSuccess;
}
int cuMemAlloc_v2(Address* address, std::size_t bytes) {
    ENTER(cuMemAlloc_v2);
    if (capturing || is_refused_beside_recordings()) return kCapturing;
    if (static_cast<std::int64_t>(bytes) > state.total_bytes - state.used_bytes) return kOutOfMemory;
    auto* start = static_cast<char*>(std::aligned_alloc(256, kHeader + (bytes + 255) / 256 * 256));
    std::memcpy(start, &bytes, sizeof bytes);
    std::memset(start + kHeader, kNobodys, bytes);
    state.used_bytes += static_cast<std::int64_t>(bytes);
    ++state.live_allocations;
    *address = to_address(start + kHeader);
    return kSuccess;
}
int cuMemFree_v2(Address address) {
    ENTER(cuMemFree_v2);
    if (is_refused_beside_recordings()) return kCapturing;
    char* start = bytes_at(address) - kHeader;
    std::size_t bytes = 0;
    std::memcpy(&bytes, start, sizeof bytes);
    std::memset(start + kHeader, kNobodys, bytes);
    asm volatile("" : : "r"(start) : "memory");  // else compilers leave out what free() makes needless
    state.used_bytes -= static_cast<std::int64_t>(bytes);
    --state.live_allocations;
    std::free(start);
    return kSuccess;
}
int cuMemAllocHost_v2(void** address, std::size_t bytes) {
    ENTER(cuMemAllocHost_v2);
    *address = std::malloc(bytes);
    return ++state.live_allocations, kSuccess;
}
int cuMemFreeHost(void* address) {
    std::free(address);
    return --state.live_allocations, kSuccess;
}
int cuMemcpyHtoDAsync_v2(Address destination, const void* source, std::size_t bytes, Stream) {
    ENTER(cuMemcpyHtoDAsync_v2);
    if (capturing) return kCapturing;
    std::memcpy(bytes_at(destination), source, bytes);
    return kSuccess;
}
int cuMemcpyDtoHAsync_v2(void* destination, Address source, std::size_t bytes, Stream) {
    ENTER(cuMemcpyDtoHAsync_v2);
    if (capturing) return kCapturing;
    std::memcpy(destination, bytes_at(source), bytes);
    return kSuccess;
}
int cuMemcpyDtoDAsync_v2(Address destination, Address source, std::size_t bytes, Stream stream) {
    ENTER(cuMemcpyDtoDAsync_v2);
    return in_stream(stream, [=] { std::memcpy(bytes_at(destination), bytes_at(source), bytes); });
}
int cuMemcpy3DAsync_v2(const Copy3D* copy, Stream stream) {
    ENTER(cuMemcpy3DAsync_v2);
    if (capturing) return kCapturing;
    if (copy->destination.memory_kind == kHostMemory) {
        state.fetching_stream = stream;
        state.launches_before_fetch = state.launches;
    }
    for (const CopySide* side : {&copy->source, &copy->destination})
        if (side->pitch < copy->width || side->height < copy->height) return kInvalidValue;
    for (std::size_t z = 0; z < copy->depth; ++z)
        for (std::size_t y = 0; y < copy->height; ++y)
            std::memcpy(place(copy->destination, y, z), place(copy->source, y, z), copy->width);
    return kSuccess;
}
// All contexts here share the host's memory.
int cuMemcpyPeerAsync(Address destination, Context, Address source, Context, std::size_t bytes, Stream) {
    ENTER(cuMemcpyPeerAsync);
    if (capturing) return kCapturing;
    std::memcpy(bytes_at(destination), bytes_at(source), bytes);
    return kSuccess;
}
int cuMemcpy3DPeerAsync(const Copy3D* copy, Stream stream) {
    ENTER(cuMemcpy3DPeerAsync);
    return cuMemcpy3DAsync_v2(copy, stream);
}
int cuDeviceCanAccessPeer(int* can, int, int) {
    ENTER(cuDeviceCanAccessPeer);
    return *can = 1, kSuccess;
}
int cuCtxEnablePeerAccess(Context, unsigned) {
    return told("cuCtxEnablePeerAccess");
}
int cuMemsetD8Async(Address address, unsigned char value, std::size_t bytes, Stream stream) {
    ENTER(cuMemsetD8Async);
    return in_stream(stream, [=] { std::memset(bytes_at(address), value, bytes); });
}
int cuModuleLoadDataEx(CudaModule* module, const void* image, unsigned count, int* options, void** values) {
    ENTER(cuModuleLoadDataEx);
    if (is_refused_beside_recordings()) return kCapturing;
    const std::string_view code = static_cast<const char*>(image);
    if (code == "of a newer CUDA") return kNoBinaryForGpu;
    if (code == "bad PTX") {
        for (unsigned i = 0; i < count; ++i)
            if (options[i] == 5) std::strcpy(static_cast<char*>(values[i]), "ptxas: line 3: unknown symbol");
        return kInvalidPtx;
    }
    *module = reinterpret_cast<CudaModule>(make_module(code));
    ++state.live_modules;
    return kSuccess;
}
int cuModuleUnload(CudaModule module) {
    ENTER(cuModuleUnload);
    delete reinterpret_cast<FakeModule*>(module);
    --state.live_modules;
    return kSuccess;
}
int cuModuleGetFunction(Function* function, CudaModule module, const char* name) {
    ENTER(cuModuleGetFunction);
    auto& kernels = reinterpret_cast<FakeModule*>(module)->kernels;
    if (reinterpret_cast<FakeModule*>(module)->has_all)
        kernels.try_emplace(name, Kernel{{}, [](void* const*) {}});
    const auto found = kernels.find(name);
    if (found == kernels.end()) return kNotFound;
    *function = reinterpret_cast<Function>(&found->second);
    return kSuccess;
}
int cuModuleGetGlobal_v2(Address* address, std::size_t* bytes, CudaModule module, const char* name) {
    ENTER(cuModuleGetGlobal_v2);
    if (!reinterpret_cast<FakeModule*>(module)->has_constants || std::string_view(name) != "weights")
        return kNotFound;
    *address = to_address(state.constants);
    *bytes = sizeof state.constants;
    return kSuccess;
}
int cuFuncGetAttribute(int* value, int attribute, Function function) {
    ENTER(cuFuncGetAttribute);
    switch (attribute) {
        case kFunctionMaxThreads:
            *value = 512;
            break;
        case kFunctionSharedBytes:
            *value = as_kernel(function)->shared_bytes;
            break;
        case kFunctionLocalBytes:
            *value = 16;
            break;
        case kFunctionRegisters:
            *value = 40;
            break;
        default:
            return kInvalidValue;
    }
    return kSuccess;
}
int cuFuncSetAttribute(Function, int attribute, int value) {
    ENTER(cuFuncSetAttribute);
    if (attribute == kFunctionPreferredSharedPercent) return kSuccess;
    if (attribute != kFunctionMaxDynamicSharedBytes) return kInvalidValue;
    state.allowed_dynamic_shared_bytes = value;
    return kSuccess;
}
int cuLaunchKernel(Function function, unsigned blocks_x, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned shared_bytes, Stream stream, void** arguments, void**) {
    ENTER(cuLaunchKernel);
    state.last_dynamic_shared_bytes = static_cast<int>(shared_bytes);
    return in_stream(stream, launch_of(as_kernel(function), blocks_x, arguments));
}
// The fake GPU runs one block an SM, and one after the other: enough for kernels of one block.
int cuLaunchCooperativeKernel(Function function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                              unsigned threads_x, unsigned threads_y, unsigned threads_z,
                              unsigned shared_bytes, Stream stream, void** arguments) {
    ENTER(cuLaunchCooperativeKernel);
    constexpr int kTooLarge = 720;
    constexpr unsigned kMultiprocessorCount = 132;
    if (blocks_x * blocks_y * blocks_z > kMultiprocessorCount) return kTooLarge;
    ++state.resident_launches;
    return cuLaunchKernel(function, blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z,
                          shared_bytes, stream, arguments, nullptr);
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function, int threads, std::size_t) {
    ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor);
    if (threads < 1) return kInvalidValue;
    *blocks = 1;
    return kSuccess;
}
int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    *least = 0;
    *greatest = -5;
    return told("cuCtxGetStreamPriorityRange");
}
int cuStreamCreateWithPriority(Stream* stream, unsigned, int priority) {
    ENTER(cuStreamCreateWithPriority);
    static std::uintptr_t streams = 0x1000;
    *stream = reinterpret_cast<Stream>(++streams);
    state.priorities[*stream] = priority;
    ++state.live_streams;
    return kSuccess;
}
int cuStreamDestroy_v2(Stream) {
    return --state.live_streams, kSuccess;
}
int cuStreamWaitEvent(Stream stream, Event event, unsigned) {
    state.waiting_stream = stream;
    if (captured_events.contains(event)) {
        capturing_streams.insert(stream);
    } else if (capturing_streams.contains(stream)) {
        return kCapturing;  // for work that is not of the recording
    }
    return told("cuStreamWaitEvent");
}
int cuStreamQuery(Stream) {
    ENTER(cuStreamQuery);
    return kSuccess;
}
int cuStreamSynchronize(Stream stream) {
    ENTER(cuStreamSynchronize);
    if (state.streams_recorded_by_caller.erase(stream) != 0) return kCapturing;
    return capturing ? kCapturing : kSuccess;
}
int cuStreamGetCtx(Stream, Context* context) {
    if (const int result = told("cuStreamGetCtx")) return result;
    *context = reinterpret_cast<Context>(&state);
    return kSuccess;
}
int cuStreamIsCapturing(Stream stream, int* status) {
    ENTER(cuStreamIsCapturing);
    *status = state.streams_recorded_by_caller.contains(stream) || capturing_streams.contains(stream) ? 1 : 0;
    return kSuccess;
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
    std::swap(*mode, state.capture_mode);
    return kSuccess;
}
int cuStreamBeginCapture_v2(Stream stream, int) {
    ENTER(cuStreamBeginCapture_v2);
    if (capturing || stream == nullptr) return kCapturing;  // the default stream cannot
    capturing = true;
    capturing_streams = {stream};
    return kSuccess;
}
int cuStreamEndCapture(Stream, Graph* graph) {
    const int result = told("cuStreamEndCapture");
    capturing = false;
    capturing_streams.clear();
    captured_events.clear();
    *graph = reinterpret_cast<Graph>(new std::vector<std::function<void()>>(std::move(captured)));
    captured.clear();
    ++state.live_graphs;
    return result;
}
int cuGraphCreate(Graph* graph, unsigned) {
    ENTER(cuGraphCreate);
    *graph = reinterpret_cast<Graph>(new std::vector<std::function<void()>>);
    ++state.live_graphs;
    return kSuccess;
}
// Each is run as soon as it may be: before those that were added earlier and that it need not come after.
int cuGraphAddKernelNode(GraphNode* node, Graph graph, const GraphNode* before, std::size_t count,
                         const KernelNode* kernel) {
    ENTER(cuGraphAddKernelNode);
    static std::uintptr_t made = 0;
    *node = reinterpret_cast<GraphNode>(++made);
    std::vector<GraphNode>& order = nodes[graph];
    std::ptrdiff_t at = 0;
    for (std::size_t i = 0; i < count; ++i)
        at = std::max(at, std::ranges::find(order, before[i]) - order.begin() + 1);
    auto& work = *reinterpret_cast<std::vector<std::function<void()>>*>(graph);
    order.insert(order.begin() + at, *node);
    work.insert(work.begin() + at,
                launch_of(as_kernel(kernel->function), kernel->blocks[0], kernel->arguments));
    return kSuccess;
}
int cuGraphInstantiateWithFlags(GraphExec* ready, Graph graph, unsigned long long) {
    ENTER(cuGraphInstantiateWithFlags);
    if (is_refused_beside_recordings()) return kCapturing;
    const auto* work = reinterpret_cast<std::vector<std::function<void()>>*>(graph);
    *ready = reinterpret_cast<GraphExec>(new std::vector<std::function<void()>>(*work));
    ++state.live_graphs;
    return kSuccess;
}
int cuGraphLaunch(GraphExec ready, Stream stream) {
    ENTER(cuGraphLaunch);
    state.last_stream = stream;
    ++state.graph_launches;
    for (const auto& work : *reinterpret_cast<std::vector<std::function<void()>>*>(ready))
        work();
    return kSuccess;
}
int cuGraphDestroy(Graph graph) {
    nodes.erase(graph);
    delete reinterpret_cast<std::vector<std::function<void()>>*>(graph);
    return --state.live_graphs, kSuccess;
}
int cuGraphExecDestroy(GraphExec ready) {
    ENTER(cuGraphExecDestroy);
    delete reinterpret_cast<std::vector<std::function<void()>>*>(ready);
    return --state.live_graphs, kSuccess;
}
int cuEventCreate(Event* event, unsigned) {
    ENTER(cuEventCreate);
    *event = reinterpret_cast<Event>(&state);
    return ++state.live_events, kSuccess;
}
int cuEventRecord(Event event, Stream stream) {
    state.recorded_stream = stream;
    if (capturing_streams.contains(stream))
        captured_events.insert(event);
    else
        captured_events.erase(event);
    return told("cuEventRecord");
}
int cuEventSynchronize(Event) {
    return told("cuEventSynchronize");
}
int cuEventElapsedTime(float* milliseconds, Event, Event) {
    return *milliseconds = 1.5f, kSuccess;
}
int cuEventDestroy_v2(Event) {
    return --state.live_events, kSuccess;
}

}  // extern "C"

// It has all that the back end asks for, with the same parameters.
#define SYMBOL(name, full_name, ...) \
    static_assert(std::is_same_v<decltype(&full_name), int (*)(__VA_ARGS__)>);
#include "runtime/cuda/symbols.def"
#undef SYMBOL
