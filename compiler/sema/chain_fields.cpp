// What the stencils of a chain declare: what has the same name is one, and must be the same.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/ir/analysis.h"
#include "compiler/ir/print.h"
#include "compiler/ir/rewrite.h"
#include "compiler/sema/chain_composer.h"

namespace halo::sema {

using ir::FieldId;
using ir::Role;

namespace {

bool is_declared(const ir::Program& program, const ir::Field& field) {
    return field.role != Role::intermediate && !ir::is_hidden(program, field);
}

// What a run can name of a stencil that it chains.
bool is_shown(const Symbol& symbol) {
    const bool is_weights = symbol.kind == Symbol::Kind::coef && symbol.coef->is_param;
    return is_weights || symbol.kind == Symbol::Kind::param || symbol.kind == Symbol::Kind::field ||
           symbol.kind == Symbol::Kind::reduction;
}

const Symbol* own_symbol(const ChainMember& member, std::string_view name) {
    const Symbol* symbol = member.symbols->find(name);
    return symbol != nullptr && !symbol->is_shared ? symbol : nullptr;
}

template <class Declaration>
bool says(const ChainMember& member, const std::string& axis) {
    for (const syntax::StencilStatement& statement : member.symbols->stencil().statements) {
        const auto* declaration = std::get_if<Declaration>(&statement);
        if (declaration == nullptr) continue;
        for (const syntax::AxisValue& value : declaration->values)
            if (value.axis.text == axis) return true;
    }
    return false;
}

bool uses_coordinates(const ir::Program& program, int axis) {
    return std::ranges::any_of(program.exprs, [&](const ir::Expr& expr) {
        const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node);
        return coordinate && coordinate->kind == ir::CoordinateKind::position && coordinate->axis == axis;
    });
}

int streams_of(const ir::Program& program) {
    int count = 0;
    for (const ir::Expr& expr : program.exprs)
        if (const auto* noise = std::get_if<ir::Noise>(&expr.node))
            count = std::max(count, noise->stream + 1);
    return count + count % 2;  // two calls share their words
}

constexpr std::string_view kOneName = "what has one name is one in a chain: make it the same, or rename it";

}  // namespace

ChainComposer::ChainComposer(const ChainMember& first, const std::vector<ChainLink>& links,
                             DiagnosticSink& sink)
    : sink_(sink) {
    parts_.reserve(links.size() + 1);
    parts_.push_back({first});
    for (const ChainLink& link : links) {
        parts_.push_back({link.member, &link});
        if (link.steps.is_phase && !first_end_) first_end_ = link.steps.begin;
    }
}

ir::ExprId ChainComposer::imported(const Part& part, ir::ExprId root, const Read& read, bool is_later) {
    std::map<std::uint32_t, ir::ExprId> made;
    for (const std::uint32_t index : ir::reached_exprs(part.program(), {root})) {
        ir::Expr expr = part.program().exprs[index];
        if (const auto* access = std::get_if<ir::Access>(&expr.node)) {
            made[index] = read(*access);
            continue;
        }
        if (auto* param = std::get_if<ir::ParamRef>(&expr.node))
            param->param = part.params[param->param.index];
        if (auto* coef = std::get_if<ir::CoefElement>(&expr.node)) coef->coef = part.coefs[coef->coef.index];
        if (auto* value = std::get_if<ir::ReductionRef>(&expr.node))
            value->reduction.index += part.reductions;
        if (auto* noise = std::get_if<ir::Noise>(&expr.node)) noise->stream += part.streams;
        ir::map_operands(expr, [&](ir::ExprId operand) { return made.at(operand.index); });
        const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node);
        const bool is_step = coordinate && coordinate->kind == ir::CoordinateKind::step;
        made[index] = builder_.add(std::move(expr));
        if (is_step && is_later)
            made[index] = builder_.binary(ir::BinaryOp::add, made[index],
                                          builder_.constant(Rational(1), ir::Scalar::f64));
    }
    return made.at(root.index);
}

ir::ExprId ChainComposer::imported(const Part& part, ir::ExprId root) {
    return imported(part, root, [&](const ir::Access& access) {
        return builder_.access(part.fields[access.field.index], access.time, access.offset, access.map);
    });
}

Diagnostic& ChainComposer::mismatch(SourceRange where, std::string message, const Part& other,
                                    SourceRange other_where) {
    return sink_.report(DiagnosticKind::chain_mismatch, where, std::move(message))
        .label(other_where, fmt::format("this is what `{}` says", other.program().name))
        .note(std::string(kOneName));
}

bool ChainComposer::declare() {
    out_.name = parts_.front().program().name;
    const std::size_t errors = sink_.error_count();
    for (Part& part : parts_) {
        if (!has_same_axes(part)) return false;
        if (!check_names(part)) continue;
        declare_params(part);
        declare_coefs(part);
    }
    if (sink_.error_count() > errors) return false;
    const Part& first = parts_.front();
    for (const ir::Axis& axis : first.program().axes) {
        out_.axes.push_back(axis);
        out_.axes.back().spacing = imported(first, axis.spacing);
        out_.axes.back().origin = imported(first, axis.origin);
    }
    out_.tables = first.program().tables;
    for (ir::Table& table : out_.tables)
        for (ir::Table::Column& column : table.columns)
            if (column.value) column.value = imported(first, *column.value);
    out_.points = first.program().points;
    out_.noise_seed = first.program().noise_seed;
    for (Part& part : parts_) {
        if (part.link != nullptr) check_spacing(part);
        check_noise(part);
        part.reductions = reductions_;
        for (const ir::Statement& statement : part.program().statements)
            if (std::holds_alternative<ir::Reduce>(statement)) ++reductions_;
        declare_fields(part);
        declare_groups(part);
    }
    return sink_.error_count() == errors;
}

bool ChainComposer::has_same_axes(const Part& part) {
    const ir::Program& first = parts_.front().program();
    const std::vector<std::string> own = ir::axis_names(part.program()), wanted = ir::axis_names(first);
    if (own == wanted) return true;
    sink_
        .report(DiagnosticKind::chain_mismatch, part.where(),
                fmt::format("`{}` has the axes ({}), and `{}` has ({})", part.program().name,
                            fmt::join(own, ", "), first.name, fmt::join(wanted, ", ")))
        .note("all stencils of a run have the same axes, in the same order");
    return false;
}

// Whether each name that the run can use means one thing.
bool ChainComposer::check_names(const Part& part) {
    const std::size_t errors = sink_.error_count();
    for (const Symbol& symbol : part.member.symbols->all()) {
        if (symbol.is_shared || !is_shown(symbol)) continue;
        for (const Part& other : parts_) {
            if (&other == &part) break;
            const Symbol* taken = own_symbol(other.member, symbol.name);
            if (taken == nullptr || (other.link != nullptr && !is_shown(*taken))) continue;
            if (taken->kind == symbol.kind && symbol.kind != Symbol::Kind::reduction) break;
            if (other.member.symbols == part.member.symbols) {
                sink_
                    .report(DiagnosticKind::invalid_chain, part.where(),
                            fmt::format("`{}` is in this chain twice, and reduces `{}`, which has one value",
                                        part.program().name, symbol.name))
                    .label(symbol.where, "reduced here")
                    .note("leave the reduction out, or write it in a stencil of its own");
                break;
            }
            mismatch(symbol.where,
                     symbol.kind == taken->kind
                         ? fmt::format("`{}` and `{}` both reduce `{}`", other.program().name,
                                       part.program().name, symbol.name)
                         : fmt::format("`{0}` is {1} in `{2}` and {3} in `{4}`", symbol.name,
                                       describe(taken->kind), other.program().name, describe(symbol.kind),
                                       part.program().name),
                     other, taken->where);
            break;
        }
    }
    return sink_.error_count() == errors;
}

void ChainComposer::declare_params(Part& part) {
    for (const ir::Param& param : part.program().params) {
        const auto found = std::ranges::find(out_.params, param.name, &ir::Param::name);
        part.params.push_back({static_cast<std::uint32_t>(found - out_.params.begin())});
        if (found == out_.params.end()) {
            out_.params.push_back(param);
            continue;
        }
        if (found->unit.empty()) found->unit = param.unit;
        const bool has_unit = param.unit.empty() || param.unit == found->unit;
        const bool has_type = param.least == found->least && param.largest == found->largest;
        if (has_unit && has_type && param.default_value == found->default_value) continue;
        const std::string_view what = !has_type ? "type" : !has_unit ? "unit" : "default";
        for (const Part& other : parts_) {
            if (own_symbol(other.member, param.name) == nullptr) continue;
            mismatch(param.where,
                     fmt::format("the {} of `{}` is another in `{}` than in `{}`", what, param.name,
                                 part.program().name, other.program().name),
                     other, found->where);
            break;
        }
    }
}

void ChainComposer::declare_coefs(Part& part) {
    for (const ir::Coef& coef : part.program().coefs) {
        const auto found = std::ranges::find(out_.coefs, coef.name, &ir::Coef::name);
        part.coefs.push_back({static_cast<std::uint32_t>(found - out_.coefs.begin())});
        if (found == out_.coefs.end()) {
            out_.coefs.push_back(coef);
            continue;
        }
        if (coef.type == found->type && coef.low == found->low && coef.high == found->high &&
            coef.defaults == found->defaults)
            continue;
        for (const Part& other : parts_) {
            if (own_symbol(other.member, coef.name) == nullptr) continue;
            mismatch(coef.where,
                     fmt::format("the weights of `{}` are others in `{}` than in `{}`", coef.name,
                                 part.program().name, other.program().name),
                     other, found->where);
            break;
        }
    }
}

// One grid has one spacing and one origin: whoever says or needs them must mean the same.
void ChainComposer::check_spacing(const Part& part) {
    const ir::Program& program = part.program();
    for (int axis = 0; axis < program.rank(); ++axis) {
        const ir::Axis& own = program.axes[static_cast<std::size_t>(axis)];
        const ir::Axis& shared = out_.axes[static_cast<std::size_t>(axis)];
        const bool has_coordinates = uses_coordinates(program, axis);
        const auto refuse = [&](std::string_view what) {
            sink_
                .report(DiagnosticKind::chain_mismatch, part.where(),
                        fmt::format("the {} of `{}` is another in `{}` than in `{}`", what, own.name,
                                    program.name, out_.name))
                .label(part.member.symbols->stencil().name.where, fmt::format("say the same {} here", what))
                .note(
                    "a grid has one spacing and one origin; a stencil that asks for neither may leave them "
                    "out");
        };
        const bool minds_spacing = part.member.stencil->uses_spacing || has_coordinates ||
                                   says<syntax::SpacingDecl>(part.member, own.name);
        if (minds_spacing && imported(part, own.spacing) != shared.spacing) refuse("spacing");
        const bool minds_origin = has_coordinates || says<syntax::OriginDecl>(part.member, own.name);
        if (minds_origin && imported(part, own.origin) != shared.origin) refuse("origin");
    }
}

void ChainComposer::check_noise(Part& part) {
    const Part& first = parts_.front();
    const int own = streams_of(part.program());
    part.streams = streams_;
    if (streams_ > 0 && own > 0 && part.program().noise_seed != out_.noise_seed)
        mismatch(part.where(),
                 fmt::format("the seed of `{}` is another than that of `{}`", part.program().name,
                             first.program().name),
                 first, first.member.symbols->stencil().name.where);
    if (streams_ == 0 && own > 0) out_.noise_seed = part.program().noise_seed;
    streams_ += own;
}

void ChainComposer::declare_fields(Part& part) {
    const std::vector<ir::Field>& fields = part.program().fields;
    part.fields.resize(fields.size());
    std::vector<FieldId> added;
    for (std::uint32_t f = 0; f < fields.size(); ++f) {
        if (!is_declared(part.program(), fields[f])) continue;
        const auto found = std::ranges::find(out_.fields, fields[f].name, &ir::Field::name);
        part.fields[f] = {static_cast<std::uint32_t>(found - out_.fields.begin())};
        if (found != out_.fields.end()) {
            check_field(part, fields[f], part.fields[f]);
            continue;
        }
        // A field of one number here and of components there has no part of the other's name.
        const std::string whole = fields[f].name.substr(0, fields[f].name.find('.'));
        for (const Part& other : parts_) {
            if (&other == &part) break;
            const Symbol* taken = own_symbol(other.member, whole);
            if (taken == nullptr || taken->kind != Symbol::Kind::field) continue;
            mismatch(fields[f].where,
                     fmt::format("`{}` has other components in `{}` than in `{}`", whole, part.program().name,
                                 other.program().name),
                     other, taken->where);
            break;
        }
        check_past(part, fields[f]);
        out_.fields.push_back(fields[f]);
        owner_.push_back(&part);
        added.push_back({f});
    }
    for (const FieldId field : added)
        import_faces(part, field, part.fields[field.index], false);
    for (std::uint32_t f = 0; f < fields.size(); ++f)
        if (is_declared(part.program(), fields[f]) && owner_[part.fields[f].index] != &part)
            check_faces(part, {f}, part.fields[f]);
}

void ChainComposer::check_field(const Part& part, const ir::Field& field, FieldId id) {
    ir::Field& shared = out_.fields[id.index];
    const Part& owner = *owner_[id.index];
    const std::string &own = part.program().name, &other = owner.program().name;
    if (field.storage != shared.storage) {
        mismatch(field.where,
                 fmt::format("`{}` is {} in `{}` and {} in `{}`", field.name, ir::name_of(shared.storage),
                             other, ir::name_of(field.storage), own),
                 owner, shared.where);
    } else if (field.type != shared.type) {
        mismatch(field.where,
                 fmt::format("`{}` is computed in {} in `{}` and in {} in `{}`", field.name,
                             ir::name_of(shared.type), other, ir::name_of(field.type), own),
                 owner, shared.where);
    } else if (field.staggered != shared.staggered) {
        mismatch(field.where,
                 fmt::format("`{}` lies at other points in `{}` than in `{}`", field.name, own, other), owner,
                 shared.where);
    } else if (!(field.grid == shared.grid)) {
        mismatch(field.where,
                 fmt::format("`{}` is over other axes in `{}` than in `{}`", field.name, own, other), owner,
                 shared.where);
    } else if (!field.unit.empty() && !shared.unit.empty() && field.unit != shared.unit) {
        mismatch(field.where,
                 fmt::format("the unit of `{}` is \"{}\" in `{}` and \"{}\" in `{}`", field.name, shared.unit,
                             other, field.unit, own),
                 owner, shared.where);
    } else {
        check_role(part, field, id);
    }
    if (shared.unit.empty()) shared.unit = field.unit;
}

// Before a level is read it is known, and a field is either of the step or goes on from step to step.
void ChainComposer::check_role(const Part& part, const ir::Field& field, FieldId id) {
    ir::Field& shared = out_.fields[id.index];
    const Part& owner = *owner_[id.index];
    const bool is_both = (field.role == Role::state && shared.role == Role::output) ||
                         (field.role == Role::output && shared.role == Role::state);
    const bool is_late = field.role == Role::output && shared.role == Role::input;
    if (is_both || is_late) {
        mismatch(field.where,
                 is_both
                     ? fmt::format("`{}` is assigned with `[t+1]` in `{}` and without in `{}`", field.name,
                                   shared.role == Role::state ? owner.program().name : part.program().name,
                                   shared.role == Role::state ? part.program().name : owner.program().name)
                     : fmt::format("`{}` gives `{}` within the step, after `{}` has read it",
                                   part.program().name, field.name, owner.program().name),
                 owner, shared.where);
        return;
    }
    const bool shifts = part.link != nullptr && !part.link->steps.is_phase;
    if (shared.role != Role::state) check_past(part, field);
    if (field.role == Role::state) shared.role = Role::state;
    shared.history = std::max(shared.history, shifts ? field.history - 1 : field.history);
}

// Of a state that no stencil before gives a level in each step.
void ChainComposer::check_past(const Part& part, const ir::Field& field) {
    const bool shifts = part.link != nullptr && !part.link->steps.is_phase;
    if (!shifts || field.role != Role::state || field.history == 0) return;
    sink_
        .report(DiagnosticKind::invalid_chain, field.where,
                fmt::format("`{}` reads `{}` of steps before, which `{}` does not assign",
                            part.program().name, field.name, out_.name))
        .label(part.where(), "it is chained here")
        .note("levels of the past are those of the run's steps");
}

void ChainComposer::declare_groups(const Part& part) {
    for (const ir::Group& group : part.program().groups) {
        ir::Group made = group;
        for (FieldId& field : made.fields)
            field = part.fields[field.index];
        const auto found = std::ranges::find(out_.groups, group.name, &ir::Group::name);
        if (found == out_.groups.end()) {
            out_.groups.push_back(std::move(made));
            continue;
        }
        if (found->members == made.members && found->kind == made.kind &&
            found->interleaved == made.interleaved)
            continue;
        const SourceRange where = part.program()[group.fields.front()].where;
        mismatch(where,
                 fmt::format("the components of `{}` are others in `{}` than in `{}`", group.name,
                             part.program().name, owner_[found->fields.front().index]->program().name),
                 *owner_[found->fields.front().index], out_[found->fields.front()].where);
    }
}

void ChainComposer::import_faces(const Part& part, FieldId field, FieldId as, bool is_later) {
    const Read read = [&](const ir::Access& access) {
        return builder_.access(as, 0, access.offset, access.map);
    };
    for (std::size_t axis = 0; axis < ir::kMaxRank; ++axis) {
        for (std::size_t side = 0; side < 2; ++side) {
            ir::Face face = part.program()[field].boundary[axis][side];
            if (face.kind == ir::BoundaryKind::fixed) face.value = imported(part, face.value, read, is_later);
            for (ir::ExprId& ghost : face.ghosts)
                ghost = imported(part, ghost, read, is_later);
            out_.fields[as.index].boundary[axis][side] = std::move(face);
        }
    }
}

bool ChainComposer::check_faces(const Part& part, FieldId field, FieldId shared) {
    const auto had = out_[shared].boundary;
    import_faces(part, field, shared, false);
    auto& given = out_.fields[shared.index].boundary;
    bool is_same = true;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(out_.rank()); ++axis) {
        for (std::size_t side = 0; side < 2; ++side) {
            const ir::Face &before = had[axis][side], &face = given[axis][side];
            const std::size_t common = std::min(before.ghosts.size(), face.ghosts.size());
            const bool has_same_ghosts =
                std::equal(before.ghosts.begin(), before.ghosts.begin() + static_cast<std::ptrdiff_t>(common),
                           face.ghosts.begin());
            const bool has_same_value = face.kind != ir::BoundaryKind::fixed || face.value == before.value;
            const bool agrees = before.kind == face.kind && has_same_ghosts && has_same_value;
            if (!agrees && is_same) {
                is_same = false;
                const Part& owner = *owner_[shared.index];
                mismatch(part.program()[field].where,
                         fmt::format("the boundary of `{}` at `{}.{}` is another in `{}` than in `{}`",
                                     part.program()[field].name, out_.axes[axis].name,
                                     side == 0 ? "low" : "high", part.program().name, owner.program().name),
                         owner, out_[shared].where);
            }
            if (before.ghosts.size() > face.ghosts.size()) given[axis][side].ghosts = before.ghosts;
            given[axis][side].reach = std::max(before.reach, face.reach);
        }
    }
    return is_same;
}

std::unique_ptr<syntax::Stencil> chained_tree(const ChainMember& first, const std::vector<ChainLink>& links) {
    auto tree = std::make_unique<syntax::Stencil>(first.symbols->stencil());
    std::vector<std::string> known;
    for (const Symbol& symbol : first.symbols->all())
        if (!symbol.is_shared) known.push_back(symbol.name);
    const auto drop_known = [&](auto& declared, auto&& name_of) {
        std::erase_if(declared, [&](const auto& each) {
            const std::string& name = name_of(each).text;
            if (std::ranges::find(known, name) != known.end()) return true;
            known.push_back(name);
            return false;
        });
        return !declared.empty();
    };
    for (const ChainLink& link : links) {
        for (const syntax::StencilStatement& statement : link.member.symbols->stencil().statements) {
            if (auto params = std::get_if<syntax::ParamDecl>(&statement)) {
                syntax::ParamDecl own = *params;
                if (drop_known(own.params, [](const auto& each) -> const syntax::Name& { return each.name; }))
                    tree->statements.emplace_back(std::move(own));
            } else if (auto fields = std::get_if<syntax::FieldDecl>(&statement)) {
                syntax::FieldDecl own = *fields;
                if (drop_known(own.names, [](const auto& each) -> const syntax::Name& { return each; }))
                    tree->statements.emplace_back(std::move(own));
            } else if (auto coef = std::get_if<syntax::CoefDecl>(&statement)) {
                std::vector<syntax::CoefDecl> own{*coef};
                if (coef->is_param &&
                    drop_known(own, [](const auto& each) -> const syntax::Name& { return each.name; }))
                    tree->statements.emplace_back(std::move(own.front()));
            } else if (std::holds_alternative<syntax::ReduceDecl>(statement)) {
                tree->statements.push_back(statement);
            }
        }
    }
    return tree;
}

}  // namespace halo::sema
