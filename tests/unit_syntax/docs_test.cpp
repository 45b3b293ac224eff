// Every ```halo block of the documentation is a right spec, in the style of `haloc fmt`; the glossary is
// sorted.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "compiler/sema/sema.h"
#include "compiler/syntax/format.h"
#include "compiler/syntax/parser.h"
#include "halo_blocks.h"

using namespace halo;
using namespace halo::syntax;

namespace {

// With the texts of the library's modules in the places of the lines that use them.
std::string with_modules(const std::string& text) {
    std::string result, line;
    for (std::istringstream lines(text); std::getline(lines, line);) {
        const std::string use = "use \"";
        if (line.starts_with(use)) {
            const std::string name = line.substr(use.size(), line.find('"', use.size()) - use.size());
            std::ostringstream module_text;
            module_text << std::ifstream(std::filesystem::path(HALO_SOURCE_DIR) / "lib" / name).rdbuf();
            result += module_text.str();
        } else {
            result += line + "\n";
        }
    }
    return result;
}

// By letters and digits alone, and spaces: as people look for a term.
std::string sorting_key(const std::string& term) {
    std::string key;
    for (const char c : term) {
        const auto letter = static_cast<unsigned char>(c);
        if (std::isalnum(letter) != 0) key += static_cast<char>(std::tolower(letter));
        if (c == ' ' || c == '-') key += ' ';
    }
    return key;
}

}  // namespace

TEST_CASE("every spec in the documentation is right and well set") {
    std::size_t count = 0;
    for (const std::filesystem::path& path : halo_documents()) {
        bool is_closed = false;
        const std::vector<HaloBlock> blocks = halo_blocks(path, is_closed);
        CHECK(is_closed);
        for (const HaloBlock& block : blocks) {
            const SourceFile source(
                path.filename().string() + ", block at line " + std::to_string(block.line), block.text);
            const SourceFile whole(source.name(), with_modules(block.text));
            DiagnosticSink sink;
            sema::analyze(parse(whole, sink), sink);
            INFO(render(sink.sorted(), whole));
            CHECK_FALSE(sink.has_errors());
            // What is shown is in the style that `haloc fmt` makes.
            DiagnosticSink format_sink;
            CHECK(format(source, format_sink).value_or("") == block.text);
            ++count;
        }
    }
    CHECK(count >= 10);  // docs/language.md alone has more
}

TEST_CASE("the glossary has each term once, in order") {
    std::ifstream in(std::filesystem::path(HALO_SOURCE_DIR) / "docs/glossary.md");
    std::string before;
    std::size_t count = 0;
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("**")) continue;
        const std::string key = sorting_key(line.substr(2, line.find("**", 2) - 2));
        INFO(key << " after " << before);
        CHECK(before < key);
        before = key;
        ++count;
    }
    CHECK(count > 50);
}
