#include "compiler/sema/symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "compiler/ir/program.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/solve_methods.h"

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
        case Symbol::Kind::series:
            return "a series";
        case Symbol::Kind::points:
            return "points";
    }
    return "a name";
}

namespace {

// Whether a loop over names may make this name of `psi_{a}_{l-1}`, whatever its indices stand for: the parts
// between them follow each other in the name.
bool may_be_made(std::string_view name, std::string_view written) {
    std::size_t open = written.find('{');
    if (!name.starts_with(written.substr(0, open))) return false;
    name.remove_prefix(open);
    for (;;) {
        written.remove_prefix(written.find('}', open) + 1);
        open = written.find('{');
        const std::string_view part = written.substr(0, open);
        if (open == written.npos) return name.size() > part.size() && name.ends_with(part);
        const std::size_t found = name.find(part, 1);
        if (found == name.npos) return false;
        name.remove_prefix(found + part.size());
    }
}

}  // namespace

bool Symbols::is_unread(std::string_view name) const {
    if (lacks_module_ || unread_.contains(std::string(name))) return true;
    return std::ranges::any_of(unread_made_,
                               [&](const std::string& written) { return may_be_made(name, written); });
}

Symbols::Symbols(const syntax::File& file, const syntax::Stencil& stencil, DiagnosticSink& sink)
    : stencil_(stencil), unread_(stencil.unread_names.begin(), stencil.unread_names.end()) {
    unread_.insert(file.unread_names.begin(), file.unread_names.end());
    std::ranges::copy_if(unread_, std::back_inserter(unread_made_),
                         [](const std::string& name) { return name.find('{') != name.npos; });
    lacks_module_ = file.lacks_module;
    in_shared_ = true;
    for (const syntax::StencilStatement& statement : file.shared)
        declare_statement(statement, false, sink);
    in_shared_ = false;
    declare_axes(sink);
    for (const syntax::StencilStatement& statement : stencil.statements)
        declare_statement(statement, false, sink);
    for (const syntax::LetDecl* let : in_sweeps_)
        check_name_in_sweep(let->name, sink);
}

// Such a name hides no other.
void Symbols::check_name_in_sweep(const syntax::Name& name, DiagnosticSink& sink) const {
    if (is_reserved_name(name.text, false)) {
        sink.report(DiagnosticKind::reserved_name, name.where,
                    fmt::format("`{}` cannot be the name of {}: it has a meaning already", name.text,
                                describe(Symbol::Kind::let)));
    } else if (const Symbol* const first = find(name.text.substr(0, name.text.find('.')))) {
        sink.report(DiagnosticKind::duplicate_name, name.where,
                    fmt::format("`{}` is declared twice in this stencil", name.text))
            .label(first->where, fmt::format("`{}` is {} since here", name.text, describe(first->kind)));
    }
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

// The symbol that has the name already. A let `e.x` of a loop over names is written `e`, as all in the
// stencil may read it.
std::optional<std::size_t> Symbols::owner_of(const std::string& name) const {
    const std::unordered_map<std::string, std::size_t>& names = in_shared_ ? shared_ : by_name_;
    const auto index = [](const auto& map, const std::string& key) {
        const auto found = map.find(key);
        return found == map.end() ? std::nullopt : std::optional(found->second);
    };
    if (const auto same = index(names, name)) return same;
    const std::string written = name.substr(0, name.find('.'));
    return written.size() < name.size() ? index(names, written) : index(iteration_lets_, name);
}

void Symbols::declare(Symbol symbol, const syntax::Name& name, DiagnosticSink& sink) {
    symbol.name = name.text;
    symbol.where = name.where;
    const bool is_series = symbol.kind == Symbol::Kind::series;
    symbol.index = counts_[static_cast<int>(is_series ? Symbol::Kind::table : symbol.kind)]++;
    symbol.is_shared = in_shared_;
    std::unordered_map<std::string, std::size_t>& names = in_shared_ ? shared_ : by_name_;
    const std::optional<std::size_t> taken = owner_of(name.text);
    if (is_reserved_name(name.text, symbol.kind == Symbol::Kind::function)) {
        Diagnostic& diagnostic =
            sink.report(DiagnosticKind::reserved_name, name.where,
                        fmt::format("`{}` cannot be the name of {}: it has a meaning already", name.text,
                                    describe(symbol.kind)));
        if (name.text == "t") diagnostic.note("`t` is the time level, as in `u[t+1]`");
    } else if (taken) {
        Symbol& first = symbols_[*taken];
        first.is_twice = true;
        Diagnostic& diagnostic =
            sink.report(DiagnosticKind::duplicate_name, name.where,
                        in_shared_ ? fmt::format("`{}` is declared twice outside of stencils", name.text)
                                   : fmt::format("`{}` is declared twice in this stencil", name.text));
        if (first.where == name.where) {
            diagnostic.note(
                fmt::format("in a loop over names it has an index in its name, as in `{}_{{a}}`, or stands "
                            "before the loop",
                            name.text));
        } else {
            diagnostic.label(first.where,
                             fmt::format("`{}` is {} since here", name.text, describe(first.kind)));
        }
    }
    if (const std::size_t dot = name.text.find('.'); dot != std::string::npos)
        iteration_lets_.emplace(name.text.substr(0, dot), symbols_.size());
    // The second of two is kept, too, so that indices stay in step; its name finds the first.
    names.emplace(name.text, symbols_.size());
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
        if (!let->guards.empty()) {
            in_sweeps_.push_back(let);
            return;
        }
        Symbol symbol = make(Symbol::Kind::let);
        symbol.let = let;
        symbol.is_in_loop = is_in_loop;
        declare(std::move(symbol), let->name, sink);
    } else if (const auto* table = std::get_if<syntax::TableDecl>(&statement)) {
        Symbol symbol = make(Symbol::Kind::table);
        symbol.table = table;
        declare(std::move(symbol), table->name, sink);
    } else if (const auto* series = std::get_if<syntax::SeriesDecl>(&statement)) {
        for (const syntax::Name& name : series->names)
            declare(make(Symbol::Kind::series), name, sink);
    } else if (const auto* points = std::get_if<syntax::PointsDecl>(&statement)) {
        for (const syntax::Name& name : points->names) {
            Symbol symbol = make(Symbol::Kind::points);
            symbol.points = points;
            declare(std::move(symbol), name, sink);
        }
    } else if (const auto* loop = std::get_if<syntax::ForStatement>(&statement)) {
        for (const syntax::LoopBody& body : loop->body)
            declare_statement(body.statement, true, sink);
    } else if (const auto* reduce = std::get_if<syntax::ReduceDecl>(&statement)) {
        Symbol symbol = make(Symbol::Kind::reduction);
        symbol.reduction = reduce;
        declare(std::move(symbol), reduce->name, sink);
    } else if (const auto* solve = std::get_if<syntax::SolveStatement>(&statement)) {
        // Its reductions are counted with those that have a name.
        if (const SolveMethod* const method = find_solve_method(solve->method.text))
            counts_[static_cast<int>(Symbol::Kind::reduction)] += method->reductions;
    }
}

const Symbol* Symbols::find(std::string_view name) const {
    const auto found = by_name_.find(std::string(name));
    if (found != by_name_.end()) return &symbols_[found->second];
    const auto shared = shared_.find(std::string(name));
    return shared == shared_.end() ? nullptr : &symbols_[shared->second];
}

const Symbol* Symbols::find_shared(std::string_view name) const {
    const auto shared = shared_.find(std::string(name));
    if (shared != shared_.end()) return &symbols_[shared->second];
    const auto found = by_name_.find(std::string(name));
    const bool is_axis = found != by_name_.end() && symbols_[found->second].kind == Symbol::Kind::axis;
    return is_axis ? &symbols_[found->second] : nullptr;
}

}  // namespace halo::sema
