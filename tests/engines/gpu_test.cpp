// The examples and random programs on a GPU, by every strategy, through NVRTC.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "catch.h"
#include "compiler/emit/emit.h"
#include "compiler/schedule/defaults.h"
#include "property.h"
#include "random_schedule.h"
#include "runtime/cuda/cuda.h"
#include "runtime/nvrtc/nvrtc.h"
#include "skip.h"

using namespace halo;
using namespace halo::test;

namespace {

const SkipUnless device_present(!rt::cuda_status().devices.empty(), rt::cuda_status().why);
const SkipUnless compiler_present(rt::Nvrtc::find() != nullptr, rt::Nvrtc::why_missing());

rt::CudaDevice& gpu() {
    static const std::unique_ptr<rt::CudaDevice> device = rt::open_cuda_device();
    return *device;
}

std::vector<std::unique_ptr<rt::Module>> load(const lower::Lowered& lowered, rt::Device& device) {
    rt::NvrtcOptions options;
    options.arch = gpu().info().arch();
    std::vector<std::unique_ptr<rt::Module>> modules;
    const std::string text = emit::print_cuda(lowered.kernels);
    modules.push_back(
        device.load(rt::Nvrtc::find()->compile(text, lowered.plan.name, options).cubin, lowered.plan.name));
    return modules;
}

// Of sums of 300 terms at most, each within the bounds of docs/floating-point.md.
constexpr double kFastBound = 300 * 0x1p-17;

bool has_fast_functions(const ir::Program& program) {
    return std::any_of(program.exprs.begin(), program.exprs.end(), [](const ir::Expr& expr) {
        const auto* call = std::get_if<ir::Call>(&expr.node);
        return call && call->fast;
    });
}

void check_random(schedule::Strategy strategy, Seeds seeds) {
    GeneratorOptions options;
    options.max_cells = 20000;
    options.tables = true;
    check_engine(options, seeds,
                 [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
                     Random random(source.seed + 1);
                     const std::vector<schedule::Schedule> schedules =
                         random_schedules(program, strategy, random);
                     if (schedules.empty()) return std::string();
                     return difference(reference, lower::lower_cuda(program, schedules), gpu(), load);
                 });
}

}  // namespace

TEST_CASE("examples by the schedules that are chosen for them") {
    for (const auto& entry : std::filesystem::directory_iterator(HALO_SOURCE_DIR "/dsl_examples")) {
        if (entry.path().extension() != ".halo") continue;
        std::ostringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        const ir::Program program = load_program(text.str());
        const std::vector<Extent> grids = program.rank() == 3
                                              ? std::vector<Extent>{{64, 64, 64}, {67, 35, 21}}
                                              : std::vector<Extent>{{256, 256, 1}, {301, 77, 1}};
        for (const Extent& extent : grids) {
            INFO(entry.path().filename() << " on " << extent[0] << " x " << extent[1] << " x " << extent[2]);
            std::vector<schedule::Schedule> schedules;
            for (const ir::Stage& stage : ir::form_stages(program)) {
                schedules.push_back(schedule::choose(program, stage, schedule::Target{}, extent).schedule);
            }
            const Reference reference(program, extent, 5, 1);
            CHECK(difference(reference, lower::lower_cuda(program, schedules), gpu(), load,
                             has_fast_functions(program) ? kFastBound : 0) == "");
        }
    }
}

TEST_CASE("random programs on the GPU, direct") {
    check_random(schedule::Strategy::direct, seeds_from_environment(11001, 100));
}

TEST_CASE("random programs on the GPU, tile") {
    check_random(schedule::Strategy::tile, seeds_from_environment(12001, 100));
}

TEST_CASE("random programs on the GPU, stream") {
    check_random(schedule::Strategy::stream, seeds_from_environment(13001, 100));
}
