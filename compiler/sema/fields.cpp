#include "compiler/sema/fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/builtins.h"
#include "compiler/sema/field_axes.h"
#include "compiler/sema/types.h"

namespace halo::sema {

using ir::BoundaryKind;

namespace {

// Calls visit(type) for each type that a field's values have, those of its components.
template <class Visit>
void for_each_type(const syntax::TypeRef& type, Visit&& visit) {
    if (type.components.empty()) return visit(type);
    for (const syntax::Component& component : type.components)
        for_each_type(component.type, visit);
}

}  // namespace

ir::Scalar declared_compute_type(const syntax::Stencil& stencil) {
    bool any_f32 = false, any_wide = false;
    for (const syntax::StencilStatement& statement : stencil.statements) {
        const auto* declaration = std::get_if<syntax::FieldDecl>(&statement);
        if (!declaration) continue;
        bool any_f64 = false;
        for_each_type(declaration->type, [&](const syntax::TypeRef& type) {
            const std::string& name = type.storage.text;
            const bool widens = type.arithmetic && type.arithmetic->text == "f64";
            any_f64 = any_f64 || name == "f64" || name == "c128" || widens;
            any_f32 = any_f32 || name == "f32" || name == "f16" || name == "bf16" || name == "c64";
            any_wide = any_wide || name == "i32" || name == "i64";
        });
        if (any_f64) return ir::Scalar::f64;
    }
    return any_f32 || !any_wide ? ir::Scalar::f32 : ir::Scalar::f64;
}

bool has_real_field(const syntax::Stencil& stencil) {
    for (const syntax::StencilStatement& statement : stencil.statements) {
        const auto* declaration = std::get_if<syntax::FieldDecl>(&statement);
        if (!declaration) continue;
        const std::string& name = declaration->type.storage.text;
        if (name != "u8" && name != "i32" && name != "i64" && name != "bool") return true;
    }
    return false;
}

namespace {

// The faces a clause speaks of: all; those of an axis; one. nullopt where the axis is unknown (reported).
struct FaceSet {
    int axis = -1;  // -1: all
    int side = -1;  // -1: both
    int depth = 0;  // members that name a component: what is said of it alone comes first
    int specificity() const { return 3 * depth + (axis < 0 ? 0 : side < 0 ? 1 : 2); }
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

// Whether the field has the faces that are named; reported otherwise.
bool has_faces(const FaceSet& faces, const ir::Field& field, SourceRange where, Evaluator& evaluator) {
    if (faces.axis < 0 || field.grid.has(faces.axis)) return true;
    const std::vector<std::string>& axes = evaluator.symbols().axes();
    report_missing_axis(field.name, field.grid, "face along " + axes[static_cast<std::size_t>(faces.axis)],
                        where, axes, evaluator.sink());
    return false;
}

// The clauses that have decided each face so far.
class Claims {
public:
    // The faces that this clause decides now. Two clauses for one face that are equally specific are a
    // mistake.
    template <class Decide>
    void claim(const FaceSet& faces, const rt::FieldGrid& grid, SourceRange where, const char* what,
               Evaluator& evaluator, Decide&& decide) {
        for (int axis = 0; axis < evaluator.symbols().rank(); ++axis) {
            for (int side = 0; side < 2; ++side) {
                if (!faces.contains(axis, side) || !grid.has(axis)) continue;
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

// What a clause means for a face.
struct FaceRule {
    BoundaryKind kind = BoundaryKind::free;
    ir::ExprId value;  // of fixed
    std::optional<GhostRule> ghosts;
};

struct KindName {
    std::string_view name;
    BoundaryKind kind;
    GhostKind ghosts = GhostKind::symmetric;  // of formula
};
constexpr KindName kKinds[] = {
    {"periodic", BoundaryKind::periodic},
    {"fixed", BoundaryKind::fixed},
    {"clamp", BoundaryKind::clamp},
    {"mirror", BoundaryKind::mirror},
    {"free", BoundaryKind::free},
    {"antimirror", BoundaryKind::formula, GhostKind::antimirror},
    {"symmetric", BoundaryKind::formula, GhostKind::symmetric},
    {"antisymmetric", BoundaryKind::formula, GhostKind::antisymmetric},
    {"extrapolate", BoundaryKind::formula, GhostKind::extrapolate},
    {"gradient", BoundaryKind::formula, GhostKind::gradient},
    {"robin", BoundaryKind::formula, GhostKind::robin},
};

const KindName* resolve_kind(const syntax::BoundaryEntry& entry, Evaluator& evaluator) {
    const std::string& name = entry.kind.text;
    const auto found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                    [&](const KindName& kind) { return kind.name == name; });
    if (found != std::end(kKinds)) return found;
    if (name.empty()) return nullptr;
    std::vector<std::string> names;
    for (const KindName& kind : kKinds)
        names.emplace_back(kind.name);
    evaluator.report_unknown(
        DiagnosticKind::unknown_boundary, name, entry.kind.where,
        fmt::format("there is no boundary `{}`; there are {}", name, fmt::join(names, ", ")), names);
    return nullptr;
}

// Resolves `fixed` to a plain value where it has one for the whole run, else to a rule that computes ghosts.
std::optional<FaceRule> resolve_fixed(const syntax::BoundaryEntry& entry, const ir::Field& field,
                                      const FieldInfo& info, Evaluator& evaluator) {
    std::optional<GhostRule> rule = resolve_ghost_rule(entry, GhostKind::fixed, field, info, evaluator);
    if (!rule) return std::nullopt;
    const Value value = rule->values.front();
    const SourceRange where = evaluator.where(entry.values.front());
    if (!is_steady(value, evaluator.program()) && value.is_boolean()) {
        evaluator
            .report(DiagnosticKind::not_built_yet, where,
                    "a condition past a face that changes with place or time is not built yet")
            .note("`fixed true` and `fixed false` are");
        return std::nullopt;
    }
    if (!is_steady(value, evaluator.program())) return FaceRule{BoundaryKind::formula, {}, std::move(rule)};
    return FaceRule{BoundaryKind::fixed, evaluator.arithmetic().as_rounded(value, field.type, where),
                    std::nullopt};
}

std::optional<FaceRule> resolve_rule(const syntax::BoundaryEntry& entry, const ir::Field& field,
                                     const FieldInfo& info, Evaluator& evaluator) {
    const KindName* kind = resolve_kind(entry, evaluator);
    if (kind == nullptr) return std::nullopt;
    if (kind->kind == BoundaryKind::fixed) return resolve_fixed(entry, field, info, evaluator);
    if (kind->kind == BoundaryKind::formula) {
        std::optional<GhostRule> rule = resolve_ghost_rule(entry, kind->ghosts, field, info, evaluator);
        if (!rule) return std::nullopt;
        return FaceRule{BoundaryKind::formula, {}, std::move(rule)};
    }
    if (entry.values.empty()) return FaceRule{kind->kind, {}, std::nullopt};
    evaluator
        .report(DiagnosticKind::boundary_value, evaluator.where(entry.values.front()),
                fmt::format("the boundary `{}` takes no value", entry.kind.text))
        .note("`fixed` does, as in `boundary fixed 10`");
    return std::nullopt;
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

void apply_halos(const std::vector<syntax::HaloEntry>& entries, const ir::Field& field, FieldInfo& info,
                 Evaluator& evaluator) {
    Claims claims;
    for (const syntax::HaloEntry& entry : entries) {
        const std::optional<FaceSet> faces = resolve_faces(entry.face, evaluator);
        const std::optional<std::int64_t> width =
            evaluator.integer(entry.width, "the width of a halo", 0, kMaxOffset);
        if (!faces || !width || !has_faces(*faces, field, entry.where, evaluator)) continue;
        claims.claim(*faces, field.grid, entry.where, "halo", evaluator, [&](int axis, int side) {
            info.contract[axis][side] = FieldInfo::Contract{static_cast<int>(*width), entry.where};
        });
    }
}

void apply_boundaries(const std::vector<syntax::BoundaryEntry>& entries, ir::Field& field, FieldInfo& info,
                      Evaluator& evaluator) {
    Claims claims;
    bool valid = true;
    for (const syntax::BoundaryEntry& entry : entries) {
        std::optional<FaceSet> faces = resolve_faces(entry.face, evaluator);
        int depth = 0;
        std::optional<FieldInfo> own = info;
        if (entry.part) own = evaluator.narrowed(*entry.part, info, depth);
        if (!own) continue;  // of another component
        if (faces) faces->depth = depth;
        const std::optional<FaceRule> rule = resolve_rule(entry, field, *own, evaluator);
        valid = valid && faces && rule;
        if (!faces || !has_faces(*faces, field, entry.where, evaluator)) continue;
        if (rule && rule->kind == BoundaryKind::formula && !field.grid.has_all_axes()) {
            evaluator
                .report(DiagnosticKind::not_built_yet, entry.where,
                        fmt::format("`{}` past a face of a field over fewer axes is not built yet",
                                    entry.kind.text))
                .note("`periodic`, `clamp`, `mirror`, `free` and `fixed` with one value are");
            continue;
        }
        claims.claim(*faces, field.grid, entry.where, "boundary", evaluator, [&](int axis, int side) {
            if (rule) field.boundary[axis][side] = {rule->kind, rule->value, {}, 0};
            info.ghosts[axis][side] = rule ? rule->ghosts : std::nullopt;
            info.has_boundary[axis][side] = true;
        });
    }
    if (valid) check_periodic(field, claims, evaluator);
}

namespace {

// "f32 as f64": what decides how a number lies in memory and is computed with.
std::string type_text(const syntax::TypeRef& type) {
    return type.arithmetic ? fmt::format("{} as {}", type.storage.text, type.arithmetic->text)
                           : type.storage.text;
}

// The leaves of a shape with the type of each, in order.
void collect_types(const Shape& shape, std::vector<const syntax::TypeRef*>& types) {
    if (shape.kind == Shape::Kind::vector) {
        for (const Shape& part : shape.parts)
            collect_types(part, types);
        return;
    }
    types.insert(types.end(), shape.leaves(), shape.type);
}

// Where the points of a leaf lie, as written: behind its component, or for all of them.
const std::vector<syntax::ExprId>& place_of(const syntax::FieldDecl& declaration, const Shape& shape,
                                            std::size_t leaf) {
    const std::vector<syntax::Component>& components = declaration.type.components;
    for (std::size_t part = components.size(); part-- > 0;) {
        if (shape.first_leaf(part) > leaf) continue;
        return components[part].at.empty() ? declaration.at : components[part].at;
    }
    return declaration.at;
}

// A group for the field, and one for each part of it that has components itself.
void add_groups(const std::string& name, const Shape& shape, std::uint32_t first, bool interleaved,
                ir::Program& program) {
    if (shape.kind == Shape::Kind::scalar) return;
    ir::Group group;
    group.name = name;
    group.interleaved = interleaved;
    group.kind = shape.kind == Shape::Kind::complex ? ir::Group::Kind::complex
                 : shape.names.empty()              ? ir::Group::Kind::array
                                                    : ir::Group::Kind::components;
    std::uint32_t next = first;
    for (const std::string& suffix : leaf_suffixes(shape)) {
        group.members.push_back(suffix.substr(1));
        group.fields.push_back(ir::FieldId{next++});
    }
    program.groups.push_back(std::move(group));
    for (std::size_t i = 0; i < shape.parts.size(); ++i) {
        const auto at = first + static_cast<std::uint32_t>(shape.first_leaf(i));
        add_groups(name + "." + part_name(shape, i), shape.parts[i], at, false, program);
    }
}

// Whether a field's components are interleaved in memory: they must be of one type then.
bool lies_interleaved(const syntax::FieldDecl& declaration, const std::vector<const syntax::TypeRef*>& types,
                      Evaluator& evaluator) {
    if (!declaration.layout) return false;
    const std::string& kind = declaration.layout->kind.text;
    const SourceRange where = declaration.layout->kind.where;
    if (kind != "aos") {
        if (kind != "soa") {
            evaluator
                .report(DiagnosticKind::invalid_layout, where, fmt::format("there is no layout `{}`", kind))
                .note("`soa`: each component is an array of its own, as it is where nothing is said")
                .note("`aos`: the components of a cell lie side by side");
        }
        return false;
    }
    if (types.size() == 1) {
        evaluator
            .report(DiagnosticKind::invalid_layout, where,
                    "a field of one number has no components to lay out")
            .note("`layout aos` is for vectors, arrays and complex numbers");
        return false;
    }
    const std::string first = type_text(*types.front());
    for (const syntax::TypeRef* type : types) {
        if (type_text(*type) == first) continue;
        evaluator
            .report(DiagnosticKind::invalid_layout, where, "components that lie side by side are of one type")
            .label(types.front()->storage.where, fmt::format("this one is {}", first))
            .label(type->storage.where, fmt::format("and this one {}", type_text(*type)));
        return false;
    }
    return true;
}

// A field has places along its own axes alone; others are reported, and left out.
void drop_missing_places(const ir::Field& field, Halves& stagger, const syntax::FieldDecl& declaration,
                         Evaluator& evaluator) {
    const std::vector<std::string>& axes = evaluator.symbols().axes();
    for (int axis = 0; axis < evaluator.symbols().rank(); ++axis) {
        if ((stagger & axis_bit(axis)) == 0 || field.grid.has(axis)) continue;
        stagger = static_cast<Halves>(stagger & ~axis_bit(axis));
        const SourceRange where =
            declaration.at.empty() ? declaration.where : evaluator.where(declaration.at.front());
        report_missing_axis(field.name, field.grid, "place along " + axes[static_cast<std::size_t>(axis)],
                            where, axes, evaluator.sink());
    }
}

// How much coarser the field's grid is; 1 also where that is refused.
int coarse_grid(const syntax::FieldDecl& declaration, Evaluator& evaluator) {
    const int factor = evaluator.coarseness(declaration.coarse);
    if (factor == 1) return 1;
    if (declaration.over.empty()) return factor;
    evaluator
        .report(DiagnosticKind::not_built_yet, evaluator.where(*declaration.coarse),
                "a field over fewer axes on a coarser grid is not built yet")
        .note("leave `over` out: a field over all axes may have the same values along one");
    return 1;
}

// Points of a coarser grid lie in the middle of its cells.
void refuse_coarse_place(const ir::Field& field, Halves& stagger, const syntax::FieldDecl& declaration,
                         Evaluator& evaluator) {
    if (field.grid.factor == 1 || stagger == 0) return;
    stagger = 0;
    const SourceRange where =
        declaration.at.empty() ? declaration.where : evaluator.where(declaration.at.front());
    evaluator.report(DiagnosticKind::not_built_yet, where,
                     "a staggered field on a coarser grid is not built yet");
}

}  // namespace

void declare_fields(Evaluator& evaluator) {
    for (const Symbol& symbol : evaluator.symbols().all()) {
        if (symbol.kind != Symbol::Kind::field) continue;
        const FieldLayout& layout = evaluator.layouts()[static_cast<std::size_t>(symbol.index)];
        std::vector<const syntax::TypeRef*> types;
        collect_types(layout.shape, types);
        const std::vector<std::string> suffixes = leaf_suffixes(layout.shape);
        bool interleaved = lies_interleaved(*symbol.field, types, evaluator);
        rt::FieldGrid grid = resolve_axes(symbol.field->over, evaluator);
        grid.factor = coarse_grid(*symbol.field, evaluator);
        if (interleaved && !grid.is_whole()) {
            interleaved = false;
            evaluator.report(DiagnosticKind::not_built_yet, symbol.field->layout->where,
                             fmt::format("`layout aos` of a field {} is not built yet",
                                         grid.has_all_axes() ? "on a coarser grid" : "over fewer axes"));
        }
        evaluator.set_grid(grid.factor);
        add_groups(symbol.name, layout.shape, layout.first, interleaved, evaluator.program());
        const std::shared_ptr<const Shape> shape =
            types.size() > 1 ? std::make_shared<const Shape>(layout.shape) : nullptr;
        for (std::size_t leaf = 0; leaf < types.size(); ++leaf) {
            ir::Field field;
            field.name = symbol.name + suffixes[leaf];
            field.where = symbol.where;
            // A type that is not known has had its message; f32 stands in so that the rest can be read.
            const ElementType type = resolve_type(*types[leaf], evaluator).value_or(ElementType{});
            field.type = type.type;
            field.storage = type.storage;
            if (type.type == ir::Scalar::boolean && types.size() > 1 && leaf == 0) {
                evaluator
                    .report(DiagnosticKind::not_built_yet, types[leaf]->storage.where,
                            "components that are true or false are not built yet")
                    .note("declare one field for each, or use u8");
            }
            FieldInfo info;
            info.symbol = &symbol;
            info.shape = shape;
            info.leaf = leaf;
            for (auto& sides : info.has_boundary)
                sides.fill(true);  // none is written: free
            field.grid = grid;
            if (symbol.field->unit) field.unit = symbol.field->unit->text;
            info.stagger = evaluator.stagger(place_of(*symbol.field, layout.shape, leaf)).value_or(0);
            drop_missing_places(field, info.stagger, *symbol.field, evaluator);
            refuse_coarse_place(field, info.stagger, *symbol.field, evaluator);
            set_stagger(field, info.stagger);
            if (info.stagger != 0) evaluator.set_staggered();
            evaluator.set_wanted(info.stagger);
            apply_halos(symbol.field->halos, field, info, evaluator);
            apply_boundaries(symbol.field->boundaries, field, info, evaluator);
            evaluator.program().fields.push_back(std::move(field));
            evaluator.fields().push_back(std::move(info));
        }
    }
    evaluator.set_wanted(0);
    evaluator.set_grid(1);
}

namespace {

const char* role_text(ir::Role role) {
    switch (role) {
        case ir::Role::input:
            return "never assigned";
        case ir::Role::state:
            return "assigned at t+1";
        case ir::Role::output:
        case ir::Role::intermediate:
            break;
    }
    return "assigned at t";
}

}  // namespace

void check_layouts(Evaluator& evaluator) {
    const ir::Program& program = evaluator.program();
    for (const ir::Group& group : program.groups) {
        if (!group.interleaved) continue;
        const ir::Field& first = program[group.fields.front()];
        const auto other = std::find_if(group.fields.begin(), group.fields.end(),
                                        [&](ir::FieldId field) { return program[field].role != first.role; });
        if (other == group.fields.end()) continue;
        const ir::FieldId assigned = first.role == ir::Role::input ? *other : group.fields.front();
        evaluator
            .report(
                DiagnosticKind::invalid_layout, evaluator.fields()[assigned.index].written_where,
                fmt::format("with `layout aos` the components of `{}` are stored together, but `{}` is {} "
                            "and `{}` is {}",
                            group.name, first.name, role_text(first.role), program[*other].name,
                            role_text(program[*other].role)))
            .note(fmt::format("a component that stays as it is is assigned as well: `{0}[t+1] = {0}`",
                              first.role == ir::Role::input ? first.name : program[*other].name));
    }
}

void set_stagger(ir::Field& field, Halves stagger) {
    for (int axis = 0; axis < ir::kMaxRank; ++axis)
        field.staggered[axis] = (stagger & axis_bit(axis)) != 0;
}

}  // namespace halo::sema
