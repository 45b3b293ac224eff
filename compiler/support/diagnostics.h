// Messages about a spec: what is wrong, where, what was expected, and the mend.
//
//   sink.report(DiagnosticKind::unknown_name, where, "there is no field or name `v`")
//       .label(declaration, "`u` is declared here")
//       .mend(where, "u");
//
// Style: one message per mistake, in the user's words; lower case, no full stop; names of the user's in
// backquotes. Message: what is wrong. Notes: what is expected, or why. Mend: only where there is one likely
// right text. Ranges are byte ranges of the one SourceFile that is compiled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "compiler/support/source.h"

namespace halo {

enum class Severity : std::uint8_t { error, warning };

enum class DiagnosticKind : std::uint8_t {
#define HALO_DIAGNOSTIC(enumerator, name, severity) enumerator,
#include "compiler/support/diagnostic_kinds.def"
#undef HALO_DIAGNOSTIC
};

std::string_view name_of(DiagnosticKind kind);  // "unknown-name"
Severity severity_of(DiagnosticKind kind);
const std::vector<DiagnosticKind>& all_diagnostic_kinds();  // in the order of the table

struct Label {  // a further place, with what it has to do with the mistake
    SourceRange where;
    std::string text;
};

struct Mend {  // put `replacement` in place of `where` (empty range: insert)
    SourceRange where;
    std::string replacement;
};

struct Diagnostic {
    DiagnosticKind kind;
    SourceRange where;
    std::string message;
    std::vector<Label> labels;
    std::vector<std::string> notes;
    std::optional<Mend> mend_text;

    Diagnostic& label(SourceRange range, std::string text);
    Diagnostic& note(std::string text);
    Diagnostic& mend(SourceRange range, std::string replacement);
};

// Collects what the rooms report for one file. At one range only the first message is kept (a second one
// there would be about the same mistake), and at most kMaxDiagnostics are shown, the first in the file.
class DiagnosticSink {
public:
    static constexpr std::size_t kMaxDiagnostics = 100;

    // The reference stays valid as long as the sink lives.
    Diagnostic& report(DiagnosticKind kind, SourceRange where, std::string message);

    // The first note of all that is reported from now on, for what the place in the text does not tell: which
    // iteration of a loop this is. Empty: none. Gives what was set before.
    std::string set_context(std::string note);

    bool has_errors() const { return error_count_ > 0; }
    std::size_t error_count() const { return error_count_; }
    // Whether a mend is still looked for: that takes a look at all names, and only some messages are shown.
    bool wants_mends() const { return error_count_ < kMaxMended; }
    bool is_full() const { return kept_.size() >= kMaxKept; }  // further reports are counted, not kept

    // By place in the file; where there are more than kMaxDiagnostics, the last one says how many are not
    // shown.
    std::vector<Diagnostic> sorted() const;

private:
    static constexpr std::size_t kMaxKept = 10'000;
    static constexpr std::size_t kMaxMended = 300;
    std::deque<Diagnostic> kept_;
    Diagnostic dropped_{};  // takes the labels and notes of a report that is not kept
    std::string context_;
    std::size_t error_count_ = 0;
    std::size_t total_ = 0;                       // reports at places that had none
    std::unordered_set<std::uint64_t> reported_;  // ranges that have a message
};

struct RenderOptions {
    bool colour = false;
};

// "file:line:column: error: message", the source line with the range underlined, labels, notes and the mend.
// Columns count characters; tabs are shown as four spaces; long lines are cut around the range.
std::string render(const Diagnostic& diagnostic, const SourceFile& file, const RenderOptions& options = {});
std::string render(const std::vector<Diagnostic>& diagnostics, const SourceFile& file,
                   const RenderOptions& options = {});

// A JSON array, one object each: {"kind", "severity", "file", "message", "range", "labels", "notes", "mend"};
// a label in another file has a "file", too;
// a range is {"begin": {"line", "column", "offset"}, "end": {…}} with lines and columns from 1, columns in
// characters, offsets in bytes from 0.
std::string render_json(const std::vector<Diagnostic>& diagnostics, const SourceFile& file);

// The number of single-character edits (insert, delete, replace, swap neighbours) that turn one word into the
// other; stops at `limit` + 1.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

// The one candidate that is closest to `word` and close enough to be meant; nullopt where none is, or two are
// equally close.
std::optional<std::string> closest_name(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace halo
