// Reads past formula faces, one cell at a time: the definition of what lies there.
//
// Periodic axes wrap first. Then the first axis in declaration order that is past its face decides: an image
// moves the cell along that axis and the next axis is looked at; a fixed face gives its value; a formula is
// evaluated at the ghost cell, and what it reads may lie past the edges of later axes in turn.

#include <bit>

#include "compiler/ir/analysis.h"
#include "compiler/ir/rounding.h"
#include "compiler/ir/row_evaluator.h"

namespace halo::ir {

namespace {

std::vector<ExprId> ghosts_of(const Program& program) {
    std::vector<ExprId> all;
    for (const Field& field : program.fields)
        for (const auto& faces : field.boundary)
            for (const Face& face : faces)
                if (face.kind == BoundaryKind::formula)
                    all.insert(all.end(), face.ghosts.begin(), face.ghosts.end());
    return all;
}

}  // namespace

void RowEvaluator::prepare_ghosts() {
    if (ghosts_of(program_).empty()) return;
    ghosts_.reset(new RowEvaluator(*this, 1));
}

// An evaluator of ghosts within `depth` - 1 others. There are no more than axes: each reads along its own.
RowEvaluator::RowEvaluator(const RowEvaluator& outer, int depth)
    : program_(outer.program_),
      extent_(outer.extent_),
      exact_(outer.exact_),
      arithmetic_(outer.arithmetic_),
      is_ghost_(true) {
    std::vector<ExprId> all = ghosts_of(program_);
    const std::vector<ExprId> ghosts = all;
    for (const Axis& axis : program_.axes)
        step_constants_.insert(step_constants_.end(), {axis.spacing, axis.origin});
    for (const Field& field : program_.fields)
        for (int axis = 0; axis < program_.rank(); ++axis)
            for (const Face& face : field.boundary[axis])
                if (face.kind == BoundaryKind::fixed) step_constants_.push_back(face.value);
    all.insert(all.end(), step_constants_.begin(), step_constants_.end());
    const std::vector<bool> uniform = reachable_exprs(program_, step_constants_);
    const std::vector<bool> needed = reachable_exprs(program_, all);
    step_constants_.clear();
    type_ = outer.type_;
    constant_ = outer.constant_;
    rows_.resize(program_.exprs.size());
    readings_.resize(program_.exprs.size());
    plans_.resize(program_.exprs.size());
    for (std::uint32_t i = 0; i < program_.exprs.size(); ++i) {
        if (!needed[i]) continue;
        if (uniform[i]) step_constants_.push_back({i});
        rows_[i].resize(type_[i], 1);
    }
    for (ExprId root : ghosts) {
        if (!plans_[root.index].empty()) continue;
        for (const std::uint32_t i : reached_exprs(program_, {root}))
            plans_[root.index].push_back({i});
    }
    if (depth < program_.rank()) ghosts_.reset(new RowEvaluator(outer, depth + 1));
}

double RowEvaluator::value_at(ExprId root, const Cell& cell, int level_time) {
    level_time_ = level_time;
    std::vector<double> values;
    evaluate(root, cell, 1, values);
    return values.front();
}

// Halo cells are stored as others are.
double RowEvaluator::in_storage(const Field& field, double value) const {
    const bool is_reference = arithmetic_ == Arithmetic::f64 && is_real(field.type);
    return is_reference || field.storage == Storage::i64 ? value : stored(value, field.storage);
}

double RowEvaluator::ghost(FieldId field, int time, const Cell& cell, int axis, int side,
                           std::int64_t distance) {
    const Face& face = program_[field].boundary[axis][side];
    const double value =
        ghosts_->value_at(face.ghosts.at(static_cast<std::size_t>(distance - 1)), cell, time);
    return in_storage(program_[field], value);
}

double RowEvaluator::read_cell(FieldId id, int time, Cell cell) {
    const Field& field = program_[id];
    const Extent own = field.grid.extent(extent_);
    for (int axis = 0; axis < program_.rank(); ++axis) {
        const std::int64_t n = own[axis];
        if (field.image(axis, 0).wraps()) cell[axis] = (cell[axis] % n + n) % n;
    }
    for (int axis = 0; axis < program_.rank(); ++axis) {
        const auto& faces = field.boundary[axis];
        const std::int64_t n = own[axis];
        const rt::ImageSource source = rt::image_source(faces[0].kind, faces[1].kind, cell[axis], n);
        if (source.shows == rt::ImageMap::Shows::cell) {
            cell[axis] = source.cell;
            continue;
        }
        const int side = source.side;
        if (source.shows != rt::ImageMap::Shows::formula) {
            const double value = face_value(field, axis, side);
            if (field.storage != Storage::i64) return value;
            return std::bit_cast<double>(to_integer<std::int64_t>(value));  // as its level keeps it
        }
        return ghost(id, time, cell, axis, side, side == 0 ? -cell[axis] : cell[axis] - n + 1);
    }
    const double* level = surroundings_->levels[id.index].at(static_cast<std::size_t>(1 - time));
    return level[own.index_of(cell)];
}

}  // namespace halo::ir
