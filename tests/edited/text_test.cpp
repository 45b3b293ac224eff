// What is read from an edited file, without compiling it.
#include "contains.h"
#include "edited.h"

#include <algorithm>

#include "compiler/driver/console/exit_code.h"
#include "examples.h"

using namespace halo;
using namespace halo::test;

namespace {

std::ptrdiff_t line_of(const std::string& text, const std::string& part) {
    const std::size_t at = text.find(part);
    REQUIRE(at != std::string::npos);
    return std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
}

std::string refusal(const Edited& edited, const std::string& text) {
    driver::Code code = edited.code;
    try {
        driver::use_edited(code, driver::parse_edited_cuda("edited.cu", text));
    } catch (const driver::CommandError& error) {
        CHECK(error.code() == driver::ExitCode::spec);
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("of an emitted file the kernels are left, on their lines") {
    const Edited heat(kHeat2d);
    const driver::EditedCuda edited = driver::parse_edited_cuda("heat.cu", heat.source);
    CHECK(std::count(edited.text.begin(), edited.text.end(), '\n') ==
          std::count(heat.source.begin(), heat.source.end(), '\n'));
    CHECK_FALSE(contains(edited.text, "#include"));
    CHECK_FALSE(contains(edited.text, "cuda_runtime"));
    CHECK_FALSE(contains(edited.text, "heat_solver"));
    CHECK(line_of(edited.text, "heat_step(") == line_of(heat.source, "heat_step("));
    CHECK(contains(edited.text, heat.code.text));
    CHECK(edited.schedules.size() == 1);
    CHECK(edited.has_launcher);
    CHECK_FALSE(edited.strict_fp);
    CHECK(refusal(heat, heat.source).empty());
}

TEST_CASE("what was written for the host within the host's part is left out, too") {
    const driver::EditedCuda edited = driver::parse_edited_cuda(
        "a.cu",
        "a\n#ifndef __CUDACC_RTC__  // why\nb\n# if 1\nc\n#endif\nd\n#endif\ne\n#ifdef X\nf\n#endif\n");
    CHECK(edited.text == "a\n\n\n\n\n\n\n\ne\n#ifdef X\nf\n#endif\n");
}

TEST_CASE("options are found in the comments, wherever they are") {
    const driver::EditedCuda edited = driver::parse_edited_cuda(
        "a.cu",
        "  //   --schedule 'direct threads=32x8 cells=1x1'\r\n// --strict-fp\n//--style kernel-only\n"
        "int x;  // --schedule 'no'\n");
    CHECK(edited.schedules == std::vector<std::string>{"direct threads=32x8 cells=1x1"});
    CHECK(edited.strict_fp);
    CHECK_FALSE(edited.has_launcher);
}

TEST_CASE("a kernel that has another name, or stands in a comment alone, is missed") {
    const Edited heat(kHeat2d);
    CHECK(refusal(heat, replaced(heat.source, "heat_step(", "heat_fast(")) ==
          "edited.cu has no kernel `heat_step`, which a step of `heat` launches; it has `heat_fast`, "
          "`heat_step_states`");
    CHECK(refusal(heat, "// heat_step\n/* heat_step */ const char* a = \"heat_step\";\n") ==
          "edited.cu has no kernel `heat_step`, which a step of `heat` launches; it has none");
    CHECK(contains(
              refusal(heat, replaced(heat.source, "__constant__ float heat_w[2]", "__constant__ float w[2]")),
              "has no array `heat_w` in constant memory") == false);  // kernels still name it
    CHECK(contains(refusal(heat,
                           "extern \"C\" __global__ void __launch_bounds__(256, 2) heat_step(float) {}\n"
                           "extern \"C\" __global__ void heat_step_states(float) {}\n"),
                   "edited.cu has no array `heat_w` in constant memory"));
}

TEST_CASE("by its comments each example is emitted anew as it was") {
    for (const Example& example : examples()) {
        INFO(example.name);
        driver::CodeOptions options;
        const ir::Program& program = example.program;
        options.single_steps = true;
        const schedule::Plan plan = driver::choose_plan(program, options).plan();
        options.schedules = schedule::texts_of(plan, program.rank());
        options.whole_schedules = true;
        CHECK(driver::cuda_code(program, driver::choose_plan(program, options).plan()).text ==
              driver::cuda_code(program, plan).text);
    }
}

TEST_CASE("schedules that are given come before those of the file, and resident ones are refused") {
    const Edited heat(kHeat2d);
    driver::CodeOptions options;
    options.schedules = {"direct threads=64x2 cells=1x1"};
    driver::take_edited(driver::parse_edited_cuda("edited.cu", heat.source), heat.program, std::nullopt,
                        options);
    CHECK(options.schedules.front() == "direct threads=64x2 cells=1x1");
    CHECK_FALSE(options.whole_schedules);
    driver::CodeOptions none;
    driver::take_edited(driver::parse_edited_cuda("edited.cu", heat.code.text), heat.program, std::nullopt,
                        none);
    CHECK(none.schedules.size() == 1);
    CHECK(none.whole_schedules);
    try {
        driver::CodeOptions fixed;
        driver::take_edited(driver::parse_edited_cuda("edited.cu", "//   --fixed-grid --grid 64,32\n"),
                            heat.program, std::nullopt, fixed);
        CHECK(false);
    } catch (const driver::CommandError& error) {
        CHECK(contains(error.what(), "was emitted by --fixed-grid, which --cuda does not take"));
    }
    try {
        driver::CodeOptions resident;
        driver::take_edited(
            driver::parse_edited_cuda("edited.cu", "// --schedule 'resident threads=32x8 cells=4x4'\n"),
            heat.program, std::nullopt, resident);
        CHECK(false);
    } catch (const driver::CommandError& error) {
        CHECK(contains(error.what(), "`resident` schedule, which --cuda does not take"));
    }
}
