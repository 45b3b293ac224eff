// Walks the tree of a spec with its scopes, and notes each name that is declared and each that is used.
// Private to names.cpp.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/lsp/names.h"

namespace halo::lsp {

class NameWalk {
public:
    NameWalk(const SourceFile& source, const syntax::File& tree) : source_(source), tree_(tree) {}
    NameIndex run();

private:
    using Definitions = std::vector<std::size_t>;
    using Names = std::unordered_map<std::string, Definitions>;

    // ---- declarations
    std::size_t declare(NameKind kind, const syntax::Name& name, SourceRange whole, SourceRange scope);
    void declare_in(Names& names, NameKind kind, const syntax::Name& name, SourceRange whole);
    void declare_statement(const syntax::StencilStatement& statement);
    void declare_members(const std::vector<syntax::Name>& owners, const syntax::FieldDecl& field);
    void declare_columns(const syntax::TableDecl& table);
    void declare_local(NameKind kind, const syntax::Name& name, SourceRange scope);

    // ---- uses
    const std::size_t* find(const std::string& name, SourceRange where) const;
    void use(const std::string& name, SourceRange where, bool is_written = false);
    void use(const syntax::Name& name) { use(name.text, name.where); }
    void use(const std::optional<syntax::FaceRef>& face) {
        if (face) use(face->axis);
    }
    void use_listed_names(SourceRange block);
    const std::size_t* owner_of(const syntax::Expr& base) const;

    // ---- expressions
    void walk(syntax::ExprId id);
    void walk(const std::optional<syntax::ExprId>& id) {
        if (id) walk(*id);
    }
    template <class Ids>
    void walk_all(const Ids& ids) {
        for (const syntax::ExprId id : ids)
            walk(id);
    }
    void walk_target(syntax::ExprId id);
    void walk_node(const syntax::Expr& expr, const syntax::NameUse& node) { use(node.name, expr.where); }
    void walk_node(const syntax::Expr& expr, const syntax::Member& node);
    void walk_node(const syntax::Expr& expr, const syntax::CallExpr& node);
    void walk_node(const syntax::Expr& expr, const syntax::Fold& node);
    void walk_node(const syntax::Expr& expr, const syntax::TableFold& node);
    template <class Node>
    void walk_node(const syntax::Expr& expr, const Node& node);
    void enter(const std::vector<syntax::RangeIndex>& indices, SourceRange scope);

    // ---- statements
    void walk_stencil(const syntax::Stencil& stencil);
    void walk_statement(const syntax::StencilStatement& statement);
    void walk_guards(const std::vector<syntax::GuardId>& guards, SourceRange statement);
    void walk_properties(const std::vector<syntax::HaloEntry>& halos,
                         const std::vector<syntax::BoundaryEntry>& boundaries);
    void walk_definitions(const std::vector<syntax::Definition>& all);
    void walk_type(const std::optional<syntax::TypeRef>& type);
    void walk_axis_values(const std::vector<syntax::AxisValue>& values);
    template <class Node>
    void walk_each(const Node& node);
    void walk_run(const syntax::Run& run);
    void use_stencil(const syntax::Name& name);
    void walk_action(const syntax::RunStatement& statement);

    const SourceFile& source_;
    const syntax::File& tree_;
    NameIndex index_;
    Names shared_;
    std::unordered_map<std::string, Names> of_stencils_;  // by stencil, for its run block
    Names* stencil_names_ = nullptr;                      // of the stencil that is walked; none: shared
    std::string stencil_;
    SourceRange stencil_where_{};
    std::vector<std::pair<std::string, std::size_t>> locals_;                                // innermost last
    std::unordered_map<std::size_t, std::unordered_map<std::string, std::size_t>> members_;  // by their owner
    std::unordered_map<std::size_t, std::size_t> tables_of_rows_;
};

}  // namespace halo::lsp
