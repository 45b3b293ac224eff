// Random time loops, done several steps at once, on grids that are cut into pieces: the interpreter's results
// on the whole grid, bit by bit.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>

#include "catch.h"
#include "emulated_device.h"
#include "emulator.h"
#include "property.h"
#include "random_bytes.h"
#include "random_pieces.h"
#include "random_schedule.h"
#include "random_time_loop.h"

using namespace halo;
using namespace halo::test;

namespace {

struct LoopsInPieces {
    std::uint64_t cut = 0, direct = 0, asynchronous = 0, of_several_blocks = 0;
};

// draw: none where the seed gives no program.
LoopsInPieces check_loops_in_pieces(
    const Seeds& seeds, const std::function<std::optional<RandomTimeLoop>(std::uint64_t seed)>& draw) {
    LoopsInPieces counts;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        std::optional<RandomTimeLoop> drawn = draw(seed);
        if (!drawn) continue;
        RandomTimeLoop& loop = *drawn;
        loop.temporal.of_pieces = true;
        loop.temporal.gives_ghosts = seed % 3 > 0;
        const ir::Program program = load_program(loop.text);
        const int traversals = 1 + static_cast<int>(seed % 4);
        const int workers = loop.temporal.blocks * (program.rank() == 2 ? loop.temporal.warps : 1);
        const bool divides_blocks = program.rank() == 2 ? traversals <= workers : workers % traversals == 0;
        loop.temporal.traversals = divides_blocks ? traversals : 0;
        const bool reduces = std::ranges::any_of(program.statements, [](const ir::Statement& statement) {
            return std::holds_alternative<ir::Reduce>(statement);
        });
        if (reduces || !lower_temporal(program, loop)) continue;
        INFO("seed " << seed << "\n" << loop.describe());
        const Reference reference(program, loop.grid, 3 * loop.steps, seed);
        emulator::EmulatedDevice one, other;
        const bool is_one = seed % 4 > 0;  // whose kernels can write to all pieces
        const auto lower = [&](const ir::Program& piece) {
            const std::optional<lower::Lowered> lowered = lower_temporal(piece, loop);
            return lowered ? *lowered : throw std::runtime_error("a piece is refused where the grid is not");
        };
        const CutRun run = run_in_pieces(program, reference, seed, {&one, is_one ? &one : &other}, lower,
                                         load_cuda, loop.temporal.steps);
        INFO(run.description);
        CHECK(run.wrong == "");
        counts.cut += run.is_cut ? 1 : 0;
        counts.direct += run.scheme == rt::ExchangeScheme::direct ? 1 : 0;
        counts.asynchronous += run.scheme == rt::ExchangeScheme::asynchronous ? 1 : 0;
        counts.of_several_blocks +=
            run.scheme == rt::ExchangeScheme::asynchronous && run.interval > loop.temporal.steps ? 1 : 0;
    }
    return counts;
}

}  // namespace

TEST_CASE("random time loops in pieces on emulated CUDA, several steps at once") {
    const Seeds seeds = seeds_from_environment(14001, 200);
    const LoopsInPieces counts = check_loops_in_pieces(seeds, random_time_loop);
    CHECK(counts.cut * 8 >= seeds.count);
    CHECK(counts.direct * 60 >= seeds.count);
    CHECK(counts.asynchronous * 60 >= seeds.count);
    CHECK(counts.of_several_blocks * 60 >= seeds.count);
}

TEST_CASE("random time loops of single bytes in pieces on emulated CUDA, several steps at once") {
    const Seeds seeds = seeds_from_environment(17001, 120);
    const LoopsInPieces counts = check_loops_in_pieces(seeds, [](std::uint64_t seed) {
        std::optional<RandomTimeLoop> loop = random_byte_loop(seed);
        try {
            load_program(loop->text);
        } catch (const std::runtime_error&) {
            loop.reset();  // what has no value anywhere, and numbers that no byte can be
        }
        return loop;
    });
    CHECK(counts.cut * 12 >= seeds.count);
}
