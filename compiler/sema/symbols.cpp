#include "compiler/sema/symbols.h"

#include <fmt/format.h>

#include "compiler/ir/program.h"
#include "compiler/sema/builtins.h"

namespace halo::sema {

std::string_view describe(Symbol::Kind kind) {
    switch (kind) {
        case Symbol::Kind::axis:
            return "an axis";
        case Symbol::Kind::param:
            return "a param";
        case Symbol::Kind::constant:
            return "a const";
        case Symbol::Kind::coef:
            return "a coef";
        case Symbol::Kind::field:
            return "a field";
        case Symbol::Kind::let:
            return "a let";
        case Symbol::Kind::function:
            return "a def";
        case Symbol::Kind::reduction:
            return "a reduction";
        case Symbol::Kind::table:
            return "a table";
    }
    return "a name";
}

Symbols::Symbols(const syntax::Stencil& stencil, DiagnosticSink& sink)
    : stencil_(stencil), unread_(stencil.unread_names.begin(), stencil.unread_names.end()) {
    declare_axes(sink);
    for (const syntax::StencilStatement& statement : stencil.statements)
        declare_statement(statement, false, sink);
}

void Symbols::declare_axes(DiagnosticSink& sink) {
    const std::vector<syntax::Name>& axes = stencil_.axes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (i == ir::kMaxRank) {
            const SourceRange rest{axes[i].where.begin, axes.back().where.end};
            sink.report(DiagnosticKind::too_many_axes, rest,
                        fmt::format("`{}` has {} axes; up to {} are supported", stencil_.name.text,
                                    axes.size(), ir::kMaxRank));
            // Known by name, so that uses of them are not reported as unknown.
            for (std::size_t k = i; k < axes.size(); ++k)
                unread_.insert(axes[k].text);
            return;
        }
        Symbol symbol;
        symbol.kind = Symbol::Kind::axis;
        declare(std::move(symbol), axes[i], sink);
        axes_.push_back(axes[i].text);
    }
}

void Symbols::declare(Symbol symbol, const syntax::Name& name, DiagnosticSink& sink) {
    symbol.name = name.text;
    symbol.where = name.where;
    symbol.index = counts_[static_cast<int>(symbol.kind)]++;
    if (is_kept_name(name.text, symbol.kind == Symbol::Kind::function)) {
        Diagnostic& diagnostic =
            sink.report(DiagnosticKind::reserved_name, name.where,
                        fmt::format("`{}` cannot be the name of {}: it has a meaning already", name.text,
                                    describe(symbol.kind)));
        if (name.text == "t") diagnostic.note("`t` is the time level, as in `u[t+1]`");
    } else if (const Symbol* first = find(name.text)) {
        sink.report(DiagnosticKind::duplicate_name, name.where,
                    fmt::format("`{}` is declared twice in this stencil", name.text))
            .label(first->where, fmt::format("`{}` is {} since here", name.text, describe(first->kind)));
    }
    // The second of two is kept, too, so that indices stay in step; its name finds the first.
    by_name_.emplace(name.text, symbols_.size());
    symbols_.push_back(std::move(symbol));
}

void Symbols::declare_statement(const syntax::StencilStatement& statement, bool is_in_loop,
                                DiagnosticSink& sink) {
    const auto make = [](Symbol::Kind kind) {
        Symbol symbol;
        symbol.kind = kind;
        return symbol;
    };
    if (const auto* params = std::get_if<syntax::ParamDecl>(&statement)) {
        for (const syntax::Definition& definition : params->params) {
            Symbol symbol = make(Symbol::Kind::param);
            symbol.definition = &definition;
            declare(std::move(symbol), definition.name, sink);
        }
    } else if (const auto* consts = std::get_if<syntax::ConstDecl>(&statement)) {
        for (const syntax::Definition& definition : consts->consts) {
            Symbol symbol = make(Symbol::Kind::constant);
            symbol.definition = &definition;
            declare(std::move(symbol), definition.name, sink);
        }
    } else if (const auto* coef = std::get_if<syntax::CoefDecl>(&statement)) {
        Symbol symbol = make(Symbol::Kind::coef);
        symbol.coef = coef;
        declare(std::move(symbol), coef->name, sink);
    } else if (const auto* fields = std::get_if<syntax::FieldDecl>(&statement)) {
        for (const syntax::Name& name : fields->names) {
            Symbol symbol = make(Symbol::Kind::field);
            symbol.field = fields;
            declare(std::move(symbol), name, sink);
        }
    } else if (const auto* function = std::get_if<syntax::DefDecl>(&statement)) {
        Symbol symbol = make(Symbol::Kind::function);
        symbol.function = function;
        declare(std::move(symbol), function->name, sink);
    } else if (const auto* let = std::get_if<syntax::LetDecl>(&statement)) {
        Symbol symbol = make(Symbol::Kind::let);
        symbol.let = let;
        symbol.is_in_loop = is_in_loop;
        declare(std::move(symbol), let->name, sink);
    } else if (const auto* table = std::get_if<syntax::TableDecl>(&statement)) {
        Symbol symbol = make(Symbol::Kind::table);
        symbol.table = table;
        declare(std::move(symbol), table->name, sink);
    } else if (const auto* loop = std::get_if<syntax::ForStatement>(&statement)) {
        for (const syntax::LoopBody& body : loop->body)
            declare_statement(body.statement, true, sink);
    } else if (const auto* reduce = std::get_if<syntax::ReduceDecl>(&statement)) {
        Symbol symbol = make(Symbol::Kind::reduction);
        symbol.reduction = reduce;
        declare(std::move(symbol), reduce->name, sink);
    }
}

const Symbol* Symbols::find(std::string_view name) const {
    const auto found = by_name_.find(std::string(name));
    return found == by_name_.end() ? nullptr : &symbols_[found->second];
}

}  // namespace halo::sema
