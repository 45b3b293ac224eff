#include "compiler/driver/command/view_options.h"

#include "compiler/driver/command/help_texts.h"
#include "compiler/driver/command/option_forms.h"
#include "compiler/driver/command/validators.h"

namespace halo::driver {

namespace {

CLI::Option* add_port(CLI::App& command, LiveArguments& live) {
    return command
        .add_option("--port", live.port, "of the page, on 127.0.0.1; a free one where it is not given")
        ->check(CLI::Range(1, 65535));
}

}  // namespace

CLI::Option* add_live_options(CLI::App& command, LiveArguments& live) {
    auto* shown = command.add_flag("--live")->description(
        "show the run on a page while it is done, at an address of this machine that is printed");
    add_port(command, live)->needs(shown);
    command.add_flag("--paused", live.paused, "with --live: do no step until the page says so")->needs(shown);
    return shown;
}

void add_view_options(CLI::App& command, RunArguments& run, LiveArguments& live) {
    command.footer(kViewFooter);
    command.add_option("FILE", run.file, "spec, or - for standard input")->required();
    modules(command, run.include);
    command.add_option("RUN", run.run_name, "which run block (or stencil), where the file has several");
    add_port(command, live);
    command.add_flag("--paused", live.paused, "do no step until the page says so");
    command.add_option("--device", run.device,
                       "auto (default): the first CUDA device, else the CPU; cuda; cuda:N; cpu; interpreter");
    command.add_option("--grid", run.grid, "cells along each axis, such as 128,128,128");
    command
        .add_option("--steps", run.steps,
                    "where it stops; those of the run block where it is not given, or no end")
        ->transform(step_count());
    repeatable(command, "--set", run.set, "NAME=VALUE: a parameter, such as dt=0.1, dx=1/63 or dt=0.1*2");
    repeatable(command, "--init", run.init,
               "FIELD=EXPR: values at the start, as in a run block: 'u=exp(-x^2)'");
    command.add_option("--until", run.until,
                       "a condition, as in a run block, after which it stops: 'change < 1e-6'");
    repeatable(command, "--load", run.load,
               "FIELD=FILE.npy: initial data (or FILE.h5, FILE.h5:/DATASET; or .png: a picture)");
    repeatable(command, "--schedule", run.schedule, kScheduleHelp);
    command.add_flag("--strict-fp", run.strict_fp, "keep the order of arithmetic as written");
    command.add_flag("--no-watch", run.no_watch, "go on where numbers are no longer finite");
}

}  // namespace halo::driver
