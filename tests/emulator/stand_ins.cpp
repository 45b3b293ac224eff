#include "stand_ins.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <vector>

#include "runtime/core/error.h"

namespace halo::emulator {

// The text with comments and strings blanked, same length.
std::string without_comments(const std::string& text) {
    std::string plain = text;
    enum { code, line, block, quote } state = code;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
        const bool blank = state != code;
        if (state == code && c == '/' && next == '/') {
            state = line;
        } else if (state == code && c == '/' && next == '*') {
            state = block;
            plain[i] = plain[i + 1] = ' ';
            ++i;
        } else if (state == code && c == '"') {
            state = quote;
        } else if ((state == line && c == '\n') || (state == quote && c == '"')) {
            state = code;
        } else if (state == quote && c == '\\') {
            plain[i++] = ' ';
        } else if (state == block && c == '*' && next == '/') {
            state = code;
            plain[i++] = ' ';
        }
        if ((blank || state != code) && plain[i] != '\n') plain[i] = ' ';
    }
    return plain;
}

namespace {

struct FunctionText {
    std::string declaration;            // words one blank apart, without qualifiers
    std::size_t begin = 0, length = 0;  // of the body, with its braces
};

// What declares the function whose body begins behind `head`, as text that can be compared.
std::string declaration_of(const std::string& head) {
    std::istringstream lines(head);
    std::string words;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line.front() == '#') continue;
        std::istringstream all(line);
        for (std::string word; all >> word;)
            if (word != "__device__" && word != "__forceinline__" && word != "inline")
                words += (words.empty() ? "" : " ") + word;
    }
    return words;
}

// Whatever has a body in braces outside all others: functions, and types, whose declarations match none.
std::vector<FunctionText> functions_of(const std::string& plain) {
    std::vector<FunctionText> found;
    int depth = 0;
    std::size_t head = 0, begin = 0;
    for (std::size_t i = 0; i < plain.size(); ++i) {
        if (plain[i] == '{' && depth++ == 0) begin = i;
        const bool ends = plain[i] == '}' && --depth == 0;
        if (ends) found.push_back({declaration_of(plain.substr(head, begin - head)), begin, i + 1 - begin});
        if (ends || (plain[i] == ';' && depth == 0)) head = i + 1;
    }
    return found;
}

bool holds_word(const std::string& text, const std::string& word) {
    const auto is_part = [&](std::size_t at) {
        return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
    };
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        if (!(at > 0 && is_part(at - 1)) && !is_part(at + word.size())) return true;
    return false;
}

// Bodies by declaration.
const std::map<std::string, std::string>& stand_ins() {
    static const std::map<std::string, std::string> all = [] {
        std::ifstream file(HALO_EMULATOR_STAND_INS);
        const std::string plain = without_comments(std::string(std::istreambuf_iterator<char>(file), {}));
        std::map<std::string, std::string> bodies;
        for (const FunctionText& function : functions_of(plain)) {
            std::string body = plain.substr(function.begin, function.length);
            std::ranges::replace(body, '\n', ' ');
            bodies[function.declaration] = body;
        }
        return bodies;
    }();
    return all;
}

}  // namespace

std::string with_stand_ins(const std::string& text) {
    const std::string plain = without_comments(text);
    std::string result;
    std::size_t copied = 0;
    for (const FunctionText& function : functions_of(plain)) {
        const std::string body = plain.substr(function.begin, function.length);
        if (!holds_word(body, "asm")) continue;
        const auto found = stand_ins().find(function.declaration);
        if (found == stand_ins().end())
            throw rt::Error(rt::ErrorCode::internal,
                            "the emulator has no stand-in for the inline PTX of: " + function.declaration);
        result += text.substr(copied, function.begin - copied) + found->second +
                  std::string(static_cast<std::size_t>(std::ranges::count(body, '\n')), '\n');
        copied = function.begin + function.length;
    }
    return result + text.substr(copied);
}

}  // namespace halo::emulator
