#include <cstdio>
#include <vector>

#include "catch.h"
#include "emulator.h"

using namespace halo::emulator;

TEST_CASE("emulator: a correct kernel is clean") {
    const auto module = CudaModule::compile(R"(
extern "C" __global__ void __launch_bounds__(64) blur(const float* __restrict__ u, float* __restrict__ v, int n)
{
    __shared__ float tile[66];
    extern __shared__ float extra[];
    const int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x + 1] = i < n ? u[i] : 0.0f;
    if (threadIdx.x == 0) tile[0] = i > 0 ? u[i - 1] : 0.0f;
    if (threadIdx.x == 63) tile[65] = i + 1 < n ? u[i + 1] : 0.0f;
    extra[threadIdx.x] = 1.0f;
    __syncthreads();
    if (i < n) v[i] = tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2] + extra[63 - threadIdx.x];
}
)",
                                            "blur.cu");
    std::printf("compile %g\n", module->compile_seconds());
    Emulator emulator;
    emulator.attach(module);
    int n = 200;
    std::vector<float> u(n, 1.0f), v(n);
    emulator.add_array(u.data(), n * 4, "u", true);
    emulator.add_array(v.data(), n * 4, "v", false);
    const float* pu = u.data();
    float* pv = v.data();
    void* arguments[] = {&pu, &pv, &n};
    emulator.launch(*module, "blur", {{4, 1, 1}, {64, 1, 1}, 256}, arguments);
    CHECK(v[0] == 3);
    CHECK(v[100] == 4);
}
