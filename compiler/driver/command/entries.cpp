#include "compiler/driver/command/entries.h"

#include <fmt/format.h>

namespace halo::driver {

namespace {

constexpr int kIndent = 14;

}  // namespace

std::string entry(std::string_view title, std::string_view text, int width) {
    std::string result = fmt::format("  {:<{}}", title, kIndent - 2);
    int column = kIndent;
    std::string_view rest = text;
    while (!rest.empty()) {
        std::size_t end = rest.find_first_of(" \n");
        std::string_view word = rest.substr(0, end);
        if (column > kIndent && column + 1 + static_cast<int>(word.size()) > width) {
            result += '\n' + std::string(kIndent, ' ');
            column = kIndent;
        } else if (column > kIndent) {
            result += ' ';
            ++column;
        }
        result += word;
        column += static_cast<int>(word.size());
        if (end == std::string_view::npos) break;
        if (rest[end] == '\n') {
            result += '\n' + std::string(kIndent, ' ');
            column = kIndent;
        }
        rest.remove_prefix(end + 1);
    }
    return result + '\n';
}

std::string picture(std::string_view title, const std::string& text) {
    std::string result = fmt::format("  {:<{}}", title, kIndent - 2);
    for (char c : text) {
        result += c;
        if (c == '\n') result += std::string(kIndent, ' ');
    }
    while (!result.empty() && (result.back() == ' ' || result.back() == '\n'))
        result.pop_back();
    return result + '\n';
}

}  // namespace halo::driver
