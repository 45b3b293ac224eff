// The names of one stencil, found before anything is computed. A name means one thing in a stencil; order
// matters only for lets, which are known from their statement on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/support/diagnostics.h"
#include "compiler/syntax/tree.h"

namespace halo::sema {

struct Symbol {
    enum class Kind : std::uint8_t {
        axis,
        param,
        constant,
        coef,
        field,
        let,
        function,
        reduction,
        table,
        series,  // counted with the tables, as each is one of a single column
        points
    };
    Kind kind = Kind::param;
    std::string name;
    SourceRange where;  // of the name in its declaration
    int index = 0;      // among those of its kind, in order of declaration
    bool is_in_loop = false;
    bool is_twice = false;  // another is declared with this name; that is reported
    bool is_shared =
        false;  // declared outside of stencils: sees other such names and the axes, and nothing else

    // The declaration, by kind: param and constant, coef, field, let, function.
    const syntax::Definition* definition = nullptr;
    const syntax::CoefDecl* coef = nullptr;
    const syntax::FieldDecl* field = nullptr;
    const syntax::LetDecl* let = nullptr;
    const syntax::DefDecl* function = nullptr;
    const syntax::TableDecl* table = nullptr;
    const syntax::ReduceDecl* reduction = nullptr;
    const syntax::PointsDecl* points = nullptr;
};

std::string_view describe(Symbol::Kind kind);  // "a param", "an axis"

class Symbols {
public:
    // Reports axes past the third, names that are taken, and names that the language keeps. The stencil's own
    // names come before those that the file and its modules share.
    Symbols(const syntax::File& file, const syntax::Stencil& stencil, DiagnosticSink& sink);

    const Symbol* find(std::string_view name) const;
    const Symbol* find_shared(
        std::string_view name) const;  // what shared declarations see: shared names and axes
    const std::vector<Symbol>& all() const { return symbols_; }  // in order of declaration
    const std::vector<std::string>& axes() const { return axes_; }
    int count(Symbol::Kind kind) const { return counts_[static_cast<int>(kind)]; }
    int rank() const { return static_cast<int>(axes_.size()); }
    const syntax::Stencil& stencil() const { return stencil_; }

    // A statement that could not be read names it, so no message about it helps.
    bool is_unread(std::string_view name) const;

    // The declared names of the kinds for which `wanted` is true.
    template <class Wanted>
    std::vector<std::string> names(Wanted&& wanted) const {
        std::vector<std::string> result;
        for (const Symbol& symbol : symbols_) {
            if (wanted(symbol.kind)) result.push_back(symbol.name);
        }
        return result;
    }

private:
    void declare_axes(DiagnosticSink& sink);
    std::optional<std::size_t> owner_of(const std::string& name) const;
    void declare(Symbol symbol, const syntax::Name& name, DiagnosticSink& sink);
    void declare_statement(const syntax::StencilStatement& statement, bool is_in_loop, DiagnosticSink& sink);

    void check_name_in_sweep(const syntax::Name& name, DiagnosticSink& sink) const;

    const syntax::Stencil& stencil_;
    std::vector<Symbol> symbols_;
    std::vector<const syntax::LetDecl*> in_sweeps_;  // names that are known to the end of the sweep alone
    std::unordered_map<std::string, std::size_t> by_name_;
    std::unordered_map<std::string, std::size_t> shared_;
    bool lacks_module_ = false;
    bool in_shared_ = false;  // while those are declared
    std::unordered_set<std::string> unread_;
    std::vector<std::string> unread_made_;  // those as `psi_{a}`, of loops that were not read
    // Of the lets `e.x`, `e.y` of a loop over names: the first symbol, by what is written, `e`.
    std::unordered_map<std::string, std::size_t> iteration_lets_;
    std::vector<std::string> axes_;
    int counts_[11] = {};
};

}  // namespace halo::sema
