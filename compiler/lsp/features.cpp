#include "compiler/lsp/features.h"

namespace halo::lsp {

View view_of(Workspace& workspace, const Document& document) {
    return {workspace, document, workspace.checked(document), Lines(document.text, workspace.encoding())};
}

Json location_json(Workspace& workspace, const Location& location) {
    const std::string text = workspace.text(location.path);
    return {{"uri", workspace.uri(location.path)},
            {"range", Lines(text, workspace.encoding()).range(location.where)}};
}

}  // namespace halo::lsp
