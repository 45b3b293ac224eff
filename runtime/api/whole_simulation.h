// A Simulation on one device: a Session that works on Fields, its own or those that are bound to it. Not for
// users.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "runtime/api/simulation_state.h"

namespace halocline::detail {

struct WholeSimulation final : SimulationState, std::enable_shared_from_this<WholeSimulation> {
    const std::shared_ptr<DeviceState> device;
    const std::shared_ptr<const Code> code;
    halo::rt::LaunchPlan plan;  // the code's, without what the bound fields have no arrays for
    std::optional<halo::rt::Geometry> geometry;  // once it is decided
    struct Binding {
        std::shared_ptr<FieldState> field;
        int index = 0;  // in the plan
        std::uint64_t seen = 0;
    };
    std::map<std::string, Binding> bindings;
    bool arrays_are_apart = true;  // fields that are bound to one array are refused
    bool sums_in_rows = false;     // as of SessionOptions
    std::optional<halo::rt::Session> session;

    WholeSimulation(const Program& program, const std::shared_ptr<DeviceState>& device, const Grid& grid,
                    const SimulationOptions& options);
    ~WholeSimulation() override {
        const DeviceLock lock(*device);
        session.reset();
    }

    // whole_simulation_start.cpp
    void bind(const std::string& name, const std::shared_ptr<FieldState>& field) override;
    std::shared_ptr<FieldState> share(const std::string& name) override;
    halo::rt::Session& start();  // the session, made where there is none yet

    // whole_simulation.cpp
    // Steps that are done by the session itself: shared fields are told of them.
    void with_session(const std::function<void(halo::rt::Session&)>& work);
    Layout layout() const override;
    std::int64_t steps_done() const override { return session ? session->steps_done() : 0; }
    void set_weights(const std::string& coefficient, std::span<const double> weights) override;
    void set_table(const std::string& table, std::span<const double> rows) override;
    void set_points(const std::string& points, std::span<const double> positions) override;
    void set_point_values(const std::string& points, const std::string& name,
                          std::span<const double> values) override;
    std::vector<double> trace(const std::string& points, const std::string& name) override;
    std::vector<Piece> pieces() const override;
    View view(const std::string& field, int piece, int level) override;
    void write(const std::string& field, int level, std::span<const float> values) override;
    void write(const std::string& field, int level, std::span<const double> values) override;
    void read(const std::string& field, int level, std::span<float> values) override;
    void read(const std::string& field, int level, std::span<double> values) override;
    void write_elements(const std::string& field, int level, const void* elements,
                        std::int64_t bytes) override;
    void read_elements(const std::string& field, int level, void* elements, std::int64_t bytes) override;
    void write_view(const std::string& field, int level, const View& cells) override;
    void read_view(const std::string& field, int level, const View& cells) override;
    void write_box(const std::string& field, int level, const halo::rt::Box& box,
                   const void* elements) override;
    void read_box(const std::string& field, int level, const halo::rt::Box& box, void* elements) override;
    void continue_from(const halo::rt::StepsBefore& before) override;
    void step(std::int64_t count) override;
    Simulation::Stepped step_until(const ConditionState& condition, std::int64_t at_most,
                                   std::int64_t every) override;
    double reduce(const std::string& reduction) override;
    std::vector<halo::rt::RepeatCounts> repeat_counts() override;

private:
    void set_running(const std::string& param, double value) override;

    // whole_simulation_start.cpp
    int find_field(const std::string& name) const;  // throws with the names that there are
    halo::rt::Geometry chosen_geometry() const;
    std::vector<void*> arrays_of(const Binding& binding) const;  // as Session::bind_levels() takes them
    bool check_levels(const halo::rt::FieldPlan& known, const FieldState& field) const;
    halo::rt::Geometry checked_place(const halo::rt::FieldPlan& known, const FieldState& field) const;
    void check_apart(const std::string& name, const FieldState& field) const;
    void check_users(int index, const FieldState& field) const;

    // whole_simulation.cpp
    template <class Work>
    auto stepping(Work&& work);       // does steps by work(session), and tells shared fields
    halo::rt::Session& up_to_date();  // the session, with what others did to shared fields
    void publish_levels() noexcept;   // after steps: tells shared fields where their levels are now
    void mark_written(const std::string& name);
    void check_view(const std::string& field, const View& cells) const;
    void copy_cells(const std::string& field, const View& to, const View& from);
    void check_faces() const;  // that all users of shared fields mean the same past their faces
};

}  // namespace halocline::detail
