// Every function of cases/ is lifted and computes, in the interpreter, what its own code computes; or it is
// refused, for the reason that is expected. docs/lift.md shows them in a table, which HALO_REGENERATE=1
// writes anew.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cases.h"
#include "catch.h"
#include "compiler/lift/verify.h"
#include "compiler/sema/sema.h"
#include "compiler/syntax/format.h"
#include "compiler/syntax/parser.h"

namespace {

using halo::test::LiftCase;

constexpr char kPage[] = HALO_SOURCE_DIR "/docs/lift.md";
constexpr char kBegin[] = "<!-- lifted functions: begin -->\n";
constexpr char kEnd[] = "<!-- lifted functions: end -->\n";

std::string without_bars(std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
        text.replace(at, 1, "\\|");
    return text;
}

// A spec that haloc check takes and haloc fmt leaves as it is.
void check_text(const std::string& text) {
    const halo::SourceFile source("lifted.halo", text);
    halo::DiagnosticSink sink;
    halo::sema::analyze(halo::syntax::parse(source, sink), sink);
    CHECK_FALSE(sink.has_errors());
    CHECK(halo::syntax::format(source, sink) == text);
}

// Running whole functions takes some hundred processes each: those in which there is something around the
// stencils.
bool runs_whole(const LiftCase& each, const halo::lift::Nests& found) {
    return !found.is_whole || each.file == "sound.c" || each.file == "kernels.cu" ||
           each.file == "marches.cu" || each.function == "two_steps_in_a_tile" || each.file == "parallel.c" ||
           each.file == "containers.cpp" || each.file == "mini_apps.c";
}
halo::lift::Verdict by_itself(const halo::lift::Options& options, const halo::lift::Nests& found) {
    halo::lift::Verdict verdict;
    const halo::lift::Verification run = halo::lift::verify(options, found.lifted.front());
    if (!run.passed) verdict.difference = run.sentences.front();
    verdict.sentences = {run.sentences};
    verdict.largest_ulps = run.largest_ulps;
    verdict.sum_ulps = run.sum_ulps;
    return verdict;
}

std::string outcome_of(const LiftCase& each) {
    const halo::lift::Options options = options_of(each);
    try {
        const halo::lift::Nests& found = halo::test::nests_of(each);
        for (const halo::lift::LiftError& refused : found.refused) {
            INFO(refused.what());
            CHECK(refused.refusal.where.end > refused.refusal.where.begin);
        }
        if (!each.refused.empty()) {
            REQUIRE_FALSE(found.refused.empty());
            const std::string reason = found.refused.front().what();
            INFO(reason);
            CHECK(found.lifted.empty());
            CHECK(reason.find(each.refused) != std::string::npos);
            return "refused: " + reason;
        }
        INFO((found.refused.empty() ? "" : found.refused.front().what()));
        CHECK(found.is_whole == (each.nests < 0));
        CHECK(static_cast<int>(found.lifted.size()) == std::abs(each.nests));
        const halo::lift::Verdict verdict =
            runs_whole(each, found) ? halo::lift::verify_function(options, found, halo::test::file_of(each))
                                    : by_itself(options, found);
        INFO(verdict.difference);
        CHECK(verdict.difference.empty());
        std::string text;
        for (std::size_t i = 0; i < found.lifted.size(); ++i)
            text += halo::lift::file_text(found.lifted[i], verdict.sentences[i]) +
                    (found.lifted.size() > 1 ? "\n" : "");
        if (found.lifted.size() > 1) text.pop_back();
        check_text(text);
        const std::string nests = found.is_whole ? ""
                                  : found.lifted.size() == 1
                                      ? "1 nest: "
                                      : std::to_string(found.lifted.size()) + " nests: ";
        return nests +
               (verdict.largest_ulps == 0
                    ? "the same bits"
                    : "at most " + std::to_string(static_cast<int>(verdict.largest_ulps)) + " ulps apart") +
               (verdict.sum_ulps > 0
                    ? "; sums " + std::to_string(static_cast<int>(verdict.sum_ulps)) + " ulps apart"
                    : "") +
               (verdict.left.empty() ? "" : "; not verified: " + verdict.left);
    } catch (const halo::lift::SourceError& trouble) {
        FAIL_CHECK(trouble.what());
        return "";
    }
}

std::string read_page() {
    std::ifstream in(kPage);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("functions are lifted and run, or refused", "[cases]") {
    std::string table = "| function | shows | flags | spec and function |\n| --- | --- | --- | --- |\n";
    int lifted = 0;
    for (const LiftCase& each : halo::test::lift_cases()) {
        INFO(each.file << ", " << each.function);
        std::string flags;
        for (const std::string& flag : each.flags)
            flags += (flags.empty() ? "`" : " `") + flag + "`";
        table += "| `" + each.function + "` | " + without_bars(each.shows) + " | " + flags + " | " +
                 without_bars(outcome_of(each)) + " |\n";
        lifted += each.refused.empty();
    }
    CHECK(lifted >= 40);
    std::string page = read_page();
    const std::size_t begin = page.find(kBegin), end = page.find(kEnd);
    REQUIRE(begin != std::string::npos);
    REQUIRE(end != std::string::npos);
    const std::size_t from = begin + sizeof kBegin - 1;
    if (std::getenv("HALO_REGENERATE")) {
        page.replace(from, end - from, table);
        std::ofstream(kPage) << page;
    }
    CHECK(page.substr(from, page.find(kEnd) - from) == table);
}
