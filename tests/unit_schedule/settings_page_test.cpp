// docs/settings.md has every word of the language's tables, of strategies and of groupings.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "catch.h"
#include "compiler/schedule/groupings.h"
#include "compiler/schedule/strategies.h"
#include "compiler/syntax/keywords.h"

using namespace halo;

namespace {

std::string read_page() {
    std::ifstream in(std::filesystem::path(HALO_SOURCE_DIR) / "docs/settings.md");
    return {std::istreambuf_iterator<char>(in), {}};
}

bool is_of_word(char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// The page with a row of a table a line, those alone that say `word` at the begin of their first cell.
std::vector<std::string> rows_of(const std::string& page, const std::string& word) {
    std::vector<std::string> rows;
    std::size_t begin = 0;
    while (begin < page.size()) {
        const std::size_t end = std::min(page.find('\n', begin), page.size());
        const std::string line = page.substr(begin, end - begin);
        const std::string cell = line.substr(0, line.find(" |", 2));
        for (std::size_t at = cell.find("`" + word); line.starts_with("| ") && at != std::string::npos;
             at = cell.find("`" + word, at + 1)) {
            const std::size_t after = at + 1 + word.size();
            if (after < cell.size() && is_of_word(cell[after])) continue;
            rows.push_back(line);
            break;
        }
        begin = end + 1;
    }
    return rows;
}

// What the reader of a schedule's text names to whoever misspells a setting: "…; there are steps and cells".
std::vector<std::string> settings_of(std::string_view kind) {
    const std::vector<schedule::Mistake> mistakes =
        schedule::mistakes_in(std::string(kind) + " no_setting_is_called_so=1", 3);
    REQUIRE(mistakes.size() == 1);
    const std::string& message = mistakes.front().message;
    const std::string before = "; there are ";
    REQUIRE(message.find(before) != std::string::npos);
    std::vector<std::string> words;
    std::string word;
    for (const char c : message.substr(message.find(before) + before.size()) + " ") {
        if (is_of_word(c)) {
            word += c;
        } else {
            if (!word.empty() && word != "and") words.push_back(word);
            word.clear();
        }
    }
    return words;
}

}  // namespace

TEST_CASE("docs/settings.md has a row for every word that begins a statement") {
    const std::string page = read_page();
    for (const auto* words : {&syntax::stencil_words(), &syntax::run_words(), &syntax::field_words()}) {
        for (const std::string& word : *words) {
            INFO(word);
            CHECK_FALSE(rows_of(page, word).empty());
        }
    }
    for (const std::string& word : syntax::future_words()) {
        INFO(word);
        CHECK(page.find("`" + word + "`") != std::string::npos);
    }
}

TEST_CASE("docs/settings.md has every strategy, every grouping and their settings") {
    const std::string page = read_page();
    for (const schedule::StrategyKind& kind : schedule::strategy_kinds()) {
        INFO(kind.name);
        CHECK_FALSE(rows_of(page, std::string(kind.name)).empty());
    }
    const std::vector<std::string> words = settings_of(schedule::strategy_kinds().front().name);
    CHECK(words.size() == schedule::kSettings - 1);  // all but the strategy itself
    for (const std::string& word : words) {
        INFO(word);
        CHECK_FALSE(rows_of(page, word).empty());
    }
    for (const schedule::GroupingKind& kind : schedule::grouping_kinds()) {
        INFO(kind.name);
        CHECK_FALSE(rows_of(page, std::string(kind.name)).empty());
        for (const std::string& word : settings_of(kind.name)) {
            INFO(word);
            const std::vector<std::string> rows = rows_of(page, word);
            CHECK(std::ranges::any_of(rows, [&](const std::string& row) {
                return row.find("| `" + std::string(kind.name) + "`") != std::string::npos;
            }));
        }
    }
}
