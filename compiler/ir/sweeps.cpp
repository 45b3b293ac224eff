#include "compiler/ir/sweeps.h"

#include <algorithm>
#include <cstdlib>
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

// Cells in the way that the sweep goes.
int steps_along(int axis, bool upwards, const Offset& offset) {
    const int cells = offset[static_cast<std::size_t>(axis)];
    return upwards ? cells : -cells;
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
            writer_of_.try_emplace({assign.target, assign.time}, i);
        }
    }

    std::optional<SweepMistake> find() const {
        for (std::size_t i = first_; i < past_; ++i) {
            for (const std::uint32_t e : reached_exprs(program_, roots_of(program_.statements[i]))) {
                const auto* access = std::get_if<Access>(&program_.exprs[e].node);
                if (access == nullptr) continue;
                if (const auto mistake = mistake_of(i, *access))
                    return SweepMistake{mistake->first, i, ExprId{e}, mistake->second};
            }
        }
        return std::nullopt;
    }

private:
    // With the axis along which it is one.
    std::optional<std::pair<SweepMistake::Kind, int>> mistake_of(std::size_t statement,
                                                                 const Access& access) const {
        using Kind = SweepMistake::Kind;
        const auto writer = writer_of_.find({access.field, access.time});
        if (writer == writer_of_.end()) return std::nullopt;
        for (int axis = 0; axis < kMaxRank; ++axis)
            if (!sweep_.goes_along(axis) && access.offset[static_cast<std::size_t>(axis)] != 0)
                return std::pair(Kind::across, sweep_.axis);
        const int order = order_of(sweep_, access.offset);
        const bool is_first = !is_written_(access.field);
        if (is_first && (order > 0 || (order == 0 && writer->second >= statement)))
            return std::pair(Kind::ahead, sweep_.axis);
        const Margins& margins = std::get<Assign>(program_.statements[writer->second]).margins;
        const Field& field = program_[access.field];
        for (int axis = 0; axis < kMaxRank; ++axis) {
            const auto along = static_cast<std::size_t>(axis);
            if (access.offset[along] == 0) continue;
            const std::size_t side = access.offset[along] < 0 ? 0 : 1;
            const BoundaryKind face = field.boundary[along][side].kind;
            if (face != BoundaryKind::fixed && face != BoundaryKind::free)
                return std::pair(Kind::shows, axis);
            if (!is_first || field.role != Role::output) continue;
            if (face == BoundaryKind::free) return std::pair(Kind::no_start, axis);
            if (margins[along][side] > 0) return std::pair(Kind::left_out, axis);
        }
        return std::nullopt;
    }

    const Program& program_;
    std::size_t first_, past_;
    const LineSweep& sweep_;
    const std::function<bool(FieldId)>& is_written_;
    std::map<Level, std::size_t> writer_of_;  // the statement of the sweep
};

}  // namespace

const LineSweep* sweep_of(const Statement& statement) {
    const auto* assign = std::get_if<Assign>(&statement);
    return assign != nullptr && assign->sweep ? &*assign->sweep : nullptr;
}

int order_of(const LineSweep& sweep, const Offset& offset) {
    const int outer = steps_along(sweep.axis, sweep.upwards, offset);
    return outer != 0 || !sweep.inner ? outer : steps_along(sweep.inner->axis, sweep.inner->upwards, offset);
}

int slant_of(const Program& program, std::size_t first) {
    const LineSweep& sweep = *sweep_of(program.statements[first]);
    const std::size_t past = end_of_sweep(program, first);
    const auto sweeps = [&](const Access& access) {
        for (std::size_t i = first; i < past; ++i) {
            const auto& assign = std::get<Assign>(program.statements[i]);
            if (assign.target == access.field && assign.time == access.time) return true;
        }
        return false;
    };
    int slant = 1;
    for (std::size_t i = first; i < past; ++i) {
        for (const std::uint32_t e : reached_exprs(program, roots_of(program.statements[i]))) {
            const auto* access = std::get_if<Access>(&program.exprs[e].node);
            if (access == nullptr || !sweeps(*access)) continue;
            const int lines = steps_along(sweep.axis, sweep.upwards, access->offset);
            const int cells = steps_along(sweep.inner->axis, sweep.inner->upwards, access->offset);
            // At `lines` lines before, a cell that is not as many times the slant further on.
            const int further = lines < 0 ? cells : -cells;
            if (lines != 0 && further > 0) slant = std::max(slant, further / std::abs(lines) + 1);
        }
    }
    return slant;
}

std::int64_t places_of(const LineSweep& sweep, const Place& extent) {
    const std::int64_t within = sweep.inner ? extent[static_cast<std::size_t>(sweep.inner->axis)] : 1;
    return extent[static_cast<std::size_t>(sweep.axis)] * within;
}

Place place_of(const LineSweep& sweep, const Place& extent, std::int64_t number) {
    Place place{-1, -1, -1};
    const auto put = [&](int axis, bool upwards, std::int64_t before) {
        const auto along = static_cast<std::size_t>(axis);
        place[along] = upwards ? before : extent[along] - 1 - before;
    };
    const std::int64_t within = sweep.inner ? extent[static_cast<std::size_t>(sweep.inner->axis)] : 1;
    put(sweep.axis, sweep.upwards, number / within);
    if (sweep.inner) put(sweep.inner->axis, sweep.inner->upwards, number % within);
    return place;
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
