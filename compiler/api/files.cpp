// Files of simulations: fields, and checkpoints.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "compiler/api/compiled_source.h"
#include "compiler/api/errors.h"
#include "compiler/api/simulation_engine.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/running/checkpoint.h"
#include "compiler/driver/running/checkpoint_data.h"
#include "compiler/driver/running/field_files.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/running/request_files.h"
#include "compiler/support/file_kinds.h"
#include "halocline/halocline.hpp"
#include "runtime/api/errors.h"

namespace halocline {

namespace driver = halo::driver;
namespace ir = halo::ir;
namespace rt = halo::rt;
namespace fs = std::filesystem;
using detail::refuse;

namespace detail {

struct CheckpointState {
    driver::Checkpoint found;
};

namespace {

// A simulation of a program from compile(), with its devices locked.
struct Opened {
    SimulationState& state;
    std::shared_ptr<CompiledSource> source;
    SimulationEngine engine;

    const ir::Program& program() const { return source->checked().program; }
};

template <class Work>
auto opened(const Simulation& simulation, const char* what, Work&& work) {
    return translated_of_compiler([&] {
        SimulationState& state = *simulation.state();
        auto source = std::dynamic_pointer_cast<CompiledSource>(state.source);
        if (source == nullptr)
            refuse(fmt::format("{} of programs from compile(), and '{}' comes from a bundle", what,
                               state.source->info().name));
        const DeviceLocks locks(state.devices);
        Opened open{state, source, SimulationEngine(state, source->checked().program)};
        return work(open);
    });
}

// What files say about the run. Params without a value are left out.
driver::RunRequest request_of(const Opened& open) {
    driver::RunRequest request;
    request.name = open.program().name;
    request.axes = ir::axis_names(open.program());
    request.extent = open.state.extent;
    request.strict_fp = open.source->checked().options.strict_fp;
    for (const ParamInfo& param : open.state.known_params) {
        const auto given = open.state.params.find(param.name);
        if (given != open.state.params.end() || param.default_value)
            request.params.emplace_back(
                param.name, given != open.state.params.end() ? given->second : *param.default_value);
    }
    driver::take_coordinates(request, open.program());
    return request;
}

bool is_written(const ir::Program& program, const std::string& field) {
    const auto found = std::ranges::find(program.fields, field, &ir::Field::name);
    return found->role == ir::Role::state || found->role == ir::Role::output;
}

// What can be saved by one name: groups, and fields that are in none.
std::vector<driver::FieldSet> all_sets(const ir::Program& program) {
    std::vector<driver::FieldSet> sets;
    std::set<std::string> members;
    for (const ir::Group& group : program.groups) {
        sets.push_back(driver::find_fields(program, group.name));
        members.insert(sets.back().fields.begin(), sets.back().fields.end());
    }
    for (const ir::Field& field : program.fields)
        if (field.role != ir::Role::intermediate && !ir::is_hidden(program, field) &&
            !members.contains(field.name))
            sets.push_back(driver::find_fields(program, field.name));
    return sets;
}

std::vector<std::string> names_to_save(const ir::Program& program, const std::vector<std::string>& asked) {
    const std::vector<driver::FieldSet> sets = all_sets(program);
    std::vector<std::string> names;
    for (const std::string& name : asked) {
        std::vector<std::string> known;
        for (const driver::FieldSet& set : sets) {
            known.push_back("'" + set.name + "'");
            if (set.name == name || std::ranges::count(set.fields, name) > 0) names.push_back(name);
        }
        if (names.empty() || names.back() != name) refuse_name(program.name, "field", name, known);
    }
    if (!asked.empty()) return names;
    for (const driver::FieldSet& set : sets)
        if (is_written(program, set.fields.front())) names.push_back(set.name);
    return names;
}

driver::RunIdentity identity_of(rt::Ranks& ranks, const Opened& open) {
    for (const ParamInfo& param : open.state.known_params)
        open.state.get(param.name);  // throws where it has no value
    driver::RunIdentity identity = driver::identity_of(ranks, open.program(), nullptr, request_of(open));
    identity.data.clear();  // it is in the checkpoint
    return identity;
}

driver::RunData data_of(const GivenNumbers& given) {
    return {given.weights, given.tables, given.points, given.point_values};
}

// Without a slash at the end.
std::string whole_path(const std::string& folder) {
    const fs::path whole = fs::weakly_canonical(fs::absolute(folder));
    return (whole.has_filename() ? whole : whole.parent_path()).string();
}

}  // namespace

}  // namespace detail

Coordinates coordinates(const Simulation& simulation, const std::string& field) {
    return detail::opened(simulation, "coordinates are known", [&](detail::Opened& open) {
        open.engine.type_of(field);  // throws where there is none
        const driver::RunRequest request = detail::request_of(open);
        const driver::Output output = driver::saved_array(open.program(), request, field, "");
        const std::array<double, rt::kMaxRank> first = request.first_point(output);
        std::array<double, rt::kMaxRank> spacing = request.spacing;
        for (double& each : spacing)
            each *= output.grid.factor;
        const auto rank = static_cast<std::ptrdiff_t>(request.axes.size());
        return Coordinates{{spacing.begin(), spacing.begin() + rank},
                           {request.origin.begin(), request.origin.begin() + rank},
                           {first.begin(), first.begin() + rank},
                           request.time_step};
    });
}

void save_fields(const Simulation& simulation, const std::string& path,
                 const std::vector<std::string>& fields) {
    detail::opened(simulation, "files are written", [&](detail::Opened& open) {
        if (!halo::serves(path, halo::FileUse::save_field))
            refuse(fmt::format("{}: files are written as {}", path,
                               halo::endings_for(halo::FileUse::save_field)));
        const bool is_shared = halo::serves(path, halo::FileUse::share);
        driver::RunRequest request = detail::request_of(open);
        for (const std::string& name : detail::names_to_save(open.program(), fields))
            request.outputs.push_back(driver::saved_array(open.program(), request, name, path));
        if (!is_shared && request.outputs.size() != 1)
            refuse(fmt::format("{}: a .npy file holds one field, and this would be {}; name it, or write .h5",
                               path, request.outputs.size()));
        driver::check_arrays(request);
        driver::FileOfFields file{path, {}};
        for (const driver::Output& output : request.outputs)
            file.outputs.push_back(&output);
        const std::unique_ptr<rt::Ranks> ranks = rt::single_rank();
        driver::save_outputs(*ranks, {file}, open.engine, request, open.state.steps_done(), {});
    });
}

std::string save_checkpoint(Simulation& simulation, const std::string& folder) {
    return detail::opened(simulation, "checkpoints are", [&](detail::Opened& open) {
        const std::unique_ptr<rt::Ranks> ranks = rt::single_rank();
        const std::string whole = detail::whole_path(folder);
        const driver::RunIdentity identity = detail::identity_of(*ranks, open);
        const bool is_own = open.state.checkpoint_folders.contains(whole);
        open.state.fill_hidden_inputs();  // which are saved as others are
        try {
            driver::CheckpointFolder target(*ranks, folder, is_own ? whole + "/step" : "");
            try {
                driver::write_checkpoint_files(*ranks, target, open.engine, open.program(), identity,
                                               open.state.steps_done(), [&](const std::string& files) {
                                                   driver::write_data(*ranks, files, open.engine,
                                                                      open.program(),
                                                                      detail::data_of(open.state.given));
                                               });
            } catch (...) {
                target.abandon();
                throw;
            }
            open.state.checkpoint_folders.insert(whole);
            return target.folder_of(open.state.steps_done());
        } catch (const driver::CommandError&) {
            detail::rethrow_with_mend("go on from it by restoring it, or give another folder");
        }
    });
}

Checkpoint Checkpoint::find(const std::string& path) {
    return detail::translated_of_compiler([&] {
        try {
            const std::unique_ptr<rt::Ranks> ranks = rt::single_rank();
            return Checkpoint(std::make_shared<const detail::CheckpointState>(
                detail::CheckpointState{driver::find_checkpoint(*ranks, path)}));
        } catch (const driver::CommandError&) {
            detail::rethrow_with_mend("");
        }
    });
}

const std::string& Checkpoint::path() const noexcept {
    return state_->found.folder;
}
const std::string& Checkpoint::program() const noexcept {
    return state_->found.manifest.identity.program;
}
const Grid& Checkpoint::grid() const noexcept {
    return state_->found.manifest.identity.grid;
}
std::int64_t Checkpoint::steps() const noexcept {
    return state_->found.manifest.steps;
}
bool Checkpoint::holds_data() const noexcept {
    return driver::holds_data(state_->found.manifest);
}

void Checkpoint::restore(Simulation& simulation) const {
    detail::opened(simulation, "checkpoints are", [&](detail::Opened& open) {
        const driver::RunIdentity& there = state_->found.manifest.identity;
        if (open.state.steps_done() > 0)
            refuse(
                fmt::format("a checkpoint is restored into a simulation that has done no step, and this "
                            "one has done {}; make another one",
                            open.state.steps_done()));
        const std::unique_ptr<rt::Ranks> ranks = rt::single_rank();
        driver::RunIdentity here =
            driver::identity_of(*ranks, open.program(), nullptr, detail::request_of(open));
        here.params.clear();  // they become those of the checkpoint
        here.data = there.data;
        try {
            driver::check_identity(state_->found.folder, there, here);
        } catch (const driver::CommandError&) {
            detail::rethrow_with_mend("it goes on with the program and grid that it was written by");
        }
        for (const auto& [name, value] : there.params)
            if (std::ranges::count(open.state.known_params, name, &ParamInfo::name) > 0)
                open.state.set(name, value);
        driver::restore(*ranks, state_->found, open.engine, open.program());
        const fs::path own_folder = detail::whole_path(state_->found.folder);
        open.state.checkpoint_folders.insert(own_folder.parent_path().string());
    });
}

}  // namespace halocline
