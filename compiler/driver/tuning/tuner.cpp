#include "compiler/driver/tuning/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>

#include "compiler/driver/console/progress.h"
#include "compiler/driver/console/status_line.h"
#include "compiler/driver/tuning/tune_check.h"
#include "compiler/driver/tuning/tune_measure.h"
#include "compiler/ir/analysis.h"
#include "compiler/schedule/groupings.h"
#include "compiler/schedule/print.h"
#include "compiler/schedule/space.h"

namespace halo::driver {

namespace {

using Clock = std::chrono::steady_clock;
using Kind = tune::Outcome::Kind;
using Stop = tune::SearchResult::Stop;

// What a search chooses among, and where the store keeps its result.
struct Subject {
    std::optional<std::size_t> stage;  // none: several steps at once
    std::string name;                  // how messages call it
    std::string key;                   // in the store
    std::vector<schedule::Candidate> candidates;
    std::string model_schedule;  // the first of them
    std::string why_none;        // where there is nothing to choose among
};

Subject stage_subject(const TunerInput& input, std::size_t index) {
    const StageChoice& stage = input.stages[index];
    const Extent& extent = input.request.extent;
    Subject subject{
        index,
        fmt::format("stage {}", index + 1),
        stage_key(input.program, stage.stage, extent, stage.pinned_text, input.machine.tune_device()),
        schedule::list_candidates(stage.footprint, input.machine.target(), extent, stage.pins),
        schedule::print(stage.schedule, input.program.rank()),
        ""};
    // Runs that are measured and compared with the interpreter begin at step 0.
    if (!ir::steps_of(input.program, stage.stage).contains(0)) {
        subject.candidates.clear();
        subject.why_none = "it is of a later phase, which is not measured yet";
    }
    return subject;
}

// The search for how steps are grouped. Single steps by the stages' best schedules come first, unless a
// grouping is pinned.
Subject steps_subject(const TunerInput& input) {
    const Extent& extent = input.request.extent;
    const bool is_pinned = !input.grouping.empty();
    Subject subject{std::nullopt,
                    "several steps at once",
                    steps_key(input.program, extent, input.grouping, input.machine.tune_device()),
                    {},
                    std::string(schedule::kSingleSteps),
                    "the stages are pinned"};
    if (std::ranges::any_of(input.stages, &StageChoice::pinned)) return subject;
    const schedule::Target target = input.machine.target();
    schedule::GroupingRequest request{input.program, target, extent, std::nullopt, input.request.watched};
    if (is_pinned) request.pinned = input.grouping;
    subject.why_none.clear();
    for (const schedule::GroupingKind& kind : schedule::grouping_kinds()) {
        if (is_pinned && &kind != schedule::find_grouping(input.grouping)) continue;
        std::string why = is_pinned ? "" : kind.why_not_watched(input.program, request.watched);
        if (why.empty()) {
            schedule::GroupingCandidates list = kind.list(request);
            why = std::move(list.why_none);
            std::ranges::move(list.found, std::back_inserter(subject.candidates));
        }
        if (subject.why_none.empty()) subject.why_none = std::move(why);
    }
    if (subject.candidates.empty()) return subject;
    if (is_pinned)
        subject.model_schedule = schedule::print(subject.candidates.front(), input.program.rank());
    else
        subject.candidates.insert(subject.candidates.begin(), {schedule::Grouping(schedule::SingleSteps{})});
    return subject;
}

// One search: its candidates, its entry in the store, and what is said of it.
class SearchRun {
public:
    SearchRun(const TunerInput& input, const tune::Store& store, const TunerSettings& settings,
              const Console& console, const MeasureContext& context,
              std::vector<schedule::Schedule>& schedules, Subject subject, Clock::time_point deadline)
        : input_(input),
          store_(store),
          settings_(settings),
          console_(console),
          context_(context),
          schedules_(schedules),
          subject_(std::move(subject)),
          candidates_(subject_.candidates),
          deadline_(deadline),
          status_(console) {
        for (const schedule::Candidate& candidate : candidates_)
            texts_.push_back(schedule::print(candidate, input.program.rank()));
        predict(input.machine.target());
        begin_entry();
    }

    StageReport run() {
        StageReport report;
        report.schedule = report.model_schedule = subject_.model_schedule;
        if (candidates_.empty()) {
            report.kind = StageReport::Kind::no_choice;
            report.why = subject_.why_none;
            return report;
        }
        if (entry_.finished && use_known(report)) return report;
        entry_.finished = false;
        const std::vector<std::optional<tune::Outcome>> known = known_outcomes(report);
        MeasureSettings measure;
        measure.jobs = settings_.jobs;
        measure.sample_seconds = settings_.sample_seconds;
        measure.deadline = deadline_;
        StageMeasure device(context_, candidates_, schedules_, subject_.stage, measure,
                            [this](std::size_t candidate, const tune::Outcome& outcome,
                                   std::optional<std::size_t> best) { tried(candidate, outcome, best); });
        const tune::SearchResult result = tune::search(candidates_, input_.program.rank(), device, known);
        status_.clear();
        finish(result, report);
        return report;
    }

private:
    void predict(const schedule::Target& target) {
        const auto cells = static_cast<double>(cell_count(context_.extent));
        for (const schedule::Candidate& candidate : candidates_) {
            predicted_.push_back(std::nullopt);
            if (candidate.seconds_per_cell)
                predicted_.back() = *candidate.seconds_per_cell * cells + target.graph_launch_seconds;
        }
    }

    // Starts from what the store has, where it was found with the same compiler.
    void begin_entry() {
        const TuneDevice device = input_.machine.tune_device();
        if (!settings_.again) {
            if (std::optional<tune::StoredStage> found = store_.find(subject_.key);
                found && found->compiler == device.compiler)
                entry_ = std::move(*found);
        }
        entry_.stencil = input_.program.name;
        entry_.device = device.text();
        entry_.compiler = device.compiler;
        entry_.stage = subject_.stage ? static_cast<int>(*subject_.stage) : -1;
        entry_.stages = static_cast<int>(input_.stages.size());
        entry_.grid.assign(context_.extent.begin(), context_.extent.begin() + input_.program.rank());
    }

    std::optional<std::size_t> candidate_of(const std::string& text) const {
        const auto found = std::find(texts_.begin(), texts_.end(), text);
        if (found == texts_.end()) return std::nullopt;
        return static_cast<std::size_t>(found - texts_.begin());
    }

    bool use_known(StageReport& report) {
        const std::optional<std::size_t> winner = candidate_of(entry_.schedule);
        if (!winner) return false;  // of another space: what is pinned has changed
        report.kind = StageReport::Kind::known;
        report.schedule = entry_.schedule;
        report.seconds = entry_.seconds;
        report.model_seconds = entry_.model_seconds;
        report.predicted = entry_.predicted;
        report.known_trials = static_cast<int>(entry_.trials.size());
        take(*winner);
        return true;
    }

    // Takes the winner: later searches measure with it.
    void take(std::size_t winner) {
        if (subject_.stage) schedules_[*subject_.stage] = candidates_[winner].schedule();
    }

    std::vector<std::optional<tune::Outcome>> known_outcomes(StageReport& report) const {
        std::vector<std::optional<tune::Outcome>> known(candidates_.size());
        for (const tune::StoredTrial& trial : entry_.trials) {
            const std::optional<std::size_t> candidate = candidate_of(trial.schedule);
            if (!candidate) continue;
            known[*candidate] = trial.outcome;
            ++report.known_trials;
        }
        return known;
    }

    void tried(std::size_t candidate, const tune::Outcome& outcome, std::optional<std::size_t> best) {
        ++tried_;
        const std::string& text = texts_[candidate];
        std::erase_if(entry_.trials, [&](const tune::StoredTrial& trial) { return trial.schedule == text; });
        entry_.trials.push_back({text, outcome, predicted_[candidate]});
        sort_trials();
        const bool is_new_best = best == candidate && outcome.kind == Kind::measured;
        if (is_new_best) {
            entry_.schedule = text;
            entry_.seconds = outcome.seconds;
            entry_.predicted = predicted_[candidate];
            status_.clear();
            console_.message(fmt::format("{}: {} by {}", subject_.name, rate(outcome.seconds), text));
        } else if (outcome.kind == Kind::wrong) {
            status_.clear();
            console_.warning(fmt::format("`{}` gives wrong results and is left out: {}", text, outcome.why));
        } else if (outcome.kind == Kind::unverified) {
            status_.clear();
            console_.warning(
                fmt::format("`{}` could not be verified and is left out: {}", text, outcome.why));
        }
        if (const std::string remark = context_.check.take_remark(); !remark.empty()) {
            status_.clear();
            console_.message("note: " + remark);
        }
        store_.put(subject_.key, entry_);
        const double left = std::max(0.0, std::chrono::duration<double>(deadline_ - Clock::now()).count());
        status_.show(fmt::format("{}: {} tried, best {}, {} left", subject_.name, tried_,
                                 entry_.schedule.empty() ? "none yet" : rate(entry_.seconds),
                                 format_seconds(left)));
    }

    void sort_trials() {
        std::stable_sort(entry_.trials.begin(), entry_.trials.end(), [](const auto& a, const auto& b) {
            const auto order = [](const tune::Outcome& outcome) {
                return outcome.kind == Kind::measured ? 0 : outcome.kind == Kind::slower ? 1 : 2;
            };
            if (order(a.outcome) != order(b.outcome)) return order(a.outcome) < order(b.outcome);
            return a.outcome.seconds < b.outcome.seconds;
        });
    }

    std::string rate(double seconds) const {
        return format_rate(static_cast<double>(cell_count(context_.extent)) / seconds);
    }

    void finish(const tune::SearchResult& result, StageReport& report) {
        report.trials = result.trials;
        report.stop = result.stop;
        count_dropped(result, report);
        if (!result.winner) {
            report.kind = StageReport::Kind::failed;
            entry_.schedule.clear();
            entry_.seconds = 0;
            store_.put(subject_.key, entry_);
            return;
        }
        entry_.schedule = report.schedule = texts_[*result.winner];
        entry_.seconds = report.seconds = result.seconds;
        entry_.predicted = report.predicted = predicted_[*result.winner];
        entry_.model_seconds = report.model_seconds = result.first_seconds;
        entry_.finished = result.stop == Stop::exhausted || result.stop == Stop::settled;
        take(*result.winner);
        store_.put(subject_.key, entry_);
    }

    void count_dropped(const tune::SearchResult& result, StageReport& report) const {
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            const std::optional<tune::Outcome>& outcome = result.outcomes[i];
            if (!outcome || outcome->timed()) continue;
            int& count = outcome->kind == Kind::spilled      ? report.spilled
                         : outcome->kind == Kind::refused    ? report.refused
                         : outcome->kind == Kind::unverified ? report.unverified
                                                             : report.wrong;
            if (count++ == 0 || outcome->kind == Kind::wrong)
                report.dropped.push_back(fmt::format("{}: {}", texts_[i], outcome->why));
        }
    }

    const TunerInput& input_;
    const tune::Store& store_;
    const TunerSettings& settings_;
    const Console& console_;
    const MeasureContext& context_;
    std::vector<schedule::Schedule>& schedules_;
    const Subject subject_;
    const std::vector<schedule::Candidate>& candidates_;
    Clock::time_point deadline_;
    StatusLine status_;
    std::vector<std::string> texts_;
    std::vector<std::optional<double>> predicted_;
    tune::StoredStage entry_;
    int tried_ = 0;
};

}  // namespace

RunRequest request_for_tuning(RunArguments arguments, const CheckedSpec& spec,
                              const sema::AnalyzedStencil& stencil, const Console& console) {
    const sema::RunSpec* const run = spec.analysis.find_run(stencil.program.name);
    if (!arguments.steps && (run == nullptr || !run->steps)) arguments.steps = 1;
    arguments.no_files = true;
    return make_request(arguments, spec, stencil, console);
}

Stop TuneReport::stop() const {
    return steps ? steps->stop : stages.empty() ? Stop::exhausted : stages.back().stop;
}

bool TuneReport::failed() const {
    const auto has_failed = [](const StageReport& each) { return each.kind == StageReport::Kind::failed; };
    return std::ranges::any_of(stages, has_failed) || (stages.empty() && steps && has_failed(*steps));
}

TuneReport tune_program(const TunerInput& input, const tune::Store& store, const TunerSettings& settings,
                        const Console& console) {
    const TuneInputs inputs = run_inputs(input.program, input.run, input.request, input.machine);
    TuneGrid grid(input.machine, input.program, inputs, input.request.extent);
    TuneCheck check(input.machine, input.program, inputs, grid,
                    settings.odd_grid.value_or(odd_grid(input.program.rank())));
    const MeasureContext context{input.machine,        input.program, grid,
                                 input.request.extent, check,         input.details};
    std::vector<schedule::Schedule> schedules;
    for (const StageChoice& stage : input.stages)
        schedules.push_back(stage.schedule);
    Subject steps = steps_subject(input);
    const Clock::time_point start = Clock::now();
    const auto budget = std::chrono::duration<double>(settings.budget_seconds);
    // The share of the time that a search leaves unused goes to the later ones. Kernels of several steps take
    // long to compile, so the stages have no more than half of the time.
    const auto search = [&](Subject subject, std::size_t share_of) {
        const auto spent = std::chrono::duration<double>(Clock::now() - start);
        const auto share = (budget - spent) / static_cast<double>(share_of);
        const Clock::time_point deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(share);
        return SearchRun(input, store, settings, console, context, schedules, std::move(subject), deadline)
            .run();
    };
    const std::size_t count = input.stages.size(), last_share = steps.candidates.empty() ? 0 : count;
    TuneReport report;
    // With a pinned grouping only the search for several steps is done.
    for (std::size_t i = 0; i < count && input.grouping.empty(); ++i) {
        report.stages.push_back(search(stage_subject(input, i), count - i + last_share));
        if (report.stop() == Stop::interrupted) return report;
    }
    if (!report.failed()) report.steps = search(std::move(steps), 1);
    return report;
}

}  // namespace halo::driver
