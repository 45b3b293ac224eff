// The inside of a Simulation handle: a program on a grid, on one device (whole_simulation.h) or in pieces on
// several (pieces_simulation.h). Not for users. The caller of its functions holds the DeviceLocks of its
// devices.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halocline/runtime.hpp"
#include "runtime/api/device_state.h"
#include "runtime/api/field_state.h"
#include "runtime/api/program_source.h"
#include "runtime/core/box.h"
#include "runtime/core/session.h"

namespace halocline::detail {

// The place of what has this name. Throws Error (bad_argument) with the names that there are.
[[noreturn]] void refuse_name(const std::string& program, const char* kind, const std::string& name,
                              const std::vector<std::string>& known);
template <class Item>
std::vector<std::string> names_of(const std::vector<Item>& items) {
    std::vector<std::string> names;
    for (const Item& item : items)
        if (!halo::rt::is_hidden_name(item.name, items)) names.push_back("'" + item.name + "'");
    return names;
}
template <class Item>
int find_named(const std::vector<Item>& items, const std::string& name, const char* kind,
               const std::string& program) {
    for (std::size_t i = 0; i < items.size(); ++i)
        if (items[i].name == name) return static_cast<int>(i);
    refuse_name(program, kind, name, names_of(items));
}

// The array of a level of a session's field, with cell `first` as its first one.
View view_of(const halo::rt::Session& session, const std::string& field, int level,
             const std::array<std::int64_t, halo::rt::kMaxRank>& first);

struct ConditionState {
    std::shared_ptr<const ProgramSource> program;
    halo::rt::HostScalar holds;  // as halo::rt::RunOptions::until
};

// What a simulation was given besides parameters and fields, for its checkpoints.
struct GivenNumbers {
    std::map<std::string, std::vector<double>> weights, tables, points;
    std::map<std::pair<std::string, std::string>, std::vector<double>> point_values;
};

struct SimulationState {
    const std::shared_ptr<ProgramSource> source;
    const std::vector<std::shared_ptr<DeviceState>> devices;  // by piece
    const Grid grid;
    const Extent extent;
    std::vector<ParamInfo> known_params;   // of the code that runs
    std::map<std::string, double> params;  // that were given
    GivenNumbers given;
    std::set<std::string> checkpoint_folders;  // that hold checkpoints of this simulation, whole paths
    const std::unique_ptr<HiddenInputs> hidden_inputs;  // null: there are none

    SimulationState(const Program& program, std::vector<std::shared_ptr<DeviceState>> devices, Grid grid);
    SimulationState(const SimulationState&) = delete;
    SimulationState& operator=(const SimulationState&) = delete;
    virtual ~SimulationState() = default;

    // As HiddenInputs has them.
    void note_given(const std::string& name) const {
        if (hidden_inputs) hidden_inputs->note_given(name);
    }
    void note_shared(const std::string& field) const {
        if (hidden_inputs) hidden_inputs->note_shared(field);
    }
    void fill_hidden_inputs() const {
        if (hidden_inputs) hidden_inputs->fill();
    }

    // As Simulation has them.
    void set(const std::string& param, double value);
    double get(const std::string& param) const;
    virtual Layout layout() const = 0;
    virtual std::int64_t steps_done() const = 0;
    virtual void set_weights(const std::string& coefficient, std::span<const double> weights) = 0;
    virtual void set_table(const std::string& table, std::span<const double> rows) = 0;
    virtual void set_points(const std::string& points, std::span<const double> positions) = 0;
    virtual void set_point_values(const std::string& points, const std::string& name,
                                  std::span<const double> values) = 0;
    virtual std::vector<double> trace(const std::string& points, const std::string& name) = 0;
    virtual void bind(const std::string& name, const std::shared_ptr<FieldState>& field) = 0;
    virtual std::shared_ptr<FieldState> share(const std::string& name) = 0;
    virtual std::vector<Piece> pieces() const = 0;
    virtual View view(const std::string& field, int piece, int level) = 0;
    virtual void write(const std::string& field, int level, std::span<const float> values) = 0;
    virtual void write(const std::string& field, int level, std::span<const double> values) = 0;
    virtual void read(const std::string& field, int level, std::span<float> values) = 0;
    virtual void read(const std::string& field, int level, std::span<double> values) = 0;
    virtual void write_elements(const std::string& field, int level, const void* elements,
                                std::int64_t bytes) = 0;
    virtual void read_elements(const std::string& field, int level, void* elements, std::int64_t bytes) = 0;
    virtual void write_view(const std::string& field, int level, const View& cells) = 0;
    virtual void read_view(const std::string& field, int level, const View& cells) = 0;
    // The cells of a box that lies in the grid, dense, in the field's own type.
    virtual void write_box(const std::string& field, int level, const halo::rt::Box& box,
                           const void* elements) = 0;
    virtual void read_box(const std::string& field, int level, const halo::rt::Box& box, void* elements) = 0;
    // As Session has it.
    virtual void continue_from(const halo::rt::StepsBefore& before) = 0;
    virtual void step(std::int64_t count) = 0;
    virtual Simulation::Stepped step_until(const ConditionState& condition, std::int64_t at_most,
                                           std::int64_t every) = 0;
    virtual double reduce(const std::string& reduction) = 0;
    virtual std::vector<halo::rt::RepeatCounts> repeat_counts() = 0;

protected:
    // Tells what runs already.
    virtual void set_running(const std::string& param, double value) = 0;
};

}  // namespace halocline::detail
