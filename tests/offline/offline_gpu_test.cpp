// Compiled with nvcc alone, linked to a C program and run on a GPU, the offline files compute what the
// interpreter does.
#include "catch.h"
#include "offline_run.h"
#include "skip.h"

using namespace halo::test;

namespace {

const SkipUnless kToolkit(*HALO_NVCC != 0, "nvcc was not found; install the CUDA toolkit");
const SkipUnless kGpu(run_command("nvidia-smi -L").code == 0, "there is no NVIDIA GPU (nvidia-smi -L)");

}  // namespace

TEST_CASE("offline files compute what the interpreter does", "[offline][gpu]") {
    std::vector<OfflineCase> cases = offline_cases();
    cases.insert(cases.end(), cases_of_several_steps().begin(), cases_of_several_steps().end());
    for (const OfflineCase& offline_case : cases) {
        INFO(offline_case.text << offline_case.schedule);
        CHECK(offline_difference(offline_case, [](const std::string& name) {
                  return HALO_NVCC " -std=c++17 -arch=sm_90 -fmad=false -o program main.c " + name + ".cu";
              }) == "");
    }
}
