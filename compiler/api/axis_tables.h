// What simulations read of axes whose cells are not equally far apart (ir/stretched_axis.h). Not for users.
#pragma once

#include <map>
#include <set>
#include <string>

#include "compiler/ir/program.h"
#include "runtime/api/simulation_state.h"

namespace halocline::detail {

// The program, checked, must outlive it.
class AxisTables final : public HiddenInputs {
public:
    AxisTables(SimulationState& simulation, const halo::ir::Program& program);
    void note_given(const std::string& name) override { is_due_ = is_due_ || follows_from_.contains(name); }
    void note_shared(const std::string& field) override {
        is_shared_ = is_shared_ || follows_from_.contains(field);
    }
    void fill() override;

private:
    SimulationState& simulation_;
    const halo::ir::Program& program_;
    std::set<std::string> follows_from_;  // params, coefficients and fields
    bool is_due_ = true, is_shared_ = false;
    std::map<int, halo::ir::AxisPoints> points_;  // that the tables are of; none: unknown
};

}  // namespace halocline::detail
