// What the server answers about a document, one function a request. Results are JSON as the protocol has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/lsp/request_error.h"
#include "compiler/lsp/workspace.h"

namespace halo::lsp {

// A document as a request sees it.
struct View {
    Workspace& workspace;
    const Document& document;
    const Checked& checked;
    Lines lines;  // of the document
};
View view_of(Workspace& workspace, const Document& document);

// {"uri", "range"} of a place in the document's text or in that of a module.
Json location_json(Workspace& workspace, const Location& location);

// diagnostics.cpp
Json diagnostics(const View& view);
Json code_actions(const View& view, SourceRange where);
// format.cpp
Json formatting(const View& view);
// navigate.cpp
Json definition(const View& view, std::uint32_t offset);
Json references(const View& view, std::uint32_t offset, bool with_declaration);
Json document_symbols(const View& view);
std::vector<Location> all_uses(Workspace& workspace, const Location& declaration, const std::string& name);
// rename.cpp
Json prepare_rename(const View& view, std::uint32_t offset);
Json rename(const View& view, std::uint32_t offset, const std::string& name);
// hover.cpp
Json hover(const View& view, std::uint32_t offset);
// completion.cpp
Json completion(const View& view, std::uint32_t offset);
Json signature_help(const View& view, std::uint32_t offset);
// tokens.cpp
const std::vector<std::string>& token_types();
const std::vector<std::string>& token_modifiers();
Json semantic_tokens(const View& view);
// hints.cpp
inline constexpr const char* kShowCuda = "halocline.showCuda";
inline constexpr const char* kShowPlan = "halocline.showPlan";
Json inlay_hints(const View& view, SourceRange shown);
Json code_lenses(const View& view);
Json execute(const View& view, const std::string& command, const std::string& stencil);  // a text

}  // namespace halo::lsp
