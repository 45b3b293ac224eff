// Each detector of the emulator fires on a kernel that is broken in just that way, and not on its mended
// form.
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catch.h"
#include "contains.h"
#include "emulator.h"

using namespace halo::emulator;

namespace {

// Two arrays of 64 floats, u (written by the host) and v (not), and a kernel `k(const float* u, float* v, int
// n)`.
struct Bench {
    static constexpr int kCells = 64;
    explicit Bench(const CheckOptions& options = {}) : emulator(options), u(kCells), v(kCells) {
        for (int i = 0; i < kCells; ++i)
            u[i] = static_cast<float>(i);
        emulator.add_array(u.data(), kCells * sizeof(float), "u", true);
        emulator.add_array(v.data(), kCells * sizeof(float), "v", false);
    }

    std::optional<EmulationError> run(const std::string& body,
                                      const LaunchShape& shape = {{2, 1, 1}, {32, 1, 1}, 0}) {
        const std::string text =
            "extern \"C\" __global__ void k(const float* __restrict__ u, float* v, int n)\n{\n"
            "const int t = threadIdx.x;\n"
            "const int i = blockIdx.x * blockDim.x + t;\n" +
            body + "\n}\n";
        const std::shared_ptr<CudaModule> module = CudaModule::compile(text, "k.cu");
        emulator.attach(module);
        const float* from = u.data();
        float* to = v.data();
        int n = kCells;
        void* arguments[] = {&from, &to, &n};
        std::optional<EmulationError> error;
        try {
            emulator.launch(*module, "k", shape, arguments);
        } catch (const EmulationError& caught) {
            error = caught;
        }
        emulator.detach(*module);
        return error;
    }

    Emulator emulator;
    std::vector<float> u, v;
};

// Runs on a fresh bench and expects a finding of that kind at that line of the body (from 1).
std::string expect(FindingKind kind, int line, const std::string& body,
                   const LaunchShape& shape = {{2, 1, 1}, {32, 1, 1}, 0}) {
    Bench bench;
    const std::optional<EmulationError> error = bench.run(body, shape);
    REQUIRE(error.has_value());
    INFO(error->what());
    CHECK(error->kind() == kind);
    CHECK(error->line() == (line == 0 ? 0 : line + 4));
    return error->what();
}

void expect_clean(const std::string& body, const LaunchShape& shape = {{2, 1, 1}, {32, 1, 1}, 0}) {
    Bench bench;
    const std::optional<EmulationError> error = bench.run(body, shape);
    INFO((error ? error->what() : ""));
    CHECK_FALSE(error.has_value());
}

}  // namespace

TEST_CASE("emulator: a correct kernel is clean, and right") {
    Bench bench;
    const std::optional<EmulationError> error = bench.run(R"(
        __shared__ float tile[34];
        extern __shared__ double twice[];
        tile[t + 1] = u[i];
        if (t == 0) tile[0] = i > 0 ? u[i - 1] : 0.0f;
        if (t == 31) tile[33] = i + 1 < n ? u[i + 1] : 0.0f;
        twice[t] = 2.0 * u[i];
        __syncthreads();
        v[i] = tile[t] + tile[t + 1] + tile[t + 2] + static_cast<float>(twice[31 - t]);)",
                                                          {{2, 1, 1}, {32, 1, 1}, 32 * 8});
    INFO((error ? error->what() : ""));
    REQUIRE_FALSE(error.has_value());
    for (int i = 0; i < 64; ++i) {
        const int other = i / 32 * 32 + 31 - i % 32;
        CHECK(bench.v[i] == static_cast<float>((i > 0 ? i - 1 : 0) + i + (i < 63 ? i + 1 : 0) + 2 * other));
    }
}

TEST_CASE("emulator: reads and writes outside arrays") {
    const std::string past = expect(FindingKind::out_of_bounds, 1, "v[i] = u[i + 1];");
    CHECK(contains(
        past, "kernel 'k', block (1,0,0), thread (31,0,0) reads 4 bytes at byte 256 of 'u' (256 bytes)"));
    CHECK(contains(past, "k.cu:5 | v[i] = u[i + 1];"));
    CHECK(contains(expect(FindingKind::out_of_bounds, 1, "v[i] = u[i - 1];"), "byte -4 of 'u'"));
    CHECK(contains(expect(FindingKind::out_of_bounds, 2, "v[i] = u[i];\nv[i + 60] = 0.0f;"),
                   "writes 4 bytes at byte 256"));
    // A vector that begins inside and ends outside.
    expect(FindingKind::out_of_bounds, 1,
           "if (i == 0) { double2 w; __builtin_memcpy(&w, u + 62, 16); v[0] = (float)(w.x + w.y); }");
    expect(FindingKind::out_of_bounds, 1, "v[i] = *(const float*)(64 + 4 * t);");
    expect_clean("v[i] = i + 1 < n ? u[i + 1] : 0.0f;");
}

TEST_CASE("emulator: steps past shared arrays") {
    const std::string past = expect(FindingKind::out_of_bounds, 3,
                                    "__shared__ float tile[32];\n__shared__ float other[32];\n"
                                    "tile[t + 1] = u[i];\nother[t] = 0.0f;");
    CHECK(contains(past, "byte 128 of shared 'tile' (128 bytes)"));
    expect(FindingKind::out_of_bounds, 2, "extern __shared__ float tile[];\ntile[t + 1] = u[i];",
           {{2, 1, 1}, {32, 1, 1}, 128});
    expect_clean("extern __shared__ float tile[];\ntile[t + 1] = u[i];", {{2, 1, 1}, {32, 1, 1}, 132});
}

TEST_CASE("emulator: vector accesses that are not aligned") {
    expect(FindingKind::misaligned, 1,
           "if (t == 0) *reinterpret_cast<float4*>(v + 1) = make_float4(1.0f, 2.0f, 3.0f, 4.0f);");
    expect_clean("if (i == 0) *reinterpret_cast<float4*>(v + 4) = make_float4(1.0f, 2.0f, 3.0f, 4.0f);");
}

TEST_CASE("emulator: reads of memory that nobody wrote") {
    const std::string shared = expect(FindingKind::uninitialised, 4,
                                      "__shared__ float tile[33];\ntile[t] = u[i];\n__syncthreads();\n"
                                      "v[i] = tile[t + 1];");
    CHECK(contains(shared, "thread (31,0,0) reads 4 bytes at byte 128 of shared 'tile' (132 bytes)"));
    expect(FindingKind::uninitialised, 1, "v[i] = v[i] + 1.0f;");
    // What an earlier block left in shared memory is no value of this block.
    expect(FindingKind::uninitialised, 4,
           "__shared__ float tile[32];\nif (blockIdx.x == 0) tile[t] = u[i];\n__syncthreads();\nv[i] = "
           "tile[t];");
    // What one launch wrote, the next may read.
    Bench bench;
    CHECK_FALSE(bench.run("v[i] = u[i];").has_value());
    CHECK_FALSE(bench.run("v[i] = v[i] + 1.0f;").has_value());
    CHECK(bench.v[10] == 11);
    CheckOptions lax;
    lax.uninitialised_global = false;
    CHECK_FALSE(Bench(lax).run("v[i] = v[i] + 1.0f;").has_value());
}

TEST_CASE("emulator: races within a block") {
    const std::string missing =
        expect(FindingKind::race, 3, "__shared__ float tile[32];\ntile[t] = u[i];\nv[i] = tile[t / 2];");
    CHECK(contains(missing, "reads 4 bytes"));
    CHECK(contains(missing, "with no barrier between them"));
    CHECK(contains(missing, "k.cu:6 | tile[t] = u[i];"));
    expect_clean("__shared__ float tile[32];\ntile[t] = u[i];\n__syncthreads();\nv[i] = tile[31 - t];");
    // The barrier that a loop over planes needs at its end.
    const std::string loop =
        "__shared__ float tile[32];\nfloat sum = 0.0f;\nfor (int k = 0; k < 3; ++k) {\n"
        "tile[t] = u[i] + k;\n__syncthreads();\nsum += tile[t / 2];\n";
    expect(FindingKind::race, 6, loop + "}\nv[i] = sum;");
    expect_clean(loop + "__syncthreads();\n}\nv[i] = sum;");
    CHECK(contains(
        expect(FindingKind::race, 2, "__shared__ float one;\none = u[i];\n__syncthreads();\nv[i] = one;"),
        "wrote with no barrier"));
    // Across warps a meeting of the warp orders nothing; within one it does.
    const std::string warp = "__shared__ float tile[64];\ntile[t] = 1.0f;\n__syncwarp();\n";
    expect_clean(warp + "v[t] = tile[t ^ 1];", {{1, 1, 1}, {64, 1, 1}, 0});
    expect(FindingKind::race, 4, warp + "v[t] = tile[t / 2];", {{1, 1, 1}, {64, 1, 1}, 0});
}

TEST_CASE("emulator: races between blocks") {
    const std::string both = expect(FindingKind::race, 1, "v[t] = u[i];");
    CHECK(contains(both, "block (1,0,0), thread (0,0,0) writes 4 bytes at byte 0 of 'v'"));
    CHECK(contains(both, "thread (0,0,0) of block (0,0,0) wrote"));
    // An update in place: the neighbour block's new value, or its old one?
    expect(FindingKind::race, 2, "float* w = const_cast<float*>(u);\nw[i] = i + 1 < n ? u[i + 1] : 0.0f;\n",
           {{2, 1, 1}, {32, 1, 1}, 0});
    expect_clean("v[i] = u[63 - i];");
    CheckOptions lax;
    lax.races = false;
    CHECK_FALSE(Bench(lax).run("v[t] = u[i];").has_value());
}

TEST_CASE("emulator: barriers that not all threads reach at one place") {
    CHECK(
        contains(expect(FindingKind::divergent_barrier, 1, "if (t < 16) { __syncthreads(); }\nv[i] = u[i];"),
                 "waits"));
    const std::string two =
        expect(FindingKind::divergent_barrier, 4,
               "if (t < 16) {\n__syncthreads();\n} else {\n__syncthreads();\n}\nv[i] = u[i];");
    CHECK(contains(two, "k.cu:6"));
    expect(FindingKind::divergent_barrier, 2, "if (t == 5) return;\n__syncthreads();\nv[i] = u[i];");
    expect(FindingKind::divergent_barrier, 1, "for (int k = 0; k <= t; ++k) __syncthreads();\nv[i] = u[i];");
    expect_clean("for (int k = 0; k < n; ++k) __syncthreads();\nv[i] = u[i];");
    expect_clean("if (blockIdx.x == 0) { __syncthreads(); }\nv[i] = u[i];");
}

TEST_CASE("emulator: shuffles, ballots and meetings of a warp") {
    Bench bench;
    const std::optional<EmulationError> error = bench.run(R"(
        double sum = u[i];
        for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(~0u, sum, lanes);
        float all = u[i];
        for (int lanes = 16; lanes > 0; lanes /= 2) all += __shfl_xor_sync(0xffffffffu, all, lanes);
        const float before = __shfl_up_sync(~0u, u[i], 1);
        const float third = __shfl_sync(~0u, u[i], 3);
        const unsigned odd = __ballot_sync(~0u, t & 1);
        v[i] = t == 0 ? (float)sum : t == 1 ? all : t == 2 ? before : t == 3 ? third : __popc(odd);)");
    INFO((error ? error->what() : ""));
    REQUIRE_FALSE(error.has_value());
    CHECK(bench.v[0] == 496);
    CHECK(bench.v[33] == 496 + 32 * 32);
    CHECK(bench.v[34] == 33);
    CHECK(bench.v[35] == 35);
    CHECK(bench.v[36] == 16);
    expect(FindingKind::divergent_warp, 1, "if (t < 16) v[i] = __shfl_down_sync(~0u, u[i], 1);\n");
    expect(FindingKind::divergent_warp, 1, "v[i] = __shfl_sync(0xffffu, u[i], 1);");
    // The last warp is half empty: lane 16 is not there.
    expect(FindingKind::divergent_warp, 1, "v[i] = __shfl_down_sync(~0u, u[i], 1);",
           {{1, 1, 1}, {48, 1, 1}, 0});
    expect_clean("v[i] = t < 16 ? __shfl_down_sync(0xffffu, u[i], 1, 16) : 0.0f;");
}

TEST_CASE("emulator: launches that no device takes") {
    const std::string body = "v[i] = u[i];";
    for (const LaunchShape& shape :
         {LaunchShape{{1, 1, 1}, {1025, 1, 1}, 0}, LaunchShape{{1, 1, 1}, {1, 1, 65}, 0},
          LaunchShape{{1, 1, 1}, {32, 32, 2}, 0}, LaunchShape{{1, 65536, 1}, {1, 1, 1}, 0},
          LaunchShape{{0, 1, 1}, {32, 1, 1}, 0}, LaunchShape{{1, 1, 1}, {32, 1, 1}, 232449}})
        expect(FindingKind::bad_launch, 0, body, shape);
}

TEST_CASE("emulator: three-dimensional indices, constants, a thread's own arrays, helper functions") {
    const std::string text = R"(
        // __global__ void not_this(int);
        __constant__ float weights[3];
        __device__ __forceinline__ void pair(const float* from, float (&to)[2]) { to[0] = from[0]; to[1] = from[1]; }
        __device__ __noinline__ float total(const float* values) { return values[0] + values[1]; }
        extern "C" __global__ void __launch_bounds__(8, 1) k(const float* u, float* v, long long slice, int pitch,
                                                            double scale)
        {
            float queue[2];
            const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
            const int z = blockIdx.z * blockDim.z + threadIdx.z;
            const float* cell = u + z * slice + y * pitch + x;
            pair(cell, queue);
            #pragma unroll
            for (int i = 0; i < 2; ++i) queue[i] *= weights[i + 1];
            v[z * slice + y * pitch + x] = fmaf(total(queue), (float)scale, weights[0]);
        })";
    const std::shared_ptr<CudaModule> module = CudaModule::compile(text, "k.cu");
    CHECK(module->kernels() == std::vector<std::string>{"k"});
    CHECK(module->parameters("k") == 5);
    CHECK(module->parameters("not_this") == -1);
    REQUIRE(module->variable("weights") != nullptr);
    CHECK(module->variable("weights")->bytes == 12);
    const float weights[] = {100, 2, 3};
    std::memcpy(module->variable("weights")->address, weights, sizeof weights);

    std::vector<float> u(4 * 4 * 4 + 1), v(4 * 4 * 4);
    for (std::size_t i = 0; i < u.size(); ++i)
        u[i] = static_cast<float>(i);
    Emulator emulator;
    emulator.add_array(u.data(), u.size() * 4, "u", true);
    emulator.add_array(v.data(), v.size() * 4, "v", false);
    emulator.attach(module);
    const float* from = u.data();
    float* to = v.data();
    long long slice = 16;
    int pitch = 4;
    double scale = 0.5;
    void* arguments[] = {&from, &to, &slice, &pitch, &scale};
    emulator.launch(*module, "k", {{2, 2, 2}, {2, 2, 2}, 0}, arguments);
    for (int i = 0; i < 64; ++i)
        CHECK(v[i] == 100 + (2 * u[i] + 3 * u[i + 1]) / 2);
    CHECK_THROWS_AS(emulator.launch(*module, "other", {}, arguments), halo::rt::Error);
    emulator.detach(*module);
}

TEST_CASE("emulator: refused text says where") {
    try {
        CudaModule("extern \"C\" __global__ void k(float* v)\n{\n    v[0] = w[0];\n}\n", "k.cu");
        CHECK(false);
    } catch (const halo::rt::Error& error) {
        CHECK(contains(error.what(), "undeclared identifier 'w'"));
        CHECK(contains(error.what(), "> 3 |     v[0] = w[0];"));
    }
}

TEST_CASE("emulator: blocks that poll packets of each other take turns") {
    const LaunchShape together{{2, 1, 1}, {32, 1, 1}, 0, true};
    // Block 0 waits for block 1, which comes after it, and each keeps its own shared memory.
    Bench bench;
    const std::optional<EmulationError> error = bench.run(R"(
        __shared__ float mine;
        if (t == 0) mine = 5.0f + blockIdx.x;
        __syncthreads();
        if (blockIdx.x == 1 && t == 0) halo_store_packet(v, 7);
        while (halo_load_packet(v) != 7) {}
        __syncthreads();
        if (t >= 2) v[i] = mine;)",
                                                          together);
    INFO((error ? error->what() : ""));
    REQUIRE_FALSE(error.has_value());
    CHECK(bench.v[2] == 5);
    CHECK(bench.v[34] == 6);
    const std::string waits =
        expect(FindingKind::deadlock, 1, "while (halo_load_packet(v) != 7) {}", together);
    CHECK(contains(waits, "polls a packet that no block sends"));
    expect(FindingKind::out_of_bounds, 1, "halo_store_packet(v + 64, 7);", together);
    expect(FindingKind::bad_launch, 0, "v[i] = 1.0f;", {{17, 1, 1}, {1024, 1, 1}, 0, true});
}
