#include "compiler/adjoint/copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/ir/analysis.h"
#include "compiler/ir/rewrite.h"
#include "compiler/support/error.h"

namespace halo::adjoint {

using ir::ExprId;
using ir::FieldId;

Names::Names(const ir::Program& program) {
    for (const ir::Axis& axis : program.axes)
        taken_.insert(axis.name);
    for (const ir::Param& param : program.params)
        taken_.insert(param.name);
    for (const ir::Coef& coef : program.coefs)
        taken_.insert(coef.name);
    for (const ir::Points& points : program.points)
        taken_.insert(points.name);
    for (const ir::Field& field : program.fields)
        taken_.insert(field.name);
    for (const ir::Statement& statement : program.statements)
        if (const auto* reduce = std::get_if<ir::Reduce>(&statement)) taken_.insert(reduce->name);
    // What the language knows and a short name may be.
    taken_.insert({"step", "time", "pi", "len", "pos", "idx"});
}

std::string Names::take(const std::string& wanted) {
    std::string plain = wanted;
    std::replace(plain.begin(), plain.end(), '.', '_');
    std::string name = plain;
    for (int number = 2; !taken_.insert(name).second; ++number)
        name = fmt::format("{}{}", plain, number);
    return name;
}

int add_trace(ir::Points& points, const std::string& name, bool sampled) {
    std::string own = name;
    for (int number = 2; std::ranges::count(points.traces, own, &ir::Points::Trace::name) > 0; ++number)
        own = fmt::format("{}{}", name, number);
    points.traces.push_back({own, sampled});
    return static_cast<int>(points.traces.size()) - 1;
}

ir::Program frame_of(const ir::Program& program) {
    ir::Program frame;
    frame.name = program.name;
    frame.params = program.params;
    frame.coefs = program.coefs;
    frame.points = program.points;
    frame.noise_seed = program.noise_seed;
    frame.axes = program.axes;
    Algebra algebra(frame);
    const ReplaceLeaf none = [](const ir::Expr&) { return std::nullopt; };
    for (ir::Axis& axis : frame.axes) {
        axis.spacing = copy_expr(program, axis.spacing, algebra, none);
        axis.origin = copy_expr(program, axis.origin, algebra, none);
    }
    return frame;
}

std::optional<FieldId> place_of(const ir::Program& program, ExprId value) {
    std::optional<FieldId> place;
    for (const std::uint32_t i : ir::reached_exprs(program, {value})) {
        const auto* access = std::get_if<ir::Access>(&program.exprs[i].node);
        if (access == nullptr) continue;
        if (!place || access->offset == ir::Offset{}) place = access->field;
    }
    return place;
}

ExprId copy_expr(const ir::Program& from, ExprId root, Algebra& to, const ReplaceLeaf& replace) {
    std::map<std::uint32_t, ExprId> made;
    for (const std::uint32_t i : ir::reached_exprs(from, {root})) {
        ir::Expr expr = from.exprs[i];
        if (const std::optional<ExprId> other = replace(expr)) {
            made[i] = *other;
            continue;
        }
        ir::map_operands(expr, [&](ExprId operand) { return made.at(operand.index); });
        made[i] = to.builder().add(std::move(expr));
    }
    return made.at(root.index);
}

FieldId copy_field(const ir::Program& from, FieldId field, Algebra& to, const std::string& name,
                   ir::Role role, bool is_defined) {
    const FieldId made{static_cast<std::uint32_t>(to.program().fields.size())};
    ir::Field copy = from[field];
    copy.name = name;
    copy.role = role;
    if (role != ir::Role::state) copy.history = 0;
    if (role == ir::Role::intermediate) copy.storage = ir::natural_storage(copy.type);
    to.program().fields.push_back(copy);  // so that its own ghosts can read it
    const ReplaceLeaf own = [&](const ir::Expr& leaf) -> std::optional<ExprId> {
        const auto* access = std::get_if<ir::Access>(&leaf.node);
        return access ? std::optional(to.read(made, access->time, access->offset)) : std::nullopt;
    };
    for (int axis = 0; axis < from.rank(); ++axis) {
        const auto& given = from[field].boundary[static_cast<std::size_t>(axis)];
        const bool has_mirror =
            given[0].kind == ir::BoundaryKind::mirror || given[1].kind == ir::BoundaryKind::mirror;
        for (ir::Face& face : copy.boundary[static_cast<std::size_t>(axis)]) {
            // On thin grids a reflection leaves through a free face as if that were a mirror.
            if (face.kind == ir::BoundaryKind::free && is_defined)
                face.kind = has_mirror ? ir::BoundaryKind::mirror : ir::BoundaryKind::clamp;
            if (face.kind == ir::BoundaryKind::fixed) face.value = copy_expr(from, face.value, to, own);
            for (ExprId& ghost : face.ghosts)
                ghost = copy_expr(from, ghost, to, own);
        }
    }
    to.program().fields[made.index] = std::move(copy);
    return made;
}

FieldId add_field_like(Algebra& to, FieldId like, const std::string& name, ir::Role role) {
    const ir::Field& model = to.program()[like];
    ir::Field field;
    field.name = name;
    field.type = model.type;
    field.storage = ir::natural_storage(model.type);
    field.role = role;
    field.staggered = model.staggered;
    field.where = model.where;
    to.program().fields.push_back(std::move(field));
    return {static_cast<std::uint32_t>(to.program().fields.size() - 1)};
}

void set_zero_past(Algebra& to, FieldId field, int axis) {
    const ExprId zero = to.number(0, to.program()[field].type);
    for (ir::Face& face : to.program().fields[field.index].boundary[static_cast<std::size_t>(axis)]) {
        face.kind = ir::BoundaryKind::fixed;
        face.value = zero;
    }
}

void set_periodic(ir::Program& program, FieldId field, int axis) {
    for (ir::Face& face : program.fields[field.index].boundary[static_cast<std::size_t>(axis)])
        face.kind = ir::BoundaryKind::periodic;
}

namespace {

// The field that a statement gives values to.
std::optional<FieldId> target_of(const ir::Statement& statement) {
    if (const auto* assign = std::get_if<ir::Assign>(&statement)) return assign->target;
    if (const auto* inject = std::get_if<ir::Inject>(&statement)) return inject->target;
    return std::nullopt;
}

// By statement: whether it gives a result, or what such a statement reads.
std::vector<bool> needed_statements(const ir::Program& program, const std::set<std::string>& results) {
    std::vector<bool> needed(program.statements.size()), read(program.fields.size());
    for (std::size_t i = program.statements.size(); i-- > 0;) {
        const ir::Statement& statement = program.statements[i];
        const std::optional<FieldId> target = target_of(statement);
        needed[i] = !target || program[*target].role == ir::Role::state || read[target->index] ||
                    results.contains(program[*target].name);
        if (!needed[i]) continue;
        for (const std::uint32_t e : ir::reached_exprs(program, ir::roots_of(statement)))
            if (const auto* access = std::get_if<ir::Access>(&program.exprs[e].node))
                read[access->field.index] = true;
    }
    return needed;
}

}  // namespace

ir::Program without_unread(const ir::Program& program, const std::set<std::string>& results) {
    const std::vector<bool> needed = needed_statements(program, results);
    std::vector<bool> named(program.fields.size());
    for (std::size_t i = 0; i < needed.size(); ++i) {
        if (!needed[i]) continue;
        if (const std::optional<FieldId> target = target_of(program.statements[i]))
            named[target->index] = true;
        for (const std::uint32_t e : ir::reached_exprs(program, ir::roots_of(program.statements[i])))
            if (const auto* access = std::get_if<ir::Access>(&program.exprs[e].node))
                named[access->field.index] = true;
    }
    ir::Program result = frame_of(program);
    Algebra algebra(result);
    std::map<std::uint32_t, FieldId> fields;
    for (std::uint32_t f = 0; f < program.fields.size(); ++f) {
        if (!named[f]) continue;
        fields[f] = copy_field(program, {f}, algebra, program.fields[f].name, program.fields[f].role, false);
        result.fields.back().storage = program.fields[f].storage;
    }
    const ReplaceLeaf read = [&](const ir::Expr& leaf) -> std::optional<ExprId> {
        const auto* access = std::get_if<ir::Access>(&leaf.node);
        if (access == nullptr) return std::nullopt;
        return algebra.read(fields.at(access->field.index), access->time, access->offset);
    };
    for (std::size_t i = 0; i < needed.size(); ++i) {
        if (!needed[i]) continue;
        ir::Statement statement = program.statements[i];
        if (auto* assign = std::get_if<ir::Assign>(&statement))
            assign->target = fields.at(assign->target.index);
        if (auto* inject = std::get_if<ir::Inject>(&statement))
            inject->target = fields.at(inject->target.index);
        ir::visit_roots(statement, [&](ExprId& root) { root = copy_expr(program, root, algebra, read); });
        result.statements.push_back(std::move(statement));
    }
    return result;
}

void complete(ir::Program& program) {
    ir::infer_halos(program);
    // The caller's faces have as many ghosts as were read; fewer may be now.
    for (ir::Field& field : program.fields)
        for (int axis = 0; axis < program.rank(); ++axis)
            for (int side = 0; side < 2; ++side) {
                const auto a = static_cast<std::size_t>(axis), s = static_cast<std::size_t>(side);
                ir::Face& face = field.boundary[a][s];
                if (face.kind != ir::BoundaryKind::formula) continue;
                const auto read = static_cast<std::size_t>(field.halo[a][s]);
                if (read > face.ghosts.size()) throw InternalError("a face is read further than before");
                face.ghosts.resize(read);
            }
    ir::infer_reaches(program);
    ir::infer_margins(program);  // raises reaches
}

}  // namespace halo::adjoint
