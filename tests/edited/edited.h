// A spec, what `haloc emit -o` would write for it, and the options of a run that takes an edited copy of it.
#pragma once

#include <string>

#include "catch.h"
#include "compiler/driver/console/arguments.h"
#include "compiler/driver/planning/edited_cuda.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/driver/tuning/tuner.h"
#include "compiler/emit/launcher.h"

namespace halo::test {

inline constexpr const char* kHeat2d = R"(stencil heat(x, y) {
    param kappa = 0.125
    param coef w[0..1]: f32 = [1, -4]
    field u: f32 { boundary x fixed 1, y periodic }
    u[t+1] = u + kappa * (w[0] * (u[x-1] + u[x+1] + u[y-1] + u[y+1]) + w[1] * u)
    reduce top = max(u[t+1])
}

run heat {
    grid 96, 64
    steps 10
}
)";

class Edited {
public:
    explicit Edited(const std::string& text, const std::vector<std::string>& schedules = {})
        : spec_(driver::check_text("spec.halo", text)) {
        REQUIRE(spec_.ok);
        const std::string only_one;
        const sema::AnalyzedStencil& stencil = driver::choose_stencil(spec_, only_one);
        program = stencil.program;
        driver::CodeOptions options;
        options.schedules = schedules;
        const ir::Program optimized = driver::optimize(program, options);
        options.single_steps = true;
        const schedule::Plan plan = driver::choose_plan(optimized, options).plan();
        code = driver::cuda_code(optimized, plan);
        std::vector<std::string> made_with;
        for (const std::string& each : schedule::texts_of(plan, optimized.rank()))
            made_with.push_back("--schedule '" + each + "'");
        source = emit::print_offline(code.lowered.kernels, code.lowered.plan, "heat", made_with).source;
        driver::RunArguments arguments;
        console_.set_quiet(true);
        request = driver::request_for_tuning(arguments, spec_, stencil, console_);
    }

    // Of a run with this text as its --cuda.
    driver::CodeOptions options(const std::string& edited) const {
        driver::CodeOptions options;
        driver::take_edited(driver::parse_edited_cuda("edited.cu", edited), program, std::nullopt, options);
        return options;
    }
    const sema::RunSpec* run() const { return spec_.analysis.find_run(program.name); }

    ir::Program program;
    driver::Code code;   // as emitted
    std::string source;  // heat.cu
    driver::RunRequest request;

private:
    driver::Console console_;
    driver::CheckedSpec spec_;
};

// The text with the first `from` (which must be there) as `to`.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    INFO(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace halo::test
