#include "compiler/driver/command/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/driver/command/bench_options.h"
#include "compiler/driver/command/commands.h"
#include "compiler/driver/command/gradient_options.h"
#include "compiler/driver/command/help_texts.h"
#include "compiler/driver/command/lift_options.h"
#include "compiler/driver/command/manual.h"
#include "compiler/driver/command/option_forms.h"
#include "compiler/driver/command/validators.h"
#include "compiler/driver/command/view_options.h"
#include "compiler/driver/console/arguments.h"

namespace halo::driver {
namespace {

class CommandLine {
public:
    CommandLine(Console& console, rt::Ranks& ranks)
        : console_(console), ranks_(ranks), app_(kDescription, "haloc") {
        app_.footer(kFooter);
        app_.require_subcommand(1);
        app_.set_version_flag("--version", "haloc " HALO_VERSION);
        app_.get_formatter()->column_width(34);
        add_check();
        add_emit();
        add_bundle();
        add_run();
        add_view();
        add_rerun();
        add_info();
        add_compile();
        add_explain();
        add_bench();
        add_tune();
        add_format();
        add_lsp();
        add_lift();
        add_derivative("tangent", "Write the tangent of a spec: how its results change, to first order",
                       tangent);
        add_derivative("adjoint", "Write the adjoint of a spec: its steps backwards, for gradients", adjoint);
        add_gradient();
        add_doctor();
        add_about();
    }

    ExitCode main(int argc, const char* const* argv) {
        try {
            app_.parse(take_lift_arguments(argc, argv), argv);
        } catch (const CLI::Success& asked) {  // --help, --version
            std::ostringstream text;
            app_.exit(asked, text, text);
            console_.result(text.str());
            return ExitCode::ok;
        } catch (const CLI::ParseError& mistake) {
            throw_for_unknown_command(argc, argv);
            throw CommandError(ExitCode::usage, mistake.what(), usage_hint());
        }
        for (const CLI::App* sub : app_.get_subcommands())
            refuse_empty_values(*sub, usage_hint());
        console_.set_quiet(quiet_);
        return chosen_();
    }

private:
    CLI::App* command(const std::string& name, const std::string& description) {
        CLI::App* sub = app_.add_subcommand(name, description);
        sub->footer("");  // not the whole command's
        sub->add_flag("-q,--quiet", quiet_, "no progress and no remarks; mistakes are still reported");
        return sub;
    }
    void add_check() {
        CLI::App* sub = command("check", "Say whether a spec is right, and if not, where and why");
        sub->add_option("FILE", check_.files, "spec, or - for standard input")->required();
        modules(*sub, check_.include);
        sub->add_flag("--json", check_.json, "the messages as JSON on standard output, for editors");
        sub->add_flag("--strict", check_.strict, "exit with 1 for warnings, too");
        sub->add_flag(
            "--stability{dt}", check_.stability,
            "the largest stable dt of schemes that are linear (von Neumann), and the wave that breaks "
            "first; --stability=NAME for another param");
        sub->callback([this] { chosen_ = [this] { return check(check_, console_); }; });
    }
    void add_emit() {
        CLI::App* sub = command("emit", "Write the code that a spec becomes");
        sub->add_option("FILE", emit_.file, "spec, or - for standard input")->required();
        modules(*sub, emit_.include);
        sub->add_option(
            "-o,--output", emit_.output,
            "file to write (.cu gets a C launcher .h beside it); standard output where it is not given");
        sub->add_option(
               "--target", emit_.target,
               "cuda (default); cpu: the C++ of the CPU back end; plan: the launch plan as JSON; stencil, "
               "kernel: the intermediate representations")
            ->transform(CLI::CheckedTransformer(targets_).description(""))
            ->option_text("cuda|cpu|plan|stencil|kernel");
        sub->add_option("--stencil", emit_.stencil, "which stencil, where the file has several");
        sub->add_option("--schedule", emit_.schedule, kScheduleHelp)->allow_extra_args(false);
        sub->add_flag("--strict-fp", emit_.strict_fp, "keep the order of arithmetic as written");
        sub->add_option(
               "--style", emit_.style,
               "of a .cu file: launcher (default); kernel-only: no launcher, and a comment that says how "
               "to launch the kernels")
            ->transform(CLI::CheckedTransformer(styles_).description(""))
            ->option_text("launcher|kernel-only");
        sub->add_option(
               "--with", emit_.with,
               "files beside the .cu, such as cubin,plan; plan: the launch plan as JSON; cmake: a file to "
               "include that makes a library of it")
            ->delimiter(',')
            ->transform(CLI::CheckedTransformer(beside_).description(""))
            ->option_text("cubin|ptx|plan|cmake ...");
        sub->add_option("--arch", emit_.archs,
                        "what schedules and cubins are for, sm_90 where it is not given; several with commas")
            ->delimiter(',');
        sub->add_option("--grid", emit_.grid,
                        "what schedules are chosen for; the run block's, where it is not given");
        sub->add_flag("--fixed-grid", emit_.fixed_grid,
                      "code for that grid alone: extents and strides are constants");
        sub->add_flag("--annotate", emit_.annotate, "comments in the CUDA name the spec's lines");
        sub->add_flag("--line-info", emit_.line_info,
                      "cubin and PTX know the lines of the .cu, for profilers");
        sub->callback([this] { chosen_ = [this] { return emit(emit_, console_); }; });
    }
    void add_bundle() {
        CLI::App* sub = command("bundle", "Write code that programs run without the compiler");
        sub->footer(kBundleFooter);
        sub->add_option("FILE", bundle_.file, "spec, or - for standard input")->required();
        modules(*sub, bundle_.include);
        sub->add_option(
               "-o,--output", bundle_.output,
               "file to write: NAME.halobundle to be loaded, or NAME.cpp to be linked in, which has code "
               "for the CPU, too, and gets NAME.h beside it")
            ->required();
        repeatable(*sub, "--arch", bundle_.archs,
                   "a GPU architecture to compile for, such as sm_90; needs NVRTC");
        repeatable(*sub, "--grid", bundle_.grids, "cells along each axis: code with schedules for this grid");
        sub->add_flag("--only-grids", bundle_.only_grids, "no code for GPUs with other grids than those");
        sub->add_option("--stencil", bundle_.stencil, "which stencil, where the file has several");
        repeatable(*sub, "--schedule", bundle_.schedule, kScheduleHelp);
        sub->add_flag("--strict-fp", bundle_.strict_fp, "keep the order of arithmetic as written");
        sub->add_option("--depfile", bundle_.depfile,
                        "write the files that it is made from, as make reads them");
        sub->callback([this] { chosen_ = [this] { return bundle(bundle_, console_); }; });
    }
    void add_run() {
        CLI::App* sub = command("run", "Run a spec");
        sub->footer(kRunFooter);
        sub->add_option("FILE", run_.file, "spec, or - for standard input")->required();
        modules(*sub, run_.include);
        sub->add_option("RUN", run_.run_name, "which run block (or stencil), where the file has several");
        sub->add_option(
            "--device", run_.device,
            "auto (default): the first CUDA device, else the CPU; cuda; cuda:N; cpu; interpreter");
        auto* devices = sub->add_option("--devices", run_.devices, kDevicesHelp);
        exchange(sub, ranks_.count() > 1 ? nullptr : devices, run_.exchange);
        sub->add_option("--transport", run_.transport,
                        "of several processes: nccl (between GPUs; where it can be) or mpi (over the host)")
            ->check(CLI::IsMember({"nccl", "mpi"}).description(""))
            ->option_text("nccl|mpi");
        sub->add_option(
               "--timeout", run_.timeout,
               "of several processes: seconds without an answer after which one is lost, 60 by default")
            ->check(above_zero());
        sub->add_option("--grid", run_.grid, "cells along each axis, such as 128,128,128");
        sub->add_option("--steps", run_.steps, "time steps, such as 5000 or 1e4")->transform(step_count());
        repeatable(*sub, "--set", run_.set, "NAME=VALUE: a parameter, such as dt=0.1, dx=1/63 or dt=0.1*2");
        repeatable(*sub, "--init", run_.init,
                   "FIELD=EXPR: values at the start, as in a run block: 'u=exp(-x^2)'");
        sub->add_option("--until", run_.until,
                        "a condition, as in a run block, after which the run stops: 'change < 1e-6'");
        repeatable(*sub, "--load", run_.load,
                   "FIELD=FILE.npy: initial data (or FILE.h5, FILE.h5:/DATASET, FILE.nc, FILE.segy; or .png: "
                   "a picture)");
        auto* save = repeatable(*sub, "--save", run_.save, kSaveHelp);
        auto* every = sub->add_option("--save-every", run_.save_every, kSaveEveryHelp)->needs(save);
        sub->add_flag("--together", run_.together, "these in one file (.h5, .nc or .vtkhdf), as a first axis")
            ->needs(every);
        repeatable(*sub, "--plot", run_.plot,
                   "FIELD[@AXIS=INDEX][=FILE.png]: draw a field (or a slice of it) at the end; a reduction "
                   "over the time; or as in a run block: 'u contours p to \"u.png\" range 0..1'");
        auto* movie = repeatable(*sub, "--movie", run_.movie, kMovieHelp);
        sub->add_option("--movie-every", run_.movie_every, kMovieEveryHelp)
            ->transform(step_count())
            ->check(above_zero())
            ->needs(movie);
        repeatable(*sub, "--schedule", run_.schedule, kScheduleHelp);
        auto* cuda = sub->add_option("--cuda", run_.cuda, kEditedHelp);
        sub->add_option("--tolerance-ulps", run_.tolerance_ulps,
                        "how far edited kernels may be from the spec, in units of a value's last place")
            ->check(natural_number())
            ->needs(cuda);
        auto* checkpoint = sub->add_option("--checkpoint", run_.checkpoint,
                                           "a folder for checkpoints: what --restart goes on from. One is "
                                           "written at the end, also at Ctrl-C");
        sub->add_option("--checkpoint-every", run_.checkpoint_every,
                        "and one every so many steps, or every so long: 1000, 30s, 10min, 2h")
            ->needs(checkpoint);
        sub->add_option("--restart", run_.restart,
                        "go on from the newest checkpoint in a folder, or from a checkpoint; --steps counts "
                        "from the beginning");
        sub->add_flag("--no-files", run_.no_files, "write none of the run block's files");
        sub->add_flag("--safe", run_.safe,
                      "for a spec of somebody else's: refuse files of its run block that are outside of the "
                      "current directory");
        sub->add_flag("--strict-fp", run_.strict_fp, "keep the order of arithmetic as written");
        sub->add_flag("--no-watch", run_.no_watch, "go on where numbers are no longer finite");
        sub->add_flag("--timings", run_.timings, "say where the time went");
        sub->add_flag("--no-background", run_.no_background,
                      "leave no process behind that compiles what the run was too short to wait for");
        sub->add_flag("-v,--verbose", run_.verbose,
                      "say by which schedule each stage runs on a GPU, and why");
        tuned(sub, run_.no_tuned, run_.store);
        sub->add_flag("--json", run_.json, "the result as JSON on standard output");
        auto* live = add_live_options(*sub, live_);
        sub->callback([this, live] {
            if (live->count() > 0) run_.live = live_;
            chosen_ = [this] { return run(run_, ranks_, console_); };
        });
    }
    void add_view() {
        CLI::App* sub = command("view", "Show a run on a page in the browser: fields, curves, params");
        add_view_options(*sub, run_, live_);
        sub->callback([this] { chosen_ = [this] { return view(run_, live_, ranks_, console_); }; });
    }
    void add_rerun() {
        CLI::App* sub = command("rerun", "Repeat the run that an HDF5 file comes from, and compare the bits");
        sub->footer(kRerunFooter);
        sub->add_option("FILE", rerun_.file, "an HDF5 file that haloc run wrote")->required();
        sub->add_option("--device", rerun_.device,
                        "one like that of the run (default), or auto, cuda, cuda:N, cpu, interpreter");
        sub->add_flag("--json", rerun_.json, "the comparison as JSON");
        sub->callback([this] { chosen_ = [this] { return rerun(rerun_, ranks_, console_); }; });
    }
    void add_info() {
        CLI::App* sub = command("info", "Say what an HDF5 file holds, and which run wrote it");
        sub->add_option("FILE", info_.file, "an HDF5 file")->required();
        auto* json = sub->add_flag("--json", info_.json, "what it says of its run, as JSON");
        sub->add_flag("--spec", info_.spec, "the text of its spec alone")->excludes(json);
        sub->callback([this] { chosen_ = [this] { return info(info_, console_); }; });
    }
    void add_compile() {
        CLI::App* sub =
            command("compile", "Compile ahead what a run of a spec would use, into the disk cache");
        sub->footer(kCompileFooter);
        RunArguments& run = compile_.run;
        sub->add_option("FILE", run.file, "spec, or - for standard input")->required();
        modules(*sub, run.include);
        sub->add_option("RUN", run.run_name, "which run block (or stencil), where the file has several");
        auto* device = sub->add_option(
            "--device", run.device, "auto (default): the first CUDA device, else the CPU; cuda; cuda:N; cpu");
        sub->add_option("--arch", compile_.arch, "a GPU that is not here, such as sm_90; needs NVRTC")
            ->excludes(device);
        sub->add_option("--grid", run.grid, "cells along each axis; the run block's, where it is not given");
        repeatable(*sub, "--set", run.set, "NAME=VALUE: a parameter, such as dt=0.1, dx=1/63 or dt=0.1*2");
        repeatable(*sub, "--load", run.load, "FIELD=FILE or NAME=FILE: what the run will load");
        repeatable(*sub, "--schedule", run.schedule, kScheduleHelp);
        sub->add_flag("--strict-fp", run.strict_fp, "keep the order of arithmetic as written");
        tuned(sub, run.no_tuned, run.store);
        sub->add_flag("--background", compile_.background)->group("");  // what a run leaves behind
        sub->callback([this] { chosen_ = [this] { return compile(compile_, console_); }; });
    }
    void add_explain() {
        CLI::App* sub = command("explain", "Say how a spec would run on a GPU, and why");
        sub->add_option("FILE", explain_.file, "spec, or - for standard input")->required();
        modules(*sub, explain_.include);
        sub->add_option("--stencil", explain_.stencil, "which stencil, where the file has several");
        sub->add_option("--grid", explain_.grid,
                        "cells along each axis; the run block's, where it is not given");
        repeatable(*sub, "--schedule", explain_.schedule, kScheduleHelp);
        auto* devices = sub->add_option("--devices", explain_.devices,
                                        "how the grid is cut for so many GPUs, what they exchange, and what "
                                        "is expected of them")
                            ->check(CLI::Range(1, 1 << 20));
        exchange(sub, devices, explain_.exchange);
        sub->add_flag("--strict-fp", explain_.strict_fp, "keep the order of arithmetic as written");
        tuned(sub, explain_.no_tuned, explain_.store);
        sub->add_flag("--json", explain_.json, "as JSON");
        sub->callback([this] { chosen_ = [this] { return explain(explain_, console_); }; });
    }
    void add_bench() {
        CLI::App* sub =
            command("bench", "Measure how fast the code is on this machine, verified in the same run");
        add_bench_options(*sub, bench_);
        sub->callback([this] { chosen_ = [this] { return bench(bench_, console_); }; });
    }

    void add_tune() {
        CLI::App* sub = command(
            "tune", "Find the fastest schedules on a GPU by measuring them; run uses them from then on");
        sub->footer(kTuneFooter);
        RunArguments& run = tune_.run;
        run.device = "cuda";
        sub->add_option("FILE", run.file, "spec, or - for standard input")->required();
        modules(*sub, run.include);
        sub->add_option("RUN", run.run_name, "which run block (or stencil), where the file has several");
        sub->add_option("--device", run.device, "cuda (default) or cuda:N");
        sub->add_option("--grid", run.grid, "cells along each axis; the run block's, where it is not given");
        repeatable(*sub, "--set", run.set, "NAME=VALUE: a parameter, such as dt=0.1, dx=1/63 or dt=0.1*2");
        repeatable(*sub, "--load", run.load,
                   "NAME=FILE: a table's rows, points, or what is injected at them");
        repeatable(*sub, "--schedule", run.schedule, "what stays as it is: only the rest is searched");
        sub->add_flag("--strict-fp", run.strict_fp, "keep the order of arithmetic as written");
        sub->add_option("--budget", tune_.budget, "seconds to search for, 60 where it is not given")
            ->check(CLI::Range(0.0, 1e6));
        sub->add_option("--jobs", tune_.jobs,
                        "threads that compile; as many as there are processors, 16 at most")
            ->check(CLI::Range(1, 256));
        sub->add_flag("--again", tune_.again, "forget what was measured before, and begin anew");
        sub->add_option("--store", run.store,
                        "file of tuned schedules to use and to add to, instead of the usual one");
        sub->add_flag("--json", run.json, "the result as JSON on standard output");
        sub->callback([this] { chosen_ = [this] { return tune(tune_, console_); }; });
    }
    // devices: what these go with; null where there are several in any case.
    static void exchange(CLI::App* sub, CLI::Option* devices, ExchangeArguments& arguments) {
        auto* interval =
            sub->add_option("--exchange", arguments.interval, kExchangeHelp)->check(CLI::Range(1, 1 << 20));
        auto* scheme = sub->add_option("--exchange-scheme", arguments.scheme, kSchemeHelp)
                           ->check(CLI::IsMember({"synchronous", "asynchronous", "direct"}));
        if (devices == nullptr) return;
        interval->needs(devices);
        scheme->needs(devices);
    }
    static void tuned(CLI::App* sub, bool& none, std::string& store) {
        auto* no_tuned = sub->add_flag("--no-tuned", none, "leave schedules that haloc tune found alone");
        sub->add_option("--store", store, "file of tuned schedules to use instead of the usual one")
            ->excludes(no_tuned);
    }
    void add_format() {
        CLI::App* sub = command("fmt", "Print a spec in the usual layout");
        sub->add_option("FILE", format_.files, "specs, or - for standard input")->required();
        auto* in_place =
            sub->add_flag("-w,--write", format_.in_place, "rewrite the files instead of printing");
        sub->add_flag("--check", format_.check,
                      "change nothing; exit with 1 and name the files not in the usual layout")
            ->excludes(in_place);
        sub->callback([this] { chosen_ = [this] { return format(format_, console_); }; });
    }
    void add_lsp() {
        CLI::App* sub = command("lsp", "Answer an editor: a language server on standard input and output");
        modules(*sub, lsp_include_);
        sub->add_flag("--stdio")->description("changes nothing; some editors add it");
        sub->callback([this] { chosen_ = [this] { return serve_editor(lsp_include_); }; });
    }
    void add_derivative(const std::string& name, const std::string& description,
                        ExitCode (*derive)(const DeriveOptions&, const Console&)) {
        CLI::App* sub = command(name, description);
        sub->add_option("FILE", derive_.file, "spec, or - for standard input")->required();
        modules(*sub, derive_.include);
        sub->add_option("--of", derive_.of, "what is differentiated: reductions, states and outputs")
            ->delimiter(',')
            ->required()
            ->option_text("NAME,...");
        sub->add_option("--with", derive_.with,
                        "with respect to what: inputs, states at the start, and params")
            ->delimiter(',')
            ->required()
            ->option_text("NAME,...");
        if (name == "adjoint") {
            sub->add_flag("--every-step", derive_.every_step,
                          "of the sum over all steps; else of what the last step gives");
            sub->add_flag("--earlier", derive_.earlier,
                          "the one by which haloc gradient undoes all steps but the last: without what only "
                          "the objective needs");
        }
        sub->add_option("-o,--output", derive_.output,
                        "file to write; standard output where it is not given");
        sub->add_option("--stencil", derive_.stencil, "which stencil, where the file has several");
        sub->callback([this, derive] { chosen_ = [this, derive] { return derive(derive_, console_); }; });
    }
    void add_gradient() {
        CLI::App* sub = command("gradient", "Run a spec and its adjoint: the derivative of a reduction");
        add_gradient_options(*sub, gradient_);
        sub->callback([this] { chosen_ = [this] { return gradient(gradient_, ranks_, console_); }; });
    }
    void add_lift() {
        CLI::App* sub = command("lift", "Write the spec that a loop nest in C, C++, CUDA or Fortran means");
        add_lift_options(*sub, lift_);
        sub->callback([this] { chosen_ = [this] { return lift(lift_, console_); }; });
    }
    // What stands after `--` is clang's; the parser would take it for further files. Gives how many words are
    // left.
    int take_lift_arguments(int argc, const char* const* argv) {
        if (argc < 2 || argv[1] != std::string("lift")) return argc;
        const char* const* const end = argv + argc;
        const auto dashes =
            std::find_if(argv, end, [](const char* word) { return word == std::string("--"); });
        if (dashes != end) lift_.arguments.assign(dashes + 1, end);
        return static_cast<int>(dashes - argv);
    }
    void add_doctor() {
        CLI::App* sub =
            command("doctor", "Say what is found on this machine, what is missing and how to get it");
        sub->add_flag("--json", doctor_.json, "as JSON");
        auto* measure = sub->add_flag(
            "--measure", doctor_.measure,
            "measure what the GPU delivers, and keep the figures: schedules are chosen by them from then on");
        sub->add_option("--device", doctor_.device, "cuda (default) or cuda:N: the GPU to measure")
            ->needs(measure);
        sub->callback([this] { chosen_ = [this] { return doctor(doctor_, console_); }; });
    }

    void add_about() {
        CLI::App* sub =
            command("about", "Print the manual page, the command reference, or completions for a shell");
        sub->add_option("WHAT", about_, "man, markdown, bash, zsh or fish")
            ->required()
            ->check(CLI::IsMember({"man", "markdown", "bash", "zsh", "fish"}).description(""));
        sub->callback([this] {
            chosen_ = [this] {
                console_.result(about_text(about_, app_));
                return ExitCode::ok;
            };
        });
    }

    // CLI11 says of a command that is not there only that one is required.
    void throw_for_unknown_command(int argc, const char* const* argv) const {
        if (argc < 2) throw CommandError(ExitCode::usage, "no command is given", "haloc --help lists them");
        if (argv[1][0] == '-') return;
        std::vector<std::string> names;
        for (const CLI::App* sub : app_.get_subcommands({}))
            names.push_back(sub->get_name());
        if (std::find(names.begin(), names.end(), argv[1]) == names.end())
            throw_unknown("haloc", "command", argv[1], names);
    }
    std::string usage_hint() const {
        for (const CLI::App* sub : app_.get_subcommands())
            return "see haloc " + sub->get_name() + " --help";
        return "see haloc --help";
    }

    Console& console_;
    rt::Ranks& ranks_;
    CLI::App app_;
    std::function<ExitCode()> chosen_;
    bool quiet_ = false;
    CheckOptions check_;
    EmitOptions emit_;
    BundleOptions bundle_;
    RunArguments run_;
    LiveArguments live_;
    RerunOptions rerun_;
    InfoOptions info_;
    CompileOptions compile_;
    ExplainOptions explain_;
    BenchArguments bench_;
    TuneArguments tune_;
    FormatOptions format_;
    std::vector<std::string> lsp_include_;
    DeriveOptions derive_;
    GradientArguments gradient_;
    LiftOptions lift_;
    DoctorOptions doctor_;
    std::string about_;
    std::map<std::string, EmitStyle> styles_{{"launcher", EmitStyle::launcher},
                                             {"kernel-only", EmitStyle::kernels_only}};
    std::map<std::string, EmitBeside> beside_{{"cubin", EmitBeside::cubin},
                                              {"ptx", EmitBeside::ptx},
                                              {"plan", EmitBeside::plan},
                                              {"cmake", EmitBeside::cmake}};
    std::map<std::string, EmitTarget> targets_{{"cuda", EmitTarget::cuda},
                                               {"cpu", EmitTarget::cpu},
                                               {"plan", EmitTarget::plan},
                                               {"stencil", EmitTarget::stencil},
                                               {"kernel", EmitTarget::kernel}};
};

}  // namespace

ExitCode run_command(int argc, const char* const* argv, rt::Ranks& ranks, Console& console) {
    return CommandLine(console, ranks).main(argc, argv);
}

}  // namespace halo::driver
