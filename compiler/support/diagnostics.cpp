#include "compiler/support/diagnostics.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include <fmt/format.h>

#include "compiler/support/json_text.h"

namespace halo {

namespace {

struct KindEntry {
    DiagnosticKind kind;
    std::string_view name;
    Severity severity;
};

constexpr KindEntry kKinds[] = {
#define HALO_DIAGNOSTIC(enumerator, name, severity) {DiagnosticKind::enumerator, name, Severity::severity},
#include "compiler/support/diagnostic_kinds.def"
#undef HALO_DIAGNOSTIC
};

const KindEntry& entry_of(DiagnosticKind kind) {
    return kKinds[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string_view name_of(DiagnosticKind kind) {
    return entry_of(kind).name;
}
Severity severity_of(DiagnosticKind kind) {
    return entry_of(kind).severity;
}

const std::vector<DiagnosticKind>& all_diagnostic_kinds() {
    static const std::vector<DiagnosticKind> kinds = [] {
        std::vector<DiagnosticKind> all;
        for (const KindEntry& entry : kKinds)
            all.push_back(entry.kind);
        return all;
    }();
    return kinds;
}

Diagnostic& Diagnostic::label(SourceRange range, std::string text) {
    labels.push_back({range, std::move(text)});
    return *this;
}

Diagnostic& Diagnostic::note(std::string text) {
    notes.push_back(std::move(text));
    return *this;
}

Diagnostic& Diagnostic::mend(SourceRange range, std::string replacement) {
    mend_text = Mend{range, std::move(replacement)};
    return *this;
}

Diagnostic& DiagnosticSink::report(DiagnosticKind kind, SourceRange where, std::string message) {
    const std::uint64_t key = (std::uint64_t{where.begin} << 32) | where.end;
    const bool is_first_here = is_full() || reported_.insert(key).second;
    if (is_first_here) ++total_;
    if (is_first_here && severity_of(kind) == Severity::error) ++error_count_;
    if (!is_first_here || is_full()) {
        dropped_ = Diagnostic{kind, where, {}, {}, {}, {}};
        return dropped_;
    }
    Diagnostic& kept = kept_.emplace_back(Diagnostic{kind, where, std::move(message), {}, {}, {}});
    if (!context_.empty()) kept.note(context_);
    return kept;
}

std::string DiagnosticSink::set_context(std::string note) {
    return std::exchange(context_, std::move(note));
}

std::vector<Diagnostic> DiagnosticSink::sorted() const {
    std::vector<Diagnostic> all(kept_.begin(), kept_.end());
    // No two have the same range, so the order is total.
    std::sort(all.begin(), all.end(), [](const Diagnostic& a, const Diagnostic& b) {
        return std::pair(a.where.begin, a.where.end) < std::pair(b.where.begin, b.where.end);
    });
    if (all.size() <= kMaxDiagnostics) return all;
    const std::size_t shown = kMaxDiagnostics - 1;
    const SourceRange where = all[shown].where;
    all.resize(shown);
    all.push_back(
        Diagnostic{DiagnosticKind::too_many_errors,
                   where,
                   fmt::format("too many mistakes: {} more from here on are not shown", total_ - shown),
                   {},
                   {},
                   {}});
    return all;
}

// ---- JSON ---------------------------------------------------------------------------------------

namespace {

nlohmann::json to_json(SourceRange range, const SourceFile& file) {
    const auto place = [&](std::uint32_t offset) {
        const LineColumn at = file.line_column(offset);
        const std::uint32_t in_file = offset - file.part_begin(offset);
        return nlohmann::json{{"line", at.line}, {"column", at.column}, {"offset", in_file}};
    };
    return {{"begin", place(range.begin)}, {"end", place(range.end)}};
}

nlohmann::json to_json(const Diagnostic& diagnostic, const SourceFile& file) {
    nlohmann::json labels = nlohmann::json::array();
    for (const Label& label : diagnostic.labels) {
        labels.push_back({{"range", to_json(label.where, file)}, {"message", label.text}});
        // What stands in another file than the mistake says so.
        const std::string& name = file.name(label.where.begin);
        if (name != file.name(diagnostic.where.begin)) labels.back()["file"] = name;
    }
    nlohmann::json mend = nullptr;
    if (diagnostic.mend_text) {
        mend = {{"range", to_json(diagnostic.mend_text->where, file)},
                {"replacement", diagnostic.mend_text->replacement}};
    }
    return {{"kind", name_of(diagnostic.kind)},
            {"severity", severity_of(diagnostic.kind) == Severity::error ? "error" : "warning"},
            {"file", file.name(diagnostic.where.begin)},
            {"message", diagnostic.message},
            {"range", to_json(diagnostic.where, file)},
            {"labels", std::move(labels)},
            {"notes", diagnostic.notes},
            {"mend", std::move(mend)}};
}

}  // namespace

std::string render_json(const std::vector<Diagnostic>& diagnostics, const SourceFile& file) {
    nlohmann::json all = nlohmann::json::array();
    for (const Diagnostic& diagnostic : diagnostics)
        all.push_back(to_json(diagnostic, file));
    return json_text(all);
}

// ---- names that were likely meant ---------------------------------------------------------------

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
    const std::size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
    if (difference > limit) return limit + 1;
    // Three rows of the usual table: before_last for swapped neighbours.
    std::vector<std::size_t> before_last(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        std::size_t best = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
            best = std::min(best, row[j]);
        }
        if (best > limit) return limit + 1;
        std::swap(before_last, last);
        std::swap(last, row);
    }
    return std::min(last[b.size()], limit + 1);
}

std::optional<std::string> closest_name(std::string_view word, const std::vector<std::string>& candidates) {
    // A third of a word may be wrong; a one-letter word says nothing. A long word is no slip of the finger.
    constexpr std::size_t kMaxWord = 64;
    if (word.size() < 2 || word.size() > kMaxWord) return std::nullopt;
    std::size_t best = std::max<std::size_t>(1, word.size() / 3);
    const std::string* closest = nullptr;
    bool is_unique = true;
    for (const std::string& candidate : candidates) {
        if (candidate == word) continue;
        const std::size_t distance = edit_distance(word, candidate, best);
        if (distance > best || distance >= std::max(word.size(), candidate.size())) continue;
        is_unique = closest == nullptr || distance < best || *closest == candidate;
        best = distance;
        closest = &candidate;
    }
    if (closest == nullptr || !is_unique) return std::nullopt;
    return *closest;
}

}  // namespace halo
