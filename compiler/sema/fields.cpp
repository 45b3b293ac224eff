#include "compiler/sema/fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/builtins.h"
#include "compiler/sema/types.h"

namespace halo::sema {

using ir::BoundaryKind;

std::optional<ir::Scalar> resolve_type(const syntax::TypeRef& type, Evaluator& evaluator) {
    const std::string& name = type.storage.text;
    if (name.empty()) return std::nullopt;  // did not parse
    if (is_future_type(name)) {
        evaluator
            .report(DiagnosticKind::not_built_yet, type.storage.where,
                    fmt::format("the type `{}` is not built yet", name))
            .note("f32 and f64 are");
        return std::nullopt;
    }
    if (name != "f32" && name != "f64") {
        evaluator.report_unknown(DiagnosticKind::unknown_type, name, type.storage.where,
                                 fmt::format("there is no type `{}`", name), type_names());
        return std::nullopt;
    }
    if (type.arithmetic) {
        evaluator.report(DiagnosticKind::not_built_yet, type.arithmetic->where,
                         "storing one type and computing in another is not built yet");
        return std::nullopt;
    }
    return name == "f32" ? ir::Scalar::f32 : ir::Scalar::f64;
}

ir::Scalar declared_compute_type(const syntax::Stencil& stencil) {
    for (const syntax::StencilStatement& statement : stencil.statements) {
        const auto* declaration = std::get_if<syntax::FieldDecl>(&statement);
        if (declaration && declaration->type.storage.text == "f64") return ir::Scalar::f64;
    }
    return ir::Scalar::f32;
}

namespace {

// The faces a clause speaks of: all; those of an axis; one. nullopt where the axis is unknown (reported).
struct FaceSet {
    int axis = -1;  // -1: all
    int side = -1;  // -1: both
    int specificity() const { return axis < 0 ? 0 : side < 0 ? 1 : 2; }
    bool contains(int a, int s) const { return (axis < 0 || axis == a) && (side < 0 || side == s); }
};

std::optional<FaceSet> resolve_faces(const std::optional<syntax::FaceRef>& face, Evaluator& evaluator) {
    FaceSet result;
    if (!face) return result;
    const Symbols& symbols = evaluator.symbols();
    const Symbol* symbol = symbols.find(face->axis.text);
    if (!symbol || symbol->kind != Symbol::Kind::axis) {
        if (Diagnostic* diagnostic = evaluator.report_unknown_axis(face->axis.text, face->axis.where)) {
            const std::string& axis = symbols.axes().front();
            diagnostic->note(
                fmt::format("a face is named by its axis: `{0}.low`, `{0}.high`, or `{0}` for both", axis));
        }
        return std::nullopt;
    }
    result.axis = symbol->index;
    if (face->side) result.side = *face->side == syntax::Side::low ? 0 : 1;
    return result;
}

// Which clause speaks for each face so far.
class Claims {
public:
    // The faces that this clause decides now. Two clauses for one face that are equally specific are a
    // mistake.
    template <class Decide>
    void claim(const FaceSet& faces, SourceRange where, const char* what, Evaluator& evaluator,
               Decide&& decide) {
        for (int axis = 0; axis < evaluator.symbols().rank(); ++axis) {
            for (int side = 0; side < 2; ++side) {
                if (!faces.contains(axis, side)) continue;
                Claim& claim = claims_[axis][side];
                if (claim.specificity == faces.specificity()) {
                    evaluator
                        .report(DiagnosticKind::duplicate_setting, where,
                                fmt::format("the {} of the face {}.{} is given twice", what,
                                            evaluator.symbols().axes()[axis], side == 0 ? "low" : "high"))
                        .label(claim.where, "given here before");
                    return;
                }
                if (claim.specificity > faces.specificity()) continue;
                claim = {faces.specificity(), where};
                decide(axis, side);
            }
        }
    }
    SourceRange where(int axis, int side) const { return claims_[axis][side].where; }

private:
    struct Claim {
        int specificity = -1;
        SourceRange where;
    };
    std::array<std::array<Claim, 2>, ir::kMaxRank> claims_;
};

std::optional<BoundaryKind> resolve_kind(const syntax::BoundaryEntry& entry, Evaluator& evaluator) {
    static constexpr BoundaryKind kKinds[] = {BoundaryKind::periodic, BoundaryKind::fixed,
                                              BoundaryKind::clamp, BoundaryKind::mirror, BoundaryKind::free};
    const std::string& name = entry.kind.text;
    const std::vector<std::string>& names = boundary_names();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return kKinds[found - names.begin()];
    if (name.empty()) return std::nullopt;
    if (is_future_boundary(name)) {
        evaluator
            .report(DiagnosticKind::not_built_yet, entry.kind.where,
                    fmt::format("the boundary `{}` is not built yet", name))
            .note(fmt::format("these are: {}", fmt::join(names, ", ")));
        return std::nullopt;
    }
    evaluator.report_unknown(
        DiagnosticKind::unknown_boundary, name, entry.kind.where,
        fmt::format("there is no boundary `{}`; there are {}", name, fmt::join(names, ", ")), names);
    return std::nullopt;
}

// The value of `fixed` in the field's type; that others have none.
std::optional<ir::ExprId> resolve_value(const syntax::BoundaryEntry& entry, BoundaryKind kind,
                                        const ir::Field& field, Evaluator& evaluator) {
    if (kind != BoundaryKind::fixed) {
        if (!entry.value) return ir::ExprId{};
        evaluator
            .report(DiagnosticKind::boundary_value, evaluator.where(*entry.value),
                    fmt::format("the boundary `{}` takes no value", entry.kind.text))
            .note("`fixed` does, as in `boundary fixed 10`");
        return std::nullopt;
    }
    if (!entry.value) {
        evaluator.report(DiagnosticKind::boundary_value, entry.kind.where, "`fixed` needs its value")
            .note("as in `boundary fixed 10`");
        return std::nullopt;
    }
    const Value value = evaluator.setting(*entry.value, fmt::format("the boundary of `{}`", field.name));
    if (value.is_poison()) return std::nullopt;
    const SourceRange where = evaluator.where(*entry.value);
    if (value.is_boolean()) {
        evaluator.report(DiagnosticKind::type_mismatch, where,
                         "this is true or false; a number is expected here");
        return std::nullopt;
    }
    return evaluator.arithmetic().as(value, field.type, where);
}

void check_periodic(const ir::Field& field, const Claims& claims, Evaluator& evaluator) {
    for (int axis = 0; axis < evaluator.symbols().rank(); ++axis) {
        const auto& faces = field.boundary[axis];
        const bool low = faces[0].kind == BoundaryKind::periodic,
                   high = faces[1].kind == BoundaryKind::periodic;
        if (low == high) continue;
        const std::string& name = evaluator.symbols().axes()[axis];
        SourceRange where = claims.where(axis, low ? 0 : 1);
        if (where.begin == where.end)
            where = claims.where(axis, low ? 1 : 0);  // a let's other face, by inference
        evaluator
            .report(DiagnosticKind::one_sided_periodic, where,
                    fmt::format("`{}` is periodic at the face {}.{} alone", field.name, name,
                                low ? "low" : "high"))
            .note(fmt::format("periodic joins both faces of an axis: `boundary {} periodic`", name));
    }
}

}  // namespace

void apply_halos(const std::vector<syntax::HaloEntry>& entries, FieldInfo& info, Evaluator& evaluator) {
    Claims claims;
    for (const syntax::HaloEntry& entry : entries) {
        const std::optional<FaceSet> faces = resolve_faces(entry.face, evaluator);
        const std::optional<std::int64_t> width =
            evaluator.integer(entry.width, "the width of a halo", 0, kMaxOffset);
        if (!faces || !width) continue;
        claims.claim(*faces, entry.where, "halo", evaluator, [&](int axis, int side) {
            info.contract[axis][side] = FieldInfo::Contract{static_cast<int>(*width), entry.where};
        });
    }
}

void apply_boundaries(const std::vector<syntax::BoundaryEntry>& entries, ir::Field& field, FieldInfo& info,
                      Evaluator& evaluator) {
    Claims claims;
    bool valid = true;
    for (const syntax::BoundaryEntry& entry : entries) {
        const std::optional<FaceSet> faces = resolve_faces(entry.face, evaluator);
        const std::optional<BoundaryKind> kind = resolve_kind(entry, evaluator);
        std::optional<ir::ExprId> value;
        if (kind) value = resolve_value(entry, *kind, field, evaluator);
        valid = valid && faces && value;
        if (!faces) continue;
        claims.claim(*faces, entry.where, "boundary", evaluator, [&](int axis, int side) {
            if (kind && value) field.boundary[axis][side] = {*kind, *value, {}, 0};
            info.has_boundary[axis][side] = true;
        });
    }
    if (valid) check_periodic(field, claims, evaluator);
}

void declare_fields(Evaluator& evaluator) {
    for (const Symbol& symbol : evaluator.symbols().all()) {
        if (symbol.kind != Symbol::Kind::field) continue;
        ir::Field field;
        field.name = symbol.name;
        field.where = symbol.where;
        // A type that is not known has had its message; f32 stands in so that the rest can be read.
        field.type = resolve_type(symbol.field->type, evaluator).value_or(ir::Scalar::f32);
        FieldInfo info;
        info.symbol = &symbol;
        for (auto& sides : info.has_boundary)
            sides.fill(true);  // none is written: free
        info.stagger = evaluator.stagger(symbol.field->at).value_or(0);
        set_stagger(field, info.stagger);
        if (info.stagger != 0) evaluator.set_staggered();
        evaluator.set_wanted(info.stagger);
        apply_halos(symbol.field->halos, info, evaluator);
        apply_boundaries(symbol.field->boundaries, field, info, evaluator);
        evaluator.program().fields.push_back(std::move(field));
        evaluator.fields().push_back(std::move(info));
    }
    evaluator.set_wanted(0);
}

void set_stagger(ir::Field& field, Halves stagger) {
    for (int axis = 0; axis < ir::kMaxRank; ++axis)
        field.staggered[axis] = (stagger & axis_bit(axis)) != 0;
}

}  // namespace halo::sema
