#include "compiler/driver/tuning/tune_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/console/interrupt.h"
#include "compiler/driver/console/stopwatch.h"
#include "compiler/schedule/print.h"
#include "compiler/support/error.h"
#include "compiler/tune/store.h"
#include "runtime/core/error.h"

namespace halo::driver {

namespace {

using Kind = tune::Outcome::Kind;

constexpr int kSamples = 5, kFinalSamples = 7;
constexpr double kClearlySlower = 1.25;  // than the best: one sample is enough
constexpr double kSlower = 1.05;         // than the best: two are
constexpr std::int64_t kMostSteps = 1000000;
constexpr std::int64_t kStepsMultiple = 24;  // so that kernels of 2, 3, 4, 6, 8 or 12 steps leave no rest

// Bytes that a kernel for several steps may spill: values that it needs once a tile lie in memory then, not
// those that every iteration needs.
constexpr std::int64_t kFewSpilledBytes = 128;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

}  // namespace

CompilePool::CompilePool(int threads, Build build) : build_(std::move(build)) {
    threads_.reserve(static_cast<std::size_t>(std::max(1, threads)));
    for (int n = 0; n < std::max(1, threads); ++n) {
        try {
            threads_.emplace_back([this] { work(); });
        } catch (const std::exception&) {
            if (threads_.empty()) throw;
            break;  // those that could be started build
        }
    }
}

CompilePool::~CompilePool() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        waiting_.clear();
    }
    changed_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
}

void CompilePool::prepare(const std::vector<std::size_t>& next) {
    {
        const std::lock_guard lock(mutex_);
        // Keeps candidates at the front that another thread waits for.
        std::erase_if(waiting_, [&](std::size_t number) { return !asked_.contains(number); });
        for (const std::size_t number : next)
            if (!built_.contains(number) && !asked_.contains(number)) waiting_.push_back(number);
    }
    changed_.notify_all();
}

std::shared_ptr<const BuiltCode> CompilePool::get(std::size_t number) {
    std::unique_lock lock(mutex_);
    const auto asked = asked_.insert(number);
    if (!built_.contains(number)) {
        std::erase(waiting_, number);
        waiting_.push_front(number);
        changed_.notify_all();
    }
    changed_.wait(lock, [&] {
        const auto found = built_.find(number);
        return found != built_.end() && found->second != nullptr;
    });
    asked_.erase(asked);
    return built_.at(number);
}

void CompilePool::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
        if (stopping_) return;
        const std::size_t number = waiting_.front();
        waiting_.pop_front();
        built_[number] = nullptr;
        lock.unlock();
        auto built = std::make_shared<const BuiltCode>(build_(number));
        lock.lock();
        built_[number] = std::move(built);
        changed_.notify_all();
    }
}

StageMeasure::StageMeasure(const MeasureContext& context, const std::vector<schedule::Candidate>& candidates,
                           std::vector<schedule::Schedule> schedules, std::optional<std::size_t> index,
                           const MeasureSettings& settings, Tried tried)
    : context_(context),
      candidates_(candidates),
      schedules_(std::move(schedules)),
      index_(index),
      settings_(settings),
      tried_(std::move(tried)),
      pool_(settings.jobs, [this](std::size_t candidate) { return build(candidate); }) {}

bool StageMeasure::interrupted() {
    return InterruptGuard::requested();
}

schedule::Plan StageMeasure::plan_of(std::size_t candidate) const {
    const schedule::Candidate& chosen = candidates_[candidate];
    schedule::Plan plan{schedules_, schedule::SingleSteps{}};
    if (index_)
        plan.stages[*index_] = chosen.schedule();
    else
        plan.grouping = *chosen.grouping();
    return plan;
}

// Any exception counts against the candidate alone: the search goes on with others.
BuiltCode StageMeasure::build(std::size_t candidate) const {
    BuiltCode built;
    try {
        built.code = cuda_code(context_.program, plan_of(candidate), context_.details);
        built.compiled = context_.machine.compile(built.code);
    } catch (const std::exception& trouble) {
        built.refused = trouble.what();
        if (built.refused.empty()) built.refused = "it cannot be built";
    }
    return built;
}

std::unique_ptr<Engine> StageMeasure::start(const BuiltCode& built) const {
    return context_.grid.start(built.code, built.compiled);
}

std::int64_t StageMeasure::steps_of_run(const BuiltCode& built) const {
    const std::optional<rt::TimeBlock>& block = built.code.lowered.plan.time_block;
    if (!block) return steps_;
    return (steps_ + block->steps - 1) / block->steps * block->steps + (block->is_whole ? 0 : 1);
}

double StageMeasure::time(Engine& engine, std::int64_t steps) {
    Stopwatch watch;
    engine.run(steps, std::nullopt);
    return watch.lap() / static_cast<double>(steps);
}

// Chooses as many steps as take the time of a sample, by the first schedule that runs.
void StageMeasure::choose_steps(Engine& engine) {
    std::int64_t steps = 4;
    engine.run(steps, std::nullopt);  // what is done once
    double seconds = 0;
    while (true) {
        Stopwatch watch;
        engine.run(steps, std::nullopt);
        seconds = watch.lap();
        if (seconds > settings_.sample_seconds / 4 || steps >= kMostSteps) break;
        steps *= 4;
    }
    const double wanted = settings_.sample_seconds * static_cast<double>(steps) / std::max(seconds, 1e-9);
    steps_ = std::clamp<std::int64_t>(std::llround(wanted), 1, kMostSteps);
    // Where a step takes long the rest of a kernel of several steps is part of what is measured.
    if (steps_ > kStepsMultiple / 4) steps_ = (steps_ + kStepsMultiple - 1) / kStepsMultiple * kStepsMultiple;
}

tune::Outcome StageMeasure::measure(std::size_t candidate, double best) {
    const std::shared_ptr<const BuiltCode> built = pool_.get(candidate);
    tune::Outcome outcome;
    if (!built->refused.empty()) {
        outcome.kind = Kind::refused;
        outcome.why = built->refused;
        return outcome;
    }
    const std::int64_t spills = inspect_kernel(*built, outcome);
    if (spills > (built->code.lowered.plan.time_block ? kFewSpilledBytes : 0)) {
        outcome.kind = Kind::spilled;
        outcome.why = fmt::format("{} bytes of registers spilled to memory, with {} registers a thread",
                                  spills, outcome.registers);
        return outcome;
    }
    try {
        time_candidate(*built, best, outcome);
    } catch (const rt::Error& trouble) {
        outcome.kind = Kind::refused;
        outcome.why = trouble.what();
        if (trouble.code() == rt::ErrorCode::bad_argument) return outcome;  // no room for its block, say
        tried_(candidate, outcome, std::nullopt);  // so that another run does not try it again
        throw CommandError(
            ExitCode::device,
            fmt::format("the device failed with the schedule `{}`: {}",
                        schedule::print(candidates_[candidate], context_.program.rank()), trouble.what()),
            "what was measured is kept; the same command goes on without that schedule");
    }
    return outcome;
}

// Records what the compiler made of the stage's kernel, or of that for several steps, which is the last of a
// step's passes; returns the bytes that all of these spilled.
std::int64_t StageMeasure::inspect_kernel(const BuiltCode& built, tune::Outcome& outcome) const {
    const rt::LaunchPlan& plan = built.code.lowered.plan;
    const std::string name = plan.time_block ? plan.time_block->kernel.name
                             : index_        ? built.code.lowered.kernels_of_stages[*index_]
                                             : "";
    const rt::KernelUsage* const usage = find_usage(built.compiled, name);
    if (usage == nullptr) return 0;
    outcome.registers = usage->registers;
    outcome.shared_bytes = usage->static_shared_bytes;
    for (const rt::KernelPlan& kernel : plan.kernels)
        if (kernel.name == name) outcome.shared_bytes += kernel.dynamic_shared_bytes;
    if (plan.time_block) outcome.shared_bytes += plan.time_block->kernel.dynamic_shared_bytes;
    std::int64_t spilled = usage->spill_load_bytes + usage->spill_store_bytes;
    if (plan.time_block)
        for (const rt::KernelPlan& kernel : plan.time_block->earlier)
            if (const rt::KernelUsage* const other = find_usage(built.compiled, kernel.name))
                spilled += other->spill_load_bytes + other->spill_store_bytes;
    return spilled;
}

void StageMeasure::time_candidate(const BuiltCode& built, double best, tune::Outcome& outcome) {
    const std::unique_ptr<Engine> engine = start(built);
    if (steps_ == 0) choose_steps(*engine);
    const std::int64_t steps = steps_of_run(built);
    engine->run(steps, std::nullopt);
    std::vector<double> samples;
    while (std::ssize(samples) < kSamples) {
        samples.push_back(time(*engine, steps));
        outcome.seconds = *std::min_element(samples.begin(), samples.end());
        const bool is_slower = outcome.seconds > kClearlySlower * best ||
                               (samples.size() > 1 && outcome.seconds > kSlower * best);
        if (!is_slower) continue;
        outcome.kind = Kind::slower;
        return;
    }
    outcome.seconds = median(std::move(samples));
}

std::optional<tune::Outcome> StageMeasure::verify(std::size_t candidate) {
    const std::shared_ptr<const BuiltCode> built = pool_.get(candidate);
    if (!built->refused.empty()) return tune::Outcome{Kind::refused, 0, built->refused};
    // Whole kernels of several steps, and a rest.
    const int steps = 2 * schedule::steps_of(candidates_[candidate]) + 1;
    const CheckResult result =
        context_.check.difference(plan_of(candidate), built->code, built->compiled, steps);
    if (result.kind == CheckResult::Kind::agrees) return std::nullopt;
    const bool is_wrong = result.kind == CheckResult::Kind::differs;
    return tune::Outcome{is_wrong ? Kind::wrong : Kind::unverified, 0, result.text};
}

std::vector<double> StageMeasure::compare(const std::vector<std::size_t>& candidates) {
    try {
        std::vector<std::unique_ptr<Engine>> engines;
        std::vector<std::int64_t> steps;
        for (const std::size_t candidate : candidates) {
            const std::shared_ptr<const BuiltCode> built = pool_.get(candidate);
            if (!built->refused.empty()) return {};
            engines.push_back(start(*built));
            if (steps_ == 0) choose_steps(*engines.back());
            steps.push_back(steps_of_run(*built));
            engines.back()->run(steps.back(), std::nullopt);
        }
        std::vector<std::vector<double>> samples(engines.size());
        for (int round = 0; round < kFinalSamples && !interrupted(); ++round) {
            for (std::size_t n = 0; n < engines.size(); ++n)
                samples[n].push_back(time(*engines[n], steps[n]));
        }
        std::vector<double> seconds;
        for (std::vector<double>& each : samples) {
            if (each.empty()) return {};
            seconds.push_back(median(std::move(each)));
        }
        return seconds;
    } catch (const rt::Error& trouble) {
        if (trouble.code() != rt::ErrorCode::out_of_memory) throw;
        return {};  // not all of them fit the device at once
    }
}

}  // namespace halo::driver
