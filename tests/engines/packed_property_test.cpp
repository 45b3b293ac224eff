// Random programs of single bytes, whose kernels compute four cells of a row in one word, and one word or two
// in a row: neighbourhoods, counts, sums, choices and comparisons, at sizes around and below these.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzed.h"
#include "catch.h"
#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "compiler/ir/analysis.h"
#include "compiler/schedule/footprint.h"
#include "emulated_device.h"
#include "emulator.h"
#include "random_bytes.h"
#include "random_program.h"

using namespace halo;
using namespace halo::test;

namespace {

std::vector<schedule::Schedule> wide_schedules(const ir::Program& program, Random& random) {
    std::vector<schedule::Schedule> schedules;
    for (const ir::Stage& stage : ir::form_stages(program)) {
        schedule::Schedule drawn;
        drawn.strategy = schedule::Direct{};
        drawn.threads = {random.pick(std::vector<int>{8, 32}), 1, 1};
        if (program.rank() > 1 && drawn.threads[0] == 8) drawn.threads[1] = 4;
        if (drawn.threads[0] * drawn.threads[1] < 32) drawn.threads[0] = 32;
        if (!schedule::footprint(program, stage).in_place) {
            for (int axis = 1; axis < program.rank(); ++axis)
                drawn.cells[axis] = random.between(1, 3);
            drawn.cells[0] = 4;
            schedule::Schedule wider = drawn;
            wider.cells[0] = 8;  // refused where a stage has other values than bytes
            const auto reasons = schedule::check(program, stage, wider, schedule::Target{});
            if (random.chance(50) && schedule::is_legal(reasons)) drawn = wider;
        }
        schedules.push_back(drawn);
    }
    return schedules;
}

}  // namespace

TEST_CASE("programs of single bytes on emulated CUDA, four cells in a word") {
    const Seeds seeds = seeds_from_environment(1, 150);
    int refused = 0, packed = 0, sharing = 0, wide = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const ByteProgram source = random_bytes(seed);
        INFO("seed " << seed << "\n" << source.text);
        std::optional<ir::Program> program;
        try {
            program = load_program(source.text, false);
        } catch (const std::runtime_error& error) {
            ++refused;  // what has no value anywhere, and numbers that no byte can be
            INFO(error.what());
            CHECK(refused * 4 <= static_cast<int>(seeds.count) + 3);
            continue;
        }
        const Reference reference(*program, source.extent, 3, seed);
        Random random(seed + 1);
        const lower::Lowered lowered = lower::lower_cuda(*program, {wide_schedules(*program, random)});
        const std::string text = emit::print_cuda(lowered.kernels);
        if (text.find("Four cells of the row") != std::string::npos) ++packed;
        if (text.find("Sums of neighbours in a row") != std::string::npos) ++sharing;
        if (text.find("store8(") != std::string::npos) ++wide;
        emulator::EmulatedDevice device;
        CHECK(difference(reference, lowered, device, load_cuda) == "");
    }
    // Those with a free face, for some cells alone, or with too large numbers are not.
    CHECK(packed * 3 >= static_cast<int>(seeds.count));
    CHECK(sharing * 12 >= static_cast<int>(seeds.count));
    CHECK(wide * 10 >= static_cast<int>(seeds.count));
}

TEST_CASE("time loops of single bytes on emulated CUDA, several steps at once") {
    check_byte_loops(seeds_from_environment(1, 60),
                     [](const Reference& reference, const lower::Lowered& lowered) {
                         emulator::EmulatedDevice device;
                         return difference(reference, lowered, device, load_cuda);
                     });
}
