// Runs one spec on an engine and on the reference interpreter, from the same random fields, and compares
// every value.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/lower/lower.h"
#include "runtime/core/device.h"
#include "runtime/core/session.h"
#include "runtime/pieces/pieces.h"

namespace halo::test {

using halo::rt::Extent;

// The first stencil of a spec, analysed (its mistakes are thrown as text) and optimised.
ir::Program load_program(const std::string& text, bool strict = false);

// Whether statements read sums, which engines add up in different orders: then no bits agree, and of random
// data not even what an iteration comes to.
bool reads_sums(const ir::Program& program);

// The interpreter's results after some steps from random fields: the truth for all engines of that grid.
class Reference {
public:
    Reference(const ir::Program& program, const Extent& extent, int steps, std::uint64_t seed);
    ~Reference();

    struct Level {
        std::string field;
        int time = 0;
        std::vector<double> start, end;
    };
    const std::vector<Level>& levels() const { return levels_; }
    const std::vector<std::pair<std::string, std::vector<double>>>& tables() const { return tables_; }
    double reduction(const std::string& name) const;
    const std::vector<double>& by_step(const std::string& reduction) const;  // after each step

    // Random points within the grid, with numbers; the traces that are injected end a step early.
    struct PointSet {
        std::string name;
        std::vector<double> positions;
        std::vector<std::pair<std::string, std::vector<double>>> given;    // columns and traces
        std::vector<std::pair<std::string, std::vector<double>>> sampled;  // traces, as they end
    };
    const std::vector<PointSet>& points() const { return points_; }

    const ir::Program& program;
    const Extent extent;
    const int steps;

private:
    struct State;
    std::unique_ptr<State> state_;
    std::vector<Level> levels_;
    std::map<std::string, std::vector<double>> by_step_;
    void place_points(std::uint64_t seed);
    void place_cells(const ir::StretchedAxis& axis);

    std::vector<std::pair<std::string, std::vector<double>>> tables_;  // name and rows
    std::vector<PointSet> points_;
};

// Makes the modules of a lowered program on a device.
using Load = std::function<std::vector<std::unique_ptr<rt::Module>>(const lower::Lowered&, rt::Device&)>;

// Empty where all fields agree bit for bit (a cell that is NaN in the reference has no value) and all
// reductions within rounding; else what differs first. tolerance: how far values may differ, relative to 1
// and to the field's largest value, where functions are the device's own.
// time_tiles: as SessionOptions has them; steps_at_once: what Session says then. run: instead of the
// reference's steps, a run that has to end after as many of them.
std::string difference(const Reference& reference, const lower::Lowered& lowered, rt::Device& device,
                       const Load& load, double tolerance = 0, const rt::TimeTileOptions& time_tiles = {},
                       int* steps_at_once = nullptr, const rt::RunOptions* run = nullptr);

// The same of a session on the reference's grid; `run` does the reference's steps by it.
std::string difference(const Reference& reference, rt::Session& session, const std::function<void()>& run,
                       double tolerance);

// The same of a grid that is cut into pieces.
std::string difference(const Reference& reference, rt::Pieces& pieces, const std::function<void()>& run,
                       double tolerance);

// The same where the kernel that does several steps is there only after so many of them. No bit may differ.
std::string late_difference(const Reference& reference, const lower::Lowered& lowered, rt::Device& device,
                            int before);

// For an emulated GPU: the emitted CUDA.
std::vector<std::unique_ptr<rt::Module>> load_cuda(const lower::Lowered& lowered, rt::Device& device);

}  // namespace halo::test
