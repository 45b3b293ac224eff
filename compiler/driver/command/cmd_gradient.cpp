// haloc gradient: the derivative of a reduction, by the adjoint, of a spec that is run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compiler/adjoint/adjoint.h"
#include "compiler/driver/command/commands.h"
#include "compiler/driver/command/gradient_explained.h"
#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/progress.h"
#include "compiler/driver/running/gradient.h"
#include "compiler/driver/running/initial_data.h"
#include "compiler/driver/running/kept_states.h"
#include "compiler/driver/running/machine.h"
#include "compiler/driver/running/outputs.h"
#include "compiler/driver/running/pieces_machine.h"
#include "compiler/driver/running/point_data.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/running/request_files.h"
#include "compiler/driver/running/run_lines.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/support/json_text.h"
#include "runtime/io/npy.h"

namespace halo::driver {

namespace {

bool is_trace(const adjoint::Adjoint& made, const std::string& name) {
    return std::ranges::any_of(made.gradients, [&](const adjoint::Adjoint::Gradient& each) {
        return each.with == name && each.kind == adjoint::Adjoint::Kind::trace;
    });
}

// The field of the adjoint that has the gradient with respect to a field of the spec.
std::string gradient_field(const adjoint::Adjoint& made, const std::string& field) {
    for (const adjoint::Adjoint::Gradient& each : made.gradients)
        if (each.with == field && each.kind == adjoint::Adjoint::Kind::field) return each.name;
    std::vector<std::string> known;
    for (const adjoint::Adjoint::Gradient& each : made.gradients)
        if (each.kind == adjoint::Adjoint::Kind::field) known.push_back(each.with);
    refuse_usage(fmt::format("--save {}: that is no field of --with", field),
                 known.empty() ? "gradients with respect to params are printed"
                               : fmt::format("there are {}", fmt::join(known, ", ")));
}

std::vector<Output> gradient_outputs(const GradientArguments& arguments, const ir::Program& program,
                                     const adjoint::Adjoint& made) {
    std::vector<Output> outputs;
    for (const std::string& text : arguments.save) {
        const FileArgument argument = parse_file_argument(text, "--save", ".npy");
        if (is_trace(made, argument.field)) continue;
        Output output;
        const bool is_there =
            std::ranges::any_of(program.fields,
                                [&](const ir::Field& each) { return each.name == argument.field; }) ||
            std::ranges::any_of(program.groups,
                                [&](const ir::Group& each) { return each.name == argument.field; });
        if (!is_there) gradient_field(made, argument.field);
        output.field = find_fields(program, argument.field);
        for (std::string& field : output.field.fields)
            field = gradient_field(made, field);
        output.path = argument.path;
        for (const ir::Field& field : made.program.fields)
            if (field.name == output.field.fields.front()) output.staggered = field.staggered;
        outputs.push_back(std::move(output));
    }
    return outputs;
}

// Of the gradient's cells, so that there is something to see without a file.
struct Summary {
    std::string with;
    double norm = 0, largest = 0;

    void add(double value) {
        norm += value * value;
        // A value that is no number stays.
        if (!(std::abs(value) <= largest)) largest = std::abs(value);
    }
    Summary finished() const { return {with, std::sqrt(norm), largest}; }
};

std::vector<Summary> summaries(Engine& engine, const adjoint::Adjoint& made, const GradientResult& result) {
    std::vector<Summary> all;
    for (const adjoint::Adjoint::Gradient& each : made.gradients) {
        if (each.kind != adjoint::Adjoint::Kind::field) continue;
        const FieldValues values = engine.download(each.name);
        Summary summary{each.with};
        for (std::int64_t i = 0; i < values.size(); ++i)
            summary.add(values.at(i));
        all.push_back(summary.finished());
    }
    for (const auto& [name, rows] : result.traces) {
        Summary summary{name};
        for (const double value : rows)
            summary.add(value);
        all.push_back(summary.finished());
    }
    return all;
}

struct GradientReport {
    const std::string& objective;
    const GradientResult& result;
    std::vector<Summary> fields;
    std::int64_t steps = 0;
    rt::SnapshotPlaces snapshots;
    std::int64_t bytes = 0;  // of a snapshot
    std::size_t gpus = 0;
    const std::vector<WrittenFile>& files;
    std::int64_t done_again() const { return std::max<std::int64_t>(result.steps_forward - steps, 0); }
};

std::string gradient_words(const GradientReport& report) {
    std::string text = fmt::format("{} = {:.17g}\n", report.objective, report.result.objective);
    for (const auto& [name, value] : report.result.numbers)
        text += fmt::format("  d/d{} = {:.17g}\n", name, value);
    for (const Summary& each : report.fields)
        text += fmt::format("  d/d{}: norm {:.6g}, largest {:.6g}\n", each.with, each.norm, each.largest);
    text += fmt::format("{} back in {:.3g} s; {}; {} done again\n", counted(report.steps, "step"),
                        report.result.seconds, snapshot_words(report.snapshots, report.bytes, report.gpus),
                        counted(report.done_again(), "step"));
    for (const WrittenFile& file : report.files)
        text += fmt::format("  {}\n", file.path);
    return text;
}

std::string gradient_json(const GradientReport& report) {
    nlohmann::ordered_json json{{"objective", report.result.objective}};
    for (const auto& [name, value] : report.result.numbers)
        json["numbers"][name] = value;
    for (const Summary& each : report.fields)
        json["fields"][each.with] = {{"norm", each.norm}, {"largest", each.largest}};
    json.update({{"steps", report.steps},
                 {"steps_done_again", report.done_again()},
                 {"snapshots", report.snapshots.count()},
                 {"snapshot_bytes", report.bytes},
                 {"seconds", report.result.seconds}});
    if (report.gpus > 0) json["snapshots_on_host"] = report.snapshots.on_host;
    for (const WrittenFile& file : report.files)
        json["files"].push_back(file.path);
    return json_text(json);
}

[[noreturn]] void refuse_objective(const std::string& name, const RunRequest& request,
                                   const std::vector<std::string>& traces) {
    std::vector<std::string> known = request.reductions;
    known.insert(known.end(), traces.begin(), traces.end());
    if (known.empty())
        refuse_usage(fmt::format("{} has no reduction, so none is `{}`", request.name, name),
                     "a gradient is of a number: add one to the stencil, such as `reduce misfit = sum((u - "
                     "wanted)^2)`");
    throw_unknown(request.name, traces.empty() ? "reduction" : "reduction or trace", name, known);
}

void check_asked(const GradientArguments& arguments, const ir::Program& program, const RunRequest& request) {
    const std::vector<std::string> traces = sampled_traces(program);
    const bool is_trace = std::ranges::count(traces, arguments.of) > 0;
    if (!is_trace && std::ranges::find(request.reductions, arguments.of) == request.reductions.end())
        refuse_objective(arguments.of, request, traces);
    if (is_trace && arguments.weights.empty() && arguments.measured.empty())
        refuse_usage(
            fmt::format("{} is a trace, and a gradient is of one number", arguments.of),
            "--measured gives what it is compared with, or --weights what its numbers are multiplied with "
            "before they are added");
    if (!arguments.weights.empty() && !arguments.measured.empty())
        refuse_usage("--weights and --measured are two ways to make a number of a trace; give one");
    for (const auto& [option, file] :
         {std::pair("--weights", &arguments.weights), std::pair("--measured", &arguments.measured)})
        if (!is_trace && !file->empty())
            refuse_usage(fmt::format("{} is of a trace, and {} is a reduction", option, arguments.of));
    if (is_trace && arguments.every_step)
        refuse_usage("a trace has numbers of every step already", "leave --every-step out");
    if (request.steps < 1) refuse_usage("a gradient is of one step or more", "--steps says how many");
    if (request.until)
        refuse_usage("a gradient is of a fixed number of steps, and the run block has an `until`",
                     "take the `until` out of it");
}

// Numbers for each step and point of the trace; none where no file is named.
std::vector<double> read_rows(const GradientArguments& arguments, const std::string& path, const char* option,
                              const std::vector<PointData>& points, const RunRequest& request) {
    if (path.empty()) return {};
    const std::string name = arguments.of.substr(0, arguments.of.find('.'));
    const auto found = std::ranges::find(points, name, &PointData::points);
    const auto count = static_cast<std::int64_t>(found->positions.size()) / request.rank();
    return rt::read_npy(path, {request.steps, count}, std::string(option) + " of " + arguments.of).values;
}

// Gradients with respect to traces, of the shape of these.
void save_traces(const GradientArguments& arguments, const GradientResult& result, std::int64_t steps,
                 std::vector<WrittenFile>& files) {
    for (const std::string& text : arguments.save) {
        const FileArgument argument = parse_file_argument(text, "--save", ".npy");
        for (const auto& [name, rows] : result.traces) {
            if (name != argument.field) continue;
            rt::write_npy(argument.path, {steps, static_cast<std::int64_t>(rows.size()) / steps}, rows,
                          rt::ElementType::f64);
            files.push_back({name, argument.path, steps});
        }
    }
}

// Of steps that another engine can do, too, in less memory.
std::unique_ptr<Engine> load_if_it_fits(Machine& machine, const ir::Program& program, const Extent& extent,
                                        const CodeOptions& options, LoadTimings& timings) {
    try {
        return machine.load(program, extent, options, timings);
    } catch (const rt::Error& error) {
        if (error.code() != rt::ErrorCode::out_of_memory) throw;
        return nullptr;
    }
}

}  // namespace

ExitCode gradient(const GradientArguments& arguments, rt::Ranks& ranks, const Console& console) {
    if (ranks.count() > 1) refuse_usage("a gradient is computed by one process, and this run has several");
    const CheckedSpec spec = read_run_spec(arguments.run, console);
    const sema::AnalyzedStencil& stencil = choose_stencil(spec, arguments.run.run_name);
    const ir::Program& program = stencil.program;
    RunRequest request = make_request(arguments.run, spec, stencil, console);
    check_asked(arguments, program, request);
    adjoint::Turns turns;
    try {
        const adjoint::Request derived{{arguments.of}, arguments.with, arguments.every_step};
        turns = adjoint::make_turns(program, derived);
        if (request.steps == 1) turns.earlier.reset();
    } catch (const adjoint::RefusedError& refused) {
        show_no_derivative(refused, spec.source, console);
        return ExitCode::spec;
    }
    const adjoint::Adjoint& made = turns.last;
    request.outputs = gradient_outputs(arguments, program, made);
    check_arrays(request);

    std::string remark;
    const std::unique_ptr<Machine> machine =
        arguments.run.devices.empty() ? open_machine(arguments.run.device, remark)
                                      : open_pieces(arguments.run.device, arguments.run.devices, {});
    if (!remark.empty()) console.message("note: " + remark);
    CodeOptions options;
    options.strict_fp = arguments.run.strict_fp;
    options.steps = request.steps;
    if (arguments.every_step) options.watched = {arguments.of};
    // Components in arrays of their own: what the adjoint reads of them does not go over the host then.
    ir::Program apart = program;
    for (ir::Group& group : apart.groups)
        group.interleaved = false;
    options.cut_with = {&apart, &made.program};
    if (turns.earlier) options.cut_with.push_back(&turns.earlier->program);
    CodeOptions single = options;
    if (stencil.schedule) options.file_schedule = stencil.schedule->text;
    single.single_steps = true;
    single.watched.clear();
    // Steps that read no state are those of any run, and may be done several at a time.
    CodeOptions of_earlier = single;
    of_earlier.single_steps = !turns.earlier || !turns.earlier->levels.empty();
    LoadTimings ahead, back, before;
    const std::unique_ptr<Engine> forward = machine->load(apart, request.extent, options, ahead);
    const std::unique_ptr<Engine> backward = machine->load(made.program, request.extent, single, back);
    const std::unique_ptr<Engine> earlier =
        turns.earlier ? load_if_it_fits(*machine, turns.earlier->program, request.extent, of_earlier, before)
                      : nullptr;
    if (earlier == nullptr) turns.earlier.reset();
    const GradientEngines engines{*forward, *backward, earlier.get()};
    GradientPlan plan{program, made, turns.earlier ? &*turns.earlier : nullptr, arguments.of,
                      arguments.every_step};
    share_arrays(engines, plan);
    set_known_arguments(*forward, program, request);
    set_known_arguments(*backward, made.program, request);
    if (earlier) set_known_arguments(*earlier, turns.earlier->program, request);
    const sema::RunSpec* run_spec = spec.analysis.find_run(program.name);
    const std::optional<ir::Program> no_init;
    const std::vector<PointData> points = read_points(program, run_spec, request, *machine);
    fill_initial_data(*forward, program, run_spec != nullptr ? run_spec->init : no_init, request, *machine);

    plan.weights = read_rows(arguments, arguments.weights, "--weights", points, request);
    plan.measured = read_rows(arguments, arguments.measured, "--measured", points, request);
    plan.points = points;
    plan.steps = request.steps;
    plan.snapshots = {};
    if (reads_states(plan))
        plan.snapshots = choose_snapshots(arguments.snapshots, request.steps, *forward, program);
    const std::int64_t bytes = snapshot_bytes(*forward, program, plan.snapshots);
    if (arguments.explain) {
        ExplainedGradient explained = explain_gradient(engines, plan);
        if (!arguments.run.devices.empty()) {  // the first line of each says so
            explained.cut = ahead.schedules.front();
            explained.step_back.cut = (earlier ? before : back).schedules.front();
            if (explained.first) explained.first->cut = back.schedules.front();
        }
        console.result(arguments.run.json ? explained_json(explained) : explained_words(explained));
        return ExitCode::ok;
    }
    Progress progress(console, made.program.name, cell_count(request.extent), request.steps);
    const std::unique_ptr<KeptStates> kept = make_kept_states(*forward, program, plan.snapshots);
    const GradientResult result =
        run_gradient(engines, plan, *kept, [&](std::int64_t left) { progress.update(request.steps - left); });
    progress.clear();
    Outputs outputs(request, ranks, places_of(points));
    outputs.write(*backward, request.steps, true);
    std::vector<WrittenFile> files = outputs.written();
    save_traces(arguments, result, request.steps, files);
    const GradientReport report{arguments.of,      result,         summaries(*backward, made, result),
                                request.steps,     plan.snapshots, bytes,
                                gpus_of(*forward), files};
    if (arguments.run.json) {
        console.result(gradient_json(report));
    } else if (!console.quiet()) {
        console.result(gradient_words(report));
    }
    const bool is_finite =
        std::isfinite(result.objective) &&
        std::ranges::all_of(result.numbers, [](const auto& each) { return std::isfinite(each.second); }) &&
        std::ranges::all_of(report.fields, [](const Summary& each) { return std::isfinite(each.largest); });
    if (!is_finite)
        throw CommandError(ExitCode::device, fmt::format("{} or its gradient is not finite", arguments.of),
                           "haloc run says in which step numbers are no longer finite");
    return ExitCode::ok;
}

}  // namespace halo::driver
