#include "compiler/driver/machine.h"

#include <fmt/format.h>

#include <charconv>
#include <future>
#include <utility>

#include "compiler/driver/exit_code.h"
#include "compiler/driver/stopwatch.h"
#include "runtime/core/disk_cache.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/jit.h"
#include "runtime/cuda/cuda.h"
#include "runtime/nvrtc/nvrtc.h"

namespace halo::driver {

namespace {

std::unique_ptr<Engine> start_session(const Code& code, const Extent& extent, rt::Device& device,
                                      std::string_view binary) {
    std::vector<std::unique_ptr<rt::Module>> modules;
    modules.push_back(device.load(binary, code.lowered.plan.name));
    return make_session_engine(rt::Session(code.lowered.plan, extent, device, std::move(modules)));
}

class CudaMachine : public Machine {
public:
    explicit CudaMachine(int ordinal)
        : nvrtc_(rt::Nvrtc::find()),
          device_(rt::open_cuda_device(ordinal)),
          cache_(rt::DiskCache::in_user_folder()) {
        if (nvrtc_ == nullptr) throw rt::Error(rt::ErrorCode::no_device, rt::Nvrtc::why_missing());
    }

    std::string kind() const override { return fmt::format("cuda:{}", device_->info().ordinal); }
    std::string description() const override { return device_->description(); }

    std::unique_ptr<Engine> load(const ir::Program& program, const Extent& extent, const CodeOptions& options,
                                 LoadTimings& timings) override {
        Compiled compiled = is_prepared(program, extent, options) ? prepared_.result.get()
                                                                  : compile(program, extent, options);
        timings = compiled.timings;
        Stopwatch watch;
        std::unique_ptr<Engine> engine =
            start_session(compiled.code, extent, *device_, compiled.binary.cubin);
        timings.load = watch.lap();
        return engine;
    }

    void prepare(const ir::Program& program, const Extent& extent, const CodeOptions& options) override {
        prepared_.program = &program;
        prepared_.extent = extent;
        prepared_.strict_fp = options.strict_fp;
        prepared_.result = std::async(std::launch::async, [this, program, extent, options] {
            return compile(program, extent, options);
        });
    }

private:
    struct Compiled {
        Code code;
        rt::CompiledCuda binary;
        LoadTimings timings;
    };
    struct Prepared {
        const ir::Program* program = nullptr;  // known by its place
        Extent extent{};
        bool strict_fp = false;
        std::future<Compiled> result;
    };

    bool is_prepared(const ir::Program& program, const Extent& extent, const CodeOptions& options) const {
        return prepared_.result.valid() && prepared_.program == &program && prepared_.extent == extent &&
               prepared_.strict_fp == options.strict_fp && options.schedules.empty() &&
               options.file_schedule.empty();
    }

    // Touches nothing of the device but its figures: it may run beside other work.
    Compiled compile(const ir::Program& program, const Extent& extent, const CodeOptions& options) const {
        Compiled result;
        LoadTimings& timings = result.timings;
        Stopwatch watch;
        CodeOptions on_device = options;
        on_device.target = target_of(device_->info());
        on_device.extent = extent;
        const ir::Program optimized = optimize(program, on_device);
        timings.optimise = watch.lap();
        const std::vector<StageChoice> stages = choose_schedules(optimized, on_device);
        const schedule::TemporalChoice temporal = choose_temporal(optimized, stages, on_device);
        timings.choose = watch.lap();
        result.code = cuda_code(optimized, stages, temporal.schedule);
        timings.lower = result.code.lower_seconds;
        timings.print = result.code.print_seconds;
        watch.lap();
        rt::NvrtcOptions nvrtc_options;
        nvrtc_options.arch = device_->info().arch();
        result.binary = nvrtc_->compile(result.code.text, program.name + ".cu", nvrtc_options, &cache_);
        timings.compile = watch.lap();
        timings.from_cache = result.binary.from_cache;
        return result;
    }

    rt::Nvrtc* nvrtc_;
    std::unique_ptr<rt::CudaDevice> device_;
    rt::DiskCache cache_;
    Prepared prepared_;  // goes first: its thread uses the others
};

class CpuMachine : public Machine {
public:
    CpuMachine() : device_(rt::make_cpu_device()) {}

    std::string kind() const override { return "cpu"; }
    std::string description() const override { return device_->description(); }

    std::unique_ptr<Engine> load(const ir::Program& program, const Extent& extent, const CodeOptions& options,
                                 LoadTimings& timings) override {
        Stopwatch watch;
        const ir::Program optimized = optimize(program, options);
        timings.optimise = watch.lap();
        Code code = cpu_code(optimized);
        timings.lower = code.lower_seconds;
        timings.print = code.print_seconds;
        watch.lap();
        rt::JitOptions jit;
        jit.file_name = program.name + ".cpp";
        rt::CompiledObject object = rt::compile_object(code.text, jit);
        timings.compile = watch.lap();
        timings.from_cache = object.from_cache;
        std::unique_ptr<Engine> engine = start_session(code, extent, *device_, object.bytes);
        timings.load = watch.lap();
        return engine;
    }

private:
    std::unique_ptr<rt::Device> device_;
};

class InterpreterMachine : public Machine {
public:
    std::string kind() const override { return "interpreter"; }
    std::string description() const override { return "the reference interpreter, one thread"; }

    std::unique_ptr<Engine> load(const ir::Program& program, const Extent& extent, const CodeOptions& options,
                                 LoadTimings& timings) override {
        Stopwatch watch;
        ir::Program optimized = optimize(program, options);
        timings.optimise = watch.lap();
        std::unique_ptr<Engine> engine = make_interpreter_engine(std::move(optimized), extent);
        timings.load = watch.lap();
        return engine;
    }
};

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

std::unique_ptr<Machine> open_best(std::string& remark) {
    rt::CudaStatus status = rt::cuda_status();
    if (!status.devices.empty() && rt::Nvrtc::find() != nullptr) return std::make_unique<CudaMachine>(0);
    if (!status.devices.empty()) remark = "there is a CUDA device, but NVRTC is missing (see haloc doctor)";
    if (rt::cpu_available()) return std::make_unique<CpuMachine>();
    remark += remark.empty() ? "" : "; ";
    remark +=
        "running in the interpreter, which is slow: there is no CUDA device, and this haloc was built "
        "without LLVM (see haloc doctor)";
    return std::make_unique<InterpreterMachine>();
}

}  // namespace

schedule::Target target_of(const rt::CudaDeviceInfo& info) {
    schedule::Target target;
    target.name = info.arch();
    target.sms = info.multiprocessors;
    target.max_threads_per_block = info.max_threads_per_block;
    target.registers_per_sm = info.registers_per_multiprocessor;
    target.max_shared_bytes = info.max_shared_bytes_per_block;
    return target;
}

std::unique_ptr<Machine> open_machine(const std::string& device, std::string& remark) {
    if (device == "auto") return open_best(remark);
    if (device == "cpu") return std::make_unique<CpuMachine>();
    if (device == "interpreter") return std::make_unique<InterpreterMachine>();
    if (device == "cuda" || device.starts_with("cuda:"))
        return std::make_unique<CudaMachine>(parse_ordinal(device));
    throw CommandError(ExitCode::usage, fmt::format("there is no device `{}`", device),
                       "it is one of auto, cuda, cuda:N, cpu, interpreter");
}

}  // namespace halo::driver
