// The CUDA back end on a GPU: kernels compiled by NVRTC, constants, shared memory, sessions with recorded
// steps.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catch.h"
#include "cuda_under_test.h"
#include "runtime/core/session.h"
#include "runtime/nvrtc/nvrtc.h"
#include "skip.h"

using namespace halo::rt;

namespace {

const SkipUnless gpu(cuda_status().why.empty(), cuda_status().why);

constexpr int kTileX = 32, kTileY = 8;

const char* const kSmallKernels = R"(
__constant__ float weights[2];

extern "C" __global__ void affine(float* out, const float* in, int n, double shift) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = weights[0] * in[i] + weights[1] + (float)shift;
}

// Each block turns its part of a row round, through shared memory as large as the caller says.
extern "C" __global__ void reverse(float* data, int n) {
    extern __shared__ float tile[];
    float* block = data + (long long)blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) tile[n - 1 - i] = block[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) block[i] = tile[i];
}
)";

// u[t+1] = u + rate * (neighbours - 4 u), and the largest change of each block.
const char* const kHeatKernel = R"(
extern "C" __global__ void heat(double* next, const double* now, double rate, double* change, int nx, int ny, int pitch) {
    __shared__ double largest[256];
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    const int thread = threadIdx.y * 32 + threadIdx.x;
    largest[thread] = 0;
    if (x < nx && y < ny) {
        const long long i = x + (long long)y * pitch;
        const double sum = (now[i - 1] + now[i + 1]) + (now[i - pitch] + now[i + pitch]);
        const double result = now[i] + rate * (sum - 4 * now[i]);
        next[i] = result;
        largest[thread] = result > now[i] ? result - now[i] : now[i] - result;
    }
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (thread < half && largest[thread + half] > largest[thread]) largest[thread] = largest[thread + half];
        __syncthreads();
    }
    if (thread == 0) change[blockIdx.x + gridDim.x * blockIdx.y] = largest[0];
}
)";

std::string compile(const char* text, const std::string& name) {
    INFO(Nvrtc::why_missing());
    REQUIRE(Nvrtc::find() != nullptr);
    NvrtcOptions options;
    options.arch = device_under_test().info().arch();
    return Nvrtc::find()->compile(text, name, options).cubin;
}

KernelPlan plan_of(const std::string& name, int threads) {
    KernelPlan plan;
    plan.name = name;
    plan.threads = {threads, 1, 1};
    return plan;
}

ErrorCode code_of_loading(const std::string& code) {
    try {
        device_under_test().load(code, "a test");
    } catch (const Error& error) {
        return error.code();
    }
    FAIL("it loaded");
    return ErrorCode::internal;
}

LaunchPlan heat_plan() {
    LaunchPlan plan;
    plan.name = "heat";
    plan.rank = 2;
    plan.params = {{"rate", 0.2}, {"wall", 3.0}};
    FieldPlan u;
    u.name = "u";
    u.type = ElementType::f64;
    u.role = Role::state;
    u.boundary[0][0].kind = u.boundary[0][1].kind = BoundaryKind::periodic;
    u.boundary[1][0].kind = BoundaryKind::fixed;
    u.boundary[1][0].value.steps = {{HostScalar::Op::param, 0, 1}};
    u.boundary[1][1].kind = BoundaryKind::mirror;
    u.halo = {{{1, 1}, {1, 1}, {0, 0}}};
    plan.halo = u.halo;
    plan.fields = {u};
    KernelPlan kernel;
    kernel.name = "heat";
    kernel.threads = {kTileX, kTileY, 1};
    kernel.tile = {kTileX, kTileY, 1};
    kernel.arguments.resize(7);
    kernel.arguments[0].time = 1;
    kernel.arguments[2].kind = Argument::Kind::scalar;
    kernel.arguments[2].type = ElementType::f64;
    kernel.arguments[2].scalar.steps = {{HostScalar::Op::param, 0, 0}};
    kernel.arguments[3].kind = Argument::Kind::partials;
    kernel.arguments[4].kind = kernel.arguments[5].kind = Argument::Kind::extent;
    kernel.arguments[5].index = 1;
    kernel.arguments[6].kind = Argument::Kind::pitch;
    kernel.refresh_halos = {{0, 1}};
    plan.kernels = {kernel};
    plan.reductions = {{"change", ReductionPlan::Op::max, false, 0}};
    return plan;
}

// heat_plan by its definition, on a dense array.
struct Heat {
    std::int64_t nx, ny;
    double rate, wall;
    std::vector<double> u;
    double change = 0;

    double at(std::int64_t x, std::int64_t y) const {
        if (y >= ny) y = 2 * (ny - 1) - y;
        if (y < 0) return wall;  // a reflection may leave through the other face
        return u[(x + nx) % nx + nx * y];
    }
    void step() {
        std::vector<double> next(u.size());
        change = 0;
        for (std::int64_t y = 0; y < ny; ++y) {
            for (std::int64_t x = 0; x < nx; ++x) {
                const double sum = (at(x - 1, y) + at(x + 1, y)) + (at(x, y - 1) + at(x, y + 1));
                const double four = 4 * at(x, y);
                const double flux = rate * (sum - four);
                next[x + nx * y] = at(x, y) + flux;
                change = std::max(change, std::fabs(next[x + nx * y] - at(x, y)));
            }
        }
        u = next;
    }
};

void compare_heat(std::int64_t nx, std::int64_t ny, bool record) {
    CudaDevice& device = device_under_test();
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(device.load(compile(kHeatKernel, "heat.cu"), "heat"));
    Session session(heat_plan(), {nx, ny, 1}, device, std::move(modules), {true, record});
    Heat reference{nx, ny, 0.2, 3.0, {}};
    for (std::int64_t i = 0; i < nx * ny; ++i)
        reference.u.push_back(static_cast<double>((i * 37) % 101) / 7);
    session.upload("u", 0, std::span<const double>(reference.u));
    for (const int steps : {1, 3, 200, 65}) {
        if (steps == 200) {  // scalars and walls change between recordings
            session.set_param("rate", 0.15);
            session.set_param("wall", -2.0);
            reference.rate = 0.15;
            reference.wall = -2.0;
        }
        session.step(steps);
        for (int step = 0; step < steps; ++step)
            reference.step();
        INFO(nx << " x " << ny << ", recorded: " << record << ", " << steps << " steps");
        const bool same = session.download("u") == reference.u;
        CHECK(same);
        CHECK(session.reduction("change") == reference.change);
    }
    CHECK(session.kernel_info(0).registers > 0);
    CHECK(session.kernel_info(0).static_shared_bytes == 2048);
}

}  // namespace

CudaDevice& device_under_test() {
    static const std::unique_ptr<CudaDevice> device = open_cuda_device();
    return *device;
}

TEST_CASE("a kernel runs with its arguments and constants") {
    CudaDevice& device = device_under_test();
    const auto module = device.load(compile(kSmallKernels, "small.cu"), "small");
    CHECK(module->find_kernel(plan_of("missing", 32)) == nullptr);
    Kernel* kernel = module->find_kernel(plan_of("affine", 128));
    REQUIRE(kernel != nullptr);
    CHECK(kernel->info().registers > 0);
    CHECK(kernel->info().spill_bytes == 0);

    int n = 1000;
    double shift = 0.5;
    std::vector<float> in(1000), out(1000), wanted(1000);
    for (int i = 0; i < n; ++i)
        in[static_cast<std::size_t>(i)] = static_cast<float>(i);
    const DeviceMemory from(device, 4000), to(device, 4000);
    device.copy_to_device(from.address(), in.data(), 4000);
    void* to_address = to.address();
    void* from_address = from.address();
    void* arguments[] = {&to_address, &from_address, &n, &shift};
    for (const float slope : {2.0f, -1.0f}) {
        const float weights[2] = {slope, 3.0f};
        CHECK(module->set_constant("weights", weights, sizeof weights));
        device.launch(*kernel, {8, 1, 1}, arguments);
        device.copy_to_host(out.data(), to.address(), 4000);
        for (std::size_t i = 0; i < out.size(); ++i)
            wanted[i] = slope * in[i] + 3.0f + 0.5f;
        CHECK(out == wanted);
    }
    CHECK_FALSE(module->set_constant("no_such_constant", &n, 4));
}

TEST_CASE("a block gets more shared memory than it has without asking") {
    CudaDevice& device = device_under_test();
    const auto module = device.load(compile(kSmallKernels, "small.cu"), "small");
    const std::int64_t most = device.info().max_shared_bytes_per_block;
    for (const std::int64_t bytes : {std::int64_t{4096}, most, std::int64_t{4096}}) {
        KernelPlan plan = plan_of("reverse", 256);
        plan.dynamic_shared_bytes = bytes;
        Kernel* kernel = module->find_kernel(plan);
        REQUIRE(kernel != nullptr);
        int n = static_cast<int>(bytes / 4);
        std::vector<float> data(static_cast<std::size_t>(2 * n));
        for (std::size_t i = 0; i < data.size(); ++i)
            data[i] = static_cast<float>(i);
        const DeviceMemory memory(device, 2 * bytes);
        device.copy_to_device(memory.address(), data.data(), 2 * bytes);
        void* address = memory.address();
        void* arguments[] = {&address, &n};
        device.launch(*kernel, {2, 1, 1}, arguments);
        std::reverse(data.begin(), data.begin() + n);
        std::reverse(data.begin() + n, data.end());
        std::vector<float> found(data.size());
        device.copy_to_host(found.data(), memory.address(), 2 * bytes);
        CHECK(found == data);
    }
    KernelPlan too_much = plan_of("reverse", 256);
    too_much.dynamic_shared_bytes = most + 4;
    CHECK_THROWS_AS(module->find_kernel(too_much), Error);
}

TEST_CASE("code that this GPU cannot run is refused") {
    CHECK(code_of_loading("no code at all") != ErrorCode::internal);
    CHECK(code_of_loading(".version 6.0\n.target sm_50\n.address_size 64\nnonsense here;\n") ==
          ErrorCode::compile_failed);
    const CudaDeviceInfo& info = device_under_test().info();
    REQUIRE(Nvrtc::find() != nullptr);
    for (const int arch : Nvrtc::find()->architectures()) {
        if (arch / 10 <= info.major) continue;  // a newer generation's
        NvrtcOptions options;
        options.arch = "sm_" + std::to_string(arch);
        const std::string newer = Nvrtc::find()->compile(kSmallKernels, "small.cu", options).cubin;
        CHECK(code_of_loading(newer) == ErrorCode::driver_too_old);
        break;
    }
}

TEST_CASE("steps on the GPU are those of the definition, bit by bit, recorded or not") {
    for (const bool record : {true, false}) {
        compare_heat(1, 1, record);
        compare_heat(33, 9, record);
        compare_heat(100, 37, record);
        compare_heat(64, 64, record);
    }
}

TEST_CASE("a condition on a reduction stops the GPU at the step that it stops the definition") {
    CudaDevice& device = device_under_test();
    const auto module_of = [&] { return device.load(compile(kHeatKernel, "heat.cu"), "heat"); };
    using Op = HostScalar::Op;
    for (const double bound : {0.5, 0.05, 0.01}) {
        Heat reference{40, 20, 0.2, 3.0, {}};
        for (std::int64_t i = 0; i < 800; ++i)
            reference.u.push_back(static_cast<double>((i * 37) % 101) / 7);
        const std::vector<double> start = reference.u;
        std::int64_t steps = 0;
        do {
            reference.step();
            ++steps;
        } while (steps < 2000 && reference.change >= bound);
        for (const bool record : {true, false}) {
            std::vector<std::unique_ptr<Module>> modules;
            modules.push_back(module_of());
            Session session(heat_plan(), {40, 20, 1}, device, std::move(modules), {false, record});
            session.upload("u", 0, std::span<const double>(start));
            RunOptions options;
            options.steps = 2000;
            options.until = HostScalar{{{Op::param, 0, 2}, {Op::constant, bound, 0}, {Op::less, 0, 0}}};
            CHECK(session.run(options).steps == steps);
            CHECK(session.download("u") == reference.u);
            CHECK(session.reduction("change") == reference.change);
        }
    }
}
