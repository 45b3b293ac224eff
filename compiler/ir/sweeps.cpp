#include "compiler/ir/sweeps.h"

#include <map>
#include <utility>

#include "compiler/ir/analysis.h"

namespace halo::ir {

namespace {

// Whether two statements are of one sweep.
bool are_together(const Program& program, std::size_t a, std::size_t b) {
    const LineSweep* const sweep = sweep_of(program.statements[a]);
    const LineSweep* const other = sweep_of(program.statements[b]);
    return sweep != nullptr && other != nullptr && *sweep == *other;
}

class SweepReads {
public:
    SweepReads(const Program& program, std::size_t first, const std::function<bool(FieldId)>& is_written)
        : program_(program),
          first_(first),
          past_(end_of_sweep(program, first)),
          sweep_(*sweep_of(program.statements[first])),
          is_written_(is_written) {
        for (std::size_t i = first_; i < past_; ++i) {
            const auto& assign = std::get<Assign>(program_.statements[i]);
            writer_of_.try_emplace({assign.target.index, assign.time}, i);
        }
    }

    std::optional<SweepMistake> find() const {
        for (std::size_t i = first_; i < past_; ++i) {
            for (const std::uint32_t e : reached_exprs(program_, roots_of(program_.statements[i]))) {
                const auto* access = std::get_if<Access>(&program_.exprs[e].node);
                if (access == nullptr) continue;
                if (const auto kind = mistake_of(i, *access)) return SweepMistake{*kind, i, ExprId{e}};
            }
        }
        return std::nullopt;
    }

private:
    std::optional<SweepMistake::Kind> mistake_of(std::size_t statement, const Access& access) const {
        using Kind = SweepMistake::Kind;
        const auto writer = writer_of_.find({access.field.index, access.time});
        if (writer == writer_of_.end()) return std::nullopt;
        const auto along = static_cast<std::size_t>(sweep_.axis);
        for (std::size_t axis = 0; axis < kMaxRank; ++axis)
            if (axis != along && access.offset[axis] != 0) return Kind::across;
        const int offset = access.offset[along];
        const int forward = sweep_.upwards ? offset : -offset;
        const bool is_first = !is_written_(access.field);
        if (is_first && (forward > 0 || (forward == 0 && writer->second >= statement))) return Kind::ahead;
        if (offset == 0) return std::nullopt;
        const Margins& margins = std::get<Assign>(program_.statements[writer->second]).margins;
        const Field& field = program_[access.field];
        const BoundaryKind face = field.boundary[along][offset < 0 ? 0 : 1].kind;
        if (face != BoundaryKind::fixed && face != BoundaryKind::free) return Kind::shows;
        if (!is_first || field.role != Role::output) return std::nullopt;
        if (face == BoundaryKind::free) return Kind::no_start;
        return margins[along][sweep_.upwards ? 0 : 1] > 0 ? std::optional(Kind::left_out) : std::nullopt;
    }

    const Program& program_;
    std::size_t first_, past_;
    const LineSweep& sweep_;
    const std::function<bool(FieldId)>& is_written_;
    std::map<std::pair<std::uint32_t, int>, std::size_t> writer_of_;  // by level: the statement of the sweep
};

}  // namespace

const LineSweep* sweep_of(const Statement& statement) {
    const auto* assign = std::get_if<Assign>(&statement);
    return assign != nullptr && assign->sweep ? &*assign->sweep : nullptr;
}

std::size_t end_of_sweep(const Program& program, std::size_t first) {
    std::size_t past = first + 1;
    while (past < program.statements.size() && are_together(program, past - 1, past))
        ++past;
    return past;
}

std::size_t first_of_sweep(const Program& program, std::size_t last) {
    while (last > 0 && are_together(program, last - 1, last))
        --last;
    return last;
}

std::optional<SweepMistake> find_sweep_mistake(const Program& program, std::size_t first,
                                               const std::function<bool(FieldId)>& is_written) {
    return SweepReads(program, first, is_written).find();
}

}  // namespace halo::ir
