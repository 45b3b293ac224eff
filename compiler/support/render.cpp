// Diagnostics as text for people.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "compiler/support/diagnostics.h"

namespace halo {

namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kRed = "\x1b[1;31m";
constexpr std::string_view kYellow = "\x1b[1;33m";
constexpr std::string_view kBlue = "\x1b[1;34m";
constexpr std::string_view kGreen = "\x1b[1;32m";
constexpr std::string_view kReset = "\x1b[0m";

constexpr std::size_t kTabWidth = 4;
constexpr std::size_t kMaxWidth = 100;    // of a source line that is shown, in characters
constexpr std::size_t kLeadWidth = 40;    // kept before the range where a line is cut
constexpr std::size_t kMaxWindow = 4096;  // bytes of a line that are examined
constexpr std::size_t kMaxQuoted = 400;   // bytes of a message's own text that are shown

class Painter {
public:
    explicit Painter(bool colour) : colour_(colour) {}
    std::string operator()(std::string_view style, std::string_view text) const {
        return colour_ ? fmt::format("{}{}{}", style, text, kReset) : std::string(text);
    }

private:
    bool colour_;
};

// The byte length of the UTF-8 character at `at`; 0 where the bytes are none.
std::size_t character_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(at);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xF0 && lead < 0xF5 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
    if (lead >= 0xF5 || length == 0 || at + length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xC0u) != 0x80u) return 0;
    }
    return length;
}

// A source line as it is shown: one cell a character, tabs widened, what cannot be shown replaced. begin and
// end are the cells of the underlined bytes.
struct ShownLine {
    std::vector<std::string> cells;
    std::size_t begin = 0;
    std::size_t end = 0;
};

ShownLine lay_out(std::string_view line, std::size_t begin, std::size_t end) {
    ShownLine shown;
    std::size_t at = 0;
    while (at < line.size()) {
        if (at <= begin) shown.begin = shown.cells.size();
        if (at < end) shown.end = shown.cells.size();
        const unsigned char byte = static_cast<unsigned char>(line[at]);
        const std::size_t length = character_length(line, at);
        if (byte == '\t') {
            do {
                shown.cells.emplace_back(" ");
            } while (shown.cells.size() % kTabWidth != 0);
        } else if (byte < 0x20 || byte == 0x7F || length == 0) {
            shown.cells.emplace_back("\xEF\xBF\xBD");
        } else {
            shown.cells.emplace_back(line.substr(at, length));
        }
        if (at < end) shown.end = shown.cells.size();
        at += std::max<std::size_t>(length, 1);
    }
    if (begin >= line.size()) shown.begin = shown.cells.size();
    shown.end = std::max(shown.end, shown.begin + 1);
    return shown;
}

// Keeps kMaxWidth cells around the range.
void cut(ShownLine& shown) {
    if (shown.cells.size() <= kMaxWidth) return;
    const std::size_t first = shown.begin > kLeadWidth ? shown.begin - kLeadWidth : 0;
    const std::size_t last = std::min(first + kMaxWidth, shown.cells.size());
    std::vector<std::string> kept(shown.cells.begin() + static_cast<std::ptrdiff_t>(first),
                                  shown.cells.begin() + static_cast<std::ptrdiff_t>(last));
    if (first > 0) kept.front() = "…";
    if (last < shown.cells.size()) kept.back() = "…";
    shown.cells = std::move(kept);
    shown.begin -= first;
    shown.end = std::max(std::min(shown.end - first, kMaxWidth), shown.begin + 1);
}

// Where to begin to look at a line whose byte `begin` is to be shown: far enough before it that cut() leaves
// out the rest, on a whole character. A line may be as long as its file.
std::size_t window_begin(std::string_view line, std::size_t begin) {
    constexpr std::size_t kBefore = 4 * (kLeadWidth + kMaxWidth);
    std::size_t first = begin > kBefore ? begin - kBefore : 0;
    while (first > 0 && first < line.size() && (static_cast<unsigned char>(line[first]) & 0xC0u) == 0x80u)
        ++first;
    return std::min(first, begin);
}

std::string join(const std::vector<std::string>& cells) {
    std::string text;
    for (const std::string& cell : cells)
        text += cell;
    return text;
}

// " 12 | u[t+1] = v" and the carets below it. A range over several lines is underlined to the end of its
// first.
std::string excerpt(SourceRange where, const SourceFile& file, std::string_view style, const Painter& paint) {
    const LineColumn at = file.line_column(where.begin);
    const std::string_view line = file.line_at(where.begin);
    const std::size_t line_begin = static_cast<std::size_t>(line.data() - file.text().data());
    const std::size_t begin = where.begin - std::min<std::size_t>(where.begin, line_begin);
    const std::size_t end =
        std::max<std::size_t>(where.end - std::min<std::size_t>(where.end, line_begin), begin);
    const std::size_t first = window_begin(line, std::min(begin, line.size()));
    const std::string_view window = line.substr(first, kMaxWindow);
    ShownLine shown =
        lay_out(window, std::min(begin - first, window.size()), std::min(end - first, window.size()));
    cut(shown);
    const std::string gutter = fmt::format("{:>5} | ", at.line);
    const std::string blank = fmt::format("{:>5} | ", "");
    std::string underline(shown.begin, ' ');
    underline += paint(style, "^" + std::string(shown.end - shown.begin - 1, '~'));
    return fmt::format("{}{}\n{}{}\n", paint(kBlue, gutter), join(shown.cells), paint(kBlue, blank),
                       underline);
}

// Names of the user's that come into a message may be of any length and hold anything.
std::string printable(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size() && out.size() < kMaxQuoted;) {
        const std::size_t length = character_length(text, at);
        const unsigned char byte = static_cast<unsigned char>(text[at]);
        if (length == 0 || (byte < 0x20 && byte != '\n') || byte == 0x7F) {
            out += "\xEF\xBF\xBD";
        } else {
            out += text.substr(at, length);
        }
        at += std::max<std::size_t>(length, 1);
    }
    if (out.size() >= kMaxQuoted) out += "…";
    return out;
}

std::string place(SourceRange where, const SourceFile& file) {
    const LineColumn at = file.line_column(where.begin);
    return fmt::format("{}:{}:{}", file.name(where.begin), at.line, at.column);
}

std::string describe(const Mend& mend, const SourceFile& file) {
    const std::string replacement = printable(mend.replacement);
    const bool inserts = mend.where.begin == mend.where.end;
    if (mend.replacement.empty()) return fmt::format("remove `{}`", printable(file.text(mend.where)));
    if (inserts) return fmt::format("add `{}`", replacement);
    return fmt::format("did you mean `{}`?", replacement);
}

}  // namespace

std::string render(const Diagnostic& diagnostic, const SourceFile& file, const RenderOptions& options) {
    const Painter paint(options.colour);
    const bool is_error = severity_of(diagnostic.kind) == Severity::error;
    const std::string_view style = is_error ? kRed : kYellow;
    std::string out = fmt::format("{} {} {}\n", paint(kBold, place(diagnostic.where, file) + ":"),
                                  paint(style, is_error ? "error:" : "warning:"),
                                  paint(kBold, printable(diagnostic.message)));
    out += excerpt(diagnostic.where, file, style, paint);
    for (const Label& label : diagnostic.labels) {
        out += fmt::format("  {} {}\n", place(label.where, file) + ":", printable(label.text));
        out += excerpt(label.where, file, kBlue, paint);
    }
    for (const std::string& note : diagnostic.notes) {
        out += fmt::format("  {} {}\n", paint(kBlue, "note:"), printable(note));
    }
    if (diagnostic.mend_text) {
        out += fmt::format("  {} {}\n", paint(kGreen, "help:"), describe(*diagnostic.mend_text, file));
    }
    return out;
}

std::string render(const std::vector<Diagnostic>& diagnostics, const SourceFile& file,
                   const RenderOptions& options) {
    std::string out;
    for (const Diagnostic& diagnostic : diagnostics) {
        if (!out.empty()) out += "\n";
        out += render(diagnostic, file, options);
    }
    return out;
}

}  // namespace halo
