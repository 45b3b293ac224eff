#include <filesystem>

#include "compiler/api/checked.h"
#include "compiler/api/compiled_source.h"
#include "compiler/api/errors.h"
#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/console/files.h"
#include "compiler/lower/shared/host_scalar.h"
#include "halocline/halocline.hpp"
#include "runtime/api/pieces_simulation.h"
#include "runtime/api/simulation_state.h"
#include "runtime/core/background.h"

namespace halocline {

namespace driver = halo::driver;
using detail::translated_of_compiler;

namespace detail {

CheckedProgram checked_program(const driver::CheckedSpec& spec, const CompileOptions& options) {
    if (!spec.ok) throw_mistakes(spec);
    if (spec.analysis.stencils.empty())
        throw Error(ErrorCode::spec, spec.source.name() +
                                         " has no stencil; a spec starts with, for example, "
                                         "stencil heat(x, y) { … }");
    const halo::sema::AnalyzedStencil& stencil = driver::choose_stencil(spec, options.stencil);
    if (!stencil.program.stretched.empty())
        throw Error(
            ErrorCode::spec,
            "a program of a host is not built yet where a spacing differs from cell to cell; `haloc "
            "run` runs it, and fields over an axis can say how far cells lie apart (coordinates.halo)");
    CheckedProgram checked{stencil.program, {}, std::make_shared<driver::CheckedSpec>(spec)};
    checked.options.schedules = options.schedules;
    if (stencil.schedule) checked.options.file_schedule = stencil.schedule->text;
    checked.options.strict_fp = options.strict_fp;
    checked.options.arrays_of_host = true;
    checked.options.wait_for_time_block =
        options.wait_for_all_kernels || !options.schedules.empty() || !checked.options.file_schedule.empty();
    driver::check_asked_schedules(checked.options, stencil.program.rank());
    return checked;
}

}  // namespace detail

namespace {

driver::CheckedSpec check_spec(const std::string& text, const CompileOptions& options) {
    return driver::check_text(options.name, text, driver::module_path(options.name, options.include));
}

Program program_of(const driver::CheckedSpec& spec, const CompileOptions& options) {
    return Program(std::make_shared<detail::CompiledSource>(detail::checked_program(spec, options)));
}

}  // namespace

std::vector<Diagnostic> check(const std::string& text, const CompileOptions& options) {
    return translated_of_compiler([&] { return detail::diagnostics_of(check_spec(text, options)); });
}

std::string check_json(const std::string& text, const CompileOptions& options) {
    return translated_of_compiler([&] {
        const driver::CheckedSpec spec = check_spec(text, options);
        return halo::render_json(spec.diagnostics, spec.source);
    });
}

Program compile(const std::string& text, const CompileOptions& options) {
    return translated_of_compiler([&] { return program_of(check_spec(text, options), options); });
}

Program compile_file(const std::string& path, const CompileOptions& options) {
    return translated_of_compiler(
        [&] { return program_of(driver::check_spec(path, options.include), options); });
}

namespace {

// Of a program from compile(), of which `what` is made.
std::shared_ptr<detail::CompiledSource> compiled_source(const Program& program, const std::string& what) {
    if (auto source = std::dynamic_pointer_cast<detail::CompiledSource>(program.source())) return source;
    throw Error(ErrorCode::bad_argument,
                what + " is made of a program from compile(), not of another bundle");
}

}  // namespace

Condition condition(const Program& program, const std::string& text) {
    return translated_of_compiler([&] {
        const auto source = compiled_source(program, "a condition");
        const driver::CheckedSpec spec =
            driver::check_until(*source->checked().spec, program.info().name, text);
        if (!spec.ok) detail::throw_mistakes(spec);
        const halo::sema::Until& until = *spec.analysis.find_run(program.info().name)->until;
        return Condition(std::make_shared<detail::ConditionState>(
            detail::ConditionState{source, halo::lower::host_scalar(until.host, until.condition)}));
    });
}

namespace {

template <class Work>
std::shared_future<void> for_each_in_background(const Program& program, const std::vector<Grid>& grids,
                                                Work work) {
    std::vector<detail::Extent> extents;
    for (const Grid& grid : grids)
        extents.push_back(detail::extent_of(program.info(), grid));
    return halo::rt::run_in_background([source = program.source(), extents, work = std::move(work)] {
        for (const detail::Extent& extent : extents)
            translated_of_compiler([&] { work(*source, extent); });
    });
}

}  // namespace

std::shared_future<void> precompile(const Program& program, const Device& device,
                                    const std::vector<Grid>& grids) {
    return for_each_in_background(
        program, grids,
        [state = device.state()](detail::ProgramSource& source, const detail::Extent& extent) {
            const auto code = source.code_for(*state, extent);
            if (code->time_block_code.valid()) code->time_block_code.wait();
        });
}

std::shared_future<void> precompile(const Program& program, const std::vector<Device>& devices,
                                    const std::vector<Grid>& grids, const SimulationOptions& options) {
    if (devices.size() == 1) return precompile(program, devices.front(), grids);
    return for_each_in_background(
        program, grids, [devices, options](detail::ProgramSource& source, const detail::Extent& extent) {
            detail::pieces_code(source, devices, extent, options);
        });
}

void write_bundle(const Program& program, const std::string& path, const BundleOptions& options) {
    translated_of_compiler([&] {
        const auto source = compiled_source(program, "a bundle");
        if (options.archs.empty())
            throw Error(ErrorCode::bad_argument, "a bundle is for one architecture or more, such as sm_90");
        for (const Grid& grid : options.grids)
            detail::extent_of(program.info(), grid);
        driver::write_text(path, detail::bundle_text(program.info().name,
                                                     detail::cuda_variants(source->checked(), options.archs,
                                                                           options.grids, options.any_grid)));
    });
}

}  // namespace halocline
