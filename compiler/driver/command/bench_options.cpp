#include "compiler/driver/command/bench_options.h"

#include <fmt/format.h>

#include <utility>

#include "compiler/driver/command/validators.h"

namespace halo::driver {

namespace {

constexpr const char* kBenchFooter =
    R"(Every way to run a stencil is verified in the same run, on random data, before it is timed.
  haloc bench --quick
  haloc bench --output docs/performance.md --json figures.json
  haloc bench --filter '3D 7-point' --schedule 'direct threads=32x8x1 cells=4x4x2'
  haloc bench --scaling --output docs/scaling.md
  haloc bench --programs --only maxwell3d,cahn_hilliard --output docs/programs.md --json programs.json
A page that is there keeps what stands outside of the lines `<!-- haloc bench: begin -->` and `… end -->`. Without a GPU
small grids are measured on the CPU, and the page says what is missing. Exit codes: 3 where there is neither; 5 where a
result was wrong (the page is written, and names it).)";

void add_scaling_options(CLI::App& command, BenchArguments& arguments, CLI::Option* scaling) {
    bench::ScalingOptions& options = arguments.scaling;
    command
        .add_option("--devices", options.devices,
                    "with --scaling: so many at most; all GPUs, where it is not given")
        ->check(CLI::Range(2, 4096))
        ->needs(scaling);
    command
        .add_option("--lengths", options.lengths, "with --scaling: of the 2D grids, such as 1024,3000,8192")
        ->delimiter(',')
        ->check(CLI::Range(1, 1 << 20))
        ->needs(scaling);
    command
        .add_option(
            "--node-devices", options.node_devices,
            "with --scaling: devices of one node, for what is predicted; as many as are measured, where "
            "it is not given")
        ->check(above_zero())
        ->needs(scaling);
    BetweenNodes& between = options.between_nodes;
    command
        .add_option_function<double>(
            "--network-bandwidth",
            [&between](double gigabytes) { between.bytes_per_second = gigabytes * 1e9; },
            "with --scaling: GB/s between nodes, to one device: an assumption; 50, where it is not given")
        ->check(above_zero())
        ->needs(scaling);
    command
        .add_option_function<double>(
            "--network-latency",
            [&between](double microseconds) { between.longer_seconds = microseconds * 1e-6; },
            "with --scaling: microseconds that a copy takes longer between nodes: an assumption; 5, where it "
            "is not given")
        ->check(above_zero())
        ->needs(scaling);
}

// Adds the options for parts and for the time budget, which both kinds of page have.
void add_shared_options(CLI::App& command, BenchArguments& arguments) {
    command
        .add_option(
            "--only", arguments.only,
            "with --scaling: link, strong, weak, lengths or beyond alone; with --programs: these alone, such "
            "as maxwell3d,heat3d-128; may be repeated")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->option_text("TEXT ...");
    command
        .add_option(
            "--budget", arguments.budget,
            "with --scaling or --programs: seconds, after which what is left is left out; where it is not "
            "given 300 for --scaling, no end for --programs")
        ->check(above_zero());
}

void require_shared_use(const BenchArguments& arguments) {
    if (arguments.is_scaling || arguments.is_programs) return;
    for (const auto& [name, given] :
         {std::pair{"--only", !arguments.only.empty()}, std::pair{"--budget", arguments.budget.has_value()}})
        if (given)
            throw CommandError(ExitCode::usage, fmt::format("{} is for --scaling and --programs", name),
                               "--filter chooses among the stencils");
}

}  // namespace

void add_bench_options(CLI::App& command, BenchArguments& arguments) {
    bench::BenchOptions& options = arguments.bench;
    command.footer(kBenchFooter);
    command.add_flag("--quick", options.quick, "smaller grids: a few minutes on a GPU");
    auto* choices = command.add_flag(
        "--choices-alone", options.choices_alone,
        "what the compiler chooses and one cell a thread, no other strategies: a third of the time");
    auto* filter = command.add_option("--filter", options.filter,
                                      "only what has this in its name, such as '3D 7-point' or f64");
    command.add_option(
        "-o,--output", options.output,
        "Markdown page to write, with its pictures beside it; standard output where it is not given");
    command.add_option("--json", options.json, "file to write the figures to as JSON, too");
    command.add_option("--device", options.device,
                       "auto (default): the first CUDA device, else the CPU; cuda; cuda:N; cpu");
    auto* schedule = command
                         .add_option("--schedule", options.schedules,
                                     "a schedule to measure as well, such as 'stream cells=4x2'")
                         ->allow_extra_args(false)
                         ->option_text("TEXT ...");
    auto* growth =
        command.add_flag("--growth", options.growth,
                         "also measure how time grows with the grid, and that of compiling with the program");
    auto* growth_alone =
        command.add_flag("--growth-alone", options.growth_alone, "measure that alone")->excludes(growth);
    auto* scaling =
        command.add_flag("--scaling", arguments.is_scaling,
                         "measure, of all that, how one grid runs on several GPUs: some five minutes");
    auto* programs = command.add_flag("--programs", arguments.is_programs,
                                      "measure, of all that, whole programs as `haloc run` does them");
    programs->excludes(scaling);
    for (CLI::Option* other : {choices, filter, schedule, growth, growth_alone}) {
        scaling->excludes(other);
        programs->excludes(other);
    }
    add_shared_options(command, arguments);
    add_scaling_options(command, arguments, scaling);
}

ExitCode bench(const BenchArguments& arguments, const Console& console) {
    require_shared_use(arguments);
    if (arguments.is_programs) {
        bench::ProgramsOptions options;
        options.device = arguments.bench.device;
        options.quick = arguments.bench.quick;
        options.only = arguments.only;
        options.budget = arguments.budget.value_or(0);
        options.output = arguments.bench.output;
        options.json = arguments.bench.json;
        return bench::programs(options, console);
    }
    if (!arguments.is_scaling) return bench::bench(arguments.bench, console);
    bench::ScalingOptions options = arguments.scaling;
    options.only = arguments.only;
    options.budget = arguments.budget.value_or(options.budget);
    options.device = arguments.bench.device;
    options.quick = arguments.bench.quick;
    options.output = arguments.bench.output;
    options.json = arguments.bench.json;
    return bench::scaling(options, console);
}

}  // namespace halo::driver
