#include "compiler/lsp/names.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <variant>

#include "compiler/lsp/name_walk.h"
#include "compiler/syntax/lexer.h"

namespace halo::lsp {

std::string_view describe(NameKind kind) {
    switch (kind) {
        case NameKind::stencil:
            return "stencil";
        case NameKind::axis:
            return "axis";
        case NameKind::param:
            return "param";
        case NameKind::constant:
            return "const";
        case NameKind::coef:
            return "coef";
        case NameKind::field:
            return "field";
        case NameKind::component:
            return "component";
        case NameKind::let:
            return "let";
        case NameKind::function:
            return "def";
        case NameKind::parameter:
            return "parameter";
        case NameKind::reduction:
            return "reduction";
        case NameKind::table:
            return "table";
        case NameKind::column:
            return "column";
        case NameKind::series:
            return "series";
        case NameKind::points:
            return "points";
        case NameKind::index:
            return "index";
    }
    return "name";
}

std::vector<const NameUse*> NameIndex::at(std::uint32_t offset) const {
    std::vector<const NameUse*> inside;
    std::vector<const NameUse*> before;
    for (const NameUse& use : uses) {
        if (use.where.begin > offset) break;
        if (offset < use.where.end) inside.push_back(&use);
        if (offset == use.where.end) before.push_back(&use);
    }
    return inside.empty() ? before : inside;
}

std::vector<const NameUse*> NameIndex::of(SourceRange definition) const {
    std::vector<const NameUse*> all;
    for (const NameUse& use : uses) {
        if (definitions[use.definition].where == definition) all.push_back(&use);
    }
    return all;
}

namespace {

// The first line of a text, its spaces made one.
std::string on_one_line(std::string_view text) {
    std::string line;
    for (const char c : text.substr(0, std::min(text.find('\n'), text.size()))) {
        const bool is_space = c == ' ' || c == '\t' || c == '\r';
        if (!is_space) line += c;
        if (is_space && !line.empty() && line.back() != ' ') line += ' ';
    }
    if (line.size() < text.size() && text.find('\n') != std::string_view::npos) line += " …";
    return line;
}

// What the parser makes up has no word in the text, and nothing is known of it here.
void keep_words_of_text(const SourceFile& source, NameIndex& index) {
    std::unordered_map<std::uint32_t, std::uint32_t> words;
    for (const syntax::Token& token : syntax::lex(source).tokens) {
        if (token.kind == syntax::TokenKind::identifier) words.emplace(token.where.begin, token.where.end);
    }
    std::erase_if(index.uses, [&](const NameUse& use) {
        const auto word = words.find(use.where.begin);
        return word == words.end() || word->second != use.where.end;
    });
}

}  // namespace

NameIndex index_names(const SourceFile& source, const syntax::File& tree) {
    NameIndex index = NameWalk(source, tree).run();
    const auto key = [](const NameUse& use) {
        return std::tuple(use.where.begin, use.where.end, use.definition, !use.is_definition,
                          !use.is_written);
    };
    std::ranges::sort(index.uses, {}, key);
    const auto same = [](const NameUse& a, const NameUse& b) {
        return a.where == b.where && a.definition == b.definition;
    };
    index.uses.erase(std::unique(index.uses.begin(), index.uses.end(), same), index.uses.end());
    keep_words_of_text(source, index);
    for (NameDefinition& definition : index.definitions)
        definition.text = on_one_line(source.text(definition.whole));
    return index;
}

}  // namespace halo::lsp
