// A document in the usual layout, as one edit of the lines that change.
#include "compiler/syntax/format.h"

#include <algorithm>

#include "compiler/lsp/features.h"
#include "compiler/support/diagnostics.h"

namespace halo::lsp {

namespace {

// Bytes that two texts begin with alike, whole lines of them.
std::size_t same_lines(std::string_view a, std::string_view b) {
    const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    const std::size_t line_end = a.substr(0, static_cast<std::size_t>(differ.first - a.begin())).rfind('\n');
    return line_end == std::string_view::npos ? 0 : line_end + 1;
}

// The same of their ends.
std::size_t same_last_lines(std::string_view a, std::string_view b) {
    const auto differ = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
    const auto same = static_cast<std::size_t>(differ.first - a.rbegin());
    const std::size_t line_end = a.substr(a.size() - same).find('\n');
    return line_end == std::string_view::npos ? 0 : same - line_end - 1;
}

}  // namespace

Json formatting(const View& view) {
    const std::string& text = view.document.text;
    DiagnosticSink sink;
    const std::optional<std::string> usual = syntax::format(SourceFile(view.document.path, text), sink);
    if (!usual) return nullptr;  // its mistakes are shown
    if (*usual == text) return Json::array();
    const std::string_view before(text), after(*usual);
    const std::size_t first = same_lines(before, after);
    const std::size_t last = same_last_lines(before.substr(first), after.substr(first));
    const SourceRange where{static_cast<std::uint32_t>(first),
                            static_cast<std::uint32_t>(text.size() - last)};
    return Json::array({{{"range", view.lines.range(where)},
                         {"newText", after.substr(first, after.size() - first - last)}}});
}

}  // namespace halo::lsp
