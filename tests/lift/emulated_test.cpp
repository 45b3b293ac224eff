// Lifted specs as emitted CUDA, on the emulator.
#include "catch.h"
#include "emulated_device.h"
#include "expected.h"

TEST_CASE("lifted specs as CUDA on the emulator") {
    halo::emulator::EmulatedDevice device;
    CHECK(halo::test::check_expected_specs(device, halo::test::load_cuda, {{37, 13, 7}}) >= 60);
}
