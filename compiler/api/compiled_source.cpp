#include "compiler/api/compiled_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/api/errors.h"
#include "compiler/driver/offline_target.h"
#include "compiler/driver/target_figures.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/jit.h"

namespace halocline::detail {

namespace driver = halo::driver;
namespace rt = halo::rt;

namespace {

rt::Nvrtc& compiler() {
    rt::Nvrtc* const nvrtc = rt::Nvrtc::find();
    if (nvrtc == nullptr) throw rt::Error(rt::ErrorCode::no_device, rt::Nvrtc::why_missing());
    return *nvrtc;
}

// The text for the options' target and grid.
driver::Code cuda_text(const halo::ir::Program& program, const driver::CodeOptions& options) {
    const halo::ir::Program optimized = driver::optimize(program, options);
    const std::vector<driver::StageChoice> stages = driver::choose_schedules(optimized, options);
    const driver::StepsChoice steps = driver::choose_steps(optimized, stages, options);
    return driver::cuda_code(optimized, stages, steps.temporal.schedule, steps.resident.schedule);
}

std::shared_ptr<const Code> compile_for_gpu(const CheckedProgram& checked, const rt::CudaDeviceInfo& device,
                                            const Extent& extent) {
    driver::CodeOptions options = checked.options;
    options.target = driver::target_of(device, driver::known_limits(device));
    options.extent = extent;
    std::string remark;
    options.tuned = driver::open_tuned("", driver::tune_device(device), remark);
    const driver::Code text = cuda_text(checked.program, options);
    const rt::DiskCache cache = rt::DiskCache::in_user_folder();
    driver::SplitCode split;
    if (options.wait_for_time_block)
        split.compiled = driver::compile_parts(compiler(), text, device.arch(), cache);
    else
        split = driver::compile_without_waiting(compiler(), text, device.arch(), cache);
    auto code = std::make_shared<Code>();
    code->plan = text.lowered.plan;
    code->late = split.late_block;
    code->load = [compiled = std::move(split.compiled), name = code->plan.name](rt::Device& on) {
        Modules modules;
        modules.push_back(on.load(compiled.steps.cubin, name));
        if (compiled.block) modules.push_back(on.load(compiled.block->cubin, name));
        return modules;
    };
    return code;
}

std::shared_ptr<const Code> compile_for_cpu(const CheckedProgram& checked) {
    const driver::Code text = driver::cpu_code(driver::optimize(checked.program, checked.options));
    rt::JitOptions jit;
    jit.file_name = checked.program.name + ".cpp";
    auto code = std::make_shared<Code>();
    code->plan = text.lowered.plan;
    code->load = [object = rt::compile_object(text.text, jit).bytes](rt::Device&) {
        Modules modules;
        modules.push_back(rt::make_host_module(rt::load_object(object)));
        return modules;
    };
    return code;
}

}  // namespace

// What a program is for its users does not depend on the device: that of the CPU is the quickest to make.
CompiledSource::CompiledSource(CheckedProgram checked)
    : ProgramSource(
          info_of(driver::cpu_code(driver::optimize(checked.program, checked.options)).lowered.plan)),
      checked_(std::move(checked)) {}

std::vector<std::string> CompiledSource::targets() const {
    return {"any device and grid, compiled when it is needed"};
}

std::shared_ptr<const Code> CompiledSource::compile(const DeviceState& device, const Extent& extent) const {
    return translated_of_compiler([&] {
        return device.cuda == nullptr ? compile_for_cpu(checked_)
                                      : compile_for_gpu(checked_, device.cuda->info(), extent);
    });
}

// Who asks first compiles, and the others wait. What went wrong is tried again by who asks next.
std::shared_ptr<const Code> CompiledSource::code_for(const DeviceState& device, const Extent& extent) {
    const std::string key =
        device.cuda == nullptr ? device.kind : fmt::format("{} {}", device.kind, fmt::join(extent, "x"));
    std::promise<std::shared_ptr<const Code>> mine;
    Result result;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto known = results_.find(key);
        if (known != results_.end()) result = known->second;
        if (!result.valid()) results_[key] = mine.get_future().share();
    }
    if (result.valid()) return result.get();
    try {
        std::shared_ptr<const Code> code = compile(device, extent);
        mine.set_value(code);
        return code;
    } catch (...) {
        mine.set_exception(std::current_exception());
        const std::lock_guard<std::mutex> lock(mutex_);
        results_.erase(key);
        throw;
    }
}

Variant cuda_variant(const CheckedProgram& checked, const std::string& arch, const Grid& grid) {
    driver::CodeOptions options = checked.options;
    options.target = driver::offline_target(arch);
    options.extent.reset();
    if (!grid.empty()) {
        options.extent = {1, 1, 1};
        std::copy(grid.begin(), grid.end(), options.extent->begin());
    }
    const driver::Code text = cuda_text(checked.program, options);
    const driver::CompiledCode compiled =
        driver::compile_parts(compiler(), text, arch, rt::DiskCache::in_user_folder());
    Variant variant;
    variant.target = arch;
    variant.grid = grid;
    variant.plan = text.lowered.plan;
    variant.code.push_back(compiled.steps.cubin);
    if (compiled.block) variant.code.push_back(compiled.block->cubin);
    return variant;
}

HostVariant host_variant(const CheckedProgram& checked) {
    driver::Code code = driver::cpu_code(driver::optimize(checked.program, checked.options));
    HostVariant host;
    host.variant.target = "cpu";
    host.variant.plan = std::move(code.lowered.plan);
    host.text = std::move(code.text);
    return host;
}

std::vector<Variant> cuda_variants(const CheckedProgram& checked, const std::vector<std::string>& archs,
                                   const std::vector<Grid>& grids, bool any_grid) {
    std::vector<Variant> variants;
    for (const std::string& arch : archs) {
        for (const Grid& grid : grids)
            variants.push_back(cuda_variant(checked, arch, grid));
        if (any_grid) variants.push_back(cuda_variant(checked, arch, {}));
    }
    return variants;
}

}  // namespace halocline::detail
