#include "compiler/api/compiled_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/adjoint/turns.h"
#include "compiler/api/axis_tables.h"
#include "compiler/api/errors.h"
#include "compiler/driver/planning/offline_target.h"
#include "compiler/driver/planning/pieces_plan.h"
#include "compiler/driver/planning/target_figures.h"
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
    const halo::ir::Program optimized = driver::optimize_for_gpu(program, options);
    return driver::cuda_code(optimized, driver::choose_plan(optimized, options).plan());
}

std::shared_ptr<const Code> compile_for_gpu(const halo::ir::Program& program, driver::CodeOptions options,
                                            const rt::CudaDeviceInfo& device, const Extent& extent) {
    options.target = driver::target_of(device, driver::known_limits(device));
    options.extent = extent;
    const driver::Code text = cuda_text(program, options);
    const rt::DiskCache cache = rt::DiskCache::in_user_folder();
    driver::SplitCode split;
    if (options.wait_for_time_block)
        split.compiled = driver::compile_parts(compiler(), text, device.arch(), cache);
    else
        split = driver::compile_without_waiting(compiler(), text, device.arch(), cache);
    auto code = std::make_shared<Code>();
    code->plan = text.lowered.plan;
    code->time_block_code = split.async_block;
    code->load = [compiled = std::move(split.compiled), name = code->plan.name](rt::Device& on) {
        Modules modules;
        modules.push_back(on.load(compiled.steps.cubin, name));
        if (compiled.block) modules.push_back(on.load(compiled.block->cubin, name));
        return modules;
    };
    return code;
}

std::shared_ptr<const Code> compile_for_cpu(const halo::ir::Program& program,
                                            const driver::CodeOptions& options) {
    const driver::Code text = driver::cpu_code(driver::optimize(program, options));
    rt::JitOptions jit;
    jit.file_name = program.name + ".cpp";
    auto code = std::make_shared<Code>();
    code->plan = text.lowered.plan;
    code->load = [object = rt::compile_object(text.text, jit).bytes](rt::Device&) {
        Modules modules;
        modules.push_back(rt::make_host_module(rt::load_object(object)));
        return modules;
    };
    return code;
}

std::shared_ptr<const Code> compile_for(const halo::ir::Program& program, const driver::CodeOptions& options,
                                        const DeviceState& device, const Extent& extent) {
    return device.cuda == nullptr ? compile_for_cpu(program, options)
                                  : compile_for_gpu(program, options, device.cuda->info(), extent);
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
        driver::CodeOptions options = checked_.options;
        std::string remark;
        if (device.cuda != nullptr)
            options.tuned = driver::open_tuned("", driver::tune_device(device.cuda->info()), remark);
        return compile_for(checked_.program, options, device, extent);
    });
}

std::shared_ptr<const Code> CompiledSource::code_for(const DeviceState& device, const Extent& extent) {
    const std::string key =
        device.cuda == nullptr ? device.kind : fmt::format("{} {}", device.kind, fmt::join(extent, "x"));
    return codes_.get(key, [&] { return compile(device, extent); });
}

std::shared_ptr<const CompiledSource::Derived> CompiledSource::adjoint_of(
    const halo::adjoint::Request& request) {
    const std::string key =
        fmt::format("{} with {}{}{}", fmt::join(request.of, ","), fmt::join(request.with, ","),
                    request.every_step ? " in every step" : "", request.as_function ? " as a function" : "");
    return adjoints_.get(key, [&] {
        auto derived = std::make_shared<Derived>();
        halo::adjoint::Turns turns = halo::adjoint::make_turns(checked_.program, request);
        derived->made = std::move(turns.last);
        derived->earlier = std::move(turns.earlier);
        halo::ir::Program apart = checked_.program;
        for (halo::ir::Group& group : apart.groups)
            group.interleaved = false;
        std::vector<halo::ir::Program> all{std::move(apart), derived->made.program};
        if (derived->earlier) all.push_back(derived->earlier->program);
        derived->all = std::make_shared<const std::vector<halo::ir::Program>>(std::move(all));
        const auto source_of = [&](const halo::ir::Program& made) {
            CheckedProgram program{made, checked_.options, nullptr, derived->all};
            program.options.schedules.clear();  // which are of other stages
            program.options.file_schedule.clear();
            program.options.single_steps = true;
            program.options.arrays_of_host = false;  // the gradient has its own
            return std::make_shared<CompiledSource>(std::move(program));
        };
        derived->source = source_of(derived->made.program);
        if (derived->earlier) derived->earlier_source = source_of(derived->earlier->program);
        return std::shared_ptr<const Derived>(std::move(derived));
    });
}

std::shared_ptr<CompiledSource> CompiledSource::cut_with(const Derived& derived) const {
    CheckedProgram program{derived.all->front(), checked_.options, checked_.spec, derived.all};
    program.options.arrays_of_host = false;
    return std::make_shared<CompiledSource>(std::move(program));
}

// As `haloc run --devices` does it.
std::shared_ptr<const PiecesCode> CompiledSource::compile_pieces(
    const std::vector<std::shared_ptr<DeviceState>>& devices, const Extent& extent,
    std::optional<std::int64_t> interval) const {
    return translated_of_compiler([&] {
        const rt::CudaDevice* const gpu = devices.front()->cuda;
        driver::PiecesRequest request;
        request.count = static_cast<int>(devices.size());
        request.interval = interval;
        request.on_gpu = gpu != nullptr;
        driver::CodeOptions options = checked_.options;
        if (checked_.cut_with)
            for (const halo::ir::Program& each : *checked_.cut_with)
                options.cut_with.push_back(&each);
        request.cut_with = options.cut_with;
        if (gpu != nullptr)
            options.target = driver::target_of(gpu->info(), driver::known_limits(gpu->info()));
        const driver::PiecesPlan plan = driver::plan_pieces(checked_.program, extent, request, options);
        options = driver::options_of_pieces(std::move(options), plan);
        auto code = std::make_shared<PiecesCode>();
        for (std::size_t i = 0; i < devices.size(); ++i)
            code->pieces.push_back(compile_for(driver::program_of_piece(checked_.program, plan.cut, i),
                                               options, *devices[i], plan.cut.pieces[i].extent()));
        code->cut = plan.cut;
        code->options = driver::pieces_options(plan);
        return std::shared_ptr<const PiecesCode>(std::move(code));
    });
}

std::shared_ptr<const PiecesCode> CompiledSource::code_for_pieces(
    const std::vector<std::shared_ptr<DeviceState>>& devices, const Extent& extent,
    std::optional<std::int64_t> interval) {
    std::string key = fmt::format("{} every {}", fmt::join(extent, "x"), interval.value_or(0));
    for (const auto& device : devices)
        key += " " + device->kind;
    return pieces_.get(key, [&] { return compile_pieces(devices, extent, interval); });
}

std::unique_ptr<HiddenInputs> CompiledSource::hidden_inputs(SimulationState& simulation) {
    if (checked_.program.stretched.empty()) return nullptr;
    return std::make_unique<AxisTables>(simulation, checked_.program);
}

namespace {

// Launch plans do not say what weights a spacing follows from.
void refuse_spacing_of_weights(const halo::rt::LaunchPlan& plan, const CheckedProgram& checked) {
    if (plan.stretched.size() != checked.program.stretched.size())
        throw Error(ErrorCode::spec,
                    "a bundle is not built yet where a spacing is made of a `param coef`; a program from "
                    "compile() or compile_file() runs it, and params can stand in place of the weights");
}

}  // namespace

Variant cuda_variant(const CheckedProgram& checked, const std::string& arch, const Grid& grid) {
    driver::CodeOptions options = checked.options;
    options.target = driver::offline_target(arch);
    options.extent.reset();
    if (!grid.empty()) {
        options.extent = {1, 1, 1};
        std::copy(grid.begin(), grid.end(), options.extent->begin());
    }
    const driver::Code text = cuda_text(checked.program, options);
    refuse_spacing_of_weights(text.lowered.plan, checked);
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
    refuse_spacing_of_weights(code.lowered.plan, checked);
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
