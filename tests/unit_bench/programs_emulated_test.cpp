// Programs as wholes on an emulated GPU: by the plan that is chosen there and singly, verified; and what is
// wrong is found.
#include <algorithm>
#include <functional>

#include "catch.h"
#include "compiler/bench/programs_measure.h"
#include "compiler/driver/running/gpu_machine.h"
#include "emulated_device.h"

using namespace halo;
using namespace halo::bench;

namespace {

class EmulatedMachine final : public driver::GpuMachine {
public:
    std::string kind() const override { return "emulated"; }
    std::string description() const override { return device_.description(); }
    schedule::Target target() const override { return {}; }
    driver::TuneDevice tune_device() const override { return {"emulated", "sm_90", 132, "none"}; }
    driver::CompiledCode compile(const driver::Code& code) const override {
        const driver::CodeParts parts = driver::parts_of(code);
        driver::CompiledCode compiled;
        compiled.steps.cubin = parts.steps;
        if (code.lowered.plan.time_block) compiled.block = rt::CompiledCuda{parts.block, "", {}, false};
        return compiled;
    }
    std::unique_ptr<driver::Engine> start(const driver::Code& code, const driver::Extent& extent,
                                          const driver::CompiledCode& compiled) override {
        if (is_full) throw rt::Error(rt::ErrorCode::out_of_memory, "no room");
        std::vector<std::string> texts{compiled.steps.cubin};
        if (compiled.block) texts.push_back(compiled.block->cubin);
        std::vector<std::unique_ptr<rt::Module>> modules;
        for (std::string& text : texts) {
            if (is_spoilt(code)) negate(text);
            modules.push_back(device_.load(text, code.lowered.plan.name));
        }
        return driver::make_session_engine(
            rt::Session(code.lowered.plan, extent, device_, std::move(modules), {}));
    }
    std::unique_ptr<driver::Engine> start_poisoned(const driver::Code& code, const driver::Extent& extent,
                                                   const driver::CompiledCode& compiled) override {
        return start(code, extent, compiled);
    }
    // Of init blocks.
    std::unique_ptr<driver::Engine> load(const ir::Program& program, const driver::Extent& extent,
                                         const driver::CodeOptions& options, driver::LoadTimings&) override {
        const ir::Program optimized = driver::optimize(program, options);
        const driver::Code code =
            driver::cuda_code(optimized, driver::choose_plan(optimized, options).plan());
        return start(code, extent, compile(code));
    }

    bool is_full = false;
    std::function<bool(const driver::Code&)> is_spoilt = [](const driver::Code&) { return false; };

private:
    static void negate(std::string& text) {
        std::size_t at = text.find("fmaf(");
        for (; at != std::string::npos; at = text.find("fmaf(", at + 6))
            text.insert(at, "-");
    }
    emulator::EmulatedDevice device_;
};

Program small(const std::string& name) {
    Program program = chosen_programs(Scale::small, {name}).at(0);
    program.steps = 2;
    return program;
}

bool has_block(const driver::Code& code) {
    return code.lowered.plan.time_block.has_value();
}

}  // namespace

TEST_CASE("programs on an emulated GPU are verified, and timed by their plan and singly") {
    EmulatedMachine machine;
    int grouped = 0;
    for (const char* name : {"cahn_hilliard", "elastic3d", "burgers2d", "poisson2d", "image_filters"}) {
        const ProgramResult result = measure_program(machine, small(name));
        INFO(name << ", " << result.kind << ", " << result.run.plan << "; " << result.single.plan << "; "
                  << result.trouble);
        CHECK(result.run.wrong == "");
        CHECK(result.single.wrong == "");
        CHECK(result.trouble == "");
        CHECK(result.run.seconds > 0);
        CHECK(result.single.seconds > 0);
        CHECK(result.single.predicted > 0);
        CHECK(result.bytes_per_cell > 0);
        CHECK((result.kind == kSinglyDone) == (result.run.plan == result.single.plan));
        UNSCOPED_INFO(name << " by " << result.run.plan);
        if (result.kind != kSinglyDone) ++grouped;
    }
    CHECK(grouped > 0);
}

TEST_CASE("points of a program are injected and sampled as in its run") {
    EmulatedMachine machine;
    Program shot = small("shot3d");
    shot.extent = {80, 46, 40};
    shot.steps = 1;
    const ProgramResult result = measure_program(machine, shot);
    CHECK(result.bytes_per_cell == 16);  // p at t and t-1, v, and p at t+1: points touch few cells
    CHECK(result.run.wrong == "");
    CHECK(result.run.seconds > 0);
}

TEST_CASE("a program whose kernel for several steps is wrong is named, and its single steps are timed") {
    EmulatedMachine machine;
    machine.is_spoilt = has_block;
    const ProgramResult result = measure_program(machine, small("cahn_hilliard"));
    CHECK(result.run.wrong.find("c at t+0 differs at cell (") != std::string::npos);
    CHECK(result.run.seconds == 0);
    CHECK(result.single.wrong == "");
    CHECK(result.single.seconds > 0);
    CHECK_FALSE(result.is_right());
}

TEST_CASE("a program that leaves the finite is named") {
    EmulatedMachine machine;
    Program heat = small("heat3d");
    heat.set = {"dt=40"};  // 13 steps are finite, and 17 are not
    heat.steps = 1;
    const ProgramResult result = measure_program(machine, heat);
    INFO(result.single.wrong);
    CHECK(result.single.wrong.find(" cells of u are not finite") != std::string::npos);
    CHECK_FALSE(result.is_right());
}

TEST_CASE("a program that the device has no room for is left out") {
    EmulatedMachine machine;
    machine.is_full = true;
    const ProgramResult result = measure_program(machine, small("heat3d"));
    CHECK(result.trouble == "no room");
    CHECK(result.is_right());
    CHECK(result.run.seconds == 0);
}
