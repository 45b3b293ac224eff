// Whether a program for a GPU stores the terms that neighbours read.
#include <string>

#include "catch.h"
#include "compiler/adjoint/adjoint.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/planning/explanation.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/ir/analysis.h"

using namespace halo;
using namespace halo::driver;

namespace {

constexpr const char* kWave = R"(stencil wave(x, y, z) {
    param dt = 0.3
    field v: f32
    field p: f32 { boundary fixed 0 }
    p[t+1] = 2*p - p[t-1] + (v * dt)^2 * laplacian(p, order=4)
    reduce energy = sum(p[t+1]^2)
})";

ir::Program step_back() {
    const CheckedSpec spec = check_text("wave.halo", kWave);
    REQUIRE(spec.ok);
    return adjoint::make_adjoint_of_earlier(choose_stencil(spec, "").program, {{"energy"}, {"v"}}).program;
}

std::size_t stages_of(const ir::Program& program) {
    return ir::form_stages(program).size();
}

}  // namespace

TEST_CASE("a step back of a wave is one sweep on a GPU, where it may be") {
    const ir::Program program = step_back();
    CodeOptions options;
    options.single_steps = true;
    CHECK(stages_of(optimize(program, options)) == 2);
    const ir::Program again = optimize_for_gpu(program, options);
    REQUIRE(stages_of(again) == 1);
    const std::vector<StageChoice> stages = choose_schedules(again, options);
    CHECK(stages.front().footprint.bytes_read() == 20);
    CHECK(std::holds_alternative<schedule::Stream>(stages.front().schedule.strategy));
    CHECK(computed_again(program, again, options) == std::vector<std::string>{"p_new_adj_term"});
    const std::string text =
        explanation(program, options, TargetHere{}, std::nullopt, ExplanationForm::text, 200);
    CHECK(text.find("p_new_adj_term is computed again for each neighbour that reads it") !=
          std::string::npos);

    SECTION("whatever the grid") {
        options.extent = schedule::Extent{24, 20, 16};
        CHECK(stages_of(optimize_for_gpu(program, options)) == 1);
    }
    SECTION("by one schedule for all stages") {
        options.schedules = {"direct"};
        CHECK(stages_of(optimize_for_gpu(program, options)) == 1);
    }
    SECTION("but not by a schedule for each of two stages") {
        options.schedules = {"direct", "stream"};
        CHECK(stages_of(optimize_for_gpu(program, options)) == 2);
    }
    SECTION("as emitted code was made, whatever this device's model says") {
        options.whole_schedules = true;
        options.target.l1_bandwidth /= 8;
        options.schedules = {"stream"};
        CHECK(stages_of(optimize_for_gpu(program, options)) == 1);
        options.schedules = {"direct", "stream"};
        CHECK(stages_of(optimize_for_gpu(program, options)) == 2);
    }
    SECTION("nor where each rounding and each sign of a zero is as written") {
        options.strict_fp = true;
        CHECK(stages_of(optimize_for_gpu(program, options)) == 2);
    }
    SECTION("nor in arrays of a host program") {
        options.arrays_of_host = true;
        CHECK(stages_of(optimize_for_gpu(program, options)) == 2);
    }
    SECTION("nor in pieces of a grid") {
        options.reductions_by_plane = true;
        CHECK(stages_of(optimize_for_gpu(program, options)) == 2);
    }
    SECTION("nor where the model says that two sweeps are faster") {
        options.target.l1_bandwidth /= 8;
        CHECK(stages_of(optimize_for_gpu(program, options)) == 2);
    }
}
