#include "runtime/nvrtc/ptxas_log.h"

#include "catch.h"

using namespace halo::rt;

TEST_CASE("registers, spills and shared bytes are read from the log of ptxas, kernel by kernel") {
    const auto kernels = parse_ptxas_log(
        "ptxas info    : 8 bytes gmem, 16 bytes cmem[3]\n"
        "ptxas info    : Compiling entry function 'heat3d_stage0' for 'sm_90'\n"
        "ptxas info    : Function properties for heat3d_stage0\n"
        "    40 bytes stack frame, 36 bytes spill stores, 44 bytes spill loads\n"
        "ptxas info    : Used 255 registers, used 1 barriers, 4608 bytes smem, 400 bytes cmem[0]\n"
        "ptxas info    : Compile time = 2.927 ms\n"
        "ptxas info    : Function properties for helper\n"
        "    80 bytes stack frame, 12 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info    : Compiling entry function 'second' for 'sm_90'\n"
        "ptxas info    : Function properties for second\n"
        "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 14 registers, used 0 barriers");
    REQUIRE(kernels.size() == 2);
    CHECK(kernels[0].name == "heat3d_stage0");
    CHECK(kernels[0].registers == 255);
    CHECK(kernels[0].stack_bytes == 40);
    CHECK(kernels[0].spill_store_bytes == 36);
    CHECK(kernels[0].spill_load_bytes == 44);
    CHECK(kernels[0].static_shared_bytes == 4608);
    CHECK(kernels[1].name == "second");
    CHECK(kernels[1].registers == 14);
    CHECK(kernels[1].stack_bytes == 0);
    CHECK(kernels[1].static_shared_bytes == 0);
}

TEST_CASE("other text in the log is passed over") {
    CHECK(parse_ptxas_log("").empty());
    CHECK(parse_ptxas_log("k.cu(1): warning: 3 registers\n\n").empty());
    const auto kernels = parse_ptxas_log("Compiling entry function 'k\nregisters registers\n");
    REQUIRE(kernels.size() == 1);
    CHECK(kernels[0].registers == 0);
}
