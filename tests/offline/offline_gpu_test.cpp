// Compiled with nvcc alone, linked to a C program and run on a GPU, the offline files compute what the
// interpreter does, and those of the examples what a session does.
#include <algorithm>
#include <atomic>
#include <thread>

#include "catch.h"
#include "compiler/emit/emit.h"
#include "compiler/ir/grids.h"
#include "offline_run.h"
#include "runtime/cuda/cuda.h"
#include "runtime/nvrtc/nvrtc.h"
#include "skip.h"

using namespace halo;
using namespace halo::test;

namespace {

const SkipUnless kToolkit(*HALO_NVCC != 0, "nvcc was not found; install the CUDA toolkit");
const SkipUnless kGpu(run_command("nvidia-smi -L").code == 0, "there is no NVIDIA GPU (nvidia-smi -L)");

std::string build_with_nvcc(const std::string& name) {
    return HALO_NVCC " -std=c++17 -arch=native -fmad=false" + std::string(kNoRemarks) + " -c " + name +
           ".cu -o offline.o && " HALO_NVCC " -o program main.c offline.o";
}

// As many at once as there are cores: nvcc takes seconds for each, and the programs next to none.
template <class Run>
std::vector<std::string> in_threads(std::size_t count, const Run& run) {
    std::vector<std::string> results(count);
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t n; (n = next++) < count;) {
            try {
                results[n] = run(n);
            } catch (const std::exception& error) {
                results[n] = error.what();
            }
        }
    };
    std::vector<std::thread> threads(
        std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency())));
    for (std::thread& thread : threads)
        thread = std::thread(work);
    for (std::thread& thread : threads)
        thread.join();
    return results;
}

// As `haloc run` does it: by NVRTC and a session.
OfflineResults results_on_gpu(rt::CudaDevice& device, const Offline& offline, const Reference& reference) {
    rt::NvrtcOptions options;
    options.arch = device.info().arch();
    const std::string& name = offline.lowered.plan.name;
    const std::string text = emit::print_cuda(offline.lowered.kernels);
    std::vector<std::unique_ptr<rt::Module>> modules;
    modules.push_back(device.load(rt::Nvrtc::find()->compile(text, name, options).cubin, name));
    rt::Session session(offline.lowered.plan, reference.extent, device, std::move(modules));
    return results_of(reference, session);
}

}  // namespace

TEST_CASE("offline files compute what the interpreter does", "[offline][gpu]") {
    const std::vector<OfflineCase> cases = all_offline_cases();
    const std::vector<std::string> differences = in_threads(
        cases.size(), [&](std::size_t n) { return offline_difference(cases[n], build_with_nvcc); });
    for (std::size_t n = 0; n < cases.size(); ++n) {
        INFO(cases[n].text << cases[n].schedule);
        CHECK(differences[n] == "");
    }
}

// All of them; on small grids, as what is compared is all that there is. The start is random, so that some
// values are no numbers.
TEST_CASE("offline files of all examples compute what a session does", "[offline][gpu]") {
    std::vector<Example> all = examples();
    std::erase_if(
        all, [](const Example& example) { return ir::has_coarse_grids(example.program); });  // not built yet
    const std::unique_ptr<rt::CudaDevice> device = rt::open_cuda_device();
    std::vector<Offline> offline;
    std::vector<std::unique_ptr<Reference>> references;
    std::vector<OfflineResults> results;
    for (const Example& example : all) {
        INFO(example.name);
        const int rank = example.program.rank();
        const Extent small{rank == 1 ? 1000 : 135, rank == 1 ? 1 : 77, rank == 3 ? 23 : 1};
        offline.push_back(make_offline(example));
        references.push_back(std::make_unique<Reference>(example.program, small, kOfflineSteps, 7));
        results.push_back(results_on_gpu(*device, offline.back(), *references.back()));
    }
    const std::vector<std::string> differences = in_threads(all.size(), [&](std::size_t n) {
        return offline_difference(offline[n], *references[n], results[n], build_with_nvcc);
    });
    for (std::size_t n = 0; n < all.size(); ++n) {
        INFO(all[n].name);
        CHECK(differences[n] == "");
    }
}
