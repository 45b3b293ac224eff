#include "compiler/bench/programs_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "compiler/bench/lab.h"
#include "compiler/driver/console/stopwatch.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/running/gpu_machine.h"
#include "compiler/driver/running/initial_data.h"
#include "compiler/driver/running/point_data.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/running/table_data.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/driver/tuning/tune_compare.h"
#include "compiler/driver/tuning/tune_inputs.h"
#include "compiler/schedule/footprint.h"
#include "compiler/schedule/print.h"
#include "compiler/schedule/space.h"
#include "compiler/support/error.h"

namespace halo::bench {

namespace {

using driver::Engine;

// More than any kernel does at once, and an odd number, so that single steps are checked, too.
constexpr int kProgramSteps = 13;
constexpr int kProgramStepsOnCpu = 5;
constexpr int kRepeats = 3;
constexpr double kEnoughSeconds = 2;  // of repeated runs

// A spec, checked, and what is run of it.
class Job {
public:
    Job(driver::Machine& machine, const Program& which)
        : machine_(machine), spec_(driver::check_text(which.spec + ".halo", program_text(which))) {
        if (!spec_.ok) throw InternalError("the spec " + which.spec + " of haloc bench has mistakes");
        const sema::AnalyzedStencil& stencil = driver::choose_stencil(spec_, which.spec);
        run_ = spec_.analysis.find_run(which.spec);
        driver::Console silent;
        silent.set_silent(true);
        driver::RunArguments arguments;
        arguments.file = which.spec;
        for (int axis = 0; axis < stencil.program.rank(); ++axis)
            arguments.grid +=
                fmt::format("{}{}", axis > 0 ? "," : "", which.extent[static_cast<std::size_t>(axis)]);
        arguments.steps = which.steps;
        arguments.set = which.set;
        arguments.no_files = true;
        request_ = driver::make_request(arguments, spec_, stencil, silent);
        options_.watched = request_.watched;
        options_.extent = request_.extent;
        if (gpu() != nullptr) options_.target = gpu()->target();
        program_ = driver::optimize(stencil.program, options_);
    }

    driver::GpuMachine* gpu() const { return dynamic_cast<driver::GpuMachine*>(&machine_); }
    driver::Machine& machine() const { return machine_; }
    const ir::Program& program() const { return program_; }
    const driver::RunRequest& request() const { return request_; }
    const driver::CodeOptions& options() const { return options_; }

    // Gives the engine the data that `haloc run` gives it. Levels are copied from those of `source`, where it
    // is given and the device can.
    void give(Engine& engine, const Engine* source) const {
        driver::set_known_arguments(engine, program_, request_);
        driver::fill_tables(engine, program_, run_, request_, machine_);
        driver::fill_points(engine, program_, run_, request_, machine_);
        const bool copied =
            source != nullptr && std::ranges::all_of(driver::kept_levels(program_), [&](const auto& level) {
                return engine.copy_level(level.first, level.second, *source, level.first, level.second);
            });
        if (!copied) driver::fill_initial_data(engine, program_, run_->init, request_, machine_);
    }

private:
    driver::Machine& machine_;
    driver::CheckedSpec spec_;
    const sema::RunSpec* run_ = nullptr;
    driver::RunRequest request_;
    driver::CodeOptions options_;  // without the run's steps: they are taken to be many
    ir::Program program_;          // optimised
};

// The program that others are compared with, and from which they copy their data.
struct SteppedProgram {
    std::unique_ptr<Engine> source;  // has the data, and does no step; null: there is none
    std::unique_ptr<Engine> stepped;
    int steps = 0;
};

// Code that is compiled asynchronously.
class Build {
public:
    Build(const Job& job, const schedule::Plan& plan)
        : job_(job),
          code_(driver::cuda_code(job.program(), plan, driver::details_of_run(job.options()))),
          compiled_(std::async(std::launch::async, [this] { return job_.gpu()->compile(code_); })) {}
    Build(const Build&) = delete;
    Build& operator=(const Build&) = delete;

    std::unique_ptr<Engine> start() const {
        return job_.gpu()->start(code_, job_.request().extent, compiled_.get());
    }

private:
    const Job& job_;
    driver::Code code_;
    std::shared_future<driver::CompiledCode> compiled_;  // goes first: its thread uses the others
};

schedule::Plan plain_plan(const Job& job) {
    schedule::Plan plan;
    for (const ir::Stage& stage : ir::form_stages(job.program()))
        plan.stages.push_back(
            schedule::plain_schedule(schedule::footprint(job.program(), stage), job.options().target));
    return plan;
}

SteppedProgram one_cell_a_thread(const Job& job) {
    const Build plain(job, plain_plan(job));
    SteppedProgram reference;
    reference.steps = kProgramSteps;
    reference.source = plain.start();
    job.give(*reference.source, nullptr);
    reference.stepped = plain.start();
    job.give(*reference.stepped, reference.source.get());
    reference.stepped->run(reference.steps, std::nullopt);
    return reference;
}

SteppedProgram interpreted(const Job& job) {
    SteppedProgram reference;
    reference.steps = kProgramStepsOnCpu;
    reference.stepped = driver::make_interpreter_engine(job.program(), job.request().extent);
    job.give(*reference.stepped, nullptr);
    reference.stepped->run(reference.steps, std::nullopt);
    return reference;
}

// How the engine, which has done as many steps, differs; empty where it does not.
std::string difference(const Job& job, const SteppedProgram& reference, Engine& engine) {
    // On one device the same functions give the same bits: only sums that are read can differ.
    const double tolerance = job.gpu() == nullptr                      ? driver::tolerance_of(job.program())
                             : driver::reads_reductions(job.program()) ? driver::kLibraryTolerance
                                                                       : 0;
    return driver::difference_of(*reference.stepped, engine, job.program(), job.request().extent, tolerance);
}

// The first state that is no longer finite; empty where all are.
std::string not_finite(const Job& job, Engine& engine, std::int64_t steps) {
    for (const std::string& field : job.request().states) {
        const driver::FieldValues::NotFinite found = engine.download(field).not_finite();
        if (found.count > 0)
            return fmt::format("after {} steps {} cells of {} are not finite", steps, found.count, field);
    }
    return "";
}

// singly: each step by itself, as an engine may group those that it is asked for together.
void time_program_run(const Job& job, Engine& engine, bool singly, ProgramRun& result) {
    const std::int64_t steps = job.request().steps;
    std::vector<double> times;
    double all = 0;
    std::int64_t done = 0;
    for (int repeat = 0; repeat <= kRepeats; ++repeat) {
        if (repeat > 1 && all > kEnoughSeconds) break;
        driver::Stopwatch watch;
        std::int64_t here = 0;
        if (singly) {
            for (; here < steps; ++here)
                engine.run(1, std::nullopt);
        } else {
            here = engine.run(steps, job.request().until).steps;
        }
        const double seconds = watch.lap();
        done += here;
        if (here < steps) throw InternalError("a run of haloc bench ends before its steps are done");
        if (repeat == 0) continue;  // records graphs and allocates
        all += seconds;
        times.push_back(seconds / static_cast<double>(steps));
    }
    result.seconds = median(times);
    const auto [least, most] = std::ranges::minmax(times);
    result.spread = (most - least) / result.seconds;
    result.steps = steps;
    result.repeats = static_cast<int>(times.size());
    result.wrong = not_finite(job, engine, done);
}

void check_and_time(const Job& job, const SteppedProgram& reference, Engine& engine, bool singly,
                    ProgramRun& result) {
    job.give(engine, reference.source.get());
    engine.run(reference.steps, std::nullopt);
    result.wrong = difference(job, reference, engine);
    if (result.wrong.empty()) time_program_run(job, engine, singly, result);
}

// Describes the stages in order, equal ones together.
std::string words_of_stages(const schedule::Plan& plan, int rank) {
    std::vector<std::pair<std::string, int>> parts;
    for (const schedule::Schedule& stage : plan.stages) {
        const std::string words = schedule::print(stage, rank);
        if (parts.empty() || parts.back().first != words) parts.emplace_back(words, 0);
        ++parts.back().second;
    }
    std::string text;
    for (const auto& [words, count] : parts)
        text += fmt::format("{}{}{}", text.empty() ? "" : "; ", words,
                            count > 1 ? fmt::format(" ({} stages)", count) : "");
    return text;
}

void measure_on_gpu(const Job& job, ProgramResult& result) {
    const int rank = job.program().rank();
    driver::Stopwatch watch;
    const driver::PlanChoice choice = driver::choose_plan(job.program(), job.options());
    const schedule::Plan chosen = choice.plan(), single{chosen.stages, schedule::SingleSteps{}};
    const driver::GroupingVerdict* const taken = choice.taken();
    const Build singly(job, single);
    std::optional<Build> grouped;
    if (taken != nullptr) grouped.emplace(job, chosen);
    const SteppedProgram reference = one_cell_a_thread(job);
    result.single.plan = words_of_stages(single, rank);
    result.single.predicted = choice.single.total();
    result.kind = taken != nullptr ? std::string(taken->kind->name) : kSinglyDone;
    std::unique_ptr<Engine> engine = singly.start();
    result.ready_seconds = watch.lap();
    check_and_time(job, reference, *engine, false, result.single);
    if (!grouped) {
        result.run = result.single;
        return;
    }
    engine.reset();  // makes room
    engine = grouped->start();
    result.run.plan = schedule::print(*taken->grouping, rank);
    result.run.predicted = choice.seconds_per_step();
    check_and_time(job, reference, *engine, false, result.run);
}

// How a CPU did the steps; to be asked after some.
std::string kind_of(Engine& engine) {
    const rt::Session* const session = engine.session();
    const int at_once = session != nullptr ? session->steps_at_once() : 1;
    return at_once > 1 ? fmt::format("tiles of {} steps", at_once) : kSinglyDone;
}

void measure_on_cpu(const Job& job, ProgramResult& result) {
    driver::Stopwatch watch;
    const SteppedProgram reference = interpreted(job);
    result.ready_seconds = watch.lap();
    for (const bool singly : {false, true}) {
        driver::LoadTimings timings;
        const std::unique_ptr<Engine> engine =
            job.machine().load(job.program(), job.request().extent, job.options(), timings);
        check_and_time(job, reference, *engine, singly, singly ? result.single : result.run);
        if (!singly && result.run.wrong.empty()) result.kind = kind_of(*engine);
    }
}

}  // namespace

ProgramResult measure_program(driver::Machine& machine, const Program& program) {
    ProgramResult result;
    result.which = program;
    const Job job(machine, program);
    for (const ir::Stage& stage : ir::form_stages(job.program())) {
        const schedule::Footprint footprint = schedule::footprint(job.program(), stage);
        // Stages at points touch few cells, so their bytes do not count.
        if (!footprint.at_points) result.bytes_per_cell += static_cast<double>(footprint.bytes());
    }
    try {
        if (job.gpu() != nullptr) {
            measure_on_gpu(job, result);
        } else {
            measure_on_cpu(job, result);
        }
    } catch (const UnsupportedError& refused) {
        result.trouble = refused.what();
    } catch (const rt::Error& error) {
        (error.code() == rt::ErrorCode::out_of_memory ? result.trouble : result.run.wrong) = error.what();
    }
    return result;
}

}  // namespace halo::bench
