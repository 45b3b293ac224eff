#include "compiler/kernel/wrap.h"

#include <vector>

namespace halo::kernel {
namespace {

// Whether a line may be broken at the blank text[at]: behind a comma or an operator.
bool may_break(const std::string& text, std::size_t at) {
    if (at == 0 || text[at] != ' ') return false;
    const char before = text[at - 1];
    if (before == ',') return true;
    return std::string("+-&|=?:").find(before) != std::string::npos;
}

}  // namespace

bool fits(const std::string& text, int indent) {
    return text.size() + indent <= kColumnLimit;
}

std::string wrap_line(const std::string& text, int indent) {
    if (fits(text, indent)) return std::string(indent, ' ') + text + "\n";
    std::string result(indent, ' ');
    std::size_t column = indent;
    std::vector<std::size_t>
        open;  // columns behind the open parentheses, as laid out; indices are kept whole
    std::size_t begin = 0;
    while (begin < text.size()) {
        std::size_t end = begin + 1;
        int brackets = 0;
        while (end < text.size() && (brackets > 0 || !may_break(text, end))) {
            brackets += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
            ++end;
        }
        const bool starts_line = begin == 0;
        if (!starts_line && column + 1 + (end - begin) > kColumnLimit) {
            column = open.empty() ? indent + 4 : open.back();
            result += "\n" + std::string(column, ' ');
        } else if (!starts_line) {
            result += ' ';
            ++column;
        }
        for (std::size_t at = begin; at < end; ++at, ++column) {
            result += text[at];
            if (text[at] == '(') open.push_back(column + 1);
            if (text[at] == ')' && !open.empty()) open.pop_back();
        }
        begin = end + 1;
    }
    return result + "\n";
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
