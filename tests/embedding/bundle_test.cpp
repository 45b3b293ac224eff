// Bundles: what they have, and what is wrong with them.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common.h"
#include "runtime/api/bundle.h"

using namespace halocline;
using detail::Variant;

namespace {

Variant variant(const std::string& target, const std::vector<std::int64_t>& grid, const std::string& code) {
    Variant made;
    made.target = target;
    made.grid = grid;
    made.plan.name = "thing";
    made.plan.rank = 2;
    made.plan.axes = {"x", "y"};
    made.plan.spacing.resize(2);
    made.plan.origin.resize(2);
    for (auto& spacing : made.plan.spacing)
        spacing.steps = {{halo::rt::HostScalar::Op::constant, 1, 0}};
    for (auto& origin : made.plan.origin)
        origin.steps = {{halo::rt::HostScalar::Op::constant, 0, 0}};
    made.code = {code, ""};
    return made;
}

}  // namespace

TEST_CASE("a bundle holds what was put into it") {
    const std::string code("\0\x01\n\xff", 4);
    const std::vector<Variant> before = {variant("sm_80", {}, "eighty"), variant("sm_90", {512, 64}, code)};
    const std::vector<Variant> after = detail::parse_bundle(detail::bundle_text("thing", before), "test");
    REQUIRE(after.size() == 2);
    CHECK(after[0].target == "sm_80");
    CHECK(after[0].grid.empty());
    CHECK(after[0].code == std::vector<std::string>{"eighty", ""});
    CHECK(after[1].grid == std::vector<std::int64_t>{512, 64});
    CHECK(after[1].code == std::vector<std::string>{code, ""});
    CHECK(after[1].plan.axes == std::vector<std::string>{"x", "y"});
    const Program program = Program::from_memory(detail::bundle_text("thing", before));
    CHECK(program.targets() == std::vector<std::string>{"sm_80, any grid", "sm_90, grid 512 x 64"});
    CHECK(says(
        refusal([&] { Simulation(program, Device::cpu(1), {8, 8}); }, ErrorCode::no_device),
        "has no code for cpu and the grid 8 x 8; it has code for: sm_80, any grid; sm_90, grid 512 x 64"));
}

TEST_CASE("code runs on later devices of its generation alone") {
    CHECK(detail::fitness("sm_90", "sm_90") > detail::fitness("sm_86", "sm_89"));
    CHECK(detail::fitness("sm_86", "sm_89") > detail::fitness("sm_80", "sm_89"));
    CHECK(detail::fitness("sm_80", "sm_89") > 0);
    CHECK(detail::fitness("sm_89", "sm_86") == 0);
    CHECK(detail::fitness("sm_80", "sm_90") == 0);
    CHECK(detail::fitness("sm_90a", "sm_90") == 0);
    CHECK(detail::fitness("cpu", "sm_90") == 0);
    CHECK(detail::fitness("cpu", "cpu") > 0);
}

TEST_CASE("files that are no bundles, or damaged ones, are refused") {
    const std::string good = detail::bundle_text("thing", {variant("sm_90", {}, "code")});
    const auto load = [](const std::string& bytes) {
        return refusal([&] { Program::from_memory(bytes, nullptr, "thing.halobundle"); });
    };
    CHECK(says(load(""), "thing.halobundle: this is no Halocline bundle"));
    CHECK(says(load("PNG\n\n\n"), "no Halocline bundle"));
    std::string other = good;
    other.replace(other.find(" 2\n"), 3, " 9\n");
    CHECK(says(load(other), "format 9, and this one reads 2"));
    for (const std::size_t cut : {good.size() - 1, good.size() / 2, std::size_t{100}})
        CHECK(says(load(good.substr(0, cut)), "damaged"));
    std::string flipped = good;
    flipped[good.size() - 3] = static_cast<char>(flipped[good.size() - 3] ^ 1);
    CHECK(says(load(flipped), "its checksum is wrong"));
    CHECK(says(load(detail::bundle_text("thing", {})), "has no code"));
    CHECK(
        says(refusal([] { Program::load("/no/such.halobundle"); }, ErrorCode::io), "there is no such file"));

    const auto path = std::filesystem::temp_directory_path() / ("bundle_test_" + std::to_string(::getpid()));
    std::ofstream(path, std::ios::binary) << good;
    CHECK(Program::load(path.string()).info().name == "thing");
    std::filesystem::remove(path);
}
