// How steps are grouped: what is pinned, else what was measured to be the fastest, else what the model says.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/driver/console/progress.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/planning/pins.h"
#include "compiler/ir/repeats.h"
#include "compiler/ir/unread_steps.h"
#include "compiler/lower/shared/host_scalar.h"
#include "compiler/schedule/cost.h"
#include "compiler/schedule/fuse.h"

namespace halo::driver {

namespace {

// About what it takes to load a kernel that is compiled already.
constexpr double kLoadSeconds = 0.003;

class GroupingChooser {
public:
    GroupingChooser(const ir::Program& program, const CodeOptions& options, const schedule::Extent& extent,
                    PlanChoice& plan)
        : program_(program), options_(options), extent_(extent), plan_(plan) {
        for (const schedule::GroupingKind& kind : schedule::grouping_kinds())
            plan_.groupings.push_back({&kind, std::nullopt, "", 0});
    }

    void run() {
        const Pinned pinned = pinned_for_grouping(options_);
        if (!pinned.text.empty())
            take_pinned(pinned);
        else if (has_pinned_stages())
            reject_all("the stages are pinned");
        else if (options_.single_steps)
            reject_all("it is not asked for");
        else if (!take_tuned(""))
            take_fastest();
        if (!note_.empty()) (noted_ ? verdict_of(*noted_) : plan_.groupings.front()).reason += note_;
    }

private:
    bool has_pinned_stages() const { return std::ranges::any_of(plan_.stages, &StageChoice::pinned); }

    schedule::GroupingRequest request(std::optional<std::string> pinned) const {
        return {program_, options_.target, extent_, std::move(pinned), options_.watched, steps_alike_};
    }
    schedule::GroupingChoice choose(const schedule::GroupingKind& kind,
                                    std::optional<std::string> pinned) const {
        schedule::GroupingChoice choice = kind.choose(request(std::move(pinned)));
        if (choice.grouping && choice.iterations) choice.seconds_per_step = seconds_with_iterations(choice);
        return choice;
    }
    // Of a step, some of whose iterations share launches.
    double seconds_with_iterations(const schedule::GroupingChoice& choice) const {
        const schedule::Iterations& iterations = *choice.iterations;
        const std::int64_t at_once = schedule::steps_at_once(*choice.grouping);
        std::vector<StageChoice> stages;
        std::int64_t in_step = iterations.count;  // more where the repeat is within another
        for (const StageChoice& stage : plan_.stages) {
            const auto first = static_cast<std::size_t>(stage.stage.statements.front());
            const ir::Statement& statement = program_.statements[first];
            if (!ir::is_within(statement, iterations.repeat)) continue;
            stages.push_back(stage);
            in_step = ir::times_in_step(statement);
        }
        const double singly = single_step_cost(program_, stages, options_, extent_).total();
        const auto count = static_cast<double>(iterations.count), all = static_cast<double>(in_step);
        const double together = static_cast<double>(iterations.count - iterations.singly(at_once)) / count;
        return plan_.single.total() - together * singly + together * all * choice.seconds_per_step;
    }
    GroupingVerdict& verdict_of(const schedule::GroupingKind& kind) {
        return *std::ranges::find(plan_.groupings, &kind, &GroupingVerdict::kind);
    }

    void reject_all(const std::string& why) {
        for (GroupingVerdict& each : plan_.groupings)
            each.reason = why;
    }
    void take(const schedule::GroupingKind& kind, schedule::GroupingChoice choice, std::string reason) {
        GroupingVerdict& verdict = verdict_of(kind);
        verdict.grouping = std::move(choice.grouping);
        verdict.reason = std::move(reason);
        verdict.seconds_per_step = choice.seconds_per_step;
    }

    void take_pinned(const Pinned& pinned) {
        const schedule::GroupingKind& kind = *schedule::find_grouping(pinned.text);
        refuse_mistakes(pinned, kind.mistakes(pinned.text, program_.rank()), program_.rank());
        reject_all(fmt::format("`{}` is pinned", kind.name));
        if (!has_pinned_stages() && take_tuned(pinned.text)) return;
        schedule::GroupingChoice choice = choose(kind, pinned.text);
        if (!choice.grouping)
            throw CommandError(pinned.code, fmt::format("{}: {}", pinned.origin, choice.reason),
                               "leave it out: single steps can do every program");
        std::string reason = choice.reason;
        take(kind, std::move(choice), std::move(reason));
    }

    // Takes the grouping that the store has for the program. Returns false where it has none that can be used
    // here. pinned: the text that the search was around.
    bool take_tuned(const std::string& pinned) {
        if (!options_.tuned || !options_.extent) return false;
        const std::optional<tune::StoredStage> known = options_.tuned->find_steps(program_, extent_, pinned);
        if (!known || known->schedule.empty()) return false;
        const schedule::GroupingKind* const kind = schedule::find_grouping(known->schedule);
        const std::string& compiler = options_.tuned->device().compiler;
        noted_ = kind;
        if (known->compiler != compiler) {
            note_ =
                fmt::format("; what was tuned with {} is not used, as this is {}: `haloc tune` measures anew",
                            known->compiler, compiler);
            return false;
        }
        const std::string among = fmt::format("of {} schedules that `haloc tune` measured with {}",
                                              known->trials.size(), known->compiler);
        if (known->schedule == schedule::kSingleSteps) {
            if (known->trials.size() < 2) return false;  // nothing else was tried yet
            reject_all(fmt::format("single steps, {} each, are the fastest {}",
                                   format_step_time(known->seconds), among));
            return true;
        }
        // A run that reads reductions after each step needs a grouping that computes them.
        if (kind != nullptr && !kind->why_not_watched(program_, options_.watched).empty()) return false;
        schedule::GroupingChoice choice = tuned_choice(kind, known->schedule);
        if (!choice.grouping) {
            note_ = fmt::format("; the tuned schedule `{}` is not used: {}", known->schedule, choice.reason);
            return false;
        }
        reject_all("`haloc tune` found another way to be faster");
        take(*kind, std::move(choice),
             fmt::format("tuned: {} a step, the fastest {}", format_step_time(known->seconds), among));
        return true;
    }
    schedule::GroupingChoice tuned_choice(const schedule::GroupingKind* kind, const std::string& text) const {
        if (kind == nullptr) return {std::nullopt, "there is no such schedule", 0};
        const std::vector<schedule::Mistake> mistakes = kind->mistakes(text, program_.rank());
        if (!mistakes.empty()) return {std::nullopt, mistakes.front().message, 0};
        return choose(*kind, text);
    }

    double seconds_of_singles() const {
        return static_cast<double>(options_.steps.value_or(0)) * plan_.single.total();
    }
    // Why the run is too short for the kernel: single steps are done until it is compiled, so it is of use
    // only where they would take longer than that. Empty where they do.
    std::string too_short(const schedule::GroupingKind& kind) const {
        const double seconds = seconds_of_singles();
        if (!options_.steps || seconds >= kind.compile_seconds) return "";
        return fmt::format(
            "the run is too short: single steps take about {}, and such a kernel {} to compile",
            format_seconds(seconds), format_seconds(kind.compile_seconds));
    }
    // Whether a run that waits for the kernel gains more than the wait costs.
    bool is_worth_waiting(const schedule::GroupingKind& kind, double seconds_per_step) const {
        const double saved = plan_.single.total() - seconds_per_step;
        return !options_.wait_for_time_block || !options_.steps ||
               static_cast<double>(*options_.steps) * saved >= kind.compile_seconds;
    }

    // Whether the cache may be asked for a kernel that the run is too short to wait for.
    bool may_be_compiled() const { return options_.find_kernel && seconds_of_singles() >= kLoadSeconds; }
    KnownKernel find_kernel(const schedule::Grouping& grouping) const {
        schedule::Plan plan = plan_.plan();
        plan.grouping = grouping;
        return options_.find_kernel(program_, plan);
    }

    void take_fastest() {
        struct Found {
            const schedule::GroupingKind* kind;
            schedule::GroupingChoice choice;
            std::string too_short;
        };
        std::vector<Found> all;
        for (GroupingVerdict& verdict : plan_.groupings) {
            verdict.reason = verdict.kind->why_not_watched(program_, options_.watched);
            if (!verdict.reason.empty()) continue;
            std::string is_short = too_short(*verdict.kind);
            if (!is_short.empty() && !may_be_compiled()) {
                verdict.reason = std::move(is_short);
                continue;
            }
            schedule::GroupingChoice choice = choose(*verdict.kind, std::nullopt);
            verdict.reason = choice.reason;
            if (choice.grouping) all.push_back({verdict.kind, std::move(choice), std::move(is_short)});
        }
        std::ranges::sort(all, {}, [](const Found& each) { return each.choice.seconds_per_step; });
        std::string best = "single steps";
        double best_seconds = plan_.single.total();
        bool has_taken = false;
        for (Found& each : all) {
            const double seconds = each.choice.seconds_per_step;
            const std::string times =
                fmt::format("about {} a step, and {} take {}", format_step_time(seconds), best,
                            format_step_time(best_seconds));
            GroupingVerdict& verdict = verdict_of(*each.kind);
            if (has_taken || seconds >= best_seconds) {
                verdict.reason = "it would take " + times;
                continue;
            }
            const bool is_worth_compiling = each.too_short.empty() && is_worth_waiting(*each.kind, seconds);
            const KnownKernel known =
                is_worth_compiling || !may_be_compiled() ? KnownKernel() : find_kernel(*each.choice.grouping);
            if (!is_worth_compiling && !known.is_compiled) {
                if (lacking_.empty()) lacking_ = known.key;
                verdict.reason =
                    !each.too_short.empty()
                        ? each.too_short + ", and is not in the cache"
                        : fmt::format(
                              "it would take {}; the run wins less than the {} that it takes to compile",
                              times, format_seconds(each.kind->compile_seconds));
            } else {
                has_taken = true;
                best = each.kind->title;
                best_seconds = seconds;
                take(*each.kind, std::move(each.choice),
                     verdict.reason + ": " + times +
                         (known.is_compiled ? "; its kernel is in the disk cache" : ""));
            }
        }
        plan_.lacking = std::move(lacking_);
    }

    // Between those for which a condition of the step's number holds, with the params' defaults; of the first
    // steps of a run.
    static std::int64_t steps_alike(const ir::Program& program, const schedule::Extent& extent) {
        constexpr std::int64_t kLookedAt = 1000;
        std::vector<double> params;
        for (const ir::Param& param : program.params)
            params.push_back(param.default_value.value_or(0));
        std::vector<rt::HostScalar> conditions;
        for (const ir::ExprId each : ir::conditions_of_steps(program))
            conditions.push_back(lower::host_scalar(program, each));
        if (conditions.empty()) return schedule::kManySteps;
        std::int64_t alike = 0, most = 0;
        for (std::int64_t step = 0; step < kLookedAt; ++step) {
            const bool is_full = std::ranges::any_of(conditions, [&](const rt::HostScalar& each) {
                return rt::evaluate(each, params, extent, static_cast<double>(step)) != 0;
            });
            alike = is_full ? 0 : alike + 1;
            most = std::max(most, alike);
        }
        return most;
    }

    const ir::Program& program_;
    const CodeOptions& options_;
    const schedule::Extent& extent_;
    const std::int64_t steps_alike_ = steps_alike(program_, extent_);
    PlanChoice& plan_;
    std::string note_;  // of what was tuned and is not used
    const schedule::GroupingKind* noted_ = nullptr;
    std::string lacking_;
};

// Makes kernels for several steps take part in the exchange between pieces of a grid.
void give_to_pieces(schedule::Grouping& grouping, const ir::Program& program, const CodeOptions& options) {
    auto* const temporal = std::get_if<schedule::TemporalSchedule>(&grouping);
    if (temporal == nullptr || !options.blocks_of_pieces) return;
    if (temporal->passes > 1) {
        grouping = schedule::SingleSteps{};
        return;
    }
    temporal->of_pieces = true;
    temporal->gives_ghosts = options.blocks_store_ghosts;
    if (options.extent)
        temporal->traversals =
            schedule::traversals_of_column(program, *temporal, options.target, *options.extent);
}

}  // namespace

const GroupingVerdict* PlanChoice::taken() const {
    const auto found = std::ranges::find_if(
        groupings, [](const GroupingVerdict& each) { return each.grouping.has_value(); });
    return found == groupings.end() ? nullptr : &*found;
}

double PlanChoice::seconds_per_step() const {
    return taken() != nullptr ? taken()->seconds_per_step : single.total();
}

schedule::Plan PlanChoice::plan() const {
    schedule::Plan plan;
    for (const StageChoice& stage : stages)
        plan.stages.push_back(stage.schedule);
    if (taken() != nullptr) plan.grouping = *taken()->grouping;
    return plan;
}

schedule::StepCost single_step_cost(const ir::Program& program, const std::vector<StageChoice>& stages,
                                    const CodeOptions& options, const schedule::Extent& extent) {
    const bool is_watched = !options.watched.empty();
    const std::vector<bool> done = ir::done_in_unread_steps(program);
    schedule::Footprints footprints(program);
    schedule::StepCost cost;
    bool is_in_turn = false;  // the stage before, with others
    for (const StageChoice& stage : stages) {
        if (!ir::steps_of(program, stage.stage).contains(0)) continue;  // as several steps at once are
        ir::Stage unread = stage.stage;
        std::erase_if(unread.statements, [&](int index) { return !done[static_cast<std::size_t>(index)]; });
        if (unread.statements.empty() && !is_watched) continue;
        const bool is_same = is_watched || unread.statements.size() == stage.stage.statements.size();
        const schedule::Footprint footprint = is_same ? stage.footprint : footprints.of(unread);
        const auto times = static_cast<double>(stage.times_in_step(program));
        const bool was_in_turn =
            std::exchange(is_in_turn, schedule::shares_launch(footprint, stage.schedule));
        if (is_in_turn) {
            cost.cells += times * schedule::seconds_in_turn(footprint, extent);
            if (!was_in_turn) cost.launches += options.target.graph_launch_seconds;
            continue;
        }
        if (!footprint.at_points)  // whose cells are few
            cost.cells +=
                times *
                schedule::estimate_cost(footprint, stage.schedule, options.target, extent).seconds_per_cell *
                schedule::cells_of(schedule::own_extent(footprint, extent));
        cost.launches += times * options.target.graph_launch_seconds;
    }
    if (is_watched) cost.checks = options.target.check_seconds;
    return cost;
}

PlanChoice choose_plan(const ir::Program& program, const CodeOptions& options) {
    const schedule::Extent extent = options.extent.value_or(schedule::typical_extent(program.rank()));
    PlanChoice plan;
    plan.stages = choose_schedules(program, options);
    plan.single = single_step_cost(program, plan.stages, options, extent);
    GroupingChooser(program, options, extent, plan).run();
    for (GroupingVerdict& each : plan.groupings)
        if (each.grouping) give_to_pieces(*each.grouping, program, options);
    return plan;
}

}  // namespace halo::driver
