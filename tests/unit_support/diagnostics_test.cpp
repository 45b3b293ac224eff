// Messages: what is kept, in which order, and how they look.
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "catch.h"
#include "compiler/support/diagnostics.h"

using halo::Diagnostic;
using halo::DiagnosticKind;
using halo::DiagnosticSink;
using halo::SourceFile;
using halo::SourceRange;

namespace {

SourceRange range_of(const SourceFile& file, std::string_view text) {
    const std::size_t at = file.text().find(text);
    REQUIRE(at != std::string_view::npos);
    return {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + text.size())};
}

}  // namespace

TEST_CASE("places are counted in lines and characters") {
    const SourceFile file("a.halo", "one\n\tλ = 2\r\n\nlast");
    CHECK(file.line(1) == "one");
    CHECK(file.line(2) == "\tλ = 2");
    CHECK(file.line(3).empty());
    CHECK(file.line(4) == "last");
    CHECK(file.line(5).empty());
    CHECK(file.line(0).empty());
    const auto at = [&](std::string_view text) { return file.line_column(range_of(file, text).begin); };
    CHECK(at("one").line == 1);
    CHECK(at("one").column == 1);
    CHECK(at("=").line == 2);
    CHECK(at("=").column == 4);  // tab, λ, space
    CHECK(file.line_column(9999).line == 4);
    CHECK(file.line_column(9999).column == 5);
    CHECK(file.text({4, 5}) == "\t");
    CHECK(file.text({4, 99999}).size() == file.text().size() - 4);
    CHECK(SourceFile("empty", "").line_column(0).line == 1);
}

TEST_CASE("every kind has one stable name") {
    std::set<std::string> names;
    for (const DiagnosticKind kind : halo::all_diagnostic_kinds()) {
        const std::string name(name_of(kind));
        INFO(name);
        CHECK(names.insert(name).second);
        CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
    }
    CHECK(name_of(DiagnosticKind::unknown_name) == "unknown-name");
    CHECK(severity_of(DiagnosticKind::unknown_name) == halo::Severity::error);
}

TEST_CASE("messages are sorted by place and one place has one message") {
    DiagnosticSink sink;
    CHECK_FALSE(sink.has_errors());
    sink.report(DiagnosticKind::unknown_name, {8, 9}, "second");
    sink.report(DiagnosticKind::unknown_name, {2, 4}, "first").note("a note");
    sink.report(DiagnosticKind::duplicate_name, {8, 9}, "about the same mistake").note("not shown");
    const std::vector<Diagnostic> all = sink.sorted();
    REQUIRE(all.size() == 2);
    CHECK(sink.error_count() == 2);
    CHECK(all[0].message == "first");
    CHECK(all[0].notes.size() == 1);
    CHECK(all[1].message == "second");
    CHECK(all[1].notes.empty());
}

TEST_CASE("a flood of messages is cut and counted") {
    DiagnosticSink sink;
    for (std::uint32_t i = 0; i < 30'000; ++i)
        sink.report(DiagnosticKind::unknown_name, {i, i + 1}, "again");
    CHECK(sink.is_full());
    CHECK(sink.error_count() == 30'000);
    const std::vector<Diagnostic> all = sink.sorted();
    REQUIRE(all.size() == DiagnosticSink::kMaxDiagnostics);
    CHECK(all.back().kind == DiagnosticKind::too_many_errors);
    CHECK(all.back().message == "too many mistakes: 29901 more from here on are not shown");
}

TEST_CASE("exactly as many messages as are shown need no closing line") {
    DiagnosticSink sink;
    for (std::uint32_t i = 0; i < DiagnosticSink::kMaxDiagnostics; ++i) {
        sink.report(DiagnosticKind::unknown_name, {i, i + 1}, "again");
    }
    CHECK(sink.sorted().back().kind == DiagnosticKind::unknown_name);
}

TEST_CASE("a message shows its line, labels, notes and mend") {
    const SourceFile file("heat.halo", "field u: f32\nu[t+1] = uu + 1\n");
    Diagnostic diagnostic{DiagnosticKind::unknown_name, range_of(file, "uu"), "there is no `uu`", {}, {}, {}};
    diagnostic.label(range_of(file, "u:"), "`u` is declared here")
        .note("names are case-sensitive")
        .mend(range_of(file, "uu"), "u");
    CHECK(render(diagnostic, file) ==
          "heat.halo:2:10: error: there is no `uu`\n"
          "    2 | u[t+1] = uu + 1\n"
          "      |          ^~\n"
          "  heat.halo:1:7: `u` is declared here\n"
          "    1 | field u: f32\n"
          "      |       ^~\n"
          "  note: names are case-sensitive\n"
          "  help: did you mean `u`?\n");
    const std::string coloured = render(diagnostic, file, {true});
    CHECK(coloured.find("\x1b[1;31merror:\x1b[0m") != std::string::npos);
    CHECK(coloured.find("\x1b[1;31m^~\x1b[0m") != std::string::npos);
}

TEST_CASE("carets stand under what is meant, behind tabs and beyond ASCII") {
    const SourceFile tabs("t", "\ta\tb = bad");
    CHECK(render(Diagnostic{DiagnosticKind::unknown_name, range_of(tabs, "bad"), "m", {}, {}, {}}, tabs) ==
          "t:1:8: error: m\n    1 |     a   b = bad\n      |             ^~~\n");
    const SourceFile wide("w", "\"λμν\" bad");
    CHECK(render(Diagnostic{DiagnosticKind::unknown_name, range_of(wide, "bad"), "m", {}, {}, {}}, wide) ==
          "w:1:7: error: m\n    1 | \"λμν\" bad\n      |       ^~~\n");
    const SourceFile letter("l", "é");
    CHECK(render(Diagnostic{DiagnosticKind::unknown_name, {0, 2}, "m", {}, {}, {}}, letter) ==
          "l:1:1: error: m\n    1 | é\n      | ^\n");
}

TEST_CASE("a place at the end of a line, of a file, or over several lines is shown") {
    const SourceFile file("f", "a +\nb");
    CHECK(render(Diagnostic{DiagnosticKind::unexpected_token, {3, 3}, "m", {}, {}, {}}, file) ==
          "f:1:4: error: m\n    1 | a +\n      |    ^\n");
    CHECK(render(Diagnostic{DiagnosticKind::unexpected_token, {5, 5}, "m", {}, {}, {}}, file) ==
          "f:2:2: error: m\n    2 | b\n      |  ^\n");
    CHECK(render(Diagnostic{DiagnosticKind::unexpected_token, {2, 5}, "m", {}, {}, {}}, file) ==
          "f:1:3: error: m\n    1 | a +\n      |   ^\n");
    const SourceFile empty("e", "");
    CHECK(render(Diagnostic{DiagnosticKind::unexpected_token, {0, 0}, "m", {}, {}, {}}, empty) ==
          "e:1:1: error: m\n    1 | \n      | ^\n");
}

TEST_CASE("a long line is cut around the range") {
    const SourceFile file("f", std::string(5000, 'a') + " bad " + std::string(5000, 'b'));
    const std::string text =
        render(Diagnostic{DiagnosticKind::unknown_name, {5001, 5004}, "m", {}, {}, {}}, file);
    CHECK(text.size() < 300);
    const std::size_t line = text.find(" | ") + 3;
    const std::size_t caret = text.find("^~~");
    const std::size_t second = text.find(" | ", line) + 3;
    // The ellipsis is three bytes and one character.
    CHECK(text.substr(line + (caret - second) + 2, 3) == "bad");
}

TEST_CASE("bytes that are no text do not reach the terminal") {
    const SourceFile file("f", std::string("a\x1b[2J\xff\xc3 b\0c", 12));
    const std::string text =
        render(Diagnostic{DiagnosticKind::invalid_character, {1, 2}, "bad \x1b and \xff", {}, {}, {}}, file);
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find('\xff') == std::string::npos);
    CHECK(text.find('\0') == std::string::npos);
}

TEST_CASE("JSON holds all of a message") {
    const SourceFile file("heat.halo", "λ = uu");
    Diagnostic diagnostic{DiagnosticKind::unknown_name, range_of(file, "uu"), "there is no `uu`", {}, {}, {}};
    diagnostic.label({0, 2}, "here").note("why").mend(range_of(file, "uu"), "u");
    const nlohmann::json all = nlohmann::json::parse(halo::render_json({diagnostic}, file));
    REQUIRE(all.size() == 1);
    const nlohmann::json& one = all[0];
    CHECK(one["kind"] == "unknown-name");
    CHECK(one["severity"] == "error");
    CHECK(one["file"] == "heat.halo");
    CHECK(one["message"] == "there is no `uu`");
    CHECK(one["range"]["begin"]["line"] == 1);
    CHECK(one["range"]["begin"]["column"] == 5);
    CHECK(one["range"]["begin"]["offset"] == 5);
    CHECK(one["range"]["end"]["column"] == 7);
    CHECK(one["labels"][0]["message"] == "here");
    CHECK(one["notes"][0] == "why");
    CHECK(one["mend"]["replacement"] == "u");
    const SourceFile odd("odd\xff", "x");
    const Diagnostic bytes{DiagnosticKind::invalid_character, {0, 1}, "\xff", {}, {}, {}};
    CHECK(nlohmann::json::parse(halo::render_json({bytes}, odd)).size() == 1);
    CHECK(nlohmann::json::parse(halo::render_json({}, odd)).empty());
}

TEST_CASE("edits between words are counted up to a limit") {
    CHECK(halo::edit_distance("field", "field", 3) == 0);
    CHECK(halo::edit_distance("fild", "field", 3) == 1);
    CHECK(halo::edit_distance("feild", "field", 3) == 1);  // swapped
    CHECK(halo::edit_distance("", "abc", 3) == 3);
    CHECK(halo::edit_distance("kitten", "sitting", 5) == 3);
    CHECK(halo::edit_distance("kitten", "sitting", 2) == 3);
    CHECK(halo::edit_distance("abc", "xyzuvw", 1) == 2);
}

TEST_CASE("the name that was meant is found where there is one") {
    CHECK(halo::closest_name("lambd", {"lambda", "dt", "u"}) == "lambda");
    CHECK(halo::closest_name("boundry", {"halo", "boundary"}) == "boundary");
    CHECK_FALSE(halo::closest_name("velocity", {"u", "v", "dt"}).has_value());
    CHECK_FALSE(halo::closest_name("ab", {"ac", "ad"}).has_value());  // two are as close
    CHECK_FALSE(halo::closest_name("q", {"u", "v"}).has_value());
    CHECK_FALSE(halo::closest_name("ab", {"cd"}).has_value());
    CHECK_FALSE(halo::closest_name(std::string(100'000, 'a'), {std::string(100'000, 'b')}).has_value());
}
