// What `haloc run` was asked for, as it stands on the command line.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halo::driver {

// How several devices exchange what they have of each other's cells.
struct ExchangeArguments {
    std::optional<std::int64_t> interval;  // steps from one exchange to the next; none: chosen
    std::string scheme;                    // of rt::ExchangeScheme; empty: chosen
};

// A page that shows the run while it is done.
struct LiveArguments {
    std::optional<int> port;  // none: a free one
    bool stays = false;       // haloc view: awaits the page, and stays after the last step
    bool paused = false;      // before the first step
};

// A spec whose texts are known, so that no file is read.
struct SpecTexts {
    std::string name, text;
    std::map<std::string, std::string> modules;  // as ModulePath::texts
    std::vector<std::string> folders;            // in which they were looked for
};

// NAME=VALUE parts are taken apart in request.cpp.
struct RunArguments {
    std::string file;
    std::vector<std::string> include;
    std::string run_name;  // empty: the only one
    std::string device = "auto";
    std::string devices;         // how many, or which GPUs; empty: one
    ExchangeArguments exchange;  // of several devices
    std::string grid;
    std::optional<std::int64_t> steps;
    std::vector<std::string> set, init, save, load, plot, movie, schedule;
    std::string save_every;                   // frames of `save`: "100", "100 from 0 to 500"; empty: none
    bool together = false;                    // these in one file
    std::optional<std::int64_t> movie_every;  // steps between frames of `movie`
    std::string until;                        // empty: that of the run block
    bool no_files = false;                    // drop the saves, plots and movies of the run block
    bool safe = false;                        // its files must be in the current directory, or below
    bool no_watch = false;                    // go on where numbers are no longer finite
    bool strict_fp = false;
    bool timings = false;
    bool json = false;
    bool no_background = false;    // leave no process behind that compiles for the next run
    bool verbose = false;          // say how each stage runs
    bool no_tuned = false;         // leave measured schedules alone
    std::string store;             // of tuned schedules; empty: the usual one
    std::string checkpoint;        // folder for checkpoints; empty: none are written
    std::string checkpoint_every;  // steps, or a time such as 10min; empty: at the end alone
    std::string restart;           // a checkpoint to go on from; empty: from the beginning
    std::string cuda;              // a file of edited kernels to run in place of the spec's; empty: none
    std::optional<std::uint64_t> tolerance_ulps;  // how far those may be from the spec; without it not at all
    // Of a run that is repeated:
    std::shared_ptr<const SpecTexts> texts;  // in the place of the file; null: the file is read
    std::optional<std::int64_t> stop_after;  // ends after this step, of as many as were asked for
    std::optional<LiveArguments> live;
    // Of several processes:
    std::string transport;          // nccl or mpi; empty: chosen
    std::optional<double> timeout;  // seconds for a rank to answer; none: the usual
};

}  // namespace halo::driver
