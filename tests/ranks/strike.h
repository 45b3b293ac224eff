// Runs that would take hours, and what is seen of them once a rank was sent a signal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "process.h"

namespace halo::test {

struct Struck {
    Outcome outcome;
    double seconds = 0;     // from the first signal to the end
    bool is_alone = false;  // nothing of the run is left
};

inline constexpr int kLauncher = -1, kAllRanks = -2;
using Send = std::function<void(int rank, int signal)>;

// Starts a run by `launcher` (mpirun.h) and calls `act` some time after the first file; `with`: more of
// haloc's arguments.
Struck meddle(const Folder& folder, const std::vector<std::string>& launcher, double after,
              const std::function<void(const Send&)>& act, const std::vector<std::string>& with = {});
// The same with one signal.
Struck strike(const Folder& folder, const std::vector<std::string>& launcher, int rank, int signal,
              double after, const std::vector<std::string>& with = {});

// The numbered files are written whole or not at all: all are as long as the first.
bool all_are_whole(const Folder& folder);

}  // namespace halo::test
