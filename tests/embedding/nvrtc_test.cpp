// Bundles of code for GPUs, made by NVRTC without one.
#include <unistd.h>

#include <filesystem>
#include <string>

#include "common.h"
#include "halocline/halocline.hpp"
#include "runtime/api/bundle.h"
#include "runtime/nvrtc/nvrtc.h"
#include "skip.h"

using namespace halocline;

namespace {

const SkipUnless nvrtc(halo::rt::Nvrtc::find() != nullptr, halo::rt::Nvrtc::why_missing());

}  // namespace

TEST_CASE("a bundle has code for each architecture and grid that it is made for") {
    const Program program = compile_file(HALO_SOURCE_DIR "/tests/embedding/specs/heat.halo");
    const auto path =
        (std::filesystem::temp_directory_path() / ("nvrtc_test_" + std::to_string(::getpid()))).string();
    write_bundle(program, path, {.archs = {"sm_80", "sm_90"}, .grids = {{64, 64}}});
    const Program loaded = Program::load(path);
    CHECK(loaded.targets() == std::vector<std::string>{"sm_80, grid 64 x 64", "sm_80, any grid",
                                                       "sm_90, grid 64 x 64", "sm_90, any grid"});
    CHECK(loaded.info().name == "heat");
    CHECK(loaded.info().fields.front().name == "u");
    const std::string bytes = detail::read_bundle_file(path);
    for (const detail::Variant& variant : detail::parse_bundle(bytes, path)) {
        REQUIRE_FALSE(variant.code.empty());
        CHECK(
            variant.code.front().starts_with("\x7f"
                                             "ELF"));
        CHECK_FALSE(variant.plan.kernels.empty());
    }
    write_bundle(program, path, {.archs = {"sm_80", "sm_90"}, .grids = {{64, 64}}});
    CHECK(detail::read_bundle_file(path) == bytes);  // the same input gives the same bytes
    CHECK(says(refusal([&] { write_bundle(loaded, path, {.archs = {"sm_90"}}); }), "not of another bundle"));
    write_bundle(program, path, {.archs = {"sm_90"}, .grids = {{64, 64}}, .any_grid = false});
    CHECK(Program::load(path).targets() == std::vector<std::string>{"sm_90, grid 64 x 64"});
    std::filesystem::remove(path);
}
