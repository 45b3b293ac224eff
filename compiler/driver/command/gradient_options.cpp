#include "compiler/driver/command/gradient_options.h"

#include "compiler/driver/command/help_texts.h"
#include "compiler/driver/command/option_forms.h"
#include "compiler/driver/command/validators.h"

namespace halo::driver {

void add_gradient_options(CLI::App& command, GradientArguments& options) {
    RunArguments& run = options.run;
    run.no_files = true;
    command.add_option("FILE", run.file, "spec, or - for standard input")->required();
    modules(command, run.include);
    command.add_option("RUN", run.run_name, "which run block (or stencil), where the file has several");
    command
        .add_option("--of", options.of, "what is differentiated: a reduction, or a trace such as phones.seen")
        ->required();
    command.add_option("--measured", options.measured, kMeasuredHelp)->option_text("FILE.npy");
    command.add_option("--weights", options.weights, kWeightsHelp)->option_text("FILE.npy");
    command
        .add_option("--with", options.with, "with respect to what: inputs, states at the start, and params")
        ->delimiter(',')
        ->required()
        ->option_text("NAME,...");
    command.add_flag("--every-step", options.every_step,
                     "of the sum over all steps; else of what it is after the last one");
    command.add_option("--snapshots", options.snapshots, kSnapshotsHelp)->check(above_zero());
    command.add_flag("--explain", options.explain,
                     "say what would be kept, done again, read and written, and do no step");
    repeatable(command, "--save", options.save,
               "NAME[=FILE]: the gradient with respect to a field, as .npy or .h5, or to a trace, as .npy");
    command.add_option("--device", run.device,
                       "auto (default): the first CUDA device, else the CPU; cuda; cuda:N; cpu; interpreter");
    command.add_option("--devices", run.devices, kDevicesHelp);
    command.add_option("--grid", run.grid, "cells along each axis, such as 128,128,128");
    command.add_option("--steps", run.steps, "time steps, such as 5000 or 1e4")->transform(step_count());
    repeatable(command, "--set", run.set, "NAME=VALUE: a parameter, such as dt=0.1, dx=1/63 or dt=0.1*2");
    repeatable(command, "--init", run.init, "'FIELD = EXPR': values at the start, as in a run block");
    repeatable(command, "--load", run.load,
               "FIELD=FILE.npy, FIELD=FILE.h5 or FIELD=FILE.h5:/path: the same, from a file");
    command.add_flag("--strict-fp", run.strict_fp, "keep the order of arithmetic as written");
    command.add_flag("--json", run.json, "the report as JSON on standard output");
}

}  // namespace halo::driver
