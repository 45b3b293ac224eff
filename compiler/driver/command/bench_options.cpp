#include "compiler/driver/command/bench_options.h"

#include "compiler/driver/command/validators.h"

namespace halo::driver {

namespace {

constexpr const char* kFooter =
    R"(Every way to run a stencil is verified in the same run, on random data, before it is timed.
  haloc bench --quick
  haloc bench --output docs/performance.md --json figures.json
  haloc bench --filter '3D 7-point' --schedule 'direct threads=32x8x1 cells=4x4x2'
  haloc bench --scaling --output docs/scaling.md
A page that is there keeps what stands outside of the lines `<!-- haloc bench: begin -->` and `… end -->`. Without a GPU
small grids are measured on the CPU, and the page says what is missing. Exit codes: 3 where there is neither; 5 where a
result was wrong (the page is written, and names it).)";

void add_scaling_options(CLI::App& command, BenchArguments& arguments, CLI::Option* scaling) {
    bench::ScalingOptions& options = arguments.scaling;
    command
        .add_option("--only", options.only,
                    "with --scaling: link, strong, weak, lengths or beyond alone; may be repeated")
        ->allow_extra_args(false)
        ->option_text("TEXT ...")
        ->needs(scaling);
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
            "--budget", options.budget,
            "with --scaling: seconds, after which what is left is left out; 300, where it is not given")
        ->check(above_zero())
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

}  // namespace

void add_bench_options(CLI::App& command, BenchArguments& arguments) {
    bench::BenchOptions& options = arguments.bench;
    command.footer(kFooter);
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
    for (CLI::Option* other : {choices, filter, schedule, growth, growth_alone})
        scaling->excludes(other);
    add_scaling_options(command, arguments, scaling);
}

ExitCode bench(const BenchArguments& arguments, const Console& console) {
    if (!arguments.is_scaling) return bench::bench(arguments.bench, console);
    bench::ScalingOptions options = arguments.scaling;
    options.device = arguments.bench.device;
    options.quick = arguments.bench.quick;
    options.output = arguments.bench.output;
    options.json = arguments.bench.json;
    return bench::scaling(options, console);
}

}  // namespace halo::driver
