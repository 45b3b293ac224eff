// The accesses below expressions, and sums over tables, but for what is the same for all cells.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/program.h"
#include "compiler/support/work.h"

namespace halo::ir {

// The accesses of one root after the other. A root costs what it reaches and no more, so programs of many
// statements stay linear.
class AccessWalk {
public:
    explicit AccessWalk(const Program& program)
        : program_(program), seen_by_(program.exprs.size(), 0), uniform_(uniform_exprs(program)) {}

    // The terms of the sums over tables below a root.
    template <class Visit>
    void for_each_sum(ExprId root, Visit&& visit) {
        if (program_.tables.empty()) return;
        for_each_node<TableSum>({root}, [&](const TableSum& sum) {
            visit(sum.value);
            if (sum.factor) visit(*sum.factor);
        });
    }

    template <class Visit>
    void for_each_access(ExprId root, Visit&& visit) {
        for_each_node<Access>({root}, std::forward<Visit>(visit));
    }

    template <class Visit>
    void for_each_access(const std::vector<ExprId>& roots, Visit&& visit) {
        for_each_node<Access>(roots, std::forward<Visit>(visit));
    }

private:
    template <class Node, class Visit>
    void for_each_node(const std::vector<ExprId>& roots, Visit&& visit) {
        ++turn_;
        pending_ = roots;
        while (!pending_.empty()) {
            const ExprId id = pending_.back();
            pending_.pop_back();
            if (uniform_[id.index] || seen_by_[id.index] == turn_) continue;
            seen_by_[id.index] = turn_;
            Work::count();
            const Expr& expr = program_[id];
            if (const Node* node = std::get_if<Node>(&expr.node)) visit(*node);
            for_each_operand(expr, [&](ExprId operand) { pending_.push_back(operand); });
        }
    }

    const Program& program_;
    std::vector<std::uint32_t> seen_by_;
    std::vector<bool> uniform_;
    std::vector<ExprId> pending_;
    std::uint32_t turn_ = 0;
};

}  // namespace halo::ir
