// What NVRTC says of edited files, without a GPU.
#include "edited.h"

#include <algorithm>

#include "runtime/nvrtc/nvrtc.h"
#include "skip.h"
#include "temporary_folder.h"

using namespace halo;
using namespace halo::test;

namespace {

const SkipUnless found(rt::Nvrtc::find() != nullptr, rt::Nvrtc::why_missing());

// Empty where it compiles; else what a user reads.
std::string trouble(const Edited& heat, const std::string& text) {
    driver::Code code = heat.code;
    driver::use_edited(code, driver::parse_edited_cuda("edited.cu", text));
    const TemporaryFolder folder;
    const rt::DiskCache cache(folder.path());
    try {
        const driver::CompiledCode compiled = driver::compile_parts(*rt::Nvrtc::find(), code, "sm_90", cache);
        CHECK(driver::find_usage(compiled, "heat_step") != nullptr);
    } catch (const rt::Error& error) {
        CHECK(error.code() == rt::ErrorCode::compile_failed);
        return driver::trouble_of_edited(error.what());
    }
    return "";
}

}  // namespace

TEST_CASE("an emitted file compiles as it is, launcher and all") {
    const Edited heat(kHeat2d);
    CHECK(trouble(heat, heat.source) == "");
    rt::NvrtcOptions whole;  // by the file's own guards
    CHECK_FALSE(rt::Nvrtc::find()->compile(heat.source, "heat.cu", whole).cubin.empty());
}

TEST_CASE("parameters that do not fit are told in a sentence, and mistakes at their line") {
    const Edited heat(kHeat2d);
    const std::string other = trouble(heat, replaced(heat.source, "float kappa,", "double kappa,"));
    INFO(other);
    CHECK(other.starts_with("kernel heat_step is launched with (const float* u, float* u_next, "));
    CHECK(other.ends_with("float kappa, double* top_partials), and takes something else"));
    const std::string broken = trouble(heat, replaced(heat.source, "blockIdx.x", "blockIndex.x"));
    const std::size_t at = heat.source.find("blockIdx.x");
    const auto line =
        1 + std::count(heat.source.begin(), heat.source.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    CHECK(broken.find("refuses 'edited.cu'") != std::string::npos);
    CHECK(broken.find("edited.cu(" + std::to_string(line) + "): error") != std::string::npos);
    CHECK(broken.find("internal error") == std::string::npos);
}
