#include "compiler/kernel/wrap.h"

#include <vector>

namespace halo::kernel {
namespace {

// A place after which a line may be broken: the blank behind a comma or an operator.
struct BreakPoint {
    std::size_t position;   // of the blank
    std::size_t depth;      // open parentheses
    std::size_t alignment;  // column behind the innermost open one; 0 outside
};

std::vector<BreakPoint> break_points(const std::string& text) {
    std::vector<BreakPoint> points;
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '(' || c == '[') {
            open.push_back(at + 1);
        } else if ((c == ')' || c == ']') && !open.empty()) {
            open.pop_back();
        } else if (c == ' ' && at > 0) {
            const char before = text[at - 1];
            const bool is_operator = before == '+' || before == '-' || before == '*' || before == '/' ||
                                     before == '&' || before == '|' || before == '=' || before == '?' ||
                                     before == ':';
            const bool is_pointer = before == '*' && at > 1 && text[at - 2] != ' ';
            if (before == ',' || (is_operator && !is_pointer)) {
                points.push_back({at, open.size(), open.empty() ? 0 : open.back()});
            }
        }
    }
    return points;
}

}  // namespace

bool fits(const std::string& text, int indent) {
    return text.size() + indent <= kColumnLimit;
}

std::string wrap_line(const std::string& text, int indent) {
    const std::string margin(indent, ' ');
    if (fits(text, indent)) return margin + text + "\n";
    // Among the breaks that keep the first part short enough, take the outermost, and of those the last.
    const BreakPoint* best = nullptr;
    const std::vector<BreakPoint> points = break_points(text);
    for (const BreakPoint& point : points) {
        if (point.position + indent > kColumnLimit) break;
        if (!best || point.depth <= best->depth) best = &point;
    }
    if (!best) return margin + text + "\n";
    const std::size_t continuation = best->alignment ? indent + best->alignment : indent + 4;
    // Keep the nesting visible to the rest of the line: it is wrapped as text of its own.
    const std::string rest = text.substr(best->position + 1);
    return margin + text.substr(0, best->position) + "\n" + wrap_line(rest, static_cast<int>(continuation));
}

std::string wrap_comment(const std::string& text, int indent) {
    const std::string margin = std::string(indent, ' ') + "//";
    std::string result, current = margin;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        if (current.size() + 1 + word.size() > kColumnLimit && current.size() > margin.size()) {
            result += current + "\n";
            current = margin;
        }
        current += " " + word;
        at = end + 1;
    }
    return result + current + "\n";
}

}  // namespace halo::kernel
