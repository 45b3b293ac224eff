// The grammar for tree-sitter against the compiler: its words, the tokens of all specs, and where their
// statements end.
#include <tree_sitter/api.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <variant>

#include "catch.h"
#include "compiler/sema/builtins.h"
#include "compiler/syntax/keywords.h"
#include "compiler/syntax/lexer.h"
#include "compiler/syntax/parser.h"
#include "halo_blocks.h"

extern "C" const TSLanguage* tree_sitter_halocline(void);

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

Words keywords() {
    return joined({&syntax::shared_words(), &syntax::stencil_words(), &syntax::run_words(),
                   &syntax::field_words(), &syntax::clause_words(), &syntax::operator_words()});
}

struct FreeTree {
    void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};
using Tree = std::unique_ptr<TSTree, FreeTree>;

Tree parsed(const std::string& text) {
    const std::unique_ptr<TSParser, void (*)(TSParser*)> parser(ts_parser_new(), ts_parser_delete);
    REQUIRE(ts_parser_set_language(parser.get(), tree_sitter_halocline()));
    return Tree(
        ts_parser_parse_string(parser.get(), nullptr, text.data(), static_cast<std::uint32_t>(text.size())));
}

TSNode node_at(const Tree& tree, SourceRange where) {
    return ts_node_descendant_for_byte_range(ts_tree_root_node(tree.get()), where.begin, where.end);
}

bool is_exactly(TSNode node, SourceRange where) {
    return ts_node_start_byte(node) == where.begin && ts_node_end_byte(node) == where.end;
}

// Which leaves a token of the compiler may be; none: there is nothing to say of it.
Words leaves_for(const SourceFile& source, const syntax::Token& token) {
    using syntax::TokenKind;
    const std::string word(source.text(token.where));
    switch (token.kind) {
        case TokenKind::number:
            return {"number", "digits"};
        case TokenKind::string:
            return {"string"};
        case TokenKind::identifier:
            return {"identifier", word, "boundary_kind"};
        default:
            return token.kind >= TokenKind::kw_stencil && token.kind <= TokenKind::kw_not ? Words{word}
                                                                                          : Words{};
    }
}

void check_tokens(const SourceFile& source, const Tree& tree) {
    const syntax::Tokens all = syntax::lex(source);
    for (const SourceRange comment : all.comments) {
        const TSNode node = node_at(tree, comment);
        CHECK(ts_node_type(node) == std::string("comment"));
        CHECK(ts_node_start_byte(node) == comment.begin);
    }
    for (const syntax::Token& token : all.tokens) {
        const Words leaves = leaves_for(source, token);
        if (leaves.empty()) continue;
        const TSNode node = node_at(tree, token.where);
        if (ts_node_type(node) == std::string("schedule_word")) continue;  // tile=64x4
        INFO(source.text(token.where) << " at " << source.line_column(token.where.begin).line);
        CHECK(is_exactly(node, token.where));
        CHECK(leaves.contains(ts_node_type(node)));
    }
}

// The compiler and the grammar see the same statements, from their first to their last character.
template <class Statements>
std::size_t check_statements(const SourceFile& source, const Tree& tree, const Statements& statements) {
    for (const auto& statement : statements) {
        const SourceRange where = std::visit([](const auto& node) { return node.where; }, statement);
        INFO(source.text(where) << " at " << source.line_column(where.begin).line);
        CHECK(is_exactly(node_at(tree, where), where));
    }
    return statements.size();
}

std::size_t check(const std::string& name, const std::string& text) {
    INFO(name);
    const SourceFile source(name, text);
    const Tree tree = parsed(text);
    const TSNode root = ts_tree_root_node(tree.get());
    const std::unique_ptr<char, decltype(&std::free)> shown(ts_node_string(root), &std::free);
    INFO(shown.get());
    REQUIRE_FALSE(ts_node_has_error(root));  // neither ERROR nor MISSING
    check_tokens(source, tree);
    DiagnosticSink sink;
    const syntax::File file = syntax::parse(source, sink);
    std::size_t count = check_statements(source, tree, file.shared);
    for (const syntax::Stencil& stencil : file.stencils) {
        CHECK(is_exactly(node_at(tree, stencil.where), stencil.where));
        count += check_statements(source, tree, stencil.statements);
    }
    for (const syntax::Run& run : file.runs)
        count += check_statements(source, tree, run.statements);
    return count;
}

// The words in brackets of a query that are names in quotes: ["a" "b"] @keyword.
Words words_of(const std::string& query) {
    Words words;
    const std::regex word("\"([a-z]+)\"");
    for (auto match = std::sregex_iterator(query.begin(), query.end(), word); match != std::sregex_iterator();
         ++match)
        words.insert((*match)[1]);
    return words;
}

// Of `(#match? @type.builtin "^(f32|f64)$")`.
Words alternatives(const std::string& query, const std::string& predicate) {
    const std::string begin = predicate + " \"^(";
    const std::size_t at = query.find(begin);
    REQUIRE(at != std::string::npos);
    std::string list = query.substr(at + begin.size());
    list.resize(list.find(')'));
    Words words;
    for (std::size_t from = 0; from <= list.size();) {
        const std::size_t end = std::min(list.find('|', from), list.size());
        words.insert(list.substr(from, end - from));
        from = end + 1;
    }
    return words;
}

void check_query(const fs::path& path) {
    INFO(path.string());
    const std::string text = text_of(path);
    std::uint32_t place = 0;
    TSQueryError error = TSQueryErrorNone;
    const std::unique_ptr<TSQuery, void (*)(TSQuery*)> query(
        ts_query_new(tree_sitter_halocline(), text.data(), static_cast<std::uint32_t>(text.size()), &place,
                     &error),
        ts_query_delete);
    INFO("at character " << place);
    CHECK(error == TSQueryErrorNone);
}

}  // namespace

TEST_CASE("the grammar for tree-sitter has the words of the compiler's tables") {
    const TSLanguage* language = tree_sitter_halocline();
    Words words;
    const std::regex word("[a-z]+");
    for (std::uint32_t id = 1; id < ts_language_symbol_count(language); ++id) {
        const auto symbol = static_cast<TSSymbol>(id);
        if (ts_language_symbol_type(language, symbol) != TSSymbolTypeAnonymous) continue;
        const std::string name = ts_language_symbol_name(language, symbol);
        if (name != "end" && std::regex_match(name, word)) words.insert(name);
    }
    Words known = keywords();
    known.merge(joined({&syntax::boundary_kinds()}));
    known.insert({"idx", "pos"});  // functions, and in `plot u at pos(z) = 0.5`
    CHECK(words == known);
}

TEST_CASE("queries of editors fit the grammar and have the words of the compiler's tables") {
    std::size_t count = 0;
    for (const char* folder : {"editors/nvim/queries/halocline", "editors/helix/queries/halocline"}) {
        for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / folder)) {
            check_query(entry.path());
            ++count;
        }
        const std::string colours = text_of(kRoot / folder / "highlights.scm");
        Words known = keywords();
        known.insert({"idx", "pos", "robin"});  // the one boundary with three values
        CHECK(words_of(colours) == known);
        CHECK(alternatives(colours, "(#match? @type.builtin") == joined({&sema::type_names()}));
        Words functions;
        for (const sema::FunctionForm& form : sema::function_forms())
            functions.emplace(form.name);
        CHECK(alternatives(colours, "(#match? @function.builtin") == functions);
        CHECK(alternatives(colours, "(#not-match? @function") == functions);
    }
    CHECK(count == 7);
}

TEST_CASE("the grammar for tree-sitter reads all specs as the compiler does") {
    std::size_t files = 0, statements = 0;
    for (const char* folder : {"dsl_examples", "lib", "tests"}) {
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRoot / folder)) {
            const bool is_wrong = entry.path().string().find("tests/diagnostics") != std::string::npos ||
                                  entry.path().string().find("tests/fuzz") != std::string::npos;
            if (entry.path().extension() != ".halo") continue;
            if (is_wrong) {
                CHECK(parsed(text_of(entry.path())));  // comes to an end
                continue;
            }
            statements += check(entry.path().string(), text_of(entry.path()));
            ++files;
        }
    }
    CHECK(files > 80);
    std::size_t blocks = 0;
    for (const fs::path& path : halo_documents()) {
        bool is_closed = false;
        for (const HaloBlock& block : halo_blocks(path, is_closed)) {
            statements += check(path.string() + ":" + std::to_string(block.line), block.text);
            ++blocks;
        }
    }
    CHECK(blocks > 60);
    CHECK(statements > 2000);
}

TEST_CASE("the grammar for tree-sitter ends statements where the compiler does") {
    const char* const texts[] = {
        // Words of statements as names, an end of line, and `;`.
        "stencil s(x) { field on, grid: f32; on[t+1] = on\n grid = 1; }\n",
        "stencil s(x) { field halo, save, field: f32; halo[t+1] = save\n field = let.a[x+1] + unit }\n",
        "stencil s(x) {\n    field u: f32\n    u[t+1] = u  # a comment\n        # another\n        + u[x+1] "
        "-\n"
        "        u[x-1]\n    reduce a = max(u)\n    on x.low { u[t+1] = 0 }\n}\n",
        "def f(a) = if a > 0\n    then a\n    else\n        -a\nconst k = 1, l = 2.\n"
        "coef c[-1..1] = [1, -2.5e-1,\n    .5]\n",
        "stencil s(x) {\n    field v: (x: f32 at x+1/2, y: f32) { boundary v.x x.low fixed -1, robin 1, 2, "
        "3\n"
        "        boundary x free }\n    v.x[t+1] = v.0 + v.(1+0)[x-1] ^ -2 * 2i\n}\n",
        "stencil s(x) { param coef w[0..1] = [1, 2]\n schedule { tile tile=64x4 cells=4x1 }\n}\nrun s {}",
        "run s {\n    for a in 1..2 down { save e_{a+1} every 5 to \"{a}.h5\" together }\n"
        "    p at [1, 2], [3, 4] for i in 0..9\n    dt = 1\n}",
    };
    for (const char* text : texts)
        CHECK(check("text", text) + 1 > 0);
}
