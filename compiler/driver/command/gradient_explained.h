// haloc gradient --explain: what a gradient would keep, do again, and read and write in a step back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/gradient.h"

namespace halo::driver {

struct ExplainedGradient {
    std::int64_t steps = 0;
    rt::SnapshotPlaces snapshots;
    std::int64_t snapshot_bytes = 0;
    std::int64_t done_again = 0;
    std::size_t gpus = 0;
    std::string cut;  // of a grid in pieces: how, and what they give each other; empty: it is not cut
    struct StepBack {
        // Of the forward states, as the adjoint names them: those that it reads where they are kept on the
        // device, and those that are copied for it.
        std::vector<std::string> in_place, copied;
        std::int64_t copied_bytes = 0;
        std::vector<std::string> inputs;  // that no step changes
        std::vector<std::string>
            carried;  // its own states, of which a step reads the levels and writes the next
        std::int64_t read_bytes = 0, written_bytes = 0;
        std::string cut;
    };
    StepBack step_back;
    std::optional<StepBack> first;  // the one that undoes the last step, where others do less
};

// Of engines that share their arrays; those that go back were given nothing yet that is read in their inputs
// for states.
ExplainedGradient explain_gradient(const GradientEngines& engines, const GradientPlan& plan);
std::string explained_words(const ExplainedGradient& explained);
std::string explained_json(const ExplainedGradient& explained);

std::size_t gpus_of(Engine& engine);  // one for each piece of the grid; none where it runs elsewhere
// "20 snapshots of 3.1 MB on the GPU, 4 of them in the host's memory"
std::string snapshot_words(const rt::SnapshotPlaces& places, std::int64_t bytes, std::size_t gpus);
std::string counted(std::int64_t count, const char* what);

}  // namespace halo::driver
