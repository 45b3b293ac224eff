// The reference interpreter: what a StencilProgram means. Slow, plain, and independent of every other engine: it maps
// each read past an edge by boundary.h and keeps no halo cells.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::ir {

enum class Arithmetic : std::uint8_t {
    declared,  // each node rounds to its own type: what engines must reproduce
    f64        // every node in double: the reference for error bounds
};

class Interpreter {
public:
    // extent: cells along each axis, >= 1. Throws std::invalid_argument for a param without default only at step().
    Interpreter(const Program& program, std::array<std::int64_t, kMaxRank> extent, Arithmetic arithmetic);
    ~Interpreter();

    void set_param(const std::string& name, double value);
    void set_coef(const std::string& name, const std::vector<double>& values);

    // One level of a field, x fastest, no halo: element x + nx * (y + ny * z). time: 0 now (for outputs: last written),
    // -1 … -history the past. Values are kept as doubles that the field's type can hold.
    std::vector<double>& field(const std::string& name, int time = 0);

    void step();  // one time step; then t+1 is t
    double reduction(const std::string& name) const;  // of the last step

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace halo::ir
