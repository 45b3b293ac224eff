// The subcommands of haloc, each in its own file cmd_*.cpp. A command returns how it ended, or throws
// CommandError, rt::Error, UnsupportedError or InternalError, which main() turns into one message and an exit
// code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/adjoint/request.h"
#include "compiler/driver/console/console.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/planning/emission.h"
#include "compiler/driver/running/run_arguments.h"
#include "compiler/support/source.h"
#include "runtime/ranks/ranks.h"

namespace halo::driver {

// Where a file name is asked for, "-" is standard input.
struct CheckOptions {
    std::vector<std::string> files;
    std::vector<std::string> include;  // folders of modules
    bool json = false;
    std::string stability;  // the param whose largest stable value is wanted; empty: none
    bool strict = false;    // warnings are mistakes
};
ExitCode check(const CheckOptions& options, const Console& console);

struct EmitOptions : Emission {
    std::string file;
    std::vector<std::string> include;
    std::string stencil;                // empty: the only one
    std::vector<std::string> schedule;  // one for all stages, or one a stage
    bool annotate = false;              // comments name the spec's lines
    std::string grid;                   // that schedules are chosen for; empty: the run block's
};
ExitCode emit(const EmitOptions& options, const Console& console);

// ranks: the processes that share the run. Only the first says something.
ExitCode run(const RunArguments& arguments, rt::Ranks& ranks, const Console& console);

// The same on a page, without files, until Ctrl-C.
ExitCode view(const RunArguments& arguments, const LiveArguments& live, rt::Ranks& ranks,
              const Console& console);

// The run that a file says it comes from, once more; ExitCode::spec where the numbers are others.
struct RerunOptions {
    std::string file;
    std::string device;  // empty: one like that of the run
    bool json = false;
};
ExitCode rerun(const RerunOptions& options, rt::Ranks& ranks, const Console& console);

struct InfoOptions {
    std::string file;
    bool json = false;  // what it says of its run, as it is in the file
    bool spec = false;  // the spec's text alone
};
ExitCode info(const InfoOptions& options, const Console& console);

struct CompileOptions {
    RunArguments run;         // the file, and what decides the program, its grid and its device
    std::string arch;         // of a GPU that is not here, instead of the device
    bool background = false;  // as a run leaves it behind: slowly, and not what another is at
};
ExitCode compile(const CompileOptions& options, const Console& console);

struct ExplainOptions {
    std::string file;
    std::vector<std::string> include;
    std::string stencil;
    std::string grid;
    std::vector<std::string> schedule;
    bool strict_fp = false;
    bool json = false;
    bool no_tuned = false;
    std::string store;
    int devices = 1;
    ExchangeArguments exchange;
};
ExitCode explain(const ExplainOptions& options, const Console& console);

struct TuneArguments {
    RunArguments run;    // the file, and what decides the program and its grid; device, store and json, too
    double budget = 60;  // seconds
    int jobs = 0;        // threads that compile; 0: as many as there are processors, 8 at most
    bool again = false;
};
ExitCode tune(const TuneArguments& arguments, const Console& console);

struct FormatOptions {
    std::vector<std::string> files;
    bool in_place = false;
    bool check = false;
};
ExitCode format(const FormatOptions& options, const Console& console);

// include: folders of modules. Ends with 1 where the client goes without saying so.
ExitCode serve_editor(const std::vector<std::string>& include);

struct LiftOptions {
    std::vector<std::string> files;  // one, but with --all
    std::string function;
    std::string build_folder;            // with compile_commands.json
    std::string output;                  // empty: standard output
    std::string replace;                 // source to write, with calls in place of loops; empty: none
    std::string name;                    // of the stencil; empty: that of the function
    std::vector<std::string> assume;     // NAME=VALUE
    std::vector<std::string> arguments;  // of clang
    bool verify = false, no_alias = false, equal_rims = false, strict_fp = false;
    bool all = false, no_verify = false;
    std::string json;  // with --all: the file to write

    const std::string& file() const { return files.front(); }
};
ExitCode lift(const LiftOptions& options, const Console& console);

// The derivative of a spec, as a spec.
struct DeriveOptions {
    std::string file;
    std::vector<std::string> include;
    std::string stencil;  // empty: the only one
    std::string output;   // empty: standard output
    std::vector<std::string> of, with;
    bool every_step = false;  // of the sum over all steps, not of the last one
    bool earlier = false;     // of an adjoint: that of the steps before the last one
};
ExitCode tangent(const DeriveOptions& options, const Console& console);
ExitCode adjoint(const DeriveOptions& options, const Console& console);

// The derivative of a reduction of a run.
struct GradientArguments {
    RunArguments run;  // the file, and what decides the program, its grid, its data and its device
    std::string of;
    std::vector<std::string> with;
    std::vector<std::string> save;  // of the gradients
    std::string weights, measured;  // of a trace that is named in `of`: .npy files
    bool every_step = false;
    std::optional<std::int64_t> snapshots;  // none: as many as fit into memory
    bool explain = false;                   // what would be done, in place of doing it
};
ExitCode gradient(const GradientArguments& arguments, rt::Ranks& ranks, const Console& console);

// A name that is not there is a mistake of the command line; everything else is shown in the text.
void show_no_derivative(const adjoint::RefusedError& refused, const SourceFile& source,
                        const Console& console);

// Code that runs without the compiler.
struct BundleOptions {
    std::string file;
    std::vector<std::string> include;
    std::string output;  // NAME.halobundle, or NAME.cpp
    std::string stencil;
    std::vector<std::string> schedule, archs, grids;
    bool only_grids = false;
    bool strict_fp = false;
    std::string depfile;  // empty: none
};
ExitCode bundle(const BundleOptions& options, const Console& console);

struct DoctorOptions {
    bool json = false;
    bool measure = false;  // the figures of the device that schedules are chosen by
    std::string device = "cuda";
};
ExitCode doctor(const DoctorOptions& options, const Console& console);

}  // namespace halo::driver
