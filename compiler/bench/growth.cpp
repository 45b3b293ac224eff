#include "compiler/bench/growth.h"

#include <fmt/format.h>

#include "compiler/bench/growth_programs.h"
#include "compiler/bench/measure.h"
#include "compiler/driver/console/progress.h"
#include "compiler/driver/console/stopwatch.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/emit/emit.h"
#include "compiler/support/error.h"
#include "runtime/core/error.h"

namespace halo::bench {

namespace {

constexpr int kMostStatementsCompiled = 100;  // to machine code: past it a compiler takes minutes

std::vector<std::int64_t> sides_of_growth(bool is_gpu, bool quick) {
    std::vector<std::int64_t> all{32, 33, 48, 63, 64, 65, 96, 127, 128, 129};
    if (!is_gpu) return all;
    for (const std::int64_t side : {144, 160, 176, 192, 255, 256, 257, 384, 511, 512, 513, 768})
        all.push_back(side);
    if (quick) return all;
    for (const std::int64_t side : {1023, 1024, 1025, 1280, 1536})
        all.push_back(side);
    return all;
}

}  // namespace

void measure_grids(Lab& lab, Results& results, const Report& report) {
    const Case star{"bench/star3d1", "3D 7-point", "f32"};
    const ir::Program program = load_program(star.spec, spec_text(star));
    for (const std::int64_t side : sides_of_growth(lab.is_gpu(), results.quick)) {
        const Extent extent{side, side, side};
        const Variants variants = lab.variants(program, extent, {});
        for (const Variant& variant : variants.all) {
            if (variant.name != variants.chosen) continue;
            try {
                const Measurement measured = time_program(lab, program, variant, extent);
                const double cells = static_cast<double>(side) * static_cast<double>(side * side);
                results.grids.push_back(
                    {side, measured.seconds, cells / measured.seconds, measured.schedule});
                report(fmt::format("{}³: {}", side, driver::format_rate(cells / measured.seconds)));
            } catch (const rt::Error& error) {
                if (error.code() != rt::ErrorCode::out_of_memory) throw;
                results.missing.push_back(fmt::format("{}³: {}", side, error.what()));
            }
        }
    }
}

CompileGrowth measure_compile(Lab* lab, const std::string& shape, int statements) {
    CompileGrowth growth;
    growth.shape = shape;
    growth.statements = statements;
    const std::string text = growth_program(shape, statements);
    driver::Stopwatch watch;
    const driver::CheckedSpec spec = driver::check_text(shape + ".halo", text);
    if (!spec.ok) throw InternalError("a program made to be compiled has mistakes: " + shape);
    growth.check = watch.lap();
    const driver::CodeOptions options;
    const ir::Program program = driver::optimize(spec.analysis.stencils.at(0).program, options);
    growth.optimise = watch.lap();
    const std::vector<driver::StageChoice> stages = driver::choose_schedules(program, options);
    growth.choose = watch.lap();
    schedule::Plan plan;
    for (const driver::StageChoice& stage : stages)
        plan.stages.push_back(stage.schedule);
    const lower::Lowered lowered = lower::lower_cuda(program, plan);
    growth.lower = watch.lap();
    growth.text_bytes = static_cast<std::int64_t>(emit::print_cuda(lowered.kernels).size());
    growth.print = watch.lap();
    if (lab != nullptr && statements <= kMostStatementsCompiled)
        growth.compile = lab->compile_seconds(lab->is_gpu() ? lowered : lower::lower_cpu(program));
    return growth;
}

void measure_compiles(Lab& lab, Results& results, const Report& report) {
    for (const std::string& shape : growth_shapes()) {
        for (const int statements : {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}) {
            const bool too_long = results.quick && statements > kMostStatementsCompiled;
            if (too_long) continue;
            results.compiles.push_back(measure_compile(&lab, shape, statements));
            const CompileGrowth& last = results.compiles.back();
            report(fmt::format(
                "{} of {}: to text in {}{}", shape, statements, driver::format_seconds(last.to_text()),
                last.compile > 0 ? ", to machine code in " + driver::format_seconds(last.compile) : ""));
        }
    }
}

}  // namespace halo::bench
