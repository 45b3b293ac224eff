// Edited kernels against the interpreter, on emulated ones: what is the same passes, and each mistake is
// seen.
#include "contains.h"
#include "edited.h"
#include "emulated_device.h"

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/tuning/edited_check.h"

using namespace halo;
using namespace halo::test;

namespace {

class EmulatedMachine final : public driver::GpuMachine {
public:
    std::string kind() const override { return "emulated"; }
    std::string description() const override { return device_.description(); }
    schedule::Target target() const override { return {}; }
    driver::TuneDevice tune_device() const override { return {"emulated", "sm_90", 132, "none"}; }
    driver::CompiledCode compile(const driver::Code& code) const override {
        const driver::CodeParts parts = driver::parts_of(code);
        CHECK(parts.block.empty());  // an edited text is one
        driver::CompiledCode compiled;
        compiled.steps.cubin = parts.steps;
        return compiled;
    }
    std::unique_ptr<driver::Engine> start(const driver::Code& code, const driver::Extent& extent,
                                          const driver::CompiledCode& compiled) override {
        return start(code, extent, compiled, false);
    }
    std::unique_ptr<driver::Engine> start_poisoned(const driver::Code& code, const driver::Extent& extent,
                                                   const driver::CompiledCode& compiled) override {
        return start(code, extent, compiled, true);
    }
    std::unique_ptr<driver::Engine> load(const ir::Program& program, const driver::Extent& extent,
                                         const driver::CodeOptions& options, driver::LoadTimings&) override {
        const ir::Program optimized = driver::optimize(program, options);
        const driver::Code code =
            driver::cuda_code(optimized, driver::choose_plan(optimized, options).plan());
        return start(code, extent, compile(code));
    }

private:
    std::unique_ptr<driver::Engine> start(const driver::Code& code, const driver::Extent& extent,
                                          const driver::CompiledCode& compiled, bool poison) {
        rt::SessionOptions options;
        options.poison = poison;
        std::vector<std::unique_ptr<rt::Module>> modules;
        modules.push_back(device_.load(compiled.steps.cubin, code.lowered.plan.name));
        return driver::make_session_engine(
            rt::Session(code.lowered.plan, extent, device_, std::move(modules), options));
    }
    emulator::EmulatedDevice device_;
};

const std::vector<std::string> kDirect{"direct threads=32x4 cells=1x1"};

// What is said of the text: what was checked, or what is wrong.
std::string outcome(const Edited& heat, const std::string& text, std::uint64_t ulps = 0) {
    EmulatedMachine machine;
    try {
        return driver::check_edited(machine, heat.program, heat.run(), heat.request, heat.options(text),
                                    ulps);
    } catch (const driver::CommandError& error) {
        CHECK(error.code() == driver::ExitCode::spec);
        return error.what();
    }
}

}  // namespace

TEST_CASE("what was not edited, or has other words for the same, passes") {
    const Edited heat(kHeat2d, kDirect);
    const std::string passes =
        "edited.cu computes what the spec says, after 3 steps on 301 x 77 cells of random data";
    CHECK(outcome(heat, heat.source) == passes);
    std::string other = heat.source;
    for (std::size_t at = 0; (at = other.find("u_new", at)) != std::string::npos; at += 4)
        other.replace(at, 5, "next");
    CHECK(outcome(heat, replaced(other, "extern \"C\" __global__", "// by hand\nextern \"C\" __global__")) ==
          passes);
}

TEST_CASE("kernels for several steps pass, and are run as such") {
    const Edited relax(R"(stencil relax(x, y) {
    field u: f32 { boundary clamp }
    u[t+1] = (u[x-1] + u[x+1] + u[y-1] + u[y+1]) / 4
}

run relax {
    grid 512, 512
    steps 10
}
)",
                       {"temporal steps=2 warps=2 cells=2"});
    REQUIRE(relax.code.lowered.plan.time_block);
    CHECK(contains(outcome(relax, relax.source), "computes what the spec says, after 5 steps"));
    const std::string wrong = replaced(relax.source, "0.25f * ", "0.26f * ");
    // The first of them in the text may be of single steps alone: all are changed.
    std::string all = wrong;
    while (contains(all, "0.25f * "))
        all = replaced(all, "0.25f * ", "0.26f * ");
    CHECK(contains(outcome(relax, all), "does not compute what the spec says: after 5 steps"));
}

TEST_CASE("a formula that was changed is seen, with the first cell and how far it is") {
    const Edited heat(kHeat2d, kDirect);
    const std::string wrong = outcome(heat, replaced(heat.source, "u[at - 1]", "u[at + 1]"));
    CHECK(contains(wrong,
                   "edited.cu does not compute what the spec says: after 3 steps on 301 x 77 cells of "
                   "random data, u at t+0 differs at cell (0, 0, 0): "));
    CHECK(contains(wrong, " ulps apart"));
}

TEST_CASE("an edit that rounds otherwise passes where that is allowed") {
    const Edited heat(kHeat2d, kDirect);
    const std::string other = replaced(heat.source, "fmaf(kappa,", "fmaf(kappa + 1e-7f,");
    CHECK(contains(outcome(heat, other), "does not compute what the spec says"));
    CHECK(contains(outcome(heat, other, 100), "computes what the spec says within 100 ulps"));
    CHECK(contains(outcome(heat, replaced(heat.source, "u[at - 1]", "u[at + 1]"), 100),
                   "does not compute what the spec says"));
}

TEST_CASE("cells that are left out, or read where nothing is, are seen") {
    const Edited heat(kHeat2d, kDirect);
    CHECK(contains(outcome(heat, replaced(heat.source, "i < nx && j < ny", "i < nx && j < ny - 1")),
                   "differs at cell ("));
    // Beyond the halo lies NaN.
    CHECK(contains(outcome(heat, replaced(heat.source, "u[at - 1]", "u[at - 2]")), " instead of "));
}

TEST_CASE("parameters that no longer fit are named, with those that must be") {
    const Edited heat(kHeat2d, kDirect);
    const std::string without =
        outcome(heat, replaced(heat.source, "float kappa,", "int more, float kappa,"));
    CHECK(without.starts_with("kernel heat_step is launched with (const float* u, float* u_next, "));
    CHECK(without.ends_with(", and takes something else"));
    CHECK(outcome(heat, replaced(heat.source, "float kappa,", "double kappa,"))
              .starts_with("kernel heat_step is launched with ("));
    // Other names, and pointers to something else, are the edit's own affair.
    CHECK(contains(outcome(heat, replaced(heat.source, "const float* __restrict__ u,", "float* u,")),
                   "computes what the spec says"));
}

TEST_CASE("a text that is no CUDA is refused as the user's") {
    const Edited heat(kHeat2d, kDirect);
    CHECK(contains(outcome(heat, replaced(heat.source, "if (i < nx", "iff (i < nx")), "iff"));
}
