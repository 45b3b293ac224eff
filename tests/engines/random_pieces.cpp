#include "random_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "compiler/driver/planning/pieces_plan.h"
#include "compiler/driver/spec/spec.h"
#include "random_program.h"
#include "runtime/core/error.h"
#include "runtime/pieces/messages.h"
#include "thread_ranks.h"

namespace halo::test {

namespace {

// Drawn until one fits; none where the grid is too small for all that were drawn. Sets options.interval.
std::optional<rt::Decomposition> random_cut(const ir::Program& program, const driver::CutRules& rules,
                                            Random& random, int steps_at_once, rt::PiecesOptions& options) {
    // Where kernels cannot store at neighbours, direct exchange is asynchronous, block by block.
    const bool is_asynchronous = options.scheme == rt::ExchangeScheme::asynchronous;
    for (int attempt = 0; attempt < 30; ++attempt) {
        rt::Lengths counts{};
        for (std::size_t axis = 0; axis < counts.size(); ++axis)
            if (rules.may[axis]) counts[axis] = random.between(1, 3);
        const bool is_any = random.between(0, 2) == 0;
        const int blocks = is_asynchronous ? random.between(2, 3) : 1;
        options.interval = is_any ? random.between(1, 4) : blocks * steps_at_once;
        if (steps_at_once > 1 && attempt % 8 < 7)  // along the last axis alone
            std::fill(counts.begin(), counts.begin() + program.rank() - 1, 1);
        if (std::ranges::count(counts, 1) == rt::kMaxRank) continue;
        try {
            return rt::decompose(rules.grid, counts, rules.ghosts(options.interval), ir::axis_names(program));
        } catch (const rt::Error&) {
            // too thin
        }
    }
    return std::nullopt;
}

// Sessions of pieces, which are driven by one Pieces or by one of each rank.
struct CutGrid {
    rt::Decomposition cut;
    rt::PiecesOptions options;
    std::vector<rt::Session> sessions;
    std::optional<rt::Pieces> pieces;
    std::string description;

    rt::Pieces& join() {
        std::vector<rt::Session*> pointers;
        for (rt::Session& session : sessions)
            pointers.push_back(&session);
        return pieces.emplace(cut, std::move(pointers), options);
    }
};

struct Makers {
    const std::vector<rt::Device*>& devices;
    const LowerPiece& lower;
    const Load& load;
    int steps_at_once = 1;
};

// None where the grid is too small for all cuts that were drawn.
std::unique_ptr<CutGrid> cut_at_random(const ir::Program& program, const Extent& extent, Random& random,
                                       const Makers& makers) {
    const driver::CutRules rules = driver::cut_rules(program, extent);
    rt::PiecesOptions options;
    using enum rt::ExchangeScheme;
    options.scheme = random.pick<rt::ExchangeScheme>(
        {synchronous, asynchronous, asynchronous, asynchronous, direct, direct, direct, direct, direct});
    const std::optional<rt::Decomposition> cut =
        random_cut(program, rules, random, makers.steps_at_once, options);
    if (!cut) return nullptr;
    auto grid = std::make_unique<CutGrid>();
    grid->description =
        fmt::format("{} pieces, exchanged every {} steps", fmt::join(cut->counts, " x "), options.interval);
    options.carried = rules.carried_names();
    const auto& of_states = rules.reach.states[static_cast<std::size_t>(program.rank() - 1)];
    if (random.chance(80)) options.reach = {of_states[0], of_states[1]};  // else all ghosts are computed
    grid->sessions.reserve(cut->pieces.size());
    try {
        for (std::size_t i = 0; i < cut->pieces.size(); ++i) {
            const lower::Lowered lowered = makers.lower(driver::program_of_piece(program, *cut, i));
            rt::Device& device = *makers.devices[i % makers.devices.size()];
            rt::SessionOptions of_session;
            of_session.poison = true;
            grid->sessions.emplace_back(lowered.plan, cut->pieces[i].extent(), device,
                                        makers.load(lowered, device), of_session);
        }
    } catch (const rt::Error& error) {
        if (error.code() != rt::ErrorCode::bad_argument) throw;
        return nullptr;  // thinner than what a boundary is computed from that no step reads
    }
    grid->cut = *cut;
    grid->options = std::move(options);
    return grid;
}

bool is_written(const ir::Program& program, const std::string& name) {
    return std::ranges::any_of(program.fields, [&](const ir::Field& field) {
        return field.name == name && (field.role == ir::Role::state || field.role == ir::Role::output);
    });
}

// What a checkpoint holds, from pieces that have done `steps` to others that have done none: by boxes that
// are those of neither.
void hand_over(const Reference& reference, rt::Pieces& from, rt::Pieces& to, int steps, Random& random) {
    rt::StepsBefore before;
    before.steps = steps;
    for (const rt::ReductionPlan& reduction : to.plan().reductions)
        if (reduction.ahead_of < 0) before.reductions[reduction.name] = from.reduction(reduction.name);
    for (const Reference::PointSet& set : reference.points())
        for (const auto& [name, rows] : set.sampled)
            before.traces.push_back({set.name, name, from.trace(set.name, name)});
    to.continue_from(before);
    for (const Reference::Level& level : reference.levels()) {
        if (!is_written(reference.program, level.field)) continue;
        const rt::Box whole = rt::whole_box(reference.extent);
        for (const rt::Box& box : rt::slabs(whole, random.between(1, static_cast<int>(whole.cells())))) {
            std::vector<double> cells(static_cast<std::size_t>(box.cells()));  // no element has more bytes
            from.download_box(level.field, level.time, box, cells.data());
            to.upload_box(level.field, level.time, box, cells.data());
        }
    }
}

// What the first rank that finds something wrong has found.
std::string run_as_ranks(CutGrid& grid, const std::function<void(const rt::Pieces& pieces)>& describe,
                         const std::function<std::string(rt::Pieces& pieces)>& compare) {
    struct Wrong {
        std::string text;
    };
    try {
        ThreadRanks(grid.cut.count()).run([&](rt::Ranks& ranks) {
            rt::Session& own = grid.sessions[static_cast<std::size_t>(ranks.rank())];
            rt::Pieces pieces(grid.cut, own, grid.options, ranks, rt::make_host_messages(ranks));
            if (ranks.is_first()) describe(pieces);
            const std::string wrong = compare(pieces);
            if (!wrong.empty()) throw Wrong{wrong};  // the others do not wait any more
        });
    } catch (const Wrong& found) {
        return found.text;
    }
    return "";
}

}  // namespace

CutRun run_in_pieces(const ir::Program& program, const Reference& reference, std::uint64_t seed,
                     const std::vector<rt::Device*>& devices, const LowerPiece& lower, const Load& load,
                     int steps_at_once) {
    Random random(seed * 77 + 5);
    const Makers makers{devices, lower, load, steps_at_once};
    const std::unique_ptr<CutGrid> grid = cut_at_random(program, reference.extent, random, makers);
    CutRun result;
    if (!grid) return result;
    result.is_cut = true;
    result.description = grid->description;
    result.interval = grid->options.interval;
    const int first = random.between(0, reference.steps);
    const int rest = reference.steps - first;
    const std::unique_ptr<CutGrid> others =
        first > 0 && random.chance(50) ? cut_at_random(program, reference.extent, random, makers) : nullptr;
    const bool in_ranks = !others && random.between(0, 2) == 0;
    const auto compare = [&](rt::Pieces& pieces) {
        return difference(
            reference, pieces,
            [&] {
                pieces.step(first);
                pieces.step(rest);
            },
            0);
    };
    const auto describe = [&](const rt::Pieces& pieces) {
        result.scheme = pieces.scheme();
        result.description += ", " + driver::scheme_word(result.scheme);
    };
    if (in_ranks) {
        result.description += ", in ranks";
        result.wrong = run_as_ranks(*grid, describe, compare);
        return result;
    }
    describe(grid->join());
    if (!others) {
        result.wrong = compare(*grid->pieces);
        return result;
    }
    result.description += fmt::format(", and after {} steps {}", first, others->description);
    difference(reference, *grid->pieces, [&] { grid->pieces->step(first); }, 0);  // gives it its data
    result.wrong = difference(
        reference, others->join(),
        [&] {
            hand_over(reference, *grid->pieces, *others->pieces, first, random);
            others->pieces->step(rest);
        },
        0);
    return result;
}

}  // namespace halo::test
