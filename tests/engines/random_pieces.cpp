#include "random_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/driver/pieces_plan.h"
#include "compiler/driver/spec.h"
#include "random_program.h"
#include "runtime/core/error.h"
#include "runtime/pieces/messages.h"
#include "thread_ranks.h"

namespace halo::test {

namespace {

// Drawn until one fits; none where the grid is too small for all that were drawn.
std::optional<rt::Decomposition> random_cut(const ir::Program& program, const driver::CutRules& rules,
                                            Random& random, int steps_at_once, std::int64_t& interval) {
    for (int attempt = 0; attempt < 30; ++attempt) {
        std::array<int, rt::kMaxRank> counts{1, 1, 1};
        for (std::size_t axis = 0; axis < counts.size(); ++axis)
            if (rules.may[axis]) counts[axis] = random.between(1, 3);
        interval = random.between(0, 2) > 0 ? steps_at_once : random.between(1, 4);
        if (steps_at_once > 1 && attempt % 8 < 7)  // along the last axis alone
            std::fill(counts.begin(), counts.begin() + program.rank() - 1, 1);
        if (counts[0] * counts[1] * counts[2] == 1) continue;
        try {
            return rt::decompose(rules.grid, counts, rules.ghosts(interval), driver::axis_names(program));
        } catch (const rt::Error&) {
            // too thin
        }
    }
    return std::nullopt;
}

}  // namespace

CutRun run_in_pieces(const ir::Program& program, const Reference& reference, std::uint64_t seed,
                     const std::vector<rt::Device*>& devices, const LowerPiece& lower, const Load& load,
                     int steps_at_once) {
    Random random(seed * 77 + 5);
    const driver::CutRules rules = driver::cut_rules(program, reference.extent);
    rt::PiecesOptions options;
    const std::optional<rt::Decomposition> cut =
        random_cut(program, rules, random, steps_at_once, options.interval);
    CutRun result;
    if (!cut) return result;
    result.is_cut = true;
    result.description = fmt::format("{} x {} x {} pieces, exchanged every {} steps", cut->counts[0],
                                     cut->counts[1], cut->counts[2], options.interval);
    options.carried = rules.carried_names();
    options.scheme =
        random.pick<rt::ExchangeScheme>({rt::ExchangeScheme::synchronous, rt::ExchangeScheme::asynchronous,
                                         rt::ExchangeScheme::direct, rt::ExchangeScheme::direct});
    std::vector<rt::Session> sessions;
    sessions.reserve(cut->pieces.size());
    for (std::size_t i = 0; i < cut->pieces.size(); ++i) {
        const lower::Lowered lowered = lower(driver::program_of_piece(program, *cut, i));
        rt::Device& device = *devices[i % devices.size()];
        rt::SessionOptions of_session;
        of_session.poison = true;
        sessions.emplace_back(lowered.plan, cut->pieces[i].extent(), device, load(lowered, device),
                              of_session);
    }
    const int first = random.between(0, reference.steps);
    const auto compare = [&](rt::Pieces& pieces) {
        return difference(
            reference, pieces,
            [&] {
                pieces.step(first);
                pieces.step(reference.steps - first);
            },
            0);
    };
    const auto describe = [&](const rt::Pieces& pieces) {
        result.scheme = pieces.scheme();
        result.description += ", " + driver::scheme_word(result.scheme);
    };
    if (random.between(0, 2) == 0) {
        result.description += ", in ranks";
        ThreadRanks(cut->count()).run([&](rt::Ranks& ranks) {
            rt::Session& own = sessions[static_cast<std::size_t>(ranks.rank())];
            rt::Pieces pieces(*cut, own, options, ranks, rt::make_host_messages(ranks));
            if (ranks.is_first()) describe(pieces);
            const std::string wrong = compare(pieces);
            if (ranks.is_first()) result.wrong = wrong;
        });
        return result;
    }
    std::vector<rt::Session*> pointers;
    for (rt::Session& session : sessions)
        pointers.push_back(&session);
    rt::Pieces pieces(*cut, std::move(pointers), std::move(options));
    describe(pieces);
    result.wrong = compare(pieces);
    return result;
}

}  // namespace halo::test
