#include "compiler/adjoint/faces.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "compiler/adjoint/request.h"
#include "compiler/support/error.h"

namespace halo::adjoint {

using ir::BinaryOp;
using ir::ExprId;
using ir::FieldId;
using Shows = rt::ImageMap::Shows;

namespace {

// A ghost's expression as the sum that it is.
class GhostTerms {
public:
    GhostTerms(Algebra& algebra, ExprId root, SourceRange where)
        : a_(algebra), where_(where), rest_(a_.number(0, a_.program()[root].type)) {
        add(root, a_.number(1, a_.program()[root].type));
    }
    const std::map<ir::Offset, ExprId>& weights() const { return weights_; }
    ExprId rest() const { return rest_; }

private:
    void add(ExprId id, ExprId weight) {
        const ir::Expr expr = a_.program()[id];
        if (!a_.reads_field(id)) {
            rest_ = a_.add(rest_, a_.as(a_.mul(weight, id), a_.program()[rest_].type));
            return;
        }
        if (const auto* access = std::get_if<ir::Access>(&expr.node)) {
            if (!a_.is_same_in_all_cells(weight))
                throw RefusedError(where_,
                                   "a boundary whose factors vary along the face is not differentiated yet",
                                   "use params and numbers as factors of `robin`");
            const auto [at, is_new] = weights_.try_emplace(access->offset, weight);
            if (!is_new) at->second = a_.add(at->second, weight);
            return;
        }
        if (const auto* unary = std::get_if<ir::Unary>(&expr.node)) {
            const ExprId turned = unary->op == ir::UnaryOp::negate ? a_.negate(weight) : weight;
            return add(unary->operand, a_.as(turned, a_.program()[unary->operand].type));
        }
        const auto* binary = std::get_if<ir::Binary>(&expr.node);
        if (binary == nullptr) throw InternalError("a ghost is no sum of cells");
        const auto [op, left, right] = *binary;
        if (op == BinaryOp::add || op == BinaryOp::sub) {
            add(left, weight);
            return add(right, op == BinaryOp::sub ? a_.negate(weight) : weight);
        }
        if (op == BinaryOp::mul) {
            if (a_.reads_field(left)) return add(left, a_.mul(weight, right));
            return add(right, a_.mul(weight, left));
        }
        if (op != BinaryOp::div || a_.reads_field(right)) throw InternalError("a ghost is no sum of cells");
        add(left, a_.div(weight, right));
    }

    Algebra& a_;
    SourceRange where_;
    ExprId rest_;
    std::map<ir::Offset, ExprId> weights_;
};

const ir::Face& face_of(const ir::Program& program, FieldId field, int axis, int side) {
    return program[field].boundary[static_cast<std::size_t>(axis)][static_cast<std::size_t>(side)];
}

GhostTerms ghost_terms(Algebra& algebra, FieldId field, int axis, int side, int distance) {
    const ir::Face& face = face_of(algebra.program(), field, axis, side);
    if (distance > static_cast<int>(face.ghosts.size()))
        throw InternalError("a ghost that nothing reads is asked for");
    return {algebra, face.ghosts[static_cast<std::size_t>(distance - 1)], algebra.program()[field].where};
}

}  // namespace

GhostSum ghost_sum(Algebra& algebra, FieldId field, int axis, int side, int distance) {
    const GhostTerms terms = ghost_terms(algebra, field, axis, side, distance);
    GhostSum sum{{}, terms.rest()};
    for (const auto& [offset, weight] : terms.weights()) {
        const int along = offset[static_cast<std::size_t>(axis)];
        if (!algebra.is_zero(weight)) sum.images.push_back({(side == 0 ? along : -along) - distance, weight});
    }
    return sum;
}

std::optional<std::vector<Image>> images_past(Algebra& algebra, FieldId field, int axis, int side,
                                              int distance) {
    const rt::ImageMap map = algebra.program()[field].image(axis, side);
    const ir::Scalar type = algebra.program()[field].type;
    switch (map.shows) {
        case Shows::nothing:
            return std::nullopt;
        case Shows::value:
            return std::vector<Image>{};
        case Shows::cell:
            return std::vector<Image>{{map.inwards(distance), algebra.number(1, type)}};
        case Shows::formula:
            break;
    }
    return ghost_sum(algebra, field, axis, side, distance).images;
}

void set_linear_boundary(Algebra& algebra, FieldId from, FieldId to) {
    for (int axis = 0; axis < algebra.program().rank(); ++axis) {
        for (int side = 0; side < 2; ++side) {
            ir::Face face = face_of(algebra.program(), from, axis, side);
            const ir::Scalar type = algebra.program()[to].type;
            if (face.kind == ir::BoundaryKind::fixed) face.value = algebra.number(0, type);
            bool reads = false;
            for (std::size_t k = 0; k < face.ghosts.size(); ++k) {
                ExprId sum = algebra.number(0, type);
                const int distance = static_cast<int>(k) + 1;
                const GhostTerms terms = ghost_terms(algebra, from, axis, side, distance);
                for (const auto& [offset, weight] : terms.weights()) {
                    sum = algebra.add(sum, algebra.mul(weight, algebra.read(to, 0, offset)));
                    reads = true;
                }
                face.ghosts[k] = sum;
            }
            if (face.kind == ir::BoundaryKind::formula && !reads) {  // a profile, or a value that changes
                face.kind = ir::BoundaryKind::fixed;
                face.value = algebra.number(0, type);
                face.ghosts.clear();
            }
            face.reach = 0;
            algebra.program().fields[to.index].boundary[static_cast<std::size_t>(axis)]
                                                       [static_cast<std::size_t>(side)] = std::move(face);
        }
    }
}

namespace {

struct Along {  // one axis of a Reader
    int shift = 0;
    std::optional<ExprId> weight, condition;
};

class AxisReaders {
public:
    AxisReaders(Algebra& algebra, FieldId field, int axis, int offset, const FaceSet& undefined)
        : a_(algebra),
          field_(field),
          axis_(axis),
          offset_(offset),
          side_(offset < 0 ? 0 : 1),
          is_undefined_(undefined[static_cast<std::size_t>(axis)][static_cast<std::size_t>(side_)]) {}

    std::vector<Along> all() {
        result_.push_back({-offset_, std::nullopt, std::nullopt});  // of the cell itself, in the domain
        const ir::Field field = a_.program()[field_];
        if (offset_ == 0 || is_undefined_) return result_;
        if (field.image(axis_, side_).wraps()) return result_;  // the reader wraps, too
        const int reach = std::abs(offset_);
        for (int distance = 1; distance <= reach; ++distance) {
            const auto images = images_past(a_, field_, axis_, side_, distance);
            if (!images) continue;  // no statement reads there
            for (const Image& image : *images) {
                // Counted from the edge cell inwards, the reader is at reach - distance.
                const int inwards = reach - distance - image.inwards;
                const ExprId at =
                    a_.place({side_ == 1, side_ == 1 ? -1 - image.inwards : image.inwards}, axis_);
                result_.push_back({side_ == 0 ? inwards : -inwards, weight_of(image),
                                   a_.compare(BinaryOp::equal, a_.index(axis_), at)});
            }
        }
        if (field.image(axis_, side_).reflects()) add_thin_grids(field, reach);
        return result_;
    }

private:
    std::optional<ExprId> weight_of(const Image& image) {
        const auto known = a_.constant(image.weight);
        return known && *known == Rational(1) ? std::nullopt : std::optional(image.weight);
    }

    // Of axes with fewer cells than the reach, where a reflection leaves through the other face: what it
    // shows there is not beside its own face.
    void add_thin_grids(const ir::Field& field, int reach) {
        const auto& faces = field.boundary[static_cast<std::size_t>(axis_)];
        const ir::Scalar type = ir::compute_type(a_.program());
        for (int n = 1; n <= reach; ++n) {
            for (int reader = 0; reader < n; ++reader) {
                const int read = reader + offset_;
                const int distance = side_ == 0 ? -read : read - n + 1;
                if (distance < n) continue;  // inside, or shown as on any grid
                const rt::ImageSource source = rt::image_source(faces[0].kind, faces[1].kind, read, n);
                if (source.shows != Shows::cell) continue;
                const ExprId is_thin =
                    a_.compare(BinaryOp::equal, a_.place({true, 0}, axis_), a_.number(n, type));
                const ExprId is_shown =
                    a_.compare(BinaryOp::equal, a_.index(axis_), a_.number(source.cell, type));
                result_.push_back(
                    {reader - static_cast<int>(source.cell), std::nullopt, a_.both(is_thin, is_shown)});
            }
        }
    }

    Algebra& a_;
    FieldId field_;
    int axis_, offset_, side_;
    bool is_undefined_;
    std::vector<Along> result_;
};

}  // namespace

std::vector<Reader> readers_of(Algebra& algebra, FieldId field, const ir::Offset& offset,
                               const FaceSet& undefined) {
    std::vector<Reader> readers{Reader{}};
    for (int axis = 0; axis < algebra.program().rank(); ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        const std::vector<Along> along = AxisReaders(algebra, field, axis, offset[a], undefined).all();
        std::vector<Reader> both;
        for (const Reader& reader : readers) {
            for (const Along& each : along) {
                Reader next = reader;
                next.shift[a] = each.shift;
                if (each.weight)
                    next.weight = reader.weight ? algebra.mul(*reader.weight, *each.weight) : *each.weight;
                if (each.condition) next.condition = algebra.both(reader.condition, *each.condition);
                both.push_back(std::move(next));
            }
        }
        readers = std::move(both);
    }
    return readers;
}

FaceSet free_faces(const ir::Field& field) {
    FaceSet free{};
    for (std::size_t axis = 0; axis < free.size(); ++axis)
        for (std::size_t side = 0; side < 2; ++side)
            free[axis][side] = field.boundary[axis][side].kind == ir::BoundaryKind::free;
    return free;
}

}  // namespace halo::adjoint
