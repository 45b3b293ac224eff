// What simulations of programs without a compiler read of axes whose cells are not equally far apart
// (LaunchPlan::stretched). Not for users.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/api/simulation_state.h"

namespace halocline::detail {

class AxisInputs final : public HiddenInputs {
public:
    // The plan must outlive it.
    AxisInputs(SimulationState& simulation, const halo::rt::LaunchPlan& plan);
    void note_given(const std::string& name) override { is_due_ = is_due_ || follows_from_.contains(name); }
    void note_shared(const std::string& field) override {
        is_shared_ = is_shared_ || follows_from_.contains(field);
    }
    void fill() override;

private:
    halo::rt::AxisPoints points_of(const halo::rt::StretchedAxisPlan& axis) const;
    void fill(const halo::rt::StretchedAxisPlan& axis, const halo::rt::AxisPoints& points);

    SimulationState& simulation_;
    const halo::rt::LaunchPlan& plan_;
    std::set<std::string> follows_from_;  // params and fields
    bool is_due_ = true, is_shared_ = false;
    std::vector<std::optional<halo::rt::AxisPoints>> points_;  // that the tables are of, by axis of the plan
};

}  // namespace halocline::detail
