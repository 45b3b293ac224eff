// The reference interpreter: what a StencilProgram means. Slow, plain, and independent of every other engine:
// it maps each read past an edge by boundary.h, evaluates formulas past a face where they are read, and keeps
// no halo cells.
//
// What every engine must reproduce, besides IEEE arithmetic in each node's type, rounded after each node:
//   constants   arithmetic on constants alone is exact (constants.h); rounded where it meets something else
//   min, max    a < b ? a : b and a > b ? a : b: where either is NaN, the right operand
//   rsqrt       1 / sqrt(x), two roundings
//   integers    + - * wrap around; floor_div and floor_mod round down, by 0 give 0, and wrap, too
//   convert     rounding.h: a real to an integer to nearest even, saturated, NaN to 0
//   storage     each assigned value is rounded to it (rounding.h) before anything reads it
//   pos(x)      idx(x) * spacing + origin, each part rounded to the node's type first, then two roundings
//   sum         in f64 over the cells in memory order (x fastest); engines may add in another order, so sums
//   agree
//               within a bound only. The reduced expression is what is added: for norm2 it is the square
//               already
//   min, max    of a region: exact; NaN if any cell is; +inf and -inf of no cells
//   tables      rows in order, each added to what there is, from +0, in the sum's type
//   inject      cell + T(weight) * value for each point in order, T the field's arithmetic type, each rounded
//               twice; to the storage when all points of the cell are done
//   sample      the same sum over the point's cells in memory order, from +0, in the value's type
//   margins     a state keeps its value at t there, an output what it held (0 at first); so do cells outside
//               of a statement's region and where its condition is false. Of a level that is written before
//               they keep what was written. A let has no value there: NaN
//   sweeps      along their axis, or axes, cell after cell, all statements of the sweep at each; reads of
//               what it writes see what is there at that moment
//   repeats     their statements, in order, as often as they say; reductions are those of the last time. A
//               condition that ends one is evaluated after each iteration, in f64, from the latest reductions
//   functions   the float functions of the C library for f32; engines agree within a bound
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

struct PointWeight {
    std::array<std::int32_t, kMaxRank> cell{};
    double weight = 0;
};

// Of a repeat that a condition ends, over all steps so far.
struct RepeatCounts {
    std::int64_t total = 0;       // iterations
    std::int64_t most = 0;        // in a step
    std::int64_t unfinished = 0;  // steps that ended after the most iterations, without the condition
};

class Interpreter {
public:
    // extent: cells along each axis; throws rt::Error where runtime/core/grid_rules.h refuses the grid. A
    // param without default throws std::invalid_argument at step().
    Interpreter(const Program& program, rt::Extent extent, Arithmetic arithmetic);
    ~Interpreter();

    void set_param(const std::string& name, double value);
    void set_coef(const std::string& name, const std::vector<double>& values);

    // The rows of a table, the given columns of one after the other; none are legal. Throws
    // std::invalid_argument where they are no whole rows. step() does for a table that was given none.
    void set_table(const std::string& name, const std::vector<double>& values);

    // By point, in their order: the cells that it touches in memory order, with the weights. Then a number
    // for each point, 0 where none is given; and the rows of a trace that is injected, one for each step, 0
    // past the last.
    void set_points(const std::string& points, std::vector<std::vector<PointWeight>> touched);
    void set_column(const std::string& points, const std::string& column, std::vector<double> values);
    void set_trace(const std::string& points, const std::string& trace, std::vector<double> rows);
    // Of a sampled trace: the rows of all steps done.
    const std::vector<double>& trace(const std::string& points, const std::string& trace) const;

    // One level of a field, x fastest, no halo: element x + nx * (y + ny * z), of the cells that the field
    // has. time: 0 now (for outputs: last written), -1 … -history the past. Values are kept as doubles that
    // the field's storage can hold (true is 1); those of an i64 field as its bits (std::bit_cast), so that
    // none is lost.
    std::vector<double>& field(const std::string& name, int time = 0);

    void step();  // one time step; then t+1 is t
    std::int64_t steps_done() const;
    // Goes on after steps that others did: what their last one reduced to, by name. The rows of sampled
    // traces are set as those of others are.
    void continue_from(std::int64_t steps, const std::map<std::string, double>& reductions);
    double reduction(const std::string& name) const;               // of the last step
    const RepeatCounts& iterations(std::size_t repeat_end) const;  // by Program::repeat_ends

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace halo::ir
