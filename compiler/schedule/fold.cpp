#include "compiler/schedule/fold.h"

#include <algorithm>
#include <limits>

#include "compiler/ir/in_place.h"
#include "compiler/ir/shown_cells.h"

namespace halo::schedule {

namespace {

constexpr int kAnyPlane = std::numeric_limits<int>::min();  // of values that need no plane of the field

class Folder {
public:
    // reductions: of the same stage. Their values are needed at the same plane as the assigned one.
    Folder(const ir::Program& program, const ir::Assign& assign,
           const std::vector<const ir::Reduce*>& reductions, ir::FieldId field, int time)
        : program_(program),
          assign_(assign),
          reductions_(reductions),
          field_(field),
          time_(time),
          uniform_(ir::uniform_exprs(program)) {}

    std::optional<Fold> fold() {
        std::vector<ir::ExprId> roots{assign_.value};
        if (assign_.condition) roots.push_back(*assign_.condition);
        for (const ir::Reduce* reduce : reductions_) {
            roots.push_back(reduce->value);
            if (reduce->condition) roots.push_back(*reduce->condition);
        }
        reached_ = ir::reachable_exprs(program_, roots);
        find_planes();
        place_nodes();
        result_.by_plane.resize(static_cast<std::size_t>(result_.high - result_.low));
        for (std::uint32_t e = 0; e < reached_.size(); ++e) {
            if (!reached_[e] || uniform_[e]) continue;
            ir::for_each_operand(program_.exprs[e], [&](ir::ExprId operand) {
                if (!uniform_[operand.index] && planes_[operand.index] != kAnyPlane &&
                    planes_[e] != kAnyPlane)
                    carry({false, operand}, planes_[operand.index], planes_[e]);
            });
        }
        for (const ir::ExprId root : roots)
            if (!uniform_[root.index] && planes_[root.index] != kAnyPlane)
                carry({false, root}, planes_[root.index], result_.high);
        const bool keeps = ir::is_partial(assign_) && program_[assign_.target].role == ir::Role::state;
        if (keeps && assign_.target == field_ && time_ == 0) carry({true, {}}, 0, result_.high);
        for (const auto& carried : result_.by_plane)
            for (const Fold::Carried& value : carried)
                if (!value.own && program_[value.expr].type != program_[field_].type) return std::nullopt;
        return std::move(result_);
    }

private:
    const ir::Access* folded(std::uint32_t e) const {
        const auto* access = std::get_if<ir::Access>(&program_.exprs[e].node);
        return access && access->field == field_ && access->time == time_ ? access : nullptr;
    }

    int streaming_axis() const { return program_.rank() - 1; }

    void find_planes() {
        for (std::uint32_t e = 0; e < reached_.size(); ++e) {
            const ir::Access* access = reached_[e] ? folded(e) : nullptr;
            if (!access) continue;
            result_.low = std::min(result_.low, access->offset[streaming_axis()]);
            result_.high = std::max(result_.high, access->offset[streaming_axis()]);
        }
    }

    // Finds the plane at which each node is computed. Other levels are there at the last plane.
    void place_nodes() {
        planes_.assign(reached_.size(), kAnyPlane);
        for (std::uint32_t e = 0; e < reached_.size(); ++e) {
            if (!reached_[e] || uniform_[e]) continue;
            const ir::Expr& expr = program_.exprs[e];
            const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node);
            if (const ir::Access* access = folded(e)) {
                planes_[e] = access->offset[streaming_axis()];
            } else if (std::holds_alternative<ir::Access>(expr.node) ||
                       (coordinate && coordinate->axis == streaming_axis())) {
                planes_[e] = result_.high;
            } else {
                ir::for_each_operand(expr, [&](ir::ExprId operand) {
                    if (!uniform_[operand.index]) planes_[e] = std::max(planes_[e], planes_[operand.index]);
                });
            }
        }
    }

    void carry(const Fold::Carried& value, int from, int to) {
        for (int plane = from; plane < to; ++plane) {
            auto& carried = result_.by_plane[static_cast<std::size_t>(plane - result_.low)];
            if (std::ranges::find(carried, value) == carried.end()) carried.push_back(value);
        }
    }

    const ir::Program& program_;
    const ir::Assign& assign_;
    const std::vector<const ir::Reduce*>& reductions_;
    const ir::FieldId field_;
    const int time_;
    const std::vector<bool> uniform_;
    std::vector<bool> reached_;
    std::vector<int> planes_;
    Fold result_;
};

}  // namespace

int Fold::values() const {
    std::size_t count = 0;
    for (const auto& carried : by_plane)
        count += carried.size();
    return static_cast<int>(count);
}

std::optional<Fold> form_fold(const ir::Program& program, const ir::Stage& stage, ir::FieldId field,
                              int time) {
    const ir::Assign* assign = nullptr;
    std::vector<const ir::Reduce*> reductions;
    for (const int index : stage.statements) {
        const ir::Statement& statement = program.statements[static_cast<std::size_t>(index)];
        if (const auto* reduce = std::get_if<ir::Reduce>(&statement)) {
            reductions.push_back(reduce);
        } else {
            if (assign != nullptr) return std::nullopt;
            assign = &std::get<ir::Assign>(statement);
        }
    }
    if (assign == nullptr) return std::nullopt;
    for (int side = 0; side < 2; ++side)
        if (ir::shown_cells(program, program[field], program.rank() - 1, side).map.reflects())
            return std::nullopt;
    return Folder(program, *assign, reductions, field, time).fold();
}

}  // namespace halo::schedule
