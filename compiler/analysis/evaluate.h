// The values of expressions that read no field (an init, a coefficient) at single cells, in double.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::analysis {

struct RunValues {                              // nullopt: not known
    std::vector<std::optional<double>> params;  // by ParamId
    std::vector<std::vector<double>> coefs;     // by CoefId
    std::optional<rt::Extent> extent;
};

using Cell = std::array<std::int64_t, ir::kMaxRank>;  // its index along each axis

class PointEvaluator {
public:
    // Keeps a reference to the program.
    PointEvaluator(const ir::Program& program, RunValues values);

    // nullopt where the expression reads a field, or something that is not known.
    std::optional<double> value(ir::ExprId root, const Cell& cell);

    // Of a leaf that is no constant: a param, a weight, a coordinate.
    std::optional<double> leaf(const ir::Expr& expr, const Cell& cell);

private:
    void plan(ir::ExprId root);

    const ir::Program& program_;
    RunValues values_;
    std::vector<std::optional<double>> known_;  // by node, of the current cell
    std::vector<std::uint64_t> known_at_;       // by node: the evaluation that found it
    std::uint64_t turn_ = 0;                    // one more for each change of the cell
    Cell cell_{};
    ir::ExprId planned_{};
    std::vector<ir::ExprId> plan_;  // of `planned_`, operands first
    bool is_whole_plan_ = false;    // else it leaves out what was known when it was made
};

}  // namespace halo::analysis
