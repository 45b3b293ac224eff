#include <fmt/format.h>

#include <charconv>
#include <future>

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/console/stopwatch.h"
#include "compiler/driver/planning/edited_cuda.h"
#include "compiler/driver/planning/target_figures.h"
#include "compiler/driver/running/gpu_machine.h"
#include "compiler/schedule/print.h"
#include "runtime/core/disk_cache.h"
#include "runtime/cuda/cuda.h"

namespace halo::driver {

namespace {

// In a thread beside this one or, where none can be started, when the result is asked for.
constexpr auto kBeside = std::launch::async | std::launch::deferred;

class CudaMachine final : public GpuMachine {
public:
    // The driver takes as long to create a context as NVRTC to compile a small program, so both run
    // concurrently.
    explicit CudaMachine(int ordinal)
        : info_(rt::cuda_device_info(ordinal)),
          device_(std::async(
              kBeside,
              [ordinal]() -> std::shared_ptr<rt::CudaDevice> { return rt::open_cuda_device(ordinal); })),
          nvrtc_(rt::Nvrtc::find()),
          cache_(rt::DiskCache::in_user_folder()) {
        if (nvrtc_ != nullptr) target_ = target_of(info_, known_limits(info_));
    }
    bool has_compiler() const { return nvrtc_ != nullptr; }

    std::string kind() const override { return fmt::format("cuda:{}", info_.ordinal); }
    std::string description() const override { return rt::describe(info_); }
    schedule::Target target() const override { return target_; }
    TuneDevice tune_device() const override { return driver::tune_device(info_); }

    void wait_for_device() override { device_.get(); }

    CompiledCode compile(const Code& code) const override {
        return compile_parts(*nvrtc_, code, info_.arch(), cache_);
    }

    std::unique_ptr<Engine> start(const Code& code, const Extent& extent,
                                  const CompiledCode& compiled) override {
        return start(code, extent, compiled, rt::SessionOptions());
    }

    std::unique_ptr<Engine> start_poisoned(const Code& code, const Extent& extent,
                                           const CompiledCode& compiled) override {
        rt::SessionOptions options;
        options.poison = true;
        return start(code, extent, compiled, options);
    }

    std::unique_ptr<Engine> load(const ir::Program& program, const Extent& extent, const CodeOptions& options,
                                 LoadTimings& timings) override {
        const Made made =
            is_prepared(program, extent, options) ? prepared_.result.get() : make(program, extent, options);
        timings = made.timings;
        Stopwatch watch;
        wait_for_device();
        timings.context = watch.lap();
        rt::SessionOptions session;
        session.time_block_code = made.async_block;
        std::unique_ptr<Engine> engine = start(made.code, extent, made.compiled, session);
        timings.load = watch.lap();
        return engine;
    }

    void prepare(const ir::Program& program, const Extent& extent, const CodeOptions& options) override {
        prepared_.program = &program;
        prepared_.extent = extent;
        prepared_.strict_fp = options.strict_fp;
        prepared_.result =
            std::async(kBeside, [this, program, extent, options] { return make(program, extent, options); });
    }

private:
    struct Made {
        Code code;
        CompiledCode compiled;
        std::shared_future<rt::AsyncCode> async_block;  // the part that is compiled asynchronously
        LoadTimings timings;
    };
    struct Prepared {
        const ir::Program* program = nullptr;  // identified by its address
        Extent extent{};
        bool strict_fp = false;
        std::future<Made> result;
    };

    bool is_prepared(const ir::Program& program, const Extent& extent, const CodeOptions& options) const {
        return prepared_.result.valid() && prepared_.program == &program && prepared_.extent == extent &&
               prepared_.strict_fp == options.strict_fp && options.schedules.empty() &&
               options.file_schedule.empty();
    }

    std::unique_ptr<Engine> start(const Code& code, const Extent& extent, const CompiledCode& compiled,
                                  const rt::SessionOptions& options) {
        rt::CudaDevice& device = *device_.get();
        std::vector<std::unique_ptr<rt::Module>> modules;
        modules.push_back(device.load(compiled.steps.cubin, code.lowered.plan.name));
        if (compiled.block) modules.push_back(device.load(compiled.block->cubin, code.lowered.plan.name));
        return make_session_engine(
            rt::Session(code.lowered.plan, extent, device, std::move(modules), options));
    }

    // Compiles; asks nothing of the device, so it may run beside other work.
    Made make(const ir::Program& program, const Extent& extent, const CodeOptions& options) const {
        Made made;
        LoadTimings& timings = made.timings;
        Stopwatch watch;
        CodeOptions on_device = options;
        on_device.target = target_;
        on_device.extent = extent;
        const CudaDetails details = details_of_run(on_device);
        // Only where the kernel is not waited for: pieces of one grid, which wait, have to choose alike,
        // whatever each finds in its cache.
        if (!options.wait_for_time_block && !cache_.folder().empty())
            on_device.find_kernel = find_kernel_in(*nvrtc_, info_.arch(), cache_, details);
        const ir::Program optimized = optimize_for_gpu(program, on_device);
        timings.optimise = watch.lap();
        const PlanChoice choice = choose_plan(optimized, on_device);
        timings.choose = watch.lap();
        timings.lacking = choice.lacking;
        for (const StageChoice& stage : choice.stages)
            timings.schedules.push_back(schedule::print(stage.schedule, optimized.rank()) + "; " +
                                        stage.origin());
        if (const GroupingVerdict* const taken = choice.taken())
            timings.schedules.push_back(schedule::print(*taken->grouping, optimized.rank()) + "; " +
                                        taken->reason);
        made.code = cuda_code(optimized, choice.plan(), details);
        if (options.edited) use_edited(made.code, *options.edited);
        timings.lower = made.code.lower_seconds;
        timings.print = made.code.print_seconds;
        watch.lap();
        if (options.wait_for_time_block || options.edited) {
            made.compiled = compile(made.code);
        } else {
            SplitCode split = compile_without_waiting(*nvrtc_, made.code, info_.arch(), cache_);
            made.compiled = std::move(split.compiled);
            made.async_block = std::move(split.async_block);
            timings.late = std::move(split.async_key);
        }
        timings.compile = watch.lap();
        const CompiledCode& compiled = made.compiled;
        using Several = LoadTimings::Several;
        timings.several = made.async_block.valid()     ? Several::beside
                          : !compiled.block            ? Several::none
                          : compiled.block->from_cache ? Several::cached
                                                       : Several::compiled;
        timings.from_cache = compiled.steps.from_cache && (!compiled.block || compiled.block->from_cache);
        return made;
    }

    rt::CudaDeviceInfo info_;
    std::shared_future<std::shared_ptr<rt::CudaDevice>> device_;  // used by one thread, as it says
    rt::Nvrtc* nvrtc_;
    rt::DiskCache cache_;
    schedule::Target target_;
    Prepared prepared_;  // destroyed first: its thread uses the others
};

}  // namespace

std::unique_ptr<GpuMachine> find_gpu(int ordinal) {
    auto machine = std::make_unique<CudaMachine>(ordinal);
    return machine->has_compiler() ? std::move(machine) : nullptr;
}

std::unique_ptr<GpuMachine> open_gpu(int ordinal) {
    std::unique_ptr<GpuMachine> machine = find_gpu(ordinal);
    if (machine == nullptr) throw rt::Error(rt::ErrorCode::no_device, rt::Nvrtc::why_missing());
    return machine;
}

int parse_ordinal(const std::string& device) {
    if (device == "cuda") return 0;
    std::string_view digits = std::string_view(device).substr(5);
    int ordinal = -1;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
    if (error != std::errc() || end != digits.data() + digits.size() || ordinal < 0) {
        throw CommandError(ExitCode::usage, fmt::format("--device cuda:N wants a number, not `{}`", digits),
                           "`haloc doctor` lists the devices");
    }
    return ordinal;
}

}  // namespace halo::driver
