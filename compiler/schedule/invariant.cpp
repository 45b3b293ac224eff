#include "compiler/schedule/invariant.h"

#include <algorithm>

#include "compiler/ir/analysis.h"
#include "compiler/schedule/footprint.h"
#include "compiler/schedule/issue_model.h"

namespace halo::schedule {

namespace {

// Issue slots from which on it pays to store the value and to load it again.
constexpr double kWorthKeeping = 2;

class Search {
public:
    Search(const ir::Program& program, const std::vector<ir::ExprId>& roots, ir::FieldId input)
        : program_(program), roots_(roots), input_(input), reached_(ir::reachable_exprs(program, roots)) {
        find_sources();
    }

    // Operands come before their users: the first that is found from the back is the largest.
    std::optional<ir::ExprId> run() const {
        for (std::size_t e = reached_.size(); e-- > 0;) {
            const ir::ExprId value{static_cast<std::uint32_t>(e)};
            if (!reached_[e] || sources_[e] != Sources::input ||
                program_[value].type != program_[input_].type)
                continue;
            if (stands_for_all_reads(value) && issue_slots(operations_in(program_, value)) >= kWorthKeeping)
                return value;
        }
        return std::nullopt;
    }

private:
    // What a value is made of.
    enum class Sources : std::uint8_t { constants, input, others };

    // By a closed list: what else a step may read can differ from step to step, or from cell to cell.
    void find_sources() {
        sources_.assign(reached_.size(), Sources::others);
        for (std::uint32_t e = 0; e < reached_.size(); ++e) {
            if (!reached_[e]) continue;
            const auto& node = program_.exprs[e].node;
            if (const auto* access = std::get_if<ir::Access>(&node)) {
                if (access->field == input_ && access->is_at_cell()) sources_[e] = Sources::input;
            } else if (std::holds_alternative<ir::Constant>(node) ||
                       std::holds_alternative<ir::ParamRef>(node)) {
                sources_[e] = Sources::constants;
            } else if (std::holds_alternative<ir::Unary>(node) || std::holds_alternative<ir::Binary>(node) ||
                       std::holds_alternative<ir::Fma>(node) || std::holds_alternative<ir::Select>(node) ||
                       std::holds_alternative<ir::Call>(node)) {
                Sources all = Sources::constants;
                ir::for_each_operand(program_.exprs[e], [&](ir::ExprId operand) {
                    all = std::max(all, sources_[operand.index]);
                });
                sources_[e] = all;
            }
        }
    }

    bool reads_input(ir::ExprId id) const {
        const auto* access = std::get_if<ir::Access>(&program_[id].node);
        return access != nullptr && access->field == input_;
    }

    // Whether no read of the input is reached from the roots but through `value`.
    bool stands_for_all_reads(ir::ExprId value) const {
        std::vector<bool> seen(reached_.size());
        std::vector<ir::ExprId> open = roots_;
        while (!open.empty()) {
            const ir::ExprId id = open.back();
            open.pop_back();
            if (id == value || seen[id.index]) continue;
            if (reads_input(id)) return false;
            seen[id.index] = true;
            ir::for_each_operand(program_[id], [&](ir::ExprId operand) { open.push_back(operand); });
        }
        return true;
    }

    const ir::Program& program_;
    const std::vector<ir::ExprId>& roots_;
    const ir::FieldId input_;
    const std::vector<bool> reached_;
    std::vector<Sources> sources_;  // by expression; of those that are reached
};

}  // namespace

std::optional<ir::ExprId> step_invariant(const ir::Program& program, const std::vector<ir::ExprId>& roots,
                                         ir::FieldId input) {
    return Search(program, roots, input).run();
}

}  // namespace halo::schedule
