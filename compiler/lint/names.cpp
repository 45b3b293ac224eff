#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/lint/parts.h"
#include "compiler/syntax/lexer.h"

namespace halo::lint {

namespace {

bool lies_within(SourceRange inner, SourceRange outer) {
    return inner.begin >= outer.begin && inner.end <= outer.end;
}

class UnusedNames {
public:
    UnusedNames(const SourceFile& source, const syntax::File& file, const syntax::Stencil& stencil,
                DiagnosticSink& sink)
        : stencil_(stencil), sink_(sink) {
        // Words, whatever they stand for where they are: a name that is hidden by an index somewhere is taken
        // for used, which is the error to make.
        const std::vector<syntax::Token> tokens = syntax::lex(source).tokens;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            if (tokens[i].kind != syntax::TokenKind::identifier) continue;
            const std::string_view word = source.text(tokens[i].where);
            if (lies_within(tokens[i].where, stencil.where)) ++uses_[word];
            // A run reads params and consts, as in `until`; giving a param a value is no use of it.
            if (tokens[i + 1].kind == syntax::TokenKind::assign) continue;
            for (const syntax::Run& run : file.runs) {
                if (run.name.text == stencil.name.text && lies_within(tokens[i].where, run.where))
                    ++uses_in_runs_[word];
            }
        }
    }

    void run() {
        for (const syntax::StencilStatement& statement : stencil_.statements)
            std::visit([&](const auto& declaration) { read(declaration); }, statement);
    }

private:
    void read(const syntax::ParamDecl& declaration) {
        for (const syntax::Definition& each : declaration.params)
            if (uses_in_runs_[each.name.text] == 0) check(each.name, "no expression reads this param");
    }
    void read(const syntax::ConstDecl& declaration) {
        for (const syntax::Definition& each : declaration.consts)
            if (uses_in_runs_[each.name.text] == 0) check(each.name, "no expression reads this const");
    }
    void read(const syntax::CoefDecl& declaration) {
        check(declaration.name, "no expression reads these weights");
    }
    void read(const syntax::DefDecl& declaration) {
        if (uses_in_runs_[declaration.name.text] == 0) check(declaration.name, "nothing calls it");
    }
    void read(const syntax::PointsDecl& declaration) {
        for (const syntax::Name& name : declaration.names)
            check(name, "no statement injects or samples at them");
    }
    void read(const syntax::LetDecl& declaration) {
        check(declaration.name,
              "a `let` is for later statements; to see its values after a run, make it a field");
    }
    void read(const syntax::FieldDecl& declaration) {
        for (const syntax::Name& name : declaration.names)
            check(name, "no statement reads it or gives it a value");
    }
    template <class Other>
    void read(const Other&) {}  // declares nothing that could be left unused

    bool is_noisy() {
        return uses_["random"] + uses_["normal"] + uses_in_runs_["random"] + uses_in_runs_["normal"] > 0;
    }

    void check(const syntax::Name& name, const char* note) {
        if (name.text.empty() || !lies_within(name.where, stencil_.where)) return;  // of another file
        if (uses_[name.text] > 1) return;
        if (name.text == "dt" && uses_["time"] > 0) return;  // time is step * dt
        if (name.text == "seed" && is_noisy()) return;
        sink_.report(DiagnosticKind::unused_name, name.where, fmt::format("`{}` is not used", name.text))
            .note(note);
    }

    const syntax::Stencil& stencil_;
    DiagnosticSink& sink_;
    std::map<std::string_view, int> uses_, uses_in_runs_;
};

}  // namespace

void find_unused_names(const SourceFile& source, const syntax::File& file, const syntax::Stencil& stencil,
                       DiagnosticSink& sink) {
    UnusedNames(source, file, stencil, sink).run();
}

}  // namespace halo::lint
