// What users are told where the driver does not start. A program of its own: a driver that has started stays.
#include <cstdlib>
#include <string>

#include "fake_driver.h"
#include "runtime/cuda/cuda.h"

using namespace halo::rt;

TEST_CASE("a driver that does not start is explained, and tried again the next time") {
    ::setenv("HALOCLINE_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
    CudaStatus status = cuda_status();
    CHECK_FALSE(status.driver);
    CHECK(has(status.why, "no NVIDIA driver was found"));
    CHECK(has(message(ErrorCode::no_device, [] { open_cuda_device(); }), "run on the CPU"));

    ::setenv("HALOCLINE_LIBCUDA", "libm.so.6", 1);  // a library, but not that one
    CHECK(
        has(message(ErrorCode::driver_too_old, [] { open_cuda_device(); }), "the NVIDIA driver is too old"));

    FakeLibcuda& f = fake();
    f.init_result = 100;
    CHECK(has(message(ErrorCode::no_device, [] { open_cuda_device(); }), "CUDA_VISIBLE_DEVICES"));
    f.init_result = 34;
    CHECK(has(message(ErrorCode::no_device, [] { open_cuda_device(); }), "stand-in"));
    f.init_result = 803;
    CHECK(has(message(ErrorCode::driver_too_old, [] { open_cuda_device(); }), "restarted"));
    f.init_result = 999;
    CHECK(has(message(ErrorCode::no_device, [] { open_cuda_device(); }), "unknown error (999)"));
    f.init_result = 0;
    f.devices = 0;
    status = cuda_status();
    CHECK(status.driver);
    CHECK(status.driver_version == 13000);
    CHECK(status.devices.empty());
    CHECK(has(status.why, "sees no GPU"));
    f.devices = 1;
    CHECK(cuda_status().why.empty());
}
