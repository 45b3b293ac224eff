// The inside of a Simulation handle. Not for users. Whoever calls its functions has the device's Turn.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "runtime/api/field_state.h"
#include "runtime/api/program_source.h"
#include "runtime/core/session.h"

namespace halocline::detail {

struct SimulationState : std::enable_shared_from_this<SimulationState> {
    std::shared_ptr<DeviceState> device;
    std::shared_ptr<ProgramSource> source;
    std::shared_ptr<const Code> code;
    Grid grid;
    Extent extent{1, 1, 1};
    halo::rt::LaunchPlan plan;  // the code's, without what the bound fields have no arrays for
    std::optional<halo::rt::Geometry> geometry;  // once it is decided
    std::map<std::string, double> params;        // set before the start
    struct Binding {
        std::shared_ptr<FieldState> field;
        int index = 0;  // in the plan
        std::uint64_t seen = 0;
    };
    std::map<std::string, Binding> bindings;
    std::optional<halo::rt::Session> session;

    SimulationState() = default;
    SimulationState(const SimulationState&) = delete;
    SimulationState& operator=(const SimulationState&) = delete;
    ~SimulationState() {
        if (device == nullptr) return;
        const Turn turn(*device);
        session.reset();
    }

    // simulation_start.cpp
    int find_field(const std::string& name) const;  // throws with the names that there are
    int find_param(const std::string& name) const;
    halo::rt::Geometry chosen_geometry() const;
    void bind(const std::string& name, const std::shared_ptr<FieldState>& field);
    halo::rt::Session& start();  // the session, made where there is none yet
    std::shared_ptr<FieldState> share(const std::string& name);
    std::vector<void*> arrays_of(const Binding& binding) const;  // as Session::bind_levels() takes them

    // simulation.cpp
    halo::rt::Session& up_to_date();  // the session, with what others did to shared fields
    void hand_on();                   // after steps: where the levels of shared fields are now
    void mark_written(const std::string& name);
    void check_faces() const;  // that all users of shared fields mean the same past their faces

private:
    bool check_levels(const halo::rt::FieldPlan& known, const FieldState& field) const;
    halo::rt::Geometry checked_place(const halo::rt::FieldPlan& known, const FieldState& field) const;
    void check_apart(const std::string& name, const FieldState& field) const;
    void check_users(int index, const FieldState& field) const;
};

}  // namespace halocline::detail
