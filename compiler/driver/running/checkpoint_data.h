// What a run is given besides its states: inputs, coefficients, tables and points.
//
// `haloc run` takes them from the spec and the command line again, so its checkpoints hold a hash of them
// alone (RunIdentity::data). A host program gives them by its own means; its checkpoints hold them, and the
// hash is empty. Such a checkpoint is complete: who goes on from it takes all of this from there.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/running/checkpoint_files.h"
#include "compiler/driver/running/engine.h"

namespace halo::driver {

// Numbers as Engine::set_coef(), set_table(), set_points() and set_point_values() take them.
struct RunData {
    std::map<std::string, std::vector<double>> coefs, tables, points;
    std::map<std::pair<std::string, std::string>, std::vector<double>> point_values;
};

bool holds_data(const Manifest& manifest);

// "u.npy", "u.t-1.npy": the file of a level of a field.
std::string level_file(const std::string& field, int time);

// Calls work(field, time) for each level of each field of a role.
template <class Work>
void for_levels(const ir::Program& program, ir::Role role, const Work& work) {
    for (const ir::Field& field : program.fields)
        for (int time = 0; field.role == role && time >= -field.history; --time)
            work(field, time);
}

// Collective. Writes the engine's inputs and the numbers into a checkpoint's folder.
void write_data(rt::Ranks& ranks, const std::string& folder, Engine& engine, const ir::Program& program,
                const RunData& data);
// Collective. The same files from another checkpoint, which holds them: no step changes them.
void copy_data(rt::Ranks& ranks, const Checkpoint& from, const std::string& folder,
               const ir::Program& program);
// Collective. What the checkpoint holds of it goes into the engine, which has done no step.
void restore_data(rt::Ranks& ranks, const Checkpoint& checkpoint, Engine& engine, const ir::Program& program);

}  // namespace halo::driver
