#include "compiler/adjoint/face_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/adjoint/faces.h"
#include "compiler/adjoint/request.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/print.h"

namespace halo::adjoint {

using ir::ExprId;

namespace {

class FaceWords {
public:
    FaceWords(Algebra& algebra, ir::FieldId field, int axis, int side,
              const std::function<std::string(ExprId)>& text_of)
        : a_(algebra), field_(field), axis_(axis), text_of_(text_of) {
        const ir::Field given = a_.program()[field];
        face_ = given.boundary[static_cast<std::size_t>(axis)][static_cast<std::size_t>(side)];
        for (int distance = 1; distance <= static_cast<int>(face_.ghosts.size()); ++distance)
            ghosts_.push_back(ghost_sum(a_, field, axis, side, distance));
    }

    std::string run() {
        if (face_.kind == ir::BoundaryKind::fixed) return "fixed " + text_of_(face_.value);
        if (face_.kind != ir::BoundaryKind::formula) return std::string(ir::name_of(face_.kind));
        if (ghosts_.empty()) return "fixed 0";  // nothing is read there
        const GhostSum& first = ghosts_.front();
        if (first.images.empty()) return "fixed " + text_of_(first.rest);
        if (is_one_cell(-1, 1)) return "symmetric";
        if (is_one_cell(0, -1)) return "antimirror";
        if (is_one_cell(-1, -1)) return "antisymmetric";
        const int degree = static_cast<int>(first.images.size()) - 1;
        if (is_extrapolation(degree)) return fmt::format("extrapolate {}", degree);
        if (is_slope()) return slope_words();
        throw RefusedError(
            a_.program()[field_].where,
            fmt::format("the boundary of `{}` cannot be written out yet", a_.program()[field_].name),
            "use a boundary that is not computed");
    }

private:
    // u[-k] = factor * u[k + shift].
    bool is_one_cell(int shift, int factor) const {
        for (std::size_t k = 1; k <= ghosts_.size(); ++k) {
            const GhostSum& ghost = ghosts_[k - 1];
            if (ghost.images.size() != 1 || !a_.is_zero(ghost.rest)) return false;
            const Image& image = ghost.images.front();
            if (image.inwards != static_cast<int>(k) + shift || a_.constant(image.weight) != Rational(factor))
                return false;
        }
        return true;
    }

    bool is_extrapolation(int degree) const {
        for (std::size_t k = 1; k <= ghosts_.size(); ++k) {
            if (!a_.is_zero(ghosts_[k - 1].rest)) return false;
            for (const Image& image : ghosts_[k - 1].images) {
                if (image.inwards < 0 || image.inwards > degree) return false;
                Rational weight = 1;
                for (int m = 0; m <= degree; ++m)
                    if (m != image.inwards)
                        weight = weight * Rational(-static_cast<int>(k) - m) / Rational(image.inwards - m);
                if (a_.constant(image.weight) != weight) return false;
            }
        }
        return true;
    }

    // u[-k] = u[k] + k * (c - a * u[0]): `gradient` and `robin` with a factor 1 / (2 h).
    bool is_slope() const {
        const std::vector<Image>& images = ghosts_.front().images;
        return std::ranges::all_of(images, [&](const Image& image) {
            return image.inwards == 0 || (image.inwards == 1 && a_.constant(image.weight) == Rational(1));
        });
    }

    std::string slope_words() {
        const GhostSum& first = ghosts_.front();
        for (const std::uint32_t i : ir::reached_exprs(a_.program(), {first.rest})) {
            const auto* coordinate = std::get_if<ir::Coordinate>(&a_.program().exprs[i].node);
            if (coordinate && coordinate->axis == axis_ && coordinate->kind != ir::CoordinateKind::extent &&
                coordinate->kind != ir::CoordinateKind::step)
                throw RefusedError(a_.program()[field_].where,
                                   "a slope that varies across the face is not differentiated yet",
                                   "let it vary along the face alone");
        }
        const ExprId spacing = a_.program().axes[static_cast<std::size_t>(axis_)].spacing;
        const ExprId twice = a_.mul(a_.number(2, a_.program()[spacing].type), spacing);
        const auto edge = std::ranges::find(first.images, 0, &Image::inwards);
        if (edge == first.images.end()) {
            if (a_.is_zero(first.rest)) return "gradient 0";
            return "gradient " + text_of_(a_.div(a_.as(first.rest, a_.program()[twice].type), twice));
        }
        return fmt::format("robin {}, {}, {}", text_of_(a_.negate(edge->weight)), text_of_(twice),
                           text_of_(first.rest));
    }

    Algebra& a_;
    ir::FieldId field_;
    int axis_;
    const std::function<std::string(ExprId)>& text_of_;
    ir::Face face_;
    std::vector<GhostSum> ghosts_;
};

}  // namespace

std::string face_words(Algebra& algebra, ir::FieldId field, int axis, int side,
                       const std::function<std::string(ExprId)>& text_of) {
    return FaceWords(algebra, field, axis, side, text_of).run();
}

}  // namespace halo::adjoint
