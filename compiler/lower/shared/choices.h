// Choices between two values, where a thread has one cell alone. What is chosen between cells of one level is
// loaded before the condition is known: it is in the same lines of memory, and the thread has nothing else to
// do while it waits for the condition. Divisions and functions that one side alone needs are computed in a
// branch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/uses.h"
#include "compiler/lower/shared/context.h"

namespace halo::lower {

class Choices {
public:
    // in_memory: whether it is a load; is_known: whether it has a value or costs nothing.
    // operands: as of count_uses().
    using Question = std::function<bool(ir::ExprId)>;
    using Operands = std::function<void(ir::ExprId, const ir::UseOperand& use)>;
    Choices(const ir::Program& program, const ir::Uses& uses, Question in_memory, Question is_known,
            Operands operands)
        : program_(program),
          uses_(uses),
          in_memory_(std::move(in_memory)),
          is_known_(std::move(is_known)),
          operands_(std::move(operands)) {}

    // The level whose cells are all that is chosen from.
    std::optional<Level> level_of(ir::ExprId id) const;
    // Whether divisions or functions are left to compute.
    bool costs_much(ir::ExprId id) const;
    // What these compute and others use, too; operands first.
    std::vector<ir::ExprId> shared(const std::vector<ir::ExprId>& sides) const;

    // Of the lets that `let_of` gives for reads, those that are needed whatever is chosen.
    std::vector<const ir::Assign*> lets_surely_needed(
        const std::vector<ir::ExprId>& roots,
        const std::function<const ir::Assign*(ir::ExprId)>& let_of) const;

private:
    const ir::Program& program_;
    const ir::Uses& uses_;
    Question in_memory_, is_known_;
    Operands operands_;
};

}  // namespace halo::lower
