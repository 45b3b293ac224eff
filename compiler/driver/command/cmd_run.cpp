// haloc run: a spec, from text to results.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "compiler/driver/command/commands.h"
#include "compiler/driver/command/iterations.h"
#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/interrupt.h"
#include "compiler/driver/console/progress.h"
#include "compiler/driver/console/stopwatch.h"
#include "compiler/driver/ranks/agreement.h"
#include "compiler/driver/running/checkpoint.h"
#include "compiler/driver/running/child.h"
#include "compiler/driver/running/filled_fields.h"
#include "compiler/driver/running/gpu_machine.h"
#include "compiler/driver/running/initial_data.h"
#include "compiler/driver/running/machine.h"
#include "compiler/driver/running/movies.h"
#include "compiler/driver/running/pieces_machine.h"
#include "compiler/driver/running/point_data.h"
#include "compiler/driver/running/rank_machine.h"
#include "compiler/driver/running/remarks.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/running/run_lines.h"
#include "compiler/driver/running/stability.h"
#include "compiler/driver/running/table_data.h"
#include "compiler/driver/running/time_loop.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/driver/tuning/edited_check.h"
#include "compiler/support/json_text.h"

namespace halo::driver {

namespace {

struct Timings {
    double read = 0;   // the file
    double check = 0;  // from its text to what is to be run
    double open = 0;   // the device
    LoadTimings load;
    double init = 0;  // making initial data, with programs of their own
    double upload = 0;
    double stability = 0;  // the check of the scheme's stability with these numbers
    double watch = 0;      // checks that all is finite
};

struct Report {
    const RunRequest& request;
    const Machine& machine;
    const Timings& timings;
    const LoopResult& loop;
    const std::vector<WrittenFile>& files;
    rt::AsyncBlock async_block;
    Reductions reductions;
    std::vector<rt::RepeatCounts> repeats;
    std::int64_t steps_before = 0;  // of those in `loop`, what a run before this one did
    std::string checkpoint;         // the newest; empty where none was written

    std::int64_t steps_here() const { return loop.steps - steps_before; }
    // That the steps took, and the checks of what they gave.
    double seconds() const { return loop.seconds + timings.watch; }
    double rate() const {
        if (seconds() <= 0) return 0;
        return static_cast<double>(cell_count(request.extent)) * static_cast<double>(steps_here()) /
               seconds();
    }
};

std::string stop_word(LoopResult::Stop stop) {
    switch (stop) {
        case LoopResult::Stop::steps:
            return "steps";
        case LoopResult::Stop::until:
            return "until";
        case LoopResult::Stop::interrupted:
            return "interrupted";
        case LoopResult::Stop::not_finite:
            return "not finite";
    }
    return {};
}

std::string state_word(rt::AsyncBlock::State state) {
    switch (state) {
        case rt::AsyncBlock::State::none:
            break;
        case rt::AsyncBlock::State::pending:
            return "awaited";
        case rt::AsyncBlock::State::active:
            return "taken";
        case rt::AsyncBlock::State::unfit:
            return "unfit";
        case rt::AsyncBlock::State::failed:
            return "failed";
    }
    return "none";
}

// From the text to the last file, in order.
std::vector<std::pair<std::string, double>> parts(const Report& report) {
    const Timings& t = report.timings;
    return {{"read", t.read},
            {"check", t.check},
            {"device", t.open},
            {"optimise", t.load.optimise},
            {"choose", t.load.choose},
            {"lower", t.load.lower},
            {"print", t.load.print},
            {"compile", t.load.compile},
            {"context", t.load.context},
            {"load", t.load.load},
            {"init", t.init},
            {"upload", t.upload},
            {"stability", t.stability},
            {"steps", report.loop.seconds},
            {"watch", t.watch},
            {"files", report.loop.output_seconds}};
}

// Describes what was compiled asynchronously, for which the run did not wait.
std::string beside_text(const rt::AsyncBlock& block) {
    using State = rt::AsyncBlock::State;
    switch (block.state) {
        case State::none:
        case State::failed:  // has been said
            break;
        case State::pending:
            return "  beside the steps: compiling the kernel for several of them, which was not there at the "
                   "end\n";
        case State::active:
        case State::unfit:
            return fmt::format("  beside the steps: {} for compiling the kernel for several of them, {}\n",
                               format_seconds(block.compile_seconds),
                               block.state == State::unfit
                                   ? "which does not fit this grid and device"
                                   : fmt::format("used after step {}", block.after_steps));
    }
    return "";
}

// Describes where the kernel for several steps came from with which the run began.
std::string several_text(LoadTimings::Several several) {
    using Several = LoadTimings::Several;
    if (several == Several::cached) return "  the kernel for several steps came from the disk cache\n";
    if (several == Several::compiled) return "  the kernel for several steps was compiled first\n";
    return "";
}

const char* several_word(LoadTimings::Several several) {
    switch (several) {
        case LoadTimings::Several::none:
            break;
        case LoadTimings::Several::cached:
            return "from the cache";
        case LoadTimings::Several::compiled:
            return "compiled";
        case LoadTimings::Several::beside:
            return "beside the steps";
    }
    return "none";
}

std::string timings_text(const Report& report) {
    const std::string cached = report.timings.load.from_cache ? " (from the disk cache)" : "";
    std::string text;
    double all = 0;
    for (const auto& [name, seconds] : parts(report)) {
        const std::string remark = name == "compile" ? cached
                                   : name == "context" && seconds > 0
                                       ? " (left of what the driver took for it beside all that)"
                                       : "";
        text += fmt::format("  {:<10}{:>10}{}\n", name, format_seconds(seconds), remark);
        all += seconds;
    }
    const Timings& t = report.timings;
    const double to_kernels = t.read + t.check + t.load.optimise + t.load.choose + t.load.lower +
                              t.load.print + t.load.compile + t.load.load;
    return text + fmt::format("  {:<10}{:>10}\n", "all", format_seconds(all)) +
           fmt::format("  from the spec to kernels that can run: {}, without device and context\n",
                       format_seconds(to_kernels)) +
           several_text(t.load.several) + beside_text(report.async_block);
}

std::string report_text(const Report& report, bool with_timings) {
    const LoopResult& loop = report.loop;
    const std::int64_t steps = report.steps_here();
    std::string text =
        fmt::format("{} step{} in {}", steps, steps == 1 ? "" : "s", format_seconds(report.seconds()));
    if (steps > 0) text += ", " + format_rate(report.rate());
    if (report.steps_before > 0) text += fmt::format("; from step {} on", report.steps_before);
    if (loop.stop == LoopResult::Stop::until)
        text += fmt::format("; stopped by until {}", report.request.until_words);
    text += '\n';
    for (const auto& [name, value] : report.reductions)
        text += fmt::format("{} = {:.6g}\n", name, value);
    text += iterations_text(report.repeats, steps, report.reductions);
    constexpr std::size_t kShown = 8;
    for (std::size_t i = 0; i < report.files.size(); ++i) {
        bool is_hidden =
            report.files.size() > kShown + 1 && i >= kShown / 2 && i + kShown / 2 < report.files.size();
        if (!is_hidden) {
            text += fmt::format("wrote {}\n", report.files[i].path);
        } else if (i == kShown / 2) {
            text += fmt::format("… and {} more …\n", report.files.size() - kShown);
        }
    }
    if (!report.checkpoint.empty()) text += fmt::format("wrote {}\n", report.checkpoint);
    return with_timings ? text + timings_text(report) : text;
}

void add_transports(const std::vector<rt::TransportTime>& transports, nlohmann::ordered_json& json) {
    if (transports.empty()) return;
    json["transport"] = transports.front().name;
    if (transports.size() == 1) return;
    for (const rt::TransportTime& tried : transports)
        json["transports"].push_back({{"name", tried.name}, {"seconds_per_exchange", tried.seconds}});
}

std::string as_json(const Report& report) {
    nlohmann::ordered_json json;
    json["name"] = report.request.name;
    json["device"] = report.machine.kind();
    json["device_description"] = report.machine.description();
    add_transports(report.timings.load.transports, json);
    json["grid"] = std::vector<std::int64_t>(report.request.extent.begin(),
                                             report.request.extent.begin() + report.request.rank());
    json["steps"] = report.loop.steps;
    if (report.steps_before > 0) json["restarted_after"] = report.steps_before;
    if (!report.checkpoint.empty()) json["checkpoint"] = report.checkpoint;
    json["stopped"] = stop_word(report.loop.stop);
    json["gstencil_per_s"] = report.rate() / 1e9;
    json["reductions"] = nlohmann::ordered_json::object();
    for (const auto& [name, value] : report.reductions)
        json["reductions"][name] = value;
    add_iterations(report.repeats, json);
    json["files"] = nlohmann::ordered_json::array();
    for (const WrittenFile& file : report.files) {
        json["files"].push_back({{"field", file.field}, {"path", file.path}, {"step", file.step}});
    }
    json["seconds"] = nlohmann::ordered_json::object();
    for (const auto& [name, seconds] : parts(report))
        json["seconds"][name] = seconds;
    json["compiled_from_cache"] = report.timings.load.from_cache;
    json["several_steps_kernel"] = several_word(report.timings.load.several);
    json["schedules"] = report.timings.load.schedules;
    const rt::AsyncBlock& block = report.async_block;
    if (block.state != rt::AsyncBlock::State::none) {
        json["late_kernel"]["state"] = state_word(block.state);
        if (block.state != rt::AsyncBlock::State::pending) {
            json["late_kernel"]["compile_seconds"] = block.compile_seconds;
            json["late_kernel"]["load_seconds"] = block.load_seconds;
            json["late_kernel"]["after_steps"] = block.after_steps;
        }
        if (!block.trouble.empty()) json["late_kernel"]["trouble"] = block.trouble;
    }
    return json_text(json);
}

std::string trouble_words(const RunRequest& request, const LoopResult& loop, const Outputs& outputs,
                          const Watch& watch, Engine& engine) {
    if (watch.trouble()) return *watch.trouble();
    if (outputs.trouble()) return *outputs.trouble();
    for (const std::string& name : request.reductions)
        if (std::isnan(engine.reduction(name)))
            return fmt::format("after step {}, {} is not a number", loop.steps, name);
    return "";
}

// Ends a run whose values are no longer finite: says which are not, what is left of the results, and what the
// cause may be.
[[noreturn]] void throw_not_finite(const std::string& what, const Watch& watch, const std::string& unstable,
                                   rt::Ranks& ranks) {
    std::string hint;
    const std::vector<WrittenFile> kept = watch.save_last_good();
    ranks.barrier();  // before any of them ends the run
    std::vector<std::string> paths;
    for (const WrittenFile& file : kept)
        paths.push_back(file.path);
    if (watch.last_good_step())
        hint = fmt::format("all was finite after step {}", *watch.last_good_step()) +
               (paths.empty() ? "; " : fmt::format(": that state is in {}; ", join(paths, ", ")));
    hint += !unstable.empty()
                ? unstable
                : "an explicit scheme does this where its time step is too long for the spacing; try a "
                  "shorter one, or haloc check --stability";
    throw CommandError(ExitCode::device, "the numbers have left the finite: " + what, hint);
}

std::string stability_remark(Engine& engine, const ir::Program& program, const RunRequest& request,
                             rt::Ranks& ranks) {
    FilledFields fields(engine, program, request.extent, ranks);
    if (!ranks.is_first()) return fields.follow(), "";
    std::string warning = stability_warning(stability_of_run(
        request, program, [&](ir::FieldId field) { return fields.range(field); },
        [&](ir::FieldId field, const analysis::Cell& cell) { return fields.value(field, cell); }));
    fields.end();
    return warning;
}

// Opens the store of measured schedules where the machine has schedules to choose.
std::shared_ptr<const TunedSchedules> tuned_for(const RunArguments& arguments, const Machine& machine,
                                                const Console& console) {
    const auto* gpu = dynamic_cast<const GpuMachine*>(&machine);
    if (gpu == nullptr || arguments.no_tuned) return nullptr;
    std::string remark;
    std::shared_ptr<const TunedSchedules> tuned = open_tuned(arguments.store, gpu->tune_device(), remark);
    if (!remark.empty()) console.warning(remark);
    return tuned;
}

// The device to run on: a GPU for edited kernels, which are CUDA.
std::string device_of(const RunArguments& arguments) {
    if (arguments.cuda.empty()) return arguments.device;
    if (arguments.device == "auto") return "cuda";
    if (arguments.device.starts_with("cuda")) return arguments.device;
    throw CommandError(ExitCode::usage,
                       fmt::format("--cuda is for a GPU, and --device says {}", arguments.device),
                       "leave --device out, or give cuda:N");
}

void set_arguments(Engine& engine, const RunRequest& request) {
    for (const auto& [name, value] : request.params)
        engine.set_param(name, value);
    for (const auto& [name, values] : request.coefs)
        engine.set_coef(name, values);
}

void say(const std::string& note, const Console& console) {
    if (!note.empty()) console.message(note);
}

// The checkpoint that a run goes on from, and the folder for its own.
struct Persistence {
    std::optional<Checkpoint> from;
    std::unique_ptr<Checkpoints> to;
    std::int64_t steps_before() const { return from ? from->manifest.steps : 0; }
};

Persistence open_checkpoints(const RunArguments& arguments, rt::Ranks& ranks, const ir::Program& program,
                             const sema::RunSpec* run, const RunRequest& request) {
    Persistence result;
    if (arguments.checkpoint.empty() && arguments.restart.empty()) return result;
    const CheckpointInterval interval = parse_interval(arguments.checkpoint_every);
    const RunIdentity identity = identity_of(ranks, program, run, request);
    if (!arguments.restart.empty()) {
        result.from = find_checkpoint(ranks, arguments.restart);
        check_checkpoint(*result.from, identity, request);
    }
    if (!arguments.checkpoint.empty())
        result.to = std::make_unique<Checkpoints>(ranks, arguments.checkpoint, interval, identity, program,
                                                  result.from);
    return result;
}

// Describes all that defines a run and that processes might have been given differently.
std::string words_of_run(const RunArguments& arguments, const RunRequest& request, const CheckedSpec& spec) {
    std::string words = fmt::format("{} {} {} {} {}\n", request.name, fmt::join(request.extent, ","),
                                    request.steps, request.watch, request.strict_fp);
    for (const auto& [name, value] : request.params)
        words += fmt::format("{}={} ", name, value);
    for (const Output& output : request.outputs)
        words += fmt::format("{}:{} ", output.field.name, output.path);
    words += fmt::format("\n{} {} {}\n", arguments.checkpoint, arguments.checkpoint_every, arguments.restart);
    return words + std::string(spec.source.text());
}

std::unique_ptr<Machine> open(const RunArguments& arguments, rt::Ranks& ranks, std::string& remark) {
    if (ranks.count() > 1) return open_rank(arguments, ranks);
    if (!arguments.transport.empty())
        throw CommandError(ExitCode::usage, "--transport is for a run of several processes, and this is one",
                           "for example mpirun -n 4 haloc run …");
    if (arguments.devices.empty()) return open_machine(device_of(arguments), remark);
    return open_pieces(arguments.device, arguments.devices, arguments.exchange);
}

}  // namespace

ExitCode run(const RunArguments& arguments, rt::Ranks& ranks, const Console& console) {
    if (ranks.count() > 1) check_arguments_of_ranks(arguments);
    if (arguments.timeout) ranks.set_timeout(*arguments.timeout);
    Timings timings;
    Stopwatch clock;
    CheckedSpec spec = read_run_spec(arguments, console);
    const sema::AnalyzedStencil& stencil = choose_stencil(spec, arguments.run_name);
    RunRequest request = make_request(arguments, spec, stencil, console);
    timings.read = spec.read_seconds;
    timings.check = clock.lap() - spec.read_seconds;
    const sema::RunSpec* run_spec = spec.analysis.find_run(stencil.program.name);
    require_same_run(ranks, words_of_run(arguments, request, spec));
    const Persistence persistence = open_checkpoints(arguments, ranks, stencil.program, run_spec, request);

    std::optional<EditedCuda> edited;
    if (!arguments.cuda.empty()) {
        if (!arguments.devices.empty())
            throw CommandError(ExitCode::usage,
                               "edited kernels (--cuda) run on one device, and --devices asks for more",
                               "leave one of them out");
        edited = read_edited_cuda(arguments.cuda);
    }

    clock.lap();
    std::string remark;
    std::unique_ptr<Machine> machine = open(arguments, ranks, remark);
    timings.open = clock.lap();
    if (!remark.empty()) console.message("note: " + remark);
    announce(request, *machine, console);
    say(boundary_note(stencil), console);
    prepare_movies(request, stencil.program, persistence.steps_before(), console);

    CodeOptions options;
    options.schedules = arguments.schedule;
    if (stencil.schedule) options.file_schedule = stencil.schedule->text;
    options.strict_fp = arguments.strict_fp;
    options.tuned = tuned_for(arguments, *machine, console);
    options.steps = request.steps;
    options.watched = request.watched;
    options.wait_for_time_block = !options.schedules.empty() || !options.file_schedule.empty();
    check_asked_schedules(options, stencil.program.rank());
    if (edited) {
        take_edited(std::move(*edited), stencil.program, choose_grid(spec, stencil.program, ""), options);
        console.message(check_edited(dynamic_cast<GpuMachine&>(*machine), stencil.program, run_spec, request,
                                     options, arguments.tolerance_ulps.value_or(0)));
    }
    const std::optional<ir::Program> no_init;
    const std::optional<ir::Program>& init = run_spec != nullptr ? run_spec->init : no_init;
    prepare_initial_data(init, request, *machine);
    std::unique_ptr<Engine> engine = machine->load(stencil.program, request.extent, options, timings.load);
    if (ranks.count() == 1) leave_kernel(arguments, machine->kind(), timings.load.lacking);
    if (arguments.verbose) {
        for (std::size_t i = 0; i < timings.load.schedules.size(); ++i)
            console.message(fmt::format("stage {}: {}", i + 1, timings.load.schedules[i]));
    }
    set_arguments(*engine, request);

    clock.lap();
    fill_tables(*engine, stencil.program, run_spec, request, *machine);
    fill_points(*engine, stencil.program, run_spec, request, *machine);
    const std::set<std::string> kept =
        persistence.from ? saved_fields(stencil.program) : std::set<std::string>();
    say(zeros_note(fill_initial_data(*engine, stencil.program, init, request, *machine, kept)), console);
    if (persistence.from) restore(ranks, *persistence.from, *engine, stencil.program);
    timings.upload = engine->upload_seconds();
    timings.init = clock.lap() - timings.upload;

    clock.lap();
    const std::string unstable =
        request.steps > 0 ? stability_remark(*engine, stencil.program, request, ranks) : std::string();
    if (!unstable.empty()) console.warning(unstable);
    timings.stability = clock.lap();

    // From here on signals are remembered. Before the first step there is nothing to save, so until here a
    // signal ends the process.
    const InterruptGuard guard;
    Outputs outputs(request, ranks);
    Watch watch(request, *engine, ranks, persistence.steps_before());
    LoopResult loop = run_steps(*engine, request, persistence.steps_before(), outputs, watch,
                                persistence.to.get(), ranks, console);
    timings.watch = watch.seconds();
    Report report{request,
                  *machine,
                  timings,
                  loop,
                  outputs.written(),
                  engine->async_block(),
                  {},
                  engine->repeat_counts(),
                  persistence.steps_before(),
                  persistence.to ? persistence.to->newest() : ""};
    if (report.async_block.state == rt::AsyncBlock::State::failed)
        console.warning("all steps were done singly, as the kernel for several of them cannot be used: " +
                        report.async_block.trouble);
    if (ranks.count() == 1 && report.async_block.state == rt::AsyncBlock::State::pending)
        leave_kernel(arguments, machine->kind(), timings.load.late);
    for (const std::string& name : request.reductions)
        if (loop.steps > 0) report.reductions.emplace_back(name, engine->reduction(name));
    if (arguments.json) {
        console.result(as_json(report));
    } else if (!console.quiet()) {
        console.result(report_text(report, arguments.timings));
    }
    if (loop.stop == LoopResult::Stop::not_finite || outputs.trouble())
        throw_not_finite(trouble_words(request, loop, outputs, watch, *engine), watch, unstable, ranks);
    if (persistence.to && !persistence.to->trouble().empty())
        throw rt::Error(rt::ErrorCode::io, "the last checkpoint is missing: " + persistence.to->trouble());
    ranks.barrier();  // while signals are remembered: none is to end a rank before all are done
    if (loop.stop != LoopResult::Stop::interrupted) return ExitCode::ok;
    console.message(fmt::format("interrupted after step {} of {}", loop.steps, request.steps));
    return ExitCode::interrupted;
}

}  // namespace halo::driver
