#include "compiler/driver/running/machine.h"

#include <fmt/format.h>

#include <utility>

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/console/stopwatch.h"
#include "compiler/driver/running/gpu_machine.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/jit.h"
#include "runtime/cuda/cuda.h"

namespace halo::driver {

namespace {

std::unique_ptr<Engine> start_session(const Code& code, const Extent& extent, rt::Device& device,
                                      std::string_view binary) {
    std::vector<std::unique_ptr<rt::Module>> modules;
    modules.push_back(device.load(binary, code.lowered.plan.name));
    return make_session_engine(rt::Session(code.lowered.plan, extent, device, std::move(modules)));
}

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

std::unique_ptr<Machine> open_best(std::string& remark) {
    rt::CudaStatus status = rt::cuda_status();
    if (!status.devices.empty())
        if (std::unique_ptr<Machine> gpu = find_gpu(0)) return gpu;
    if (!status.devices.empty()) remark = "there is a CUDA device, but NVRTC is missing (see haloc doctor)";
    if (rt::cpu_available()) return std::make_unique<CpuMachine>();
    remark += remark.empty() ? "" : "; ";
    remark +=
        "running in the interpreter, which is slow: there is no CUDA device, and this haloc was built "
        "without LLVM (see haloc doctor)";
    return std::make_unique<InterpreterMachine>();
}

}  // namespace

std::unique_ptr<Machine> open_machine(const std::string& device, std::string& remark) {
    if (device == "auto") return open_best(remark);
    if (device == "cpu") return std::make_unique<CpuMachine>();
    if (device == "interpreter") return std::make_unique<InterpreterMachine>();
    if (device == "cuda" || device.starts_with("cuda:")) return open_gpu(parse_ordinal(device));
    throw CommandError(ExitCode::usage, fmt::format("there is no device `{}`", device),
                       "it is one of auto, cuda, cuda:N, cpu, interpreter");
}

}  // namespace halo::driver
