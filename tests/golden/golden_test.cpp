// What the examples are compiled to, in full, so that every change of emitted code is read before it is kept.
// HALO_REGENERATE=1 writes the expected files anew.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "catch.h"
#include "compiler/emit/emit.h"
#include "compiler/emit/launcher.h"
#include "examples.h"
#include "runtime/core/plan_json.h"

namespace {

using namespace halo;

const std::filesystem::path kExpected = HALO_SOURCE_DIR "/tests/golden/expected";

// The files that stand there now and were compared.
std::set<std::string>& compared() {
    static std::set<std::string> names;
    return names;
}

std::string read(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

// The first line that differs, as it should be and as it is.
std::string first_difference(const std::string& expected, const std::string& text) {
    if (expected == text) return "";
    std::istringstream expected_lines(expected), lines(text);
    std::string want, got;
    for (int number = 1;; ++number) {
        const bool more = static_cast<bool>(std::getline(expected_lines, want));
        const bool more_now = static_cast<bool>(std::getline(lines, got));
        if (!more) want = "(end of the text)";
        if (!more_now) got = "(end of the text)";
        if (want != got || !more || !more_now)
            return "line " + std::to_string(number) + "\n  expected: " + want + "\n  now:      " + got;
    }
}

void compare(const std::string& name, const std::string& text) {
    compared().insert(name);
    const std::filesystem::path path = kExpected / name;
    if (std::getenv("HALO_REGENERATE")) std::ofstream(path, std::ios::binary) << text;
    INFO(path.string() << ": read what changed, then HALO_REGENERATE=1 keeps it");
    CHECK(first_difference(read(path), text) == "");
}

void compare_cuda(const std::string& name, const test::Example& example,
                  const std::vector<schedule::Schedule>& schedules,
                  const schedule::Grouping& grouping = schedule::SingleSteps{}) {
    REQUIRE(!schedules.empty());
    const lower::Lowered lowered = lower::lower_cuda(example.program, {schedules, grouping});
    compare(name + ".cu", emit::print_cuda(lowered.kernels));
    compare(name + ".plan.json", rt::plan_to_json(lowered.plan));
}

}  // namespace

TEST_CASE("examples by the schedules chosen for them") {
    for (const test::Example& example : test::examples()) {
        // Kernels of multigrid_poisson2d, several times.
        if (example.name == "multigrid_fcycle2d" || example.name == "groundwater2d") continue;
        compare_cuda(example.name, example, test::chosen(example));
    }
}

TEST_CASE("heat3d by the other strategies, and on the CPU") {
    for (const test::Example& example : test::examples()) {
        if (example.name != "heat3d") continue;
        compare_cuda("heat3d_tile", example, test::chosen(example, schedule::Tile{}));
        compare_cuda("heat3d_stream", example, test::chosen(example, schedule::Stream{}));
        schedule::TemporalSchedule several;
        several.cells = {4, 4};
        several.warps = 8;
        several.unroll = 2;
        compare_cuda("heat3d_temporal", example, test::chosen(example), several);
        compare("heat3d.cpp", emit::print_cpp(lower::lower_cpu(example.program).kernels));
    }
}

TEST_CASE("an input whose planes stay for several steps, and what all of them compute of it") {
    for (const test::Example& example : test::examples()) {
        if (example.name != "heat3d_capacity") continue;
        schedule::TemporalSchedule several;
        several.cells = {2, 4};
        several.warps = 12;
        several.ahead = 3;
        several.unroll = 3;
        compare_cuda("heat3d_capacity_temporal", example, test::chosen(example), several);
    }
}

TEST_CASE("bytes, four cells in a word") {
    for (const test::Example& example : test::examples()) {
        if (example.name != "game_of_life") continue;
        std::vector<schedule::Schedule> schedules = test::chosen(example);
        for (schedule::Schedule& each : schedules)
            each.cells = {4, 2, 1};
        compare_cuda(example.name + "_packed", example, schedules);
    }
}

TEST_CASE("bytes, four cells in a word, several steps at once") {
    for (const test::Example& example : test::examples()) {
        if (example.name != "game_of_life") continue;
        schedule::TemporalSchedule several;
        several.steps = 6;
        several.cells = {16, 1};
        several.warps = 12;
        several.unroll = 3;
        compare_cuda(example.name + "_temporal", example, test::chosen(example), several);
    }
}

TEST_CASE("a box, several steps at once") {
    for (const test::Example& example : test::examples()) {
        if (example.name != "box3d1_symmetric") continue;
        schedule::TemporalSchedule several;
        several.steps = 3;
        several.cells = {4, 4};
        several.warps = 8;
        compare_cuda("box3d1_symmetric_temporal", example, test::chosen(example), several);
    }
}

TEST_CASE("two periodic axes, several steps at once") {
    for (const test::Example& example : test::examples()) {
        if (example.name != "cahn_hilliard") continue;
        schedule::TemporalSchedule several;
        several.unroll = 3;
        several.min_blocks = 4;
        several.blocks = 528;
        compare_cuda("cahn_hilliard_temporal", example, test::chosen(example), several);
    }
}

TEST_CASE("a reduction at each of several steps") {
    for (const test::Example& example : test::examples()) {
        if (example.name != "heat3d_until") continue;
        schedule::TemporalSchedule several;
        several.steps = 3;
        several.cells = {4, 2};
        several.warps = 8;
        several.reductions = {"change"};
        compare_cuda("heat3d_until_temporal", example, test::chosen(example), several);
    }
}

TEST_CASE("all steps with the grid on the chip") {
    for (const test::Example& example : test::examples()) {
        schedule::ResidentSchedule resident;
        if (example.name == "heat3d") {  // of whole boxes
            resident.threads = {32, 2, 4};
            resident.cells = {4, 4, 4};
            resident.is_whole = {true, true, true};
            schedule::ResidentSchedule shared = resident;
            shared.threads = {32, 8, 1};
            shared.cells = {4, 2, 8};
            shared.keep = schedule::Keep::shared;
            compare_cuda("heat3d_kept_shared", example, test::chosen(example), shared);
        } else if (example.name == "wave2d") {  // may end anywhere, and two past levels
            resident.threads = {32, 4, 1};
            resident.cells = {4, 2, 1};
            schedule::ResidentSchedule in_place = resident;
            in_place.keep = schedule::Keep::in_place;
            compare_cuda("wave2d_in_place", example, test::chosen(example), in_place);
        } else if (example.name == "cahn_hilliard") {  // periodic, two stages, doubles
            resident.threads = {32, 8, 1};
            resident.cells = {2, 2, 1};
            resident.is_whole = {true, true, true};
        } else {
            continue;
        }
        compare_cuda(example.name + "_resident", example, test::chosen(example), resident);
    }
}

TEST_CASE("launchers: with points off the grid, and with the grid on the chip") {
    for (const test::Example& example : test::examples()) {
        const std::string name = example.name + "_launcher";
        schedule::Grouping grouping = schedule::SingleSteps{};
        if (example.name == "wave2d") {
            schedule::ResidentSchedule resident;
            resident.threads = {32, 4, 1};
            resident.cells = {4, 2, 1};
            grouping = resident;
        } else if (example.name != "acoustic2d") {
            continue;
        }
        const lower::Lowered lowered = lower::lower_cuda(example.program, {test::chosen(example), grouping});
        const emit::OfflineFiles files = emit::print_offline(lowered.kernels, lowered.plan, name);
        compare(name + ".cu", files.source);
        compare(name + ".h", files.header);
    }
}

TEST_CASE("no golden file is left over") {
    if (compared().empty()) return;  // this test alone was asked for
    for (const auto& entry : std::filesystem::directory_iterator(kExpected)) {
        const std::string name = entry.path().filename().string();
        INFO(name);
        CHECK(compared().count(name) == 1);
    }
}
