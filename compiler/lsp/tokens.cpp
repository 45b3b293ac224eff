// The colours of a document's words, by what they mean.
#include <algorithm>
#include <map>
#include <set>

#include "compiler/lsp/features.h"
#include "compiler/sema/builtins.h"
#include "compiler/syntax/keywords.h"
#include "compiler/syntax/lexer.h"

namespace halo::lsp {

using syntax::Token;
using syntax::TokenKind;

namespace {

// In the order of token_types() and token_modifiers().
enum class TokenType : std::uint8_t {
    stencil,
    parameter,
    variable,
    property,
    function,
    keyword,
    type,
    number,
    string,
    comment,
    enum_member
};
constexpr unsigned int kDeclaration = 1, kReadonly = 2, kModification = 4, kDefaultLibrary = 8;

TokenType type_of(NameKind kind) {
    switch (kind) {
        case NameKind::stencil:
            return TokenType::stencil;
        case NameKind::parameter:
        case NameKind::axis:
            return TokenType::parameter;
        case NameKind::component:
        case NameKind::column:
            return TokenType::property;
        case NameKind::function:
            return TokenType::function;
        default:
            return TokenType::variable;
    }
}

bool is_readonly(NameKind kind) {
    return kind == NameKind::param || kind == NameKind::constant || kind == NameKind::coef ||
           kind == NameKind::axis || kind == NameKind::index;
}

struct Coloured {
    SourceRange where;
    TokenType type;
    unsigned int modifiers = 0;
};

// The words that are keywords where they are no name.
const std::set<std::string_view>& keywords() {
    static const std::set<std::string_view> all = [] {
        std::set<std::string_view> words;
        for (const auto* list : {&syntax::stencil_words(), &syntax::run_words(), &syntax::field_words(),
                                 &syntax::shared_words(), &syntax::clause_words(), &syntax::operator_words()})
            words.insert(list->begin(), list->end());
        return words;
    }();
    return all;
}

template <class List>
bool has(const List& list, std::string_view word) {
    return std::ranges::find(list, word) != list.end();
}

class Colours {
public:
    explicit Colours(const View& view) : source_(view.document.path, view.document.text) {
        for (const NameUse& use : view.checked.names().uses)
            uses_.try_emplace(use.where.begin, &use);
        const syntax::Tokens all = syntax::lex(source_);
        for (std::size_t i = 0; i + 1 < all.tokens.size(); ++i)
            colour(view.checked.names(), all.tokens[i], all.tokens[i + 1]);
        for (const SourceRange comment : all.comments)
            coloured_.push_back({comment, TokenType::comment});
        std::ranges::sort(coloured_, {}, [](const Coloured& each) { return each.where.begin; });
    }
    const std::vector<Coloured>& all() const { return coloured_; }

private:
    void colour(const NameIndex& names, const Token& token, const Token& next) {
        const std::string_view word = source_.text(token.where);
        if (token.kind >= TokenKind::kw_stencil && token.kind <= TokenKind::kw_not)
            return add(token, TokenType::keyword);
        if (token.kind == TokenKind::number) return add(token, TokenType::number);
        if (token.kind == TokenKind::string) return add(token, TokenType::string);
        if (token.kind != TokenKind::identifier) return;
        const auto use = uses_.find(token.where.begin);
        if (use != uses_.end()) {
            const NameKind kind = names.definitions[use->second->definition].kind;
            return add(token, type_of(kind),
                       (use->second->is_definition ? kDeclaration : 0u) |
                           (is_readonly(kind) ? kReadonly : 0u) |
                           (use->second->is_written ? kModification : 0u));
        }
        if (next.kind == TokenKind::left_paren && has(function_words(), word))
            return add(token, TokenType::function, kDefaultLibrary);
        if (keywords().contains(word)) return add(token, TokenType::keyword);
        if (has(sema::type_names(), word)) return add(token, TokenType::type, kDefaultLibrary);
        if (has(syntax::boundary_kinds(), word)) return add(token, TokenType::enum_member, kDefaultLibrary);
    }
    static const std::set<std::string_view>& function_words() {
        static const std::set<std::string_view> words = [] {
            std::set<std::string_view> all;
            for (const sema::FunctionForm& form : sema::function_forms())
                all.insert(form.name);
            return all;
        }();
        return words;
    }
    void add(const Token& token, TokenType type, unsigned int modifiers = 0) {
        coloured_.push_back({token.where, type, modifiers});
    }

    SourceFile source_;
    std::map<std::uint32_t, const NameUse*> uses_;
    std::vector<Coloured> coloured_;
};

}  // namespace

const std::vector<std::string>& token_types() {
    static const std::vector<std::string> types{"class",    "parameter", "variable",  "property",
                                                "function", "keyword",   "type",      "number",
                                                "string",   "comment",   "enumMember"};
    return types;
}

const std::vector<std::string>& token_modifiers() {
    static const std::vector<std::string> modifiers{"declaration", "readonly", "modification",
                                                    "defaultLibrary"};
    return modifiers;
}

// Five numbers a word: lines from the one before, characters from its beginning, length, type, modifiers.
Json semantic_tokens(const View& view) {
    Json data = Json::array();
    std::uint32_t line = 0, character = 0;
    const Colours colours(view);
    for (const Coloured& each : colours.all()) {
        const Json at = view.lines.position(each.where.begin);
        const auto its_line = at.at("line").get<std::uint32_t>();
        const auto its_character = at.at("character").get<std::uint32_t>();
        for (const std::uint32_t number :
             {its_line - line, its_line == line ? its_character - character : its_character,
              view.lines.units(each.where.begin, each.where.end), static_cast<std::uint32_t>(each.type),
              each.modifiers})
            data.push_back(number);
        line = its_line;
        character = its_character;
    }
    return {{"data", std::move(data)}};
}

}  // namespace halo::lsp
