// Mistakes and warnings of a document, and their mends as edits.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/lsp/features.h"
#include "compiler/support/diagnostics.h"

namespace halo::lsp {

namespace {

constexpr int kError = 1, kWarning = 2;

// Where a mistake of a module is shown: at the first `use`.
SourceRange first_use(const Checked& checked) {
    for (const syntax::Use& use : checked.spec().tree.uses) {
        if (checked.in_spec(use.where)) return use.where;
    }
    return {};
}

Json related(const View& view, SourceRange where, const std::string& message) {
    return {{"location", location_json(view.workspace, view.checked.location(where))}, {"message", message}};
}

Json diagnostic_json(const View& view, const Diagnostic& diagnostic) {
    Json result{{"severity", severity_of(diagnostic.kind) == Severity::error ? kError : kWarning},
                {"code", name_of(diagnostic.kind)},
                {"source", "haloc"}};
    std::string message = diagnostic.message;
    for (const std::string& note : diagnostic.notes)
        message += '\n' + note;
    Json places = Json::array();
    const std::optional<SourceRange> here = view.checked.in_spec(diagnostic.where);
    if (!here) {
        const std::string& file = view.checked.spec().source.name(diagnostic.where.begin);
        places.push_back(related(view, diagnostic.where, diagnostic.message));
        message = fmt::format("in {}: {}", file, message);
    }
    for (const Label& label : diagnostic.labels)
        places.push_back(related(view, label.where, label.text));
    result["range"] = view.lines.range(here ? *here : first_use(view.checked));
    result["message"] = std::move(message);
    if (!places.empty()) result["relatedInformation"] = std::move(places);
    return result;
}

std::string title_of(const SourceFile& source, const Mend& mend) {
    const std::string_view before = source.text(mend.where);
    if (before.empty()) return fmt::format("Insert `{}`", mend.replacement);
    if (mend.replacement.empty()) return fmt::format("Remove `{}`", before);
    return fmt::format("Replace `{}` by `{}`", before, mend.replacement);
}

bool touches(SourceRange a, SourceRange b) {
    return a.begin <= b.end && b.begin <= a.end;
}

}  // namespace

Json diagnostics(const View& view) {
    Json all = Json::array();
    for (const Diagnostic& diagnostic : view.checked.spec().diagnostics)
        all.push_back(diagnostic_json(view, diagnostic));
    if (!view.checked.trouble().empty()) {
        all.push_back({{"severity", kError},
                       {"source", "haloc"},
                       {"range", view.lines.range({})},
                       {"message", view.checked.trouble()}});
    }
    return all;
}

Json code_actions(const View& view, SourceRange where) {
    Json all = Json::array();
    for (const Diagnostic& diagnostic : view.checked.spec().diagnostics) {
        if (!diagnostic.mend_text || !view.checked.in_spec(diagnostic.where)) continue;
        if (!touches(diagnostic.where, where) && !touches(diagnostic.mend_text->where, where)) continue;
        if (!view.checked.in_spec(diagnostic.mend_text->where)) continue;
        const Json edit{{"range", view.lines.range(diagnostic.mend_text->where)},
                        {"newText", diagnostic.mend_text->replacement}};
        all.push_back({{"title", title_of(view.checked.spec().source, *diagnostic.mend_text)},
                       {"kind", "quickfix"},
                       {"isPreferred", true},
                       {"diagnostics", Json::array({diagnostic_json(view, diagnostic)})},
                       {"edit", {{"changes", {{view.document.uri, Json::array({edit})}}}}}});
    }
    return all;
}

}  // namespace halo::lsp
