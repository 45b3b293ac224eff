// The subcommands of haloc, each in its own file cmd_*.cpp. A command returns how it ended, or throws
// CommandError, rt::Error, UnsupportedError or InternalError, which main() turns into one message and an exit
// code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/console.h"
#include "compiler/driver/exit_code.h"
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

enum class EmitTarget : std::uint8_t { cuda, cpu, plan, stencil, kernel };
enum class EmitStyle : std::uint8_t { launcher, kernels_only };
enum class EmitBeside : std::uint8_t { cubin, ptx, plan, cmake };
struct EmitOptions {
    std::string file;
    std::vector<std::string> include;
    std::string output;  // empty: standard output
    EmitTarget target = EmitTarget::cuda;
    std::string stencil;                // empty: the only one
    std::vector<std::string> schedule;  // one for all stages, or one a stage
    bool strict_fp = false;
    EmitStyle style = EmitStyle::launcher;  // of a .cu file
    std::vector<EmitBeside> with;           // files to write beside it
    std::vector<std::string> archs;         // that the code is for, a cubin for each; none: sm_90
    bool line_info = false;                 // in cubin and PTX: the lines of the .cu, for profilers
    bool annotate = false;                  // comments name the spec's lines
    std::string grid;                       // that schedules are chosen for; empty: the run block's
    bool fixed_grid = false;                // for that grid alone
};
ExitCode emit(const EmitOptions& options, const Console& console);

// How several devices exchange what they have of each other's cells.
struct ExchangeArguments {
    std::optional<std::int64_t> interval;  // steps from one exchange to the next; none: chosen
    std::string scheme;                    // of rt::ExchangeScheme; empty: chosen
};

// As written on the command line; NAME=VALUE parts are taken apart in run_request.cpp.
struct RunArguments {
    std::string file;
    std::vector<std::string> include;
    std::string run_name;  // empty: the only one
    std::string device = "auto";
    std::string devices;         // how many, or which GPUs; empty: one
    ExchangeArguments exchange;  // of several devices
    std::string grid;
    std::optional<std::int64_t> steps;
    std::vector<std::string> set, save, load, plot, schedule;
    bool no_files = false;  // drop the saves and plots of the run block
    bool safe = false;      // its files must be in the current directory, or below
    bool no_watch = false;  // go on where numbers are no longer finite
    bool strict_fp = false;
    bool timings = false;
    bool json = false;
    bool verbose = false;          // say how each stage runs
    bool no_tuned = false;         // leave measured schedules alone
    std::string store;             // of tuned schedules; empty: the usual one
    std::string checkpoint;        // folder for checkpoints; empty: none are written
    std::string checkpoint_every;  // steps, or a time such as 10min; empty: at the end alone
    std::string restart;           // a checkpoint to go on from; empty: from the beginning
    std::string cuda;              // a file of edited kernels to run in place of the spec's; empty: none
    std::optional<std::uint64_t> tolerance_ulps;  // how far those may be from the spec; without it not at all
    // Of several processes:
    std::string transport;          // nccl or mpi; empty: chosen
    std::optional<double> timeout;  // seconds for a rank to answer; none: the usual
};
// ranks: the processes that share the run. Only the first says something.
ExitCode run(const RunArguments& arguments, rt::Ranks& ranks, const Console& console);

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

struct LiftOptions {
    std::string file, function;
    std::string build_folder;            // with compile_commands.json
    std::string output;                  // empty: standard output
    std::string replace;                 // source to write, with calls in place of loops; empty: none
    std::string name;                    // of the stencil; empty: that of the function
    std::vector<std::string> arguments;  // of clang
    bool verify = false, no_alias = false, equal_rims = false, strict_fp = false;
};
ExitCode lift(const LiftOptions& options, const Console& console);

struct DoctorOptions {
    bool json = false;
    bool measure = false;  // the figures of the device that schedules are chosen by
    std::string device = "cuda";
};
ExitCode doctor(const DoctorOptions& options, const Console& console);

}  // namespace halo::driver
