// What is made of the times that a device takes; the fake one's clock says 1.5 ms for everything.
#include "runtime/limits/measure.h"

#include <memory>
#include <string>
#include <vector>

#include "catch.h"
#include "fake_driver.h"

using namespace halo::rt;

namespace {

constexpr double kClock = 1.5e-3;
constexpr double kRepeats = 500, kRounds = 1000, kLaunches = 1000, kRecorded = 200;

std::string as_it_is(const std::string&, const std::string&) {
    return "limits";
}

std::vector<int> held() {
    const FakeLibcuda& f = fake();
    return {f.live_allocations, f.live_modules, f.live_graphs, f.live_streams, f.live_events};
}

}  // namespace

TEST_CASE("figures are bytes and launches over the device's time, and nothing leaks") {
    fake();
    const std::unique_ptr<CudaDevice> device = open_cuda_device();
    CHECK(device->info().l2_bytes == 50 << 20);
    CHECK(device->info().driver_version == 13000);
    const std::vector<int> before = held();
    std::string compiled;
    const DeviceLimits limits = measure_limits(*device, [&](const std::string& text, const std::string&) {
        compiled = text;
        return std::string("limits");
    });
    CHECK(compiled.find("copy_vectors") != std::string::npos);
    const double copied = static_cast<double>(fake().total_bytes) / 4;
    CHECK(limits.copy_bandwidth == Approx(2 * copied / kClock));
    const double sms = 132, block = 256 * 4 * 16;
    CHECK(limits.l2_bandwidth == Approx(2 * 4 * sms * block * kRepeats / kClock));
    CHECK(limits.launch_seconds == Approx(kClock / kLaunches));
    CHECK(limits.graph_launch_seconds == Approx(kClock / kRecorded));
    CHECK(limits.barrier_seconds == Approx(kClock / kRounds));
    CHECK(held() == before);
}

TEST_CASE("a barrier that does not come through is not measured, and the rest is") {
    fake().barriers_hang = true;
    const std::unique_ptr<CudaDevice> device = open_cuda_device();
    const DeviceLimits limits = measure_limits(*device, as_it_is);
    fake().barriers_hang = false;
    CHECK(limits.barrier_seconds == 0);
    CHECK(limits.copy_bandwidth > 0);
}

TEST_CASE("a device that copies wrongly is not measured") {
    fake().copies_are_wrong = true;
    const std::unique_ptr<CudaDevice> device = open_cuda_device();
    const std::string text = message(ErrorCode::launch_failed, [&] { measure_limits(*device, as_it_is); });
    fake().copies_are_wrong = false;
    CHECK(has(text, "other values"));
}

TEST_CASE("a device that fails says so") {
    const std::unique_ptr<CudaDevice> device = open_cuda_device();
    const std::vector<int> before = held();
    fake().fail_next["cuLaunchKernel"] = 700;
    CHECK_THROWS_AS(measure_limits(*device, as_it_is), Error);
    CHECK(held() == before);
}
