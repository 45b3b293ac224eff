// A Simulation on several devices: a grid cut into pieces, each a Session on its device. Not for users.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/api/simulation_state.h"
#include "runtime/pieces/pieces.h"

namespace halocline::detail {

// What the source has for these devices, one piece on each. Throws Error, as Simulation does.
std::shared_ptr<const PiecesCode> pieces_code(ProgramSource& source, const std::vector<Device>& devices,
                                              const Extent& extent, const SimulationOptions& options);

class PiecesSimulation final : public SimulationState {
public:
    PiecesSimulation(const Program& program, const std::vector<Device>& devices, const Grid& grid,
                     const SimulationOptions& options);
    PiecesSimulation(const Program& program, const std::vector<std::shared_ptr<DeviceState>>& devices,
                     const Grid& grid);
    ~PiecesSimulation() override;

    halo::rt::Pieces& start();  // the pieces, on their devices; made where there are none yet

    Layout layout() const override;
    std::int64_t steps_done() const override;
    void set_weights(const std::string& coefficient, std::span<const double> weights) override;
    void set_table(const std::string& table, std::span<const double> rows) override;
    void set_points(const std::string& points, std::span<const double> positions) override;
    void set_point_values(const std::string& points, const std::string& name,
                          std::span<const double> values) override;
    std::vector<double> trace(const std::string& points, const std::string& name) override;
    void bind(const std::string& name, const std::shared_ptr<FieldState>& field) override;
    std::shared_ptr<FieldState> share(const std::string& name) override;
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
    bool holds(const ConditionState& condition);  // after the last step
    // Of the field's elements, for so many values.
    halo::rt::ElementType type_for(const std::string& field, std::int64_t values) const;
    template <class Value>
    void write_values(const std::string& field, int level, std::span<const Value> values);
    template <class Value>
    void read_values(const std::string& field, int level, std::span<Value> values);

    std::shared_ptr<const PiecesCode> code_;
    std::vector<halo::rt::Session> sessions_;  // by piece
    std::optional<halo::rt::Pieces> pieces_;
};

}  // namespace halocline::detail
