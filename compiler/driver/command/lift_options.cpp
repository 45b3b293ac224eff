#include "compiler/driver/command/lift_options.h"

#include "compiler/driver/command/help_texts.h"
#include "compiler/driver/command/option_forms.h"

namespace halo::driver {

void add_lift_options(CLI::App& command, LiftOptions& options) {
    command.footer(kLiftFooter);
    command.add_option(
        "FILE", options.files,
        "source file; .cu is CUDA, .f90 Fortran. With --all several, or none with -p. What follows -- are "
        "clang's arguments, or flang's");
    command.add_option("--function", options.function, "the function (or kernel) to lift");
    command.add_flag(
        "--all", options.all,
        "say of each function with loops over arrays whether it lifts, what that would bring, and "
        "what stands in the way; of the files given, or of all in compile_commands.json");
    command.add_option("-o,--output", options.output, "file to write; standard output where it is not given");
    command.add_flag("--verify", options.verify,
                     "compile the function, run it beside the spec on random data, and say how they differ");
    command.add_flag("--no-verify", options.no_verify, "with --all: verify nothing, which is faster");
    command.add_option("--json", options.json, "with --all: a file to write all of it to")
        ->option_text("FILE");
    command
        .add_option(
            "--replace", options.replace,
            "source to write, in which the loops are replaced by calls of the stencils; verifies them")
        ->option_text("FILE");
    command.add_flag("--no-alias", options.no_alias, "arrays that are reached by pointers never overlap");
    command.add_flag("--equal-rims", options.equal_rims,
                     "rotating arrays hold the same values in the cells that no loop writes");
    command.add_flag("--strict-fp", options.strict_fp,
                     "refuse sums over cells of reals, which a spec adds in another order");
    repeatable(command, "--assume", options.assume,
               "NAME=VALUE: lift for this value of a whole number that the function is given, such as "
               "halo_depth=2");
    command.add_option("--name", options.name, "of the stencil; that of the function where it is not given");
    command
        .add_option(
            "-p", options.build_folder,
            "folder with compile_commands.json; the file's folder and those above where it is not given")
        ->option_text("DIR");
}

}  // namespace halo::driver
