// Emulated CUDA as a Device: memory, constants, launches by plan. Whole sessions run in tests/engines.
#include "emulated_device.h"

#include <vector>

#include "catch.h"

using namespace halo;
using namespace halo::emulator;

namespace {

constexpr char kScale[] = R"(
__constant__ double factor[2];
extern "C" __global__ void scale(const double* __restrict__ u, double* __restrict__ v, int n)
{
    const int i = blockIdx.x * 4 + threadIdx.x;
    if (i < n) v[i] = factor[0] * u[i] + factor[1];
})";

rt::KernelPlan scale_plan() {
    rt::KernelPlan plan;
    plan.name = "scale";
    plan.threads = plan.tile = {4, 1, 1};
    plan.arguments.resize(3);
    return plan;
}

}  // namespace

TEST_CASE("emulated device: arrays, constants and a launch") {
    EmulatedDevice device;
    {
        const std::unique_ptr<rt::Module> module = device.load(kScale, "scale.cu");
        rt::KernelPlan plan = scale_plan();
        rt::Kernel* kernel = module->find_kernel(plan);
        REQUIRE(kernel != nullptr);
        CHECK(module->find_kernel(plan) == kernel);
        plan.name = "other";
        CHECK(module->find_kernel(plan) == nullptr);

        const double factor[] = {2, 0.5};
        CHECK(module->set_constant("factor", factor, sizeof factor));
        CHECK_FALSE(module->set_constant("vector", factor, sizeof factor));
        CHECK_THROWS_AS(module->set_constant("factor", factor, sizeof(double)), rt::Error);

        const std::vector<double> u{1, 2, 3, 4, 5, 6};
        const auto bytes = static_cast<std::int64_t>(u.size() * sizeof(double));
        rt::DeviceMemory from(device, bytes), to(device, bytes);
        device.copy_to_device(from.address(), u.data(), bytes);
        const void* first = from.address();
        void* second = to.address();
        int n = 6;
        void* arguments[] = {&first, &second, &n};
        device.launch(*kernel, {2, 1, 1}, arguments);
        std::vector<double> v(u.size());
        device.copy_to_host(v.data(), to.address(), bytes);
        CHECK(v == std::vector<double>{2.5, 4.5, 6.5, 8.5, 10.5, 12.5});
        CHECK(device.launches() == 1);
        CHECK(device.allocations() == 2);

        n = 7;  // one past the end
        CHECK_THROWS_AS(device.launch(*kernel, {2, 1, 1}, arguments), EmulationError);
    }
    CHECK(device.allocations() == 0);
}

TEST_CASE("emulated device: what nobody wrote is seen, what the host filled is not") {
    EmulatedDevice device;
    const std::unique_ptr<rt::Module> module = device.load(kScale, "scale.cu");
    const rt::KernelPlan plan = scale_plan();
    rt::Kernel* kernel = module->find_kernel(plan);
    rt::DeviceMemory from(device, 32), to(device, 32);
    const void* first = from.address();
    void* second = to.address();
    int n = 4;
    void* arguments[] = {&first, &second, &n};
    try {
        device.launch(*kernel, {1, 1, 1}, arguments);
        CHECK(false);
    } catch (const EmulationError& error) {
        CHECK(error.kind() == FindingKind::uninitialised);
    }
    device.set_bytes(from.address(), 0xff, 32);
    device.launch(*kernel, {1, 1, 1}, arguments);
    double result = 0;
    device.copy_to_host(&result, to.address(), sizeof result);
    CHECK(result != result);
}

TEST_CASE("emulated device: a plan that does not fit the kernel is refused") {
    EmulatedDevice device;
    const std::unique_ptr<rt::Module> module = device.load(kScale, "scale.cu");
    rt::KernelPlan plan = scale_plan();
    plan.arguments.resize(2);
    CHECK_THROWS_AS(module->find_kernel(plan), rt::Error);
}
