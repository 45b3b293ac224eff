#include "compiler/lsp/name_walk.h"

#include <algorithm>
#include <limits>

namespace halo::lsp {

using namespace syntax;

namespace {

constexpr SourceRange kEverywhere{0, std::numeric_limits<std::uint32_t>::max()};

}  // namespace

// ---- declarations

std::size_t NameWalk::declare(NameKind kind, const Name& name, SourceRange whole, SourceRange scope) {
    const std::size_t id = index_.definitions.size();
    // A `let` of a loop over names is `e.x` to the compiler, and `e` to people.
    const bool is_iteration = kind == NameKind::let && name.text.find('.') != std::string::npos;
    index_.definitions.push_back({kind, is_iteration ? std::string(source_.text(name.where)) : name.text,
                                  name.where, whole, scope, stencil_, "", ""});
    index_.uses.push_back({name.where, id, true, false});
    return id;
}

void NameWalk::declare_in(Names& names, NameKind kind, const Name& name, SourceRange whole) {
    if (name.text.empty()) return;
    names[name.text].push_back(
        declare(kind, name, whole, stencil_names_ != nullptr ? stencil_where_ : kEverywhere));
}

void NameWalk::declare_local(NameKind kind, const Name& name, SourceRange scope) {
    if (!name.text.empty()) locals_.emplace_back(name.text, declare(kind, name, scope, scope));
}

void NameWalk::declare_members(const std::vector<Name>& owners, const FieldDecl& field) {
    for (const Component& component : field.type.components) {
        const std::size_t id = declare(NameKind::component, component.name, field.where, stencil_where_);
        index_.definitions[id].owner = owners.empty() ? "" : owners.front().text;
        for (const Name& owner : owners) {
            if (const std::size_t* const of = find(owner.text, owner.where))
                members_[*of][component.name.text] = id;
        }
    }
}

void NameWalk::declare_columns(const TableDecl& table) {
    const std::size_t* const owner = find(table.name.text, table.name.where);
    for (const ColumnDecl& column : table.columns) {
        for (const Name& name : column.names) {
            const std::size_t id = declare(NameKind::column, name, table.where, stencil_where_);
            index_.definitions[id].owner = table.name.text;
            if (owner != nullptr) members_[*owner][name.text] = id;
        }
    }
}

// Names are known in all of their stencil, before their declaration, too.
void NameWalk::declare_statement(const StencilStatement& statement) {
    Names& names = stencil_names_ != nullptr ? *stencil_names_ : shared_;
    const auto all = [&](NameKind kind, const std::vector<Name>& list, SourceRange whole) {
        for (const Name& name : list)
            declare_in(names, kind, name, whole);
    };
    if (const auto* params = std::get_if<ParamDecl>(&statement)) {
        for (const Definition& each : params->params)
            declare_in(names, NameKind::param, each.name, params->where);
    } else if (const auto* consts = std::get_if<ConstDecl>(&statement)) {
        for (const Definition& each : consts->consts)
            declare_in(names, NameKind::constant, each.name, consts->where);
    } else if (const auto* coef = std::get_if<CoefDecl>(&statement)) {
        declare_in(names, NameKind::coef, coef->name, coef->where);
    } else if (const auto* field = std::get_if<FieldDecl>(&statement)) {
        all(NameKind::field, field->names, field->where);
        declare_members(field->names, *field);
    } else if (const auto* table = std::get_if<TableDecl>(&statement)) {
        declare_in(names, NameKind::table, table->name, table->where);
        declare_columns(*table);
    } else if (const auto* series = std::get_if<SeriesDecl>(&statement)) {
        all(NameKind::series, series->names, series->where);
    } else if (const auto* def = std::get_if<DefDecl>(&statement)) {
        declare_in(names, NameKind::function, def->name, def->where);
    } else if (const auto* let = std::get_if<LetDecl>(&statement)) {
        declare_in(names, NameKind::let, let->name, let->where);
    } else if (const auto* reduction = std::get_if<ReduceDecl>(&statement)) {
        declare_in(names, NameKind::reduction, reduction->name, reduction->where);
    } else if (const auto* points = std::get_if<PointsDecl>(&statement)) {
        all(NameKind::points, points->names, points->where);
    }
}

// ---- uses

// Of several with one name, which lets in sweeps may have, the last that is declared before.
const std::size_t* NameWalk::find(const std::string& name, SourceRange where) const {
    const auto local =
        std::find_if(locals_.rbegin(), locals_.rend(), [&](const auto& each) { return each.first == name; });
    if (local != locals_.rend()) return &local->second;
    for (const Names* names : {static_cast<const Names*>(stencil_names_), &shared_}) {
        if (names == nullptr) continue;
        const auto found = names->find(name);
        if (found == names->end()) continue;
        const Definitions& all = found->second;
        const auto after = std::find_if(all.begin(), all.end(), [&](std::size_t id) {
            return index_.definitions[id].where.begin > where.begin;
        });
        return after == all.begin() ? &all.front() : &*(after - 1);
    }
    return nullptr;
}

void NameWalk::use(const std::string& name, SourceRange where, bool is_written) {
    if (const std::size_t* const id = find(name, where))
        index_.uses.push_back({where, *id, false, is_written});
}

void NameWalk::use_listed_names(SourceRange block) {
    for (const Name& name : tree_.listed_names) {
        if (name.where.begin >= block.begin && name.where.end <= block.end) use(name);
    }
}

// ---- expressions

void NameWalk::walk(ExprId id) {
    if (id.index >= tree_.exprs.size()) return;  // of a statement that was read in part
    const Expr& expr = tree_[id];
    std::visit([&](const auto& node) { walk_node(expr, node); }, expr.node);
}

// The field, table or points whose member this is.
const std::size_t* NameWalk::owner_of(const Expr& base) const {
    if (const auto* name = std::get_if<syntax::NameUse>(&base.node)) {
        const std::size_t* const id = find(name->name, base.where);
        if (id == nullptr) return nullptr;
        const auto table = tables_of_rows_.find(*id);
        return table == tables_of_rows_.end() ? id : &table->second;
    }
    if (const auto* index = std::get_if<Index>(&base.node)) return owner_of(tree_[index->base]);
    return nullptr;
}

void NameWalk::walk_node(const Expr&, const Member& node) {
    walk(node.base);
    walk(node.index);
    const std::size_t* const owner = owner_of(tree_[node.base]);
    if (owner == nullptr) return;
    auto& members = members_[*owner];
    const auto member = members.find(node.member.text);
    if (member != members.end()) {
        index_.uses.push_back({node.member.where, member->second, false, false});
    } else if (index_.definitions[*owner].kind == NameKind::points && !node.index) {
        // Numbers and traces of points are declared by their first use.
        const std::size_t of = *owner;
        const std::size_t id = declare(NameKind::column, node.member, node.member.where, stencil_where_);
        index_.definitions[id].owner = index_.definitions[of].name;
        members[node.member.text] = id;
    }
}

void NameWalk::walk_node(const Expr&, const CallExpr& node) {
    // `f32(a)` may be a def of that name; what is no def is a function of the language.
    const std::size_t* const id = find(node.callee.text, node.callee.where);
    const bool is_called = id != nullptr && (index_.definitions[*id].kind == NameKind::function ||
                                             index_.definitions[*id].kind == NameKind::series);
    if (is_called) use(node.callee);
    for (const Argument& argument : node.arguments)
        walk(argument.value);
}

void NameWalk::enter(const std::vector<RangeIndex>& indices, SourceRange scope) {
    for (const RangeIndex& index : indices) {
        walk(index.low);
        walk(index.high);
        declare_local(NameKind::index, index.name, scope);
    }
}

void NameWalk::walk_node(const Expr& expr, const Fold& node) {
    const std::size_t outer = locals_.size();
    enter(node.indices, expr.where);
    walk(node.body);
    walk_all(node.terms);
    locals_.resize(outer);
}

void NameWalk::walk_node(const Expr& expr, const TableFold& node) {
    const std::size_t outer = locals_.size();
    use(node.table);
    const std::size_t* const table = find(node.table.text, node.table.where);
    const std::size_t of = table != nullptr ? *table : 0;
    declare_local(NameKind::index, node.row, expr.where);
    if (table != nullptr && locals_.size() > outer) tables_of_rows_[locals_.back().second] = of;
    for (const RowLet& let : node.lets) {
        walk(let.value);
        declare_local(NameKind::let, let.name, expr.where);
    }
    walk(node.body);
    locals_.resize(outer);
}

template <class Node>
void NameWalk::walk_node(const Expr&, [[maybe_unused]] const Node& node) {
    if constexpr (requires { node.operand; }) walk(node.operand);
    if constexpr (requires { node.left; }) {
        walk(node.left);
        walk(node.right);
    }
    if constexpr (requires { node.condition; }) {
        walk(node.condition);
        walk(node.then);
        walk(node.otherwise);
    }
    if constexpr (requires { node.subscripts; }) {
        walk(node.base);
        walk_all(node.subscripts);
    }
    if constexpr (requires { node.elements; }) walk_all(node.elements);
}

void NameWalk::walk_target(ExprId id) {
    const std::size_t before = index_.uses.size();
    walk(id);
    const Expr* base = &tree_[id];
    for (;;) {
        if (const auto* index = std::get_if<Index>(&base->node)) {
            base = &tree_[index->base];
        } else if (const auto* member = std::get_if<Member>(&base->node)) {
            base = &tree_[member->base];
        } else {
            break;
        }
    }
    for (std::size_t i = before; i < index_.uses.size(); ++i)
        index_.uses[i].is_written = index_.uses[i].where == base->where;
}

// ---- files

NameIndex NameWalk::run() {
    for (const StencilStatement& statement : tree_.shared)
        declare_statement(statement);
    for (const StencilStatement& statement : tree_.shared)
        walk_statement(statement);
    for (const Stencil& stencil : tree_.stencils)
        walk_stencil(stencil);
    for (const Run& run : tree_.runs)
        walk_run(run);
    return std::move(index_);
}

void NameWalk::walk_stencil(const Stencil& stencil) {
    stencil_.clear();
    declare_in(shared_, NameKind::stencil, stencil.name, stencil.where);
    stencil_ = stencil.name.text;
    stencil_where_ = stencil.where;
    stencil_names_ = &of_stencils_[stencil_];
    for (const Name& axis : stencil.axes)
        declare_in(*stencil_names_, NameKind::axis, axis, axis.where);
    for (const StencilStatement& statement : stencil.statements)
        declare_statement(statement);
    for (const StencilStatement& statement : stencil.statements)
        walk_statement(statement);
    use_listed_names(stencil.where);
    stencil_names_ = nullptr;
}

void NameWalk::use_stencil(const Name& name) {
    const auto stencil = shared_.find(name.text);
    if (stencil == shared_.end()) return;
    for (const std::size_t id : stencil->second)
        if (index_.definitions[id].kind == NameKind::stencil)
            index_.uses.push_back({name.where, id, false, false});
}

void NameWalk::walk_run(const Run& run) {
    use_stencil(run.name);
    // Of those that the run chains, names that its own stencil does not have.
    Names names;
    const auto add_names = [&](const std::string& stencil) {
        const auto found = of_stencils_.find(stencil);
        if (found != of_stencils_.end()) names.insert(found->second.begin(), found->second.end());
    };
    add_names(run.name.text);
    for (const RunStatement& statement : run.statements)
        if (const auto* chain = std::get_if<ChainStatement>(&statement)) add_names(chain->stencil.text);
    stencil_names_ = names.empty() ? nullptr : &names;
    stencil_ = run.name.text;
    for (const RunStatement& statement : run.statements)
        walk_action(statement);
    use_listed_names(run.where);
    stencil_names_ = nullptr;
}

}  // namespace halo::lsp
