#include "compiler/bench/scaling_lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/planning/target_figures.h"
#include "compiler/driver/running/pieces_machine.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/schedule/print.h"
#include "compiler/support/error.h"
#include "runtime/core/error.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/jit.h"
#include "runtime/cuda/cuda.h"
#include "runtime/nvrtc/nvrtc.h"

namespace halo::bench {

namespace {

using driver::CommandError;
using driver::ExitCode;

// Why there are no GPUs to measure on; empty where there are.
std::string why_no_gpus() {
    const rt::CudaStatus status = rt::cuda_status();
    if (status.devices.empty()) return status.why;
    return rt::Nvrtc::find() == nullptr ? rt::Nvrtc::why_missing() : "";
}

}  // namespace

ScalingProgram scaling_program(const std::string& spec) {
    const driver::CheckedSpec checked = driver::check_text(spec, spec_texts().at(spec));
    if (!checked.ok) throw InternalError("the spec " + spec + " of haloc bench has mistakes");
    ScalingProgram result;
    result.spec = spec;
    result.program = checked.analysis.stencils.at(0).program;
    std::erase_if(result.program.statements, [](const ir::Statement& statement) {
        return std::holds_alternative<ir::Reduce>(statement);
    });
    result.field = result.program.fields.at(0).name;
    for (const auto& sides : ir::step_reach(result.program).states)
        for (const int cells : sides)
            result.reach = std::max<std::int64_t>(result.reach, cells);
    return result;
}

ScalingLab::ScalingLab(const std::string& device, int most) {
    if (device != "auto" && device != "cuda" && device != "cpu")
        throw CommandError(ExitCode::usage, fmt::format("scaling cannot be measured on `{}`", device),
                           "it is one of auto, cuda, cpu");
    const std::string why = why_no_gpus();
    is_gpu_ = device == "cuda" || (device == "auto" && why.empty());
    if (device == "auto") why_no_gpu_ = why;
    if (!is_gpu_ && !rt::cpu_available())
        throw rt::Error(rt::ErrorCode::no_device,
                        "no GPU: " + why + "; and no CPU: " + rt::cpu_unavailable_reason());
    if (is_gpu_ && !why.empty()) throw rt::Error(rt::ErrorCode::no_device, why);
    const int here = is_gpu_ ? static_cast<int>(rt::cuda_status().devices.size()) : std::max(most, 2);
    if (here < 2 || most > here)
        throw rt::Error(rt::ErrorCode::no_device,
                        fmt::format("scaling wants {} GPUs, and there {} here; --device cpu tries things out",
                                    most > 0 ? std::to_string(most) : "several",
                                    here == 1 ? "is one" : fmt::format("are {}", here)));
    for (int number = 0; number < (most > 0 ? most : here); ++number) {
        if (is_gpu_)
            devices_.push_back(rt::open_cuda_device(number));
        else
            devices_.push_back(rt::make_cpu_device());
    }
    target_ = driver::target_here().target;
}

ScalingProgram ScalingLab::with_steps(ScalingProgram program, int steps, const Extent& extent) const {
    if (!is_gpu_) return program;
    const std::string pinned = fmt::format("temporal steps={}", steps);
    const ir::Program optimized = driver::optimize(program.program, driver::CodeOptions());
    const schedule::GroupingChoice choice =
        schedule::find_grouping(pinned)->choose({optimized, target_, extent, pinned, {}});
    if (!choice.grouping) throw UnsupportedError(fmt::format("{} steps at once: {}", steps, choice.reason));
    const std::string words = schedule::print(*choice.grouping, program.program.rank());
    // Drops the number of blocks from the schedule: it depends on the grid and not on the kernel.
    program.schedules = {words.substr(0, words.find(" blocks="))};
    return program;
}

std::vector<int> ScalingLab::counts() const {
    std::vector<int> counts;
    for (int count = 1; count < devices(); count *= 2)
        counts.push_back(count);
    counts.push_back(devices());
    return counts;
}

bool ScalingLab::is_peer(int from, int to) const {
    return is_gpu_ && rt::cuda_reaches(to, from);
}

std::string ScalingLab::description() const {
    if (!is_gpu_) return fmt::format("{} pieces of {}", devices(), devices_.front()->description());
    const rt::CudaDeviceInfo info = rt::cuda_device_info(0);
    return fmt::format("{} x {}, {}, {} SMs", devices(), info.name, info.arch(), info.multiprocessors);
}

std::string ScalingLab::software() const {
    if (!is_gpu_) return "C++ through clang, in process";
    const int version = rt::cuda_status().driver_version;
    const rt::Nvrtc* nvrtc = rt::Nvrtc::find();
    return fmt::format("CUDA {}.{}, NVRTC {}.{}", version / 1000, version % 1000 / 10, nvrtc->major(),
                       nvrtc->minor());
}

driver::CodeOptions ScalingLab::options(const ScalingProgram& program) const {
    driver::CodeOptions options;
    if (is_gpu_) options.schedules = program.schedules;
    options.target = target_;
    return options;
}

driver::PiecesPlan ScalingLab::plan(const ScalingProgram& program, const Extent& extent,
                                    const driver::PiecesRequest& request) const {
    return driver::plan_pieces(program.program, extent, request, options(program));
}

LoadedPieces ScalingLab::load(const ScalingProgram& program, const Extent& extent, int devices,
                              std::optional<std::int64_t> interval, rt::ExchangeScheme scheme,
                              int first) const {
    LoadedPieces loaded;
    driver::ExchangeArguments exchange{interval, {}};
    if (devices > 1) exchange.scheme = driver::scheme_word(scheme);
    std::vector<int> numbers(static_cast<std::size_t>(devices));
    std::iota(numbers.begin(), numbers.end(), first);
    loaded.machine = driver::open_pieces(is_gpu_ ? "cuda" : "cpu", numbers, exchange);
    driver::LoadTimings timings;
    loaded.engine = loaded.machine->load(program.program, extent, options(program), timings);
    if (!timings.schedules.empty()) loaded.words = timings.schedules.front();
    return loaded;
}

}  // namespace halo::bench
