// A Simulation as an Engine, for what reads and writes files of it. Not for users.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/running/engine.h"
#include "runtime/api/simulation_state.h"

namespace halocline::detail {

// Whoever makes one holds the locks of the simulation's devices as long as it lives. Fields that users do not
// see are known to it, too.
class SimulationEngine final : public halo::driver::Engine {
public:
    SimulationEngine(SimulationState& simulation, const halo::ir::Program& program)
        : simulation_(simulation), program_(program) {}

    void set_param(const std::string& name, double value) override { simulation_.set(name, value); }
    // What is given is remembered for the next checkpoint.
    void set_coef(const std::string& name, const std::vector<double>& values) override;
    void set_table(const std::string& name, const std::vector<double>& rows) override;
    void set_points(const std::string& points, const std::vector<double>& positions) override;
    void set_point_values(const std::string& points, const std::string& name,
                          const std::vector<double>& values) override;
    std::vector<double> trace(const std::string& points, const std::string& name) override {
        return simulation_.trace(points, name);
    }
    halo::driver::Extent extent() const override { return simulation_.extent; }
    halo::rt::ElementType type_of(const std::string& field) const override;
    halo::rt::FieldGrid grid_of(const std::string& field) const override;
    void continue_from(const halo::rt::StepsBefore& before) override { simulation_.continue_from(before); }
    double reduction(const std::string& name) override { return simulation_.reduce(name); }

    // Steps are done by the Simulation itself.
    bool holds(const halo::rt::HostScalar& until) override;
    halo::rt::RunResult run(std::int64_t steps, const std::optional<halo::rt::HostScalar>& until) override;

private:
    void upload_cells(const std::string& field, int time, const halo::rt::Box& box,
                      const void* elements) override {
        simulation_.note_given(field);
        simulation_.write_box(field, time, box, elements);
    }
    void download_cells(const std::string& field, int time, const halo::rt::Box& box,
                        void* elements) override {
        simulation_.read_box(field, time, box, elements);
    }

    const halo::ir::Field& find(const std::string& field) const;

    SimulationState& simulation_;
    const halo::ir::Program& program_;
};

}  // namespace halocline::detail
