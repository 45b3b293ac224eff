// Golden cases: cases/<kind>[-n].halo is a spec with a mistake of that kind, and beside it, in .txt, all that
// the compiler says about it. Kinds whose specs are too long to be read as a file are made here.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/support/diagnostics.h"
#include "compiler/syntax/parser.h"

using halo::Diagnostic;
using halo::DiagnosticKind;
using halo::SourceFile;

namespace {

namespace fs = std::filesystem;

const fs::path kCases = fs::path(HALO_SOURCE_DIR) / "tests/diagnostics/cases";

std::string read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

// Modules of the cases are in a folder of their own.
halo::driver::CheckedSpec checked(const SourceFile& file) {
    return halo::driver::check_text(file.name(), std::string(file.text()), {kCases.string(), {}});
}

std::vector<Diagnostic> diagnose(const SourceFile& file) {
    return checked(file).diagnostics;
}

std::vector<fs::path> cases() {
    std::vector<fs::path> result;
    for (const fs::directory_entry& entry : fs::directory_iterator(kCases)) {
        if (entry.path().extension() == ".halo") result.push_back(entry.path());
    }
    std::sort(result.begin(), result.end());
    return result;
}

// "unknown-name" of "unknown-name-2".
std::string kind_of_case(const fs::path& path) {
    std::string stem = path.stem().string();
    const std::size_t dash = stem.rfind('-');
    if (dash != std::string::npos && stem.find_first_not_of("0123456789", dash + 1) == std::string::npos) {
        stem.resize(dash);
    }
    return stem;
}

std::string repeated(const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i)
        result += text;
    return result;
}

// Specs that are made, by the kind they show.
std::map<std::string, std::string> made_cases() {
    return {
        {"file-too-large", std::string(halo::syntax::kMaxFileBytes + 1, ' ')},
        {"too-many-errors", "stencil s(x) {\n" + repeated("    u[t+1] = @\n", 500) + "}\n"},
        {"expression-too-long",
         "stencil s(x) {\n    field u: f32\n    u[t+1] = u" + repeated(" + u", 2000) + "\n}\n"},
    };
}

bool holds(const std::vector<Diagnostic>& diagnostics, const std::string& kind) {
    return std::any_of(diagnostics.begin(), diagnostics.end(),
                       [&](const Diagnostic& diagnostic) { return name_of(diagnostic.kind) == kind; });
}

}  // namespace

TEST_CASE("each case prints what is written beside it") {
    const bool regenerate = std::getenv("HALO_REGENERATE") != nullptr;
    REQUIRE_FALSE(cases().empty());
    for (const fs::path& path : cases()) {
        INFO(path.filename().string());
        const SourceFile file(path.filename().string(), read_file(path));
        const halo::driver::CheckedSpec spec = checked(file);
        const std::vector<Diagnostic>& diagnostics = spec.diagnostics;
        const std::string printed = render(diagnostics, spec.source);
        CHECK(holds(diagnostics, kind_of_case(path)));
        const fs::path expected = fs::path(path).replace_extension(".txt");
        if (regenerate) {
            std::ofstream(expected, std::ios::binary) << printed;
        } else {
            CHECK(printed == read_file(expected));
        }
    }
}

TEST_CASE("specs that are too long for a file are refused with one message of their kind") {
    for (const auto& [kind, text] : made_cases()) {
        INFO(kind);
        CHECK(holds(diagnose(SourceFile("made.halo", text)), kind));
    }
}

TEST_CASE("every kind of message has a case") {
    std::set<std::string> shown;
    for (const fs::path& path : cases())
        shown.insert(kind_of_case(path));
    for (const auto& [kind, text] : made_cases())
        shown.insert(kind);
    for (DiagnosticKind kind : halo::all_diagnostic_kinds()) {
        INFO(name_of(kind));
        CHECK(shown.count(std::string(name_of(kind))) == 1);
        shown.erase(std::string(name_of(kind)));
    }
    for (const std::string& kind : shown) {
        INFO("there is a case of no kind: " << kind);
        CHECK(false);
    }
}

TEST_CASE("a mend mends: once it is applied, its message is gone") {
    for (const fs::path& path : cases()) {
        const SourceFile file(path.filename().string(), read_file(path));
        for (const Diagnostic& diagnostic : diagnose(file)) {
            if (!diagnostic.mend_text) continue;
            INFO(path.filename().string() << ": " << diagnostic.message);
            const halo::SourceRange where = diagnostic.mend_text->where;
            std::string mended(file.text());
            mended.replace(where.begin, where.end - where.begin, diagnostic.mend_text->replacement);
            for (const Diagnostic& left : diagnose(SourceFile("mended.halo", mended))) {
                const bool same = left.kind == diagnostic.kind && left.message == diagnostic.message &&
                                  left.where.begin == diagnostic.where.begin;
                CHECK_FALSE(same);
            }
        }
    }
}

TEST_CASE("machines get every message, its kind and its range") {
    const fs::path path = kCases / "unknown-name.halo";
    const SourceFile file(path.filename().string(), read_file(path));
    const std::string json = render_json(diagnose(file), file);
    CHECK(json.find("\"unknown-name\"") != std::string::npos);
    CHECK(json.find("\"lambda\"") != std::string::npos);
}
