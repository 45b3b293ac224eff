#include "front_end.h"

#include <vector>

#include "compiler/ir/verify.h"
#include "compiler/sema/sema.h"
#include "compiler/support/diagnostics.h"
#include "compiler/syntax/format.h"
#include "compiler/syntax/lexer.h"
#include "compiler/syntax/parser.h"

namespace halo::fuzz {

namespace {

bool is_inside(SourceRange where, const SourceFile& file) {
    return where.begin <= where.end && where.end <= file.text().size();
}

std::string check_messages(const DiagnosticSink& sink, const SourceFile& file) {
    const std::vector<Diagnostic> all = sink.sorted();
    if (all.size() > DiagnosticSink::kMaxDiagnostics) return "more messages than the limit";
    if (sink.has_errors() && all.empty()) return "an error without a message";
    for (const Diagnostic& diagnostic : all) {
        if (diagnostic.message.empty()) return "a message without text";
        bool is_within = is_inside(diagnostic.where, file);
        for (const Label& label : diagnostic.labels)
            is_within = is_within && is_inside(label.where, file);
        if (diagnostic.mend_text) is_within = is_within && is_inside(diagnostic.mend_text->where, file);
        if (!is_within) return "a place outside the file: " + diagnostic.message;
        if (render(diagnostic, file).size() > 20'000) return "an endless message: " + diagnostic.message;
    }
    render_json(all, file);
    return "";
}

// The words of a text; `;` and line breaks are the formatter's to change.
std::string words(const SourceFile& file) {
    const syntax::Tokens result = syntax::lex(file);
    std::string all;
    for (const syntax::Token& token : result.tokens) {
        if (token.kind == syntax::TokenKind::semicolon || token.kind == syntax::TokenKind::end) continue;
        all += file.text(token.where);
        all += ' ';
    }
    for (const SourceRange where : result.comments) {
        all += file.text(where);
        all += '\n';
    }
    return all;
}

// The shape of a tree: how many statements and expressions.
std::string shape(const syntax::File& file) {
    std::string all = std::to_string(file.exprs.size());
    for (const syntax::Stencil& stencil : file.stencils) {
        for (const auto& statement : stencil.statements)
            all += "," + std::to_string(statement.index());
    }
    for (const syntax::Run& run : file.runs) {
        for (const auto& statement : run.statements)
            all += ";" + std::to_string(statement.index());
    }
    return all;
}

std::string check_format(const SourceFile& file, const syntax::File& tree) {
    DiagnosticSink sink;
    const std::optional<std::string> once = syntax::format(file, sink);
    if (!once) return "a text without mistakes is not formatted";
    const SourceFile formatted("formatted.halo", *once);
    if (words(file) != words(formatted)) return "formatting changed words:\n" + *once;
    DiagnosticSink again_sink;
    const syntax::File again_tree = syntax::parse(formatted, again_sink);
    if (again_sink.has_errors()) return "formatted text has mistakes:\n" + *once;
    if (shape(tree) != shape(again_tree)) return "formatting changed the meaning:\n" + *once;
    const std::optional<std::string> twice = syntax::format(formatted, again_sink);
    if (!twice || *twice != *once) return "formatting is not idempotent:\n" + *once;
    return "";
}

std::string check_meaning(const syntax::File& tree, DiagnosticSink& sink) {
    const sema::Analysis analysis = sema::analyze(tree, sink);
    if (sink.has_errors()) return "";
    for (const sema::AnalyzedStencil& stencil : analysis.stencils) {
        const std::vector<std::string> findings = ir::verify(stencil.program);
        if (!findings.empty()) return "a checked program does not verify: " + findings.front();
    }
    return "";
}

}  // namespace

std::string broken_promise(std::string_view text) {
    const SourceFile file("fuzz.halo", std::string(text));
    DiagnosticSink sink;
    const syntax::File tree = syntax::parse(file, sink);
    if (!sink.has_errors()) {
        if (!tree.is_complete) return "an incomplete tree without a message";
        if (std::string broken = check_format(file, tree); !broken.empty()) return broken;
    }
    // Trees with holes are checked, too: all mistakes of a file come at once.
    if (std::string broken = check_meaning(tree, sink); !broken.empty()) return broken;
    return check_messages(sink, file);
}

}  // namespace halo::fuzz
