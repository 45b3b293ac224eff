#include "compiler/driver/compile.h"

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

Code cuda_code(const ir::Program& program, const std::vector<StageChoice>& stages) {
    std::vector<schedule::Schedule> schedules;
    for (const StageChoice& stage : stages)
        schedules.push_back(stage.schedule);
    Code code;
    code.lowered = lower::lower_cuda(program, schedules);
    code.text = emit::print_cuda(code.lowered.kernels);
    end_with_newline(code.text);
    return code;
}

Code cpu_code(const ir::Program& program) {
    Code code;
    code.lowered = lower::lower_cpu(program);
    code.text = emit::print_cpp(code.lowered.kernels);
    end_with_newline(code.text);
    return code;
}

}  // namespace halo::driver
