#include "compiler/driver/compile.h"

#include "compiler/driver/stopwatch.h"
#include "compiler/emit/emit.h"
#include "compiler/passes/pipeline.h"

namespace halo::driver {

namespace {

void end_with_newline(std::string& text) {
    if (!text.ends_with('\n')) text += '\n';
}

}  // namespace

ir::Program optimize(ir::Program program, const CodeOptions& options) {
    passes::optimize(program, options.strict_fp ? passes::FloatingPoint::strict() : passes::FloatingPoint{});
    return program;
}

Code cuda_code(const ir::Program& program, const std::vector<StageChoice>& stages,
               const std::optional<schedule::TemporalSchedule>& temporal) {
    std::vector<schedule::Schedule> schedules;
    for (const StageChoice& stage : stages)
        schedules.push_back(stage.schedule);
    Code code;
    Stopwatch watch;
    code.lowered = lower::lower_cuda(program, schedules, temporal);
    code.lower_seconds = watch.lap();
    code.text = emit::print_cuda(code.lowered.kernels);
    end_with_newline(code.text);
    code.print_seconds = watch.lap();
    return code;
}

Code cpu_code(const ir::Program& program) {
    Code code;
    Stopwatch watch;
    code.lowered = lower::lower_cpu(program);
    code.lower_seconds = watch.lap();
    code.text = emit::print_cpp(code.lowered.kernels);
    end_with_newline(code.text);
    code.print_seconds = watch.lap();
    return code;
}

}  // namespace halo::driver
