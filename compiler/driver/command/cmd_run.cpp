// haloc run: a spec, from text to results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "compiler/driver/command/commands.h"
#include "compiler/driver/command/run_report.h"
#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/interrupt.h"
#include "compiler/driver/console/stopwatch.h"
#include "compiler/driver/live/live_run.h"
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
#include "compiler/driver/running/provenance.h"
#include "compiler/driver/running/rank_machine.h"
#include "compiler/driver/running/remarks.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/running/run_lines.h"
#include "compiler/driver/running/saved_frames.h"
#include "compiler/driver/running/stability.h"
#include "compiler/driver/running/table_data.h"
#include "compiler/driver/running/time_loop.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/driver/tuning/edited_check.h"

namespace halo::driver {

namespace {

std::string trouble_words(const RunRequest& request, const LoopResult& loop, const Outputs& outputs,
                          const Watch& watch, Engine& engine) {
    if (watch.trouble()) return *watch.trouble();
    if (outputs.trouble()) return *outputs.trouble();
    for (const std::string& name : request.reductions)
        if (std::isnan(engine.reduction(name)) && std::ranges::count(request.chained, name) == 0)
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

// Why the page of a run cannot change its params: what it writes would say of another run than was done.
std::string why_params_are_fixed(const RunArguments& arguments, const RunRequest& request) {
    if (request.is_stretched != std::array<bool, rt::kMaxRank>{})
        return "params stay as they are: the places of cells, which differ, are those that the run began "
               "with";
    if (!arguments.checkpoint.empty())
        return "params stay as they are: the run writes checkpoints, which go on with those it began with";
    if (std::ranges::any_of(request.outputs, [](const Output& output) { return output.frames.together; }))
        return "params stay as they are: the run writes frames into one file, which has one set of them";
    return "";
}

void check_live(const RunArguments& arguments, const rt::Ranks& ranks, const Console& console) {
    if (!arguments.live) return;
    if (ranks.count() > 1)
        refuse_usage("a run of several processes has no page: --live is for one", "start it without mpirun");
    if (console.quiet()) refuse_usage("--quiet would hide the address of the page", "leave it out");
}

// Why the last step was the last, for those who look at the run.
std::string ending_words(const RunRequest& request, const LoopResult& loop, const std::string& trouble) {
    switch (loop.stop) {
        case LoopResult::Stop::steps:
            break;
        case LoopResult::Stop::until:
            return fmt::format("stopped by until {}", request.until_words);
        case LoopResult::Stop::interrupted:
            return "interrupted";
        case LoopResult::Stop::not_finite:
            return "stopped: " + trouble;
    }
    return "finished";
}

}  // namespace

ExitCode run(const RunArguments& arguments, rt::Ranks& ranks, const Console& console) {
    check_live(arguments, ranks, console);
    if (ranks.count() > 1) check_arguments_of_ranks(arguments);
    if (arguments.timeout) ranks.set_timeout(*arguments.timeout);
    RunTimings timings;
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
    std::unique_ptr<live::LiveRun> page;
    if (arguments.live)
        page = std::make_unique<live::LiveRun>(
            *arguments.live, request, stencil.program, run_spec, machine->kind(),
            why_params_are_fixed(arguments, request),
            [&](Engine& of) { return stability_remark(of, stencil.program, request, ranks); }, ranks,
            console);
    prepare_movies(request, stencil.program, persistence.steps_before(), console);
    prepare_together(request, persistence.steps_before(), console);

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
    PointPlaces places = fill_points(*engine, stencil.program, run_spec, request, *machine);
    const std::set<std::string> kept =
        persistence.from ? saved_fields(*persistence.from, stencil.program) : std::set<std::string>();
    say(zeros_note(fill_initial_data(*engine, stencil.program, init, request, *machine, kept)), console);
    if (persistence.from) restore(ranks, *persistence.from, *engine, stencil.program);
    timings.upload = engine->upload_seconds();
    timings.init = clock.lap() - timings.upload;

    clock.lap();
    const std::string unstable =
        request.steps > 0 ? stability_remark(*engine, stencil.program, request, ranks) : std::string();
    if (!unstable.empty()) console.warning(unstable);
    timings.stability = clock.lap();

    const Provenance provenance(ranks, arguments, spec, stencil.program, request, *machine, timings.load);

    // From here on signals are remembered. Before the first step there is nothing to save, so until here a
    // signal ends the process.
    const InterruptGuard guard;
    Outputs outputs(request, ranks, std::move(places), &provenance);
    Watch watch(request, *engine, ranks, persistence.steps_before());
    if (page) console.message("the page is at " + page->url());
    Console during = console;
    if (request.is_endless()) during.set_quiet(true);  // there is no part of it that is done
    LoopResult loop = run_steps(*engine, request, persistence.steps_before(), outputs, watch,
                                persistence.to.get(), page.get(), ranks, during);
    timings.watch = watch.seconds();
    RunReport report{request,
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
        console.result(run_json(report));
    } else if (!console.quiet()) {
        console.result(report_text(report, arguments.timings));
    }
    const bool is_finite = loop.stop != LoopResult::Stop::not_finite && !outputs.trouble();
    const std::string trouble = is_finite ? "" : trouble_words(request, loop, outputs, watch, *engine);
    if (page) page->end(*engine, loop.steps, loop.seconds, ending_words(request, loop, trouble));
    if (!is_finite) throw_not_finite(trouble, watch, unstable, ranks);
    if (persistence.to && !persistence.to->trouble().empty())
        throw rt::Error(rt::ErrorCode::io, "the last checkpoint is missing: " + persistence.to->trouble());
    ranks.barrier();  // while signals are remembered: none is to end a rank before all are done
    const bool is_left = arguments.live && arguments.live->stays;  // a page that stays ends by Ctrl-C alone
    if (loop.stop != LoopResult::Stop::interrupted) return is_left ? ExitCode::interrupted : ExitCode::ok;
    console.message(fmt::format("interrupted after step {}", loop.steps) +
                    (request.is_endless() ? "" : fmt::format(" of {}", request.steps)));
    return ExitCode::interrupted;
}

}  // namespace halo::driver
