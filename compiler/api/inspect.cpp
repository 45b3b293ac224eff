// What a program becomes and how it would run, for host programs.
#include <algorithm>

#include "compiler/api/compiled_source.h"
#include "compiler/api/errors.h"
#include "compiler/driver/planning/emission.h"
#include "compiler/driver/planning/explanation.h"
#include "compiler/driver/planning/offline_target.h"
#include "compiler/driver/planning/target_figures.h"
#include "halocline/halocline.hpp"

namespace halocline {

namespace driver = halo::driver;
using detail::translated_of_compiler;

namespace {

constexpr int kLeastWidth = 60, kMostWidth = 200;  // of lines

std::shared_ptr<detail::CompiledSource> source_of(const Program& program) {
    if (auto source = std::dynamic_pointer_cast<detail::CompiledSource>(program.source())) return source;
    throw Error(ErrorCode::bad_argument,
                "only a program from compile() can be emitted or explained; this one comes from a bundle");
}

driver::CodeOptions options_for(const detail::CompiledSource& source, const Grid& grid,
                                const std::vector<std::string>& schedules) {
    driver::CodeOptions options = source.checked().options;
    if (!schedules.empty()) options.schedules = schedules;
    if (!grid.empty()) options.extent = detail::extent_of(source.info(), grid);
    return options;
}

std::vector<driver::TextFile> files_of(const Program& program, const EmitOptions& options,
                                       const std::string& path) {
    const auto source = source_of(program);
    driver::Emission emission;
    emission.target = static_cast<driver::EmitTarget>(options.target);
    emission.output = path;
    emission.strict_fp = source->checked().options.strict_fp;
    emission.archs = options.archs;
    emission.fixed_grid = options.fixed_grid;
    driver::CodeOptions code = options_for(*source, options.grid, options.schedules);
    code.single_steps = true;  // as `haloc emit`
    if (!options.archs.empty()) code.target = driver::target_of_archs(emission);
    driver::CudaDetails details;
    if (options.fixed_grid) {
        if (!code.extent)
            throw Error(ErrorCode::bad_argument, "code for a fixed grid is asked for, and no grid is given");
        details.fixed_grid = code.extent;
    }
    return driver::emitted_files(source->checked().program, emission, code, details);
}

}  // namespace

std::string emit(const Program& program, const EmitOptions& options) {
    return translated_of_compiler([&] { return files_of(program, options, "").front().text; });
}

std::vector<std::string> emit_file(const Program& program, const std::string& path,
                                   const EmitOptions& options) {
    return translated_of_compiler([&] {
        const std::vector<driver::TextFile> files = files_of(program, options, path);
        driver::write_texts(files);
        std::vector<std::string> paths;
        for (const driver::TextFile& file : files)
            paths.push_back(file.path);
        return paths;
    });
}

std::string explain(const Program& program, const ExplainOptions& options) {
    return translated_of_compiler([&] {
        const auto source = source_of(program);
        driver::CodeOptions code = options_for(*source, options.grid, options.schedules);
        driver::TargetHere here = driver::target_here();
        if (!options.arch.empty()) here = {driver::offline_target(options.arch), std::nullopt, false};
        code.target = here.target;
        std::string remark;
        if (here.device) code.tuned = driver::open_tuned("", driver::tune_device(*here.device), remark);
        code.wait_for_time_block = !code.schedules.empty() || !code.file_schedule.empty();
        return driver::explanation(
            source->checked().program, std::move(code), here, std::nullopt,
            options.json ? driver::ExplanationForm::json : driver::ExplanationForm::text,
            std::clamp(options.width, kLeastWidth, kMostWidth));
    });
}

}  // namespace halocline
