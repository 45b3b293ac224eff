// haloc compile: all kernels that a run of a spec would use, into the disk cache, before there is a run.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "compiler/driver/command/commands.h"
#include "compiler/driver/console/progress.h"
#include "compiler/driver/console/stopwatch.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/planning/offline_target.h"
#include "compiler/driver/planning/target_figures.h"
#include "compiler/driver/running/gpu_machine.h"
#include "compiler/driver/running/initial_data.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/driver/tuning/tuner.h"
#include "runtime/core/disk_cache.h"
#include "runtime/core/kernel_lock.h"
#include "runtime/cpu/jit.h"
#include "runtime/cuda/cuda.h"
#include "runtime/nvrtc/nvrtc.h"

namespace halo::driver {

namespace {

// A text and the kernels in it.
struct KernelText {
    std::string text;
    std::vector<std::string> kernels;
};

std::vector<std::string> kernels_of(const Code& code, const std::vector<std::string>& but = {}) {
    std::vector<std::string> names;
    for (const kernel::KernelFunction& function : code.lowered.kernels.functions)
        if (function.kind == kernel::KernelFunction::Kind::kernel && !std::ranges::count(but, function.name))
            names.push_back(function.name);
    return names;
}

// Compiles for one device, and reports each kernel.
class Ahead {
public:
    Ahead(bool quietly, const Console& console) : quietly_(quietly), console_(console) {}
    virtual ~Ahead() = default;
    // Compiles a program for a grid. steps: not known of a program that computes initial data, which does
    // one.
    virtual void compile(const ir::Program& program, const Extent& extent, const CodeOptions& options) = 0;
    virtual schedule::Target target() const { return {}; }

protected:
    void say(const std::vector<std::string>& kernels, bool was_there, double seconds) const {
        for (std::size_t i = 0; i < kernels.size() && !quietly_; ++i)
            console_.result(fmt::format("{:<32}{}\n", kernels[i],
                                        was_there ? "was there"
                                        : i == 0  ? format_seconds(seconds)
                                                  : "with " + kernels.front()));
    }

private:
    bool quietly_;
    const Console& console_;
};

class AheadCuda final : public Ahead {
public:
    AheadCuda(schedule::Target target, rt::DiskCache cache, bool in_background, const Console& console)
        : Ahead(in_background || console.quiet(), console),
          target_(std::move(target)),
          cache_(std::move(cache)),
          in_background_(in_background) {
        if (rt::Nvrtc::find() == nullptr) throw rt::Error(rt::ErrorCode::no_device, rt::Nvrtc::why_missing());
    }
    schedule::Target target() const override { return target_; }

    void compile(const ir::Program& program, const Extent& extent, const CodeOptions& options) override {
        CodeOptions here = options;
        here.target = target_;
        here.extent = extent;
        const ir::Program optimized = optimize_for_gpu(program, here);
        const PlanChoice choice = choose_plan(optimized, here);
        const Code code = cuda_code(optimized, choice.plan(), details_of_run(here));
        CodeParts parts = parts_of(code);
        if (parts.block.empty()) return compile(program, {std::move(parts.steps), kernels_of(code)});
        const std::vector<std::string> block = code.lowered.plan.time_block->kernel_names();
        // A run that ends before the kernel for several steps would pay off does single steps alone.
        here.single_steps = true;
        const Code singles = cuda_code(optimized, choose_plan(optimized, here).plan());
        const std::string text = parts_of(singles).steps;
        if (text != parts.steps && pinned_grouping(options, optimized.rank()).empty())
            compile(program, {text, kernels_of(singles)});
        compile(program, {std::move(parts.steps), kernels_of(code, block)});
        compile_alone(program, {std::move(parts.block), block});
    }

private:
    void compile(const ir::Program& program, const KernelText& text) const {
        Stopwatch watch;
        const rt::CompiledCuda compiled =
            rt::Nvrtc::find()->compile(text.text, program.name + ".cu", nvrtc_options(), &cache_);
        say(text.kernels, compiled.from_cache, watch.lap());
    }
    // Compiles under a lock, so that two background processes never compile the same kernel.
    void compile_alone(const ir::Program& program, const KernelText& text) const {
        const std::optional<rt::KernelLock> lock =
            rt::KernelLock::take(cache_, rt::Nvrtc::find()->key_of(text.text, nvrtc_options()));
        if (lock || !in_background_) compile(program, text);
    }
    rt::NvrtcOptions nvrtc_options() const {
        rt::NvrtcOptions options;
        options.arch = target_.name;
        return options;
    }

    schedule::Target target_;
    rt::DiskCache cache_;
    bool in_background_;
};

class AheadCpu final : public Ahead {
public:
    explicit AheadCpu(const Console& console) : Ahead(console.quiet(), console) {
        if (!rt::cpu_available()) throw rt::Error(rt::ErrorCode::no_device, rt::cpu_unavailable_reason());
    }
    void compile(const ir::Program& program, const Extent&, const CodeOptions& options) override {
        const Code code = cpu_code(optimize(program, options));
        rt::JitOptions jit;
        jit.file_name = program.name + ".cpp";
        Stopwatch watch;
        const rt::CompiledObject object = rt::compile_object(code.text, jit);
        say(kernels_of(code), object.from_cache, watch.lap());
    }
};

// What it is compiled for: the device that a run with the same --device would take.
struct Destination {
    std::unique_ptr<Ahead> ahead;
    std::optional<rt::CudaDeviceInfo> gpu;  // that is here
};

Destination find_destination(const CompileOptions& options, const Console& console) {
    const rt::DiskCache cache = rt::DiskCache::in_user_folder();
    if (!cache.usable())
        throw rt::Error(rt::ErrorCode::io, "what is compiled cannot be kept: " + cache.why());
    const auto cuda = [&](schedule::Target target) {
        return std::make_unique<AheadCuda>(std::move(target), cache, options.background, console);
    };
    if (!options.arch.empty()) return {cuda(offline_target(options.arch)), std::nullopt};
    const std::string& device = options.run.device;
    const bool is_gpu =
        device == "cuda" || device.starts_with("cuda:") ||
        (device == "auto" && !rt::cuda_status().devices.empty() && rt::Nvrtc::find() != nullptr);
    if (is_gpu) {
        const rt::CudaDeviceInfo gpu = rt::cuda_device_info(device == "auto" ? 0 : parse_ordinal(device));
        return {cuda(target_of(gpu, known_limits(gpu))), gpu};
    }
    if (device == "auto" || device == "cpu") return {std::make_unique<AheadCpu>(console), std::nullopt};
    throw CommandError(ExitCode::usage, fmt::format("there is nothing to compile for `{}`", device),
                       "--device is auto, cuda, cuda:N or cpu; --arch names a GPU that is not here");
}

bool is_loaded(const std::vector<Load>& loads, const std::string& name) {
    return std::ranges::find(loads, name, &Load::field) != loads.end();
}

// Calls compile() for the programs that compute a run's initial data, on the grids that it runs them on.
void for_makers(const sema::RunSpec& run, const RunRequest& request, const ir::Program& program,
                const std::function<void(const ir::Program&, const Extent&)>& call) {
    if (run.init)
        for (const Initializer& part : initializers_of(*run.init)) {
            const rt::Box box = rt::box_of_field(part.grid, rt::whole_box(request.extent));
            call(program_of_box(part, request.extent, box), box.extent());
        }
    for (const sema::TableFill& fill : run.tables)
        if (fill.rows > 0 && !fill.init.statements.empty() && !is_loaded(request.table_loads, fill.table))
            call(fill.init, {fill.rows, 1, 1});
    for (const sema::PointFill& fill : run.point_fills) {
        if (is_loaded(request.point_loads, fill.points + "." + fill.name)) continue;
        const auto places = std::ranges::find(run.places, fill.points, &sema::PointPlaces::points);
        const std::int64_t rows = fill.is_trace ? request.steps : 1;
        if (places == run.places.end() || places->positions.empty() || rows == 0) continue;
        call(fill.init, {std::ssize(places->positions) / program.rank(), rows, 1});
    }
}

}  // namespace

ExitCode compile(const CompileOptions& options, const Console& console) {
    if (options.background) static_cast<void>(::setpriority(PRIO_PROCESS, 0, 19));
    const CheckedSpec spec = read_spec(options.run.file, options.run.include, console);
    const sema::AnalyzedStencil& stencil = choose_stencil(spec, options.run.run_name);
    const RunRequest request = request_for_tuning(options.run, spec, stencil, console);
    const Destination to = find_destination(options, console);
    CodeOptions code;
    code.schedules = options.run.schedule;
    if (stencil.schedule) code.file_schedule = stencil.schedule->text;
    code.strict_fp = options.run.strict_fp;
    code.watched = request.watched;
    if (to.gpu && !options.run.no_tuned) {
        std::string remark;
        code.tuned = open_tuned(options.run.store, tune_device(*to.gpu), remark);
        if (!remark.empty()) console.warning(remark);
    }
    check_asked_schedules(code, stencil.program.rank());
    to.ahead->compile(stencil.program, request.extent, code);
    CodeOptions of_makers;
    of_makers.strict_fp = code.strict_fp;
    if (const sema::RunSpec* const run = spec.analysis.find_run(stencil.program.name))
        for_makers(*run, request, stencil.program, [&](const ir::Program& program, const Extent& extent) {
            to.ahead->compile(program, extent, of_makers);
        });
    return ExitCode::ok;
}

}  // namespace halo::driver
