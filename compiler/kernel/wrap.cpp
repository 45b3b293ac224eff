#include "compiler/kernel/wrap.h"

#include <vector>

namespace halo::kernel {
namespace {

// A place where a line may be broken: the blank at `at`, behind a comma or an operator.
struct Break {
    std::size_t at = 0;
    // By the parentheses around it, then by how closely the operator binds: the less the better.
    int rank = 0;
    int depth = 0;           // of the parentheses
    bool separates = false;  // arguments
};

// How closely what stands before a blank binds; -1 where a line is not broken behind it.
int binding(char before) {
    switch (before) {
        case ',':
        case ';':
            return 0;
        case '?':
        case ':':
        case '|':
        case '&':
            return 1;
        case '=':
        case '+':
        case '-':
            return 2;
        default:
            return -1;
    }
}

// An assignment is broken behind its sign only where all of the rest fits in the next line, or nothing else
// can be broken; an index only where nothing at all can.
std::vector<Break> find_breaks(const std::string& text, int indent) {
    constexpr int kRanksOfDepth = 3, kRanksOfAssignment = 100, kRanksOfIndex = 200;
    std::vector<Break> breaks;
    int depth = 0, brackets = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
        brackets += text[at] == '[' ? 1 : text[at] == ']' ? -1 : 0;
        if (at < 2 || text[at] != ' ') continue;
        // A kernel's name starts a line rather than its parameters.
        if (text[at - 1] == ')' && depth == 0 && text.find("__launch_bounds__") < at)
            breaks.push_back({at, -1, 0, false});
        if (binding(text[at - 1]) < 0) continue;
        Break place{at, kRanksOfDepth * depth + binding(text[at - 1]) + kRanksOfIndex * brackets, depth,
                    text[at - 1] == ',' && brackets == 0};
        const bool assigns = text[at - 1] == '=' && (text[at - 2] == ' ' || text[at - 2] == '+');
        if (assigns && !fits(text.substr(at + 1), indent + 4)) place.rank += kRanksOfAssignment;
        breaks.push_back(place);
    }
    return breaks;
}

// Columns behind the parentheses and brackets that are open before `end`, for a text from `begin` that starts
// in `column`.
void follow(const std::string& text, std::size_t begin, std::size_t end, std::size_t column,
            std::vector<std::size_t>& open) {
    for (std::size_t at = begin; at < end; ++at, ++column) {
        if (text[at] == '(' || text[at] == '[') open.push_back(column + 1);
        if ((text[at] == ')' || text[at] == ']') && !open.empty()) open.pop_back();
    }
}

// Where the line ends that starts at text[begin] in `column`, inside `depth` parentheses; null where it goes
// on to the text's end.
const Break* next_break(const std::string& text, const std::vector<Break>& breaks, std::size_t begin,
                        std::size_t column, int depth) {
    // What follows an argument of several lines stands in a line of its own.
    for (const Break& each : breaks) {
        if (each.at <= begin || !each.separates || each.depth >= depth) continue;
        if (column + each.at - begin <= kColumnLimit) return &each;
        break;
    }
    if (column + text.size() - begin <= kColumnLimit) return nullptr;
    // The outermost place of those that the line has room for, and of these the last.
    const Break* best = nullptr;
    for (const Break& each : breaks) {
        if (each.at <= begin) continue;
        if (column + each.at - begin > kColumnLimit && best) break;
        if (!best || each.rank <= best->rank) best = &each;
    }
    return best;
}

}  // namespace

bool fits(const std::string& text, int indent) {
    return text.size() + indent <= kColumnLimit;
}

std::string wrap_line(const std::string& text, int indent) {
    const std::vector<Break> breaks = find_breaks(text, indent);
    std::string result;
    std::vector<std::size_t> open;
    std::size_t begin = 0, column = static_cast<std::size_t>(indent);
    while (const Break* next = next_break(text, breaks, begin, column, static_cast<int>(open.size()))) {
        result += std::string(column, ' ') + text.substr(begin, next->at - begin) + "\n";
        follow(text, begin, next->at, column, open);
        begin = next->at + 1;
        column = open.empty() ? static_cast<std::size_t>(indent) + 4 : open.back();
    }
    return result + std::string(column, ' ') + text.substr(begin) + "\n";
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
