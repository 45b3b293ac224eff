// Checkpoints on the disk.
//
// A folder that --checkpoint names holds one folder for each checkpoint, step-N, with arrays as .npy and a
// manifest that names them. It is written under another name, flushed and renamed; those before are removed
// only then, so that a complete one is there at any time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/ranks/ranks.h"

namespace halo::driver {

// What a checkpoint is of. Runs that agree in all of it can go on from each other's checkpoints.
struct RunIdentity {
    std::string program;             // its name
    std::string meaning;             // hash of what its statements mean
    std::vector<std::int64_t> grid;  // cells along each axis
    std::vector<std::pair<std::string, double>> params;
    std::string
        data;  // hash of what a run gives besides: tables, points, inputs; empty: the checkpoint holds it
};

struct Manifest {
    static constexpr int kFormat = 1;  // of all that is in the folder

    struct File {
        std::string name;
        std::int64_t bytes = 0;
        std::string digest;
    };
    RunIdentity identity;
    std::int64_t steps = 0;
    std::map<std::string, double> reductions;  // of the last step
    std::vector<File> files;                   // beside the manifest
};

struct Checkpoint {
    std::string folder;
    Manifest manifest;
};

// Collective. A hash of a file's bytes; each rank reads a part of them. Throws rt::Error (io).
std::string file_digest(rt::Ranks& ranks, const std::string& path);

// Collective. The newest checkpoint in `path`, or the one that `path` itself is; all files are there, and
// hold what they did. Throws CommandError (file) with what is wrong, and what else there is.
Checkpoint find_checkpoint(rt::Ranks& ranks, const std::string& path);

// Throws CommandError (usage) that names the first thing in which the two differ.
void check_identity(const std::string& path, const RunIdentity& there, const RunIdentity& here);

class CheckpointFolder {
public:
    // Collective. Makes the folder, and removes what a killed run left half done. continued: where the run
    // goes on from a checkpoint, that one's folder. Throws CommandError where another run's are there.
    CheckpointFolder(rt::Ranks& ranks, std::string path, const std::string& continued);

    // Collective. The folder to write the files of a checkpoint to.
    std::string begin(std::int64_t steps);
    // Collective. All that was written there, with the manifest, whose files are found, becomes the
    // checkpoint; those before go. Throws rt::Error (io) on all ranks.
    void finish(Manifest manifest);
    // After an error: nothing is left of what was begun.
    void abandon() noexcept;

    std::string folder_of(std::int64_t steps) const;

private:
    rt::Ranks& ranks_;
    std::string path_;
    std::string begun_;
};

}  // namespace halo::driver
