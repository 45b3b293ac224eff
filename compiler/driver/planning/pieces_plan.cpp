#include "compiler/driver/planning/pieces_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/console/progress.h"
#include "compiler/ir/grids.h"
#include "compiler/ir/repeats.h"
#include "compiler/lower/shared/storage.h"
#include "compiler/passes/part.h"
#include "compiler/support/error.h"
#include "runtime/core/error.h"

namespace halo::driver {

namespace {

constexpr std::int64_t kMostInterval = 32;
constexpr double kCpuSecondsPerCell = 1e-9;  // of a step, for want of a model
constexpr std::array<const char*, 3> kSchemes{"synchronous", "asynchronous", "direct"};

// Reductions of pieces are added up plane by plane, in single steps: kernels for several steps would count
// ghosts, too.
CodeOptions adding_by_plane(CodeOptions options, int pieces) {
    options.reductions_by_plane = pieces > 1;
    options.watched.clear();
    return options;
}

std::vector<CutRules::Carried> carried_fields(const ir::Program& program) {
    const std::vector<bool> carried = ir::fields_carried(program);
    std::vector<CutRules::Carried> result;
    for (std::size_t i = 0; i < carried.size(); ++i) {
        const ir::Field& field = program.fields[i];
        if (carried[i])
            result.push_back({field.name, rt::size_of(lower::element_type(field.storage)), field.history + 1,
                              field.grid.factor});
    }
    return result;
}

std::vector<CutRules::Iterated> iterated_levels(const ir::Program& program) {
    std::vector<CutRules::Iterated> result;
    for (const ir::GhostsDue& due : program.ghosts_due) {
        const std::size_t first = result.size();
        const std::int64_t times = ir::iterations_in_step(program, due.repeat);
        for (const ir::Level& level : due.levels) {
            const ir::Field& field = program[level.field];
            auto own = std::find_if(
                result.begin() + static_cast<std::ptrdiff_t>(first), result.end(),
                [&](const CutRules::Iterated& each) { return each.factor == field.grid.factor; });
            if (own == result.end()) own = result.insert(own, {times, field.grid.factor, 0, 0});
            own->bytes += rt::size_of(lower::element_type(field.storage));
            ++own->levels;
        }
    }
    return result;
}

// A piece with a kernel for several steps does single steps where the interval is no multiple of them.
struct StepTimes {
    StepTime single, several;
    bool has_block = false;  // there is a kernel for several steps, or for one step of the same form
    const StepTime& of(std::int64_t interval) const {
        return interval % several.steps_at_once == 0 ? several : single;
    }
};

StepTimes times_of(const ir::Program& program, const Extent& extent, const PiecesRequest& request,
                   const CodeOptions& options) {
    const auto cells = static_cast<double>(cell_count(extent));
    StepTimes times;
    times.single.seconds_per_cell =
        request.measured.empty() ? kCpuSecondsPerCell : seconds_per_cell(request.measured, cells);
    times.several = times.single;
    if (!request.on_gpu) return times;
    CodeOptions of_piece = adding_by_plane(options, request.count);
    // Pieces exchange after each iteration of a repeat.
    const bool exchanges_in_step = request.count > 1 && ir::has_repeats(program);
    if (exchanges_in_step) of_piece.single_steps = true;
    of_piece.extent = extent;
    const ir::Program optimized = optimize(program, of_piece);
    const PlanChoice choice = choose_plan(optimized, of_piece);
    const schedule::Plan plan = choice.plan();
    const int steps_at_once = schedule::steps_at_once(plan.grouping);
    const schedule::GroupingKind* const kind = schedule::kind_of(plan.grouping);
    times.has_block = kind != nullptr && !kind->needs_whole_grid && !exchanges_in_step;
    if (times.has_block) times.several.steps_at_once = steps_at_once;
    if (!request.measured.empty()) return times;
    times.single = {1, choice.single.cells / cells, choice.single.launches};
    if (kind != nullptr && kind->needs_whole_grid) times.single = {1, choice.seconds_per_step() / cells, 0};
    times.several = times.single;
    if (times.has_block) {
        const double launch = options.target.graph_launch_seconds / steps_at_once;
        times.several = {steps_at_once, (choice.seconds_per_step() - launch) / cells, launch};
    }
    return times;
}

void predict_plan(PiecesPlan& plan, const CutRules& rules, const StepTimes& times, const Network& network,
                  bool is_one_process) {
    const ExchangePlan none{plan.interval, 0, 0, plan.scheme, is_one_process ? plan.cut.count() : 1};
    std::map<int, ExchangePlan> exchanges{{1, none}};  // by the grid's factor
    for (const CutRules::Carried& carried : rules.carried) {
        const std::int64_t levels = std::min(plan.interval, carried.levels);  // older ones came before
        ExchangePlan& own = exchanges.try_emplace(carried.factor, none).first->second;
        own.bytes_of_cell += carried.element * levels;
        own.copies += static_cast<int>(levels);
    }
    for (const auto& [factor, exchange] : exchanges) {
        const Prediction of_grid =
            predict(plan.cut.of_grid(factor), times.of(plan.interval), exchange, network);
        plan.exchange_bytes += of_grid.exchange_bytes;
        plan.exchange_seconds += of_grid.exchange;
        if (factor > 1) continue;
        plan.step_seconds = of_grid.own;
        plan.ghost_seconds = of_grid.ghosts;
    }
    for (const CutRules::Iterated& iterated : rules.iterated) {
        const ExchangePlan within{1, iterated.bytes, iterated.levels, rt::ExchangeScheme::synchronous,
                                  none.pieces_of_host};
        const Prediction once = predict(plan.cut.of_grid(iterated.factor), times.single, within, network);
        plan.step_bytes += iterated.times * once.exchange_bytes;
        plan.exchange_seconds += static_cast<double>(iterated.times) * once.exchange;
    }
}

// The schemes to choose from. All but the first need a kernel for several steps, and a cut along the last
// axis.
std::vector<rt::ExchangeScheme> schemes_for(const PiecesRequest& request, bool has_block) {
    if (request.scheme && has_block) return {*request.scheme};
    std::vector<rt::ExchangeScheme> schemes{rt::ExchangeScheme::synchronous};
    if (!has_block) return schemes;
    schemes.push_back(rt::ExchangeScheme::asynchronous);
    if (request.is_one_process) schemes.push_back(rt::ExchangeScheme::direct);
    return schemes;
}

// Throws Error (bad_argument) where the grid cannot be cut into so many pieces, or not for so long an
// interval.
rt::Decomposition cut_at_all(const CutRules& rules, int count, std::int64_t interval,
                             const std::vector<std::string>& names) {
    std::string why;
    const auto cut_for = [&](std::int64_t steps) {
        return rt::find_decomposition(rules.grid, count, rules.ghosts(steps), rules.may, names, &why);
    };
    if (std::optional<rt::Decomposition> cut = cut_for(interval)) return std::move(*cut);
    if (interval == 1 || !cut_for(1))
        return rt::choose_decomposition(rules.grid, count, rules.ghosts(1), rules.may, names);
    std::int64_t longest = 1;
    for (std::int64_t too_long = interval; too_long - longest > 1;) {
        const std::int64_t middle = longest + (too_long - longest) / 2;
        (cut_for(middle) ? longest : too_long) = middle;
    }
    cut_for(interval);
    throw rt::Error(
        rt::ErrorCode::bad_argument,
        fmt::format("{} pieces of this grid cannot exchange every {} steps: {}; exchange every {}", count,
                    interval, why, longest == 1 ? "step" : fmt::format("{} steps, or more often", longest)));
}

std::array<bool, rt::kMaxRank> last_alone(const CutRules& rules) {
    std::array<bool, rt::kMaxRank> may{};
    const auto last = static_cast<std::size_t>(rules.grid.rank - 1);
    may[last] = rules.may[last];
    return may;
}

// Why only synchronous exchange is possible, where there is no plan with another scheme.
std::string why_only_synchronous(const CutRules& rules, const PiecesRequest& request, const StepTimes& times,
                                 const std::vector<std::string>& names) {
    const auto last = static_cast<std::size_t>(rules.grid.rank - 1);
    if (!request.on_gpu) return "CPUs have no kernels that do several steps at once";
    if (!times.has_block) return "no kernel does several steps at once";
    if (request.interval) {
        const auto scheme = request.scheme.value_or(rt::ExchangeScheme::asynchronous);
        std::string why = rt::why_not_each(*request.interval, scheme, times.several.steps_at_once);
        if (!why.empty()) return why;
    }
    if (!rules.may[last]) return "the grid cannot be cut along " + names[last];
    return fmt::format("pieces of a grid that is cut along {} alone are thinner than their ghosts",
                       names[last]);
}

void add_rules(PiecesPlan& plan, const CutRules& rules) {
    const auto last = static_cast<std::size_t>(rules.grid.rank - 1);
    plan.carried = rules.carried_names();
    plan.reach = {rules.reach.states[last][0], rules.reach.states[last][1]};
    plan.uncut = rules.why_not;
}

std::string scheme_words(rt::ExchangeScheme scheme) {
    switch (scheme) {
        case rt::ExchangeScheme::synchronous:
            return "synchronous: copies, between steps";
        case rt::ExchangeScheme::asynchronous:
            return "asynchronous: ghosts are copied while the interior is computed";
        case rt::ExchangeScheme::direct:
            break;
    }
    return "direct: kernels store ghosts at the neighbour, too";
}

}  // namespace

// Ghosts are as deep as both need it: the last step's results may read further than its states. On several
// grids each step takes whole cells of all of them.
rt::Depths CutRules::ghosts(std::int64_t interval) const {
    rt::Depths depths{};
    const auto whole = [&](std::int64_t cells) { return (cells + grid.unit - 1) / grid.unit * grid.unit; };
    for (std::size_t axis = 0; axis < depths.size(); ++axis)
        for (std::size_t side = 0; side < 2; ++side) {
            const std::int64_t of_states = whole(reach.states[axis][side]);
            depths[axis][side] =
                (interval - 1) * of_states + std::max(of_states, whole(reach.results[axis][side]));
        }
    return depths;
}

std::vector<std::string> CutRules::carried_names() const {
    std::vector<std::string> names;
    for (const Carried& field : carried)
        names.push_back(field.name);
    return names;
}

CutRules cut_rules(const ir::Program& program, const Extent& extent) {
    CutRules rules;
    rules.grid.rank = program.rank();
    rules.grid.extent = extent;
    rules.grid.unit = ir::common_cells(program);
    const ir::Program in_pieces = ir::with_exchanges(program);
    rules.reach = ir::step_reach(in_pieces);
    rules.carried = carried_fields(program);
    rules.iterated = iterated_levels(in_pieces);
    const int last = program.rank() - 1;
    for (int axis = 0; axis <= last; ++axis) {
        const auto along = static_cast<std::size_t>(axis);
        rules.grid.wraps[along] = passes::is_periodic(program, axis);
        std::string why = passes::why_uncut(program, axis);
        if (why.empty() && ir::reduces(program) && axis != last)
            why = "reductions are added up plane by plane along " +
                  program.axes[static_cast<std::size_t>(last)].name;
        if (why.empty() && ir::reduces(program) && last == 0)
            why = "reductions are added up plane by plane, and a grid of one axis has none";
        if (why.empty() && rules.grid.wraps[along] && extent[along] % rules.grid.unit != 0)
            why = fmt::format(
                "it is periodic, and its {} cells are no multiple of {}, as cells of all grids are",
                extent[along], rules.grid.unit);
        rules.may[along] = why.empty();
        if (!why.empty()) rules.why_not.push_back(program.axes[along].name + ": " + why);
    }
    return rules;
}

CutRules cut_rules(const ir::Program& program, const std::vector<const ir::Program*>& cut_with,
                   const Extent& extent) {
    CutRules all = cut_rules(program, extent);
    for (const ir::Program* other : cut_with) {
        const CutRules rules = cut_rules(*other, extent);
        ir::widen(all.reach.states, rules.reach.states);
        ir::widen(all.reach.results, rules.reach.results);
        all.grid.unit = std::lcm(all.grid.unit, rules.grid.unit);
        for (std::size_t axis = 0; axis < all.may.size(); ++axis) {
            if (all.may[axis] && rules.may[axis] && all.grid.wraps[axis] != rules.grid.wraps[axis])
                all.why_not.push_back(fmt::format("{}: `{}` is periodic along it, and `{}` is not",
                                                  program.axes[axis].name,
                                                  (all.grid.wraps[axis] ? program : *other).name,
                                                  (all.grid.wraps[axis] ? *other : program).name));
            all.may[axis] =
                all.may[axis] && rules.may[axis] && all.grid.wraps[axis] == rules.grid.wraps[axis];
        }
        for (const std::string& why : rules.why_not)
            if (std::ranges::count(all.why_not, why) == 0) all.why_not.push_back(why);
    }
    return all;
}

double PiecesPlan::efficiency() const {
    double largest = 0, all = 0;
    for (const rt::Piece& piece : cut.pieces) {
        const auto own = static_cast<double>(piece.own_cells());
        largest = std::max(largest, own);
        all += own;
    }
    const double even = all / static_cast<double>(cut.count()) / largest;
    return even * step_seconds / seconds();
}

rt::PiecesOptions pieces_options(const PiecesPlan& plan) {
    return {plan.interval, plan.carried, plan.scheme, plan.reach};
}

std::optional<rt::ExchangeScheme> parse_scheme(const std::string& word) {
    const auto found = std::ranges::find(kSchemes, word);
    if (found == kSchemes.end()) return std::nullopt;
    return static_cast<rt::ExchangeScheme>(found - kSchemes.begin());
}

std::string scheme_word(rt::ExchangeScheme scheme) {
    return kSchemes[static_cast<std::size_t>(scheme)];
}

PiecesPlan plan_pieces(const ir::Program& program, const Extent& extent, const PiecesRequest& asked,
                       const CodeOptions& options) {
    PiecesRequest request = asked;
    if (!request.cut_with.empty()) {  // the same for all of them
        request.interval = 1;
        request.scheme = rt::ExchangeScheme::synchronous;
    }
    const Network network = request.network.value_or(built_in_link(request.on_gpu));
    const CutRules rules = cut_rules(program, request.cut_with, extent);
    const std::vector<std::string> names = ir::axis_names(program);
    const auto cut_for = [&](std::int64_t interval, const std::array<bool, rt::kMaxRank>& may) {
        return rt::find_decomposition(rules.grid, request.count, rules.ghosts(interval), may, names);
    };
    if (request.count > 1 && std::ranges::none_of(rules.may, [](bool may) { return may; }))
        throw UnsupportedError(fmt::format("`{}` runs on one device alone, as its grid cannot be cut: {}",
                                           program.name, join(rules.why_not, "; ")));
    PiecesPlan best;
    best.scheme = rt::ExchangeScheme::synchronous;
    best.interval = request.interval.value_or(1);
    best.cut = cut_at_all(rules, request.count, best.interval, names);
    const StepTimes times = times_of(program, best.cut.pieces.front().extent(), request, options);
    const auto predict_here = [&](PiecesPlan& plan) {
        predict_plan(plan, rules, times, network, request.is_one_process);
    };
    std::optional<double> least;
    bool has_others = false;
    for (const rt::ExchangeScheme scheme : schemes_for(request, times.has_block)) {
        const bool is_synchronous = scheme == rt::ExchangeScheme::synchronous;
        const std::int64_t unit = times.several.steps_at_once;
        const std::int64_t first = request.interval.value_or(unit);
        // Ghosts of several steps are computed in each iteration, which exchanges in any case.
        const std::int64_t most = rules.iterated.empty() ? std::max(unit, kMostInterval) : unit;
        const std::int64_t last = request.interval.value_or(most);
        for (std::int64_t interval = first; interval <= last; interval += unit) {
            if (!is_synchronous && !rt::why_not_each(interval, scheme, times.several.steps_at_once).empty())
                break;
            std::optional<rt::Decomposition> cut =
                cut_for(interval, is_synchronous ? rules.may : last_alone(rules));
            if (!cut) break;  // pieces are too thin for such deep ghosts
            PiecesPlan plan;
            plan.cut = std::move(*cut);
            plan.scheme = scheme;
            plan.interval = interval;
            plan.steps_at_once = times.of(interval).steps_at_once;
            predict_here(plan);
            has_others = has_others || !is_synchronous;
            if (least && *least <= plan.seconds()) continue;
            least = plan.seconds();
            best = std::move(plan);
        }
    }
    if (!least) predict_here(best);  // too thin for several steps at once
    if (!has_others && request.scheme != rt::ExchangeScheme::synchronous)
        best.why_synchronous = why_only_synchronous(rules, request, times, names);
    add_rules(best, rules);
    return best;
}

void refuse_scheme(rt::ExchangeScheme wanted, const std::string& why) {
    refuse_usage(fmt::format("--exchange-scheme {} cannot be: {}", scheme_word(wanted), why),
                 "leave it out, and one that can be is chosen");
}

void check_scheme(const PiecesRequest& request, const PiecesPlan& plan) {
    if (!request.scheme || !plan.is_exchanged() || plan.scheme == *request.scheme) return;
    refuse_scheme(*request.scheme, plan.why_synchronous);
}

PiecesPlan rebuild_plan(const ir::Program& program, const Extent& extent, const rt::Lengths& counts,
                        std::int64_t interval, int steps_at_once) {
    const CutRules rules = cut_rules(program, extent);
    PiecesPlan plan;
    plan.cut = rt::decompose(rules.grid, counts, rules.ghosts(interval), ir::axis_names(program));
    plan.interval = interval;
    plan.steps_at_once = steps_at_once;
    add_rules(plan, rules);
    return plan;
}

ir::Program program_of_piece(const ir::Program& program, const rt::Decomposition& cut, std::size_t number) {
    const rt::Piece& piece = cut.pieces[number];
    passes::Part part;
    part.whole = cut.grid.extent;
    part.extent = piece.extent();
    for (int axis = 0; axis < cut.grid.rank; ++axis) {
        part.first[static_cast<std::size_t>(axis)] = piece.first(axis);
        part.cut[static_cast<std::size_t>(axis)] = cut.is_cut(axis);
    }
    return passes::program_of_part(program, part);
}

CodeOptions options_of_pieces(CodeOptions options, const PiecesPlan& plan) {
    options = adding_by_plane(std::move(options), plan.cut.count());
    options.wait_for_time_block = true;  // pieces must not go on in different ways
    if (!options.cut_with.empty() || plan.step_bytes > 0) options.single_steps = true;
    options.blocks_of_pieces = plan.cut.count() > 1 && plan.scheme != rt::ExchangeScheme::synchronous &&
                               rt::why_not_each(plan.interval, plan.scheme, plan.steps_at_once).empty() &&
                               !plan.cut.axis_cut_besides_last();
    options.blocks_store_ghosts = options.blocks_of_pieces && plan.scheme == rt::ExchangeScheme::direct;
    if (plan.steps_at_once > 1 && !pins_grouping(options))
        options.schedules.push_back(fmt::format("temporal steps={}", plan.steps_at_once));
    return options;
}

std::string describe_pieces(const PiecesPlan& plan, const std::vector<std::string>& axes) {
    if (plan.cut.count() == 1) return "1 piece: the whole grid";
    std::vector<std::string> along, lengths, ghosts;
    for (int axis = 0; axis < plan.cut.grid.rank; ++axis) {
        if (!plan.cut.is_cut(axis)) continue;
        const auto a = static_cast<std::size_t>(axis);
        std::int64_t least = plan.cut.pieces.front().own(axis), most = least, deep = 0;
        for (const rt::Piece& piece : plan.cut.pieces) {
            least = std::min(least, piece.own(axis));
            most = std::max(most, piece.own(axis));
            deep = std::max({deep, piece.ghosts[a][0], piece.ghosts[a][1]});
        }
        along.push_back(fmt::format("{} along {}", plan.cut.counts[a], axes[a]));
        lengths.push_back(least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most));
        ghosts.push_back(fmt::format("{}", deep));
    }
    const std::string cells = fmt::format("{} pieces, {}, of {} cells", plan.cut.count(),
                                          join(along, " and "), join(lengths, " and "));
    if (!plan.is_exchanged()) return cells + " that need nothing of each other";
    const std::string every = plan.interval == 1 ? "step" : fmt::format("{} steps", plan.interval);
    const auto bytes = [](std::int64_t count) { return format_bytes(static_cast<double>(count)); };
    std::vector<std::string> exchanged;
    if (plan.exchange_bytes > 0)
        exchanged.push_back(bytes(plan.exchange_bytes) + " exchanged every " + every);
    if (plan.step_bytes > 0)
        exchanged.push_back(fmt::format("{} at most exchanged within a step", bytes(plan.step_bytes)));
    return fmt::format("{} and {} ghosts a side; {}", cells, join(ghosts, " and "), join(exchanged, ", "));
}

std::string explain_pieces(const PiecesPlan& plan, const std::vector<std::string>& axes) {
    std::string text = fmt::format("  {:<12}{}\n", "pieces", describe_pieces(plan, axes));
    for (const std::string& why : plan.uncut)
        text += fmt::format("  {:<12}{}\n", "not cut", why);
    if (plan.cut.count() == 1) return text;
    if (plan.is_exchanged()) text += fmt::format("  {:<12}{}\n", "exchange", scheme_words(plan.scheme));
    return text + fmt::format(
                      "  {:<12}{:.1f} times as fast as one device, {:.1f} % of {}: a step takes {} for a "
                      "piece's own cells, {} for its ghosts and {} for the exchange\n",
                      "predicted", plan.efficiency() * plan.cut.count(), 100 * plan.efficiency(),
                      plan.cut.count(), format_step_time(plan.step_seconds),
                      format_step_time(plan.ghost_seconds), format_step_time(plan.exchange_seconds));
}

nlohmann::ordered_json pieces_json(const PiecesPlan& plan) {
    nlohmann::ordered_json json;
    json["counts"] = std::vector<int>(plan.cut.counts.begin(), plan.cut.counts.begin() + plan.cut.grid.rank);
    json["steps_between_exchanges"] = plan.interval;
    json["exchange_bytes"] = plan.exchange_bytes;
    if (plan.step_bytes > 0) json["exchange_bytes_within_step"] = plan.step_bytes;
    json["exchange_scheme"] = scheme_word(plan.scheme);
    json["predicted_efficiency"] = plan.efficiency();
    json["predicted_seconds"] = {{"own_cells", plan.step_seconds},
                                 {"ghosts", plan.ghost_seconds},
                                 {"exchange", plan.exchange_seconds}};
    json["not_cut"] = plan.uncut;
    return json;
}

}  // namespace halo::driver
