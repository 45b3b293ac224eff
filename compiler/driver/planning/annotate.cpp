#include "compiler/driver/planning/annotate.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace halo::driver {

namespace {

constexpr std::size_t kLongest = 64;  // characters of a statement that are shown, on one line

// Replaces characters that a C++ comment must not hold: a backslash at its end would continue it on the next
// line.
char plain(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\' ? '_' : c;
}

std::string file_name(const SourceFile& source, std::uint32_t offset) {
    std::string name = std::filesystem::path(source.name(offset)).filename().string();
    for (char& c : name)
        c = plain(c);
    return name;
}

// The text on one line: without comments, and with each run of spaces and line ends as one space.
std::string one_line(std::string_view text) {
    std::string line;
    bool in_comment = false, is_gap = false;
    for (const char c : text) {
        in_comment = c == '#' || (in_comment && c != '\n');
        if (in_comment || c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            is_gap = true;
            continue;
        }
        if (is_gap && !line.empty()) line += ' ';
        is_gap = false;
        line += plain(c);
    }
    if (line.size() <= kLongest) return line;
    const std::size_t end = line.find_last_of(' ', kLongest);
    return line.substr(0, end == std::string::npos ? kLongest : end) + " ...";
}

}  // namespace

lower::Notes notes_of(const SourceFile& source) {
    return [&source](SourceRange where) -> std::string {
        if (where.end <= where.begin) return "";
        // Takes the line from its beginning, as a place may be that of a name alone.
        const std::string_view line = source.line_at(where.begin);
        const auto begin = static_cast<std::uint32_t>(line.data() - source.text().data());
        const auto end = std::max(where.end, begin + static_cast<std::uint32_t>(line.size()));
        return fmt::format("{}:{}: {}", file_name(source, where.begin), source.line_column(where.begin).line,
                           one_line(source.text({begin, end})));
    };
}

}  // namespace halo::driver
