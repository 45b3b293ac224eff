// The tuner's measuring side: candidates of one stage, or for several steps at once, compiled in threads,
// timed as whole runs of steps.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "compiler/driver/running/gpu_machine.h"
#include "compiler/driver/tuning/tune_check.h"
#include "compiler/driver/tuning/tune_grid.h"
#include "compiler/tune/search.h"

namespace halo::driver {

// Code that is ready to be run, or why there is none.
struct BuiltCode {
    Code code;
    CompiledCode compiled;
    std::string refused;  // empty where it was built
};

// Builds code by number, in threads of its own. Its destructor drops what is not yet begun.
class CompilePool {
public:
    using Build =
        std::function<BuiltCode(std::size_t)>;  // from any thread; throws nothing but what ends the process
    CompilePool(int threads, Build build);
    ~CompilePool();
    CompilePool(const CompilePool&) = delete;
    CompilePool& operator=(const CompilePool&) = delete;

    void prepare(const std::vector<std::size_t>& next);  // replaces what was queued before and is not begun
    std::shared_ptr<const BuiltCode> get(std::size_t number);  // waits

private:
    void work();

    Build build_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::size_t> waiting_;
    std::multiset<std::size_t> asked_;                               // by threads in get()
    std::map<std::size_t, std::shared_ptr<const BuiltCode>> built_;  // null: under way
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

struct MeasureSettings {
    double sample_seconds = 0.03;  // that one timed run of steps takes about
    int jobs = 1;                  // threads that compile
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

// What is the same for all stages of a program.
struct MeasureContext {
    GpuMachine& machine;
    const ir::Program& program;
    TuneGrid& grid;
    Extent extent;
    TuneCheck& check;
    CudaDetails details;
};

class StageMeasure final : public tune::Measure {
public:
    using Tried = std::function<void(std::size_t, const tune::Outcome&, std::optional<std::size_t>)>;

    // schedules: of all stages of the program; that of stage `index` is the candidate's. Without an index
    // candidates say how steps are grouped beside these.
    StageMeasure(const MeasureContext& context, const std::vector<schedule::Candidate>& candidates,
                 std::vector<schedule::Schedule> schedules, std::optional<std::size_t> index,
                 const MeasureSettings& settings, Tried tried);

    void prepare(const std::vector<std::size_t>& candidates) override { pool_.prepare(candidates); }
    tune::Outcome measure(std::size_t candidate, double best) override;
    std::optional<tune::Outcome> verify(std::size_t candidate) override;
    std::vector<double> compare(const std::vector<std::size_t>& candidates) override;
    bool budget_is_spent() override { return std::chrono::steady_clock::now() >= settings_.deadline; }
    bool interrupted() override;
    void tried(std::size_t candidate, const tune::Outcome& outcome,
               std::optional<std::size_t> best) override {
        tried_(candidate, outcome, best);
    }

private:
    schedule::Plan plan_of(std::size_t candidate) const;
    BuiltCode build(std::size_t candidate) const;
    std::unique_ptr<Engine> start(const BuiltCode& built) const;
    std::int64_t inspect_kernel(const BuiltCode& built, tune::Outcome& outcome) const;
    void time_candidate(const BuiltCode& built, double best, tune::Outcome& outcome);
    // Of a timed run: whole launches of the candidate's steps, as what is left over counts little in a run.
    std::int64_t steps_of_run(const BuiltCode& built) const;
    static double time(Engine& engine, std::int64_t steps);  // seconds a step
    void choose_steps(Engine& engine);

    MeasureContext context_;
    const std::vector<schedule::Candidate>& candidates_;
    std::vector<schedule::Schedule> schedules_;
    std::optional<std::size_t> index_;
    MeasureSettings settings_;
    Tried tried_;
    std::int64_t steps_ = 0;  // of a timed run, about; 0: not chosen yet
    CompilePool pool_;
};

}  // namespace halo::driver
