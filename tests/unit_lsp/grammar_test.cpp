// The keyword tables against the parser, and the grammar of editors against the tables and all specs.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "catch.h"
#include "compiler/sema/builtins.h"
#include "compiler/syntax/keywords.h"
#include "compiler/syntax/lexer.h"
#include "compiler/syntax/parser.h"

#include <nlohmann/json.hpp>

using namespace halo;
namespace fs = std::filesystem;

namespace {

using Words = std::set<std::string>;
const fs::path kRoot = HALO_SOURCE_DIR;

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
}

Words joined(const std::vector<const std::vector<std::string>*>& lists) {
    Words all;
    for (const auto* list : lists)
        all.insert(list->begin(), list->end());
    return all;
}

Words statement_words() {
    return joined(
        {&syntax::shared_words(), &syntax::stencil_words(), &syntax::run_words(), &syntax::field_words()});
}

nlohmann::json grammar() {
    return nlohmann::json::parse(text_of(kRoot / "editors/vscode/syntaxes/halocline.tmLanguage.json"));
}

// The words of a pattern `\b(?:a|b)\b…`.
Words words_of(const std::string& pattern) {
    const std::string begin = "\\b(?:";
    REQUIRE(pattern.starts_with(begin));
    Words words;
    const std::string list = pattern.substr(begin.size(), pattern.find(')') - begin.size());
    for (std::size_t at = 0; at <= list.size();) {
        const std::size_t end = std::min(list.find('|', at), list.size());
        words.insert(list.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

// What an editor does with a grammar of single matches: at each place the first that matches.
class Colouring {
public:
    Colouring() {
        const nlohmann::json all = grammar();
        for (const nlohmann::json& include : all.at("patterns")) {
            const std::string name = include.at("include").get<std::string>().substr(1);
            rules_.emplace_back(name,
                                std::regex(all.at("repository").at(name).at("match").get<std::string>()));
        }
    }
    // The rule of the word that begins at each place of a line.
    std::map<std::size_t, std::pair<std::string, std::size_t>> line(const std::string& text) const {
        std::map<std::size_t, std::pair<std::string, std::size_t>> found;
        for (std::size_t at = 0; at < text.size();) {
            const auto flags =
                std::regex_constants::match_continuous |
                (at > 0 ? std::regex_constants::match_prev_avail : std::regex_constants::match_default);
            std::size_t length = 0;
            for (const auto& [name, rule] : rules_) {
                std::smatch match;
                const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at);
                if (!std::regex_search(begin, text.end(), match, rule, flags) || match.length() == 0)
                    continue;
                length = static_cast<std::size_t>(match.length());
                found[at] = {name, at + length};
                break;
            }
            at += std::max<std::size_t>(length, 1);
        }
        return found;
    }

private:
    std::vector<std::pair<std::string, std::regex>> rules_;
};

std::string rule_for(const SourceFile& source, const syntax::Token& token) {
    using syntax::TokenKind;
    const std::string word(source.text(token.where));
    if (token.kind == TokenKind::number) return "number";
    if (token.kind == TokenKind::string) return "string";
    if (statement_words().contains(word)) return "statement";
    if (joined({&syntax::operator_words()}).contains(word)) return "operator-word";
    return "";
}

void check_colours(const Colouring& colouring, const fs::path& path) {
    INFO(path.string());
    const SourceFile source(path.string(), text_of(path));
    std::vector<std::map<std::size_t, std::pair<std::string, std::size_t>>> lines;
    std::vector<std::size_t> starts;
    const std::string text(source.text());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        starts.push_back(at);
        lines.push_back(colouring.line(text.substr(at, end - at)));
        at = end + 1;
    }
    const auto colour_at = [&](SourceRange where) {
        const auto after = std::ranges::upper_bound(starts, where.begin);
        const auto line = static_cast<std::size_t>(after - starts.begin()) - 1;
        const auto found = lines[line].find(where.begin - starts[line]);
        if (found == lines[line].end()) return std::pair<std::string, std::size_t>();
        return std::pair(found->second.first, starts[line] + found->second.second);
    };
    const syntax::Tokens all = syntax::lex(source);
    for (const SourceRange comment : all.comments) {
        CHECK(colour_at(comment).first == "comment");
        CHECK(colour_at(comment).second >= comment.end);
    }
    for (const syntax::Token& token : all.tokens) {
        const std::string rule = rule_for(source, token);
        if (token.kind == syntax::TokenKind::end ||
            (rule.empty() && token.kind != syntax::TokenKind::identifier))
            continue;
        INFO(source.text(token.where) << " at " << source.line_column(token.where.begin).line);
        const auto [colour, end] = colour_at(token.where);
        CHECK(end == token.where.end);  // as long as the word
        if (!rule.empty()) CHECK(colour == rule);
    }
}

}  // namespace

TEST_CASE("the tables have all words that the parser looks for") {
    Words known = statement_words();
    known.merge(joined({&syntax::clause_words(), &syntax::operator_words(), &syntax::boundary_kinds()}));
    known.insert({"over", "idx", "pos"});  // refused with a mend; functions
    const std::regex asks("(?:is_word|accept_word|accept_on_line|at_statement|expect_word)\\(\"([a-z]+)\"");
    std::size_t count = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / "compiler/syntax")) {
        const std::string text = text_of(entry.path());
        for (auto match = std::sregex_iterator(text.begin(), text.end(), asks);
             match != std::sregex_iterator(); ++match, ++count) {
            INFO((*match)[1].str());
            CHECK(known.contains((*match)[1].str()));
        }
    }
    CHECK(count > 60);
    for (const char* word : {"stencil", "run", "if", "then", "else", "and", "or", "not"}) {
        CHECK(syntax::is_reserved(word));
        CHECK(known.contains(word));
    }
}

TEST_CASE("the grammar of editors has the words of the compiler's tables") {
    const nlohmann::json rules = grammar().at("repository");
    const auto words = [&](const std::string& rule) {
        return words_of(rules.at(rule).at("match").get<std::string>());
    };
    CHECK(words("statement") == statement_words());
    CHECK(words("clause") == joined({&syntax::clause_words()}));
    CHECK(words("operator-word") == joined({&syntax::operator_words()}));
    CHECK(words("boundary") == joined({&syntax::boundary_kinds()}));
    CHECK(words("type") == joined({&sema::type_names()}));
    Words functions;
    for (const sema::FunctionForm& form : sema::function_forms())
        functions.emplace(form.name);
    CHECK(words("function") == functions);
}

TEST_CASE("the grammar of editors colours all specs as the lexer reads them") {
    const Colouring colouring;
    std::size_t count = 0;
    for (const char* folder : {"dsl_examples", "lib", "tests"}) {
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRoot / folder)) {
            const bool is_wrong = entry.path().string().find("tests/diagnostics") != std::string::npos ||
                                  entry.path().string().find("tests/fuzz") != std::string::npos;
            if (entry.path().extension() != ".halo" || is_wrong) continue;  // specs with mistakes
            check_colours(colouring, entry.path());
            ++count;
        }
    }
    CHECK(count > 45);
}
