// The store of tuned schedules: a JSON file that can be copied to another machine with the same GPU.
//
// An entry is about one stage of one program, or how it does several steps at once, on one grid on one kind
// of device. It has the schedule that won, once there is one, and every trial, so that a search that was
// stopped goes on where it was.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/tune/search.h"

namespace halo::tune {

struct StoredTrial {
    std::string schedule;  // as schedule::print gives it, of a grouping, too
    Outcome outcome;
    std::optional<double> predicted;  // seconds a step of the stage, by the model
};

struct StoredStage {
    // For people, and for what is asked when the entry is used.
    std::string stencil, device, compiler;  // "NVRTC 13.0"
    int stage = 0, stages = 1;              // which of the program's, from 0; -1: several steps at once
    std::vector<std::int64_t> grid;
    // What was found.
    std::string schedule;                 // the winner; empty while there is none
    bool finished = false;                // the search came to its end: not interrupted
    double seconds = 0;                   // a step of the whole program with it
    std::optional<double> predicted;      // seconds a step of the stage, by the model
    std::optional<double> model_seconds;  // a step with what was tried first, measured alongside
    std::vector<StoredTrial> trials;      // fastest first, then those without a time
};

// Keys are 64 hexadecimal digits (rt::hash_key): of the program after passes, the stage, the grid, the
// device.
using Entries = std::map<std::string, StoredStage>;

class Store {
public:
    // Nothing is read yet.
    explicit Store(std::filesystem::path file) : file_(std::move(file)) {}

    // Empty where there is no file. Throws rt::Error (io) for a file that cannot be read or is no store: it
    // is never written over.
    Entries read() const;
    std::optional<StoredStage> find(const std::string& key) const;
    // Puts one entry in place of that of its key and leaves the others as they are in the file at that time.
    // The file appears whole or not at all. Throws rt::Error (io).
    void put(const std::string& key, const StoredStage& stage) const;

    const std::filesystem::path& file() const { return file_; }

private:
    std::filesystem::path file_;
};

}  // namespace halo::tune
