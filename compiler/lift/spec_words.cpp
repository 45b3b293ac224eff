#include "compiler/lift/spec_words.h"

#include <fmt/format.h>

namespace halo::lift {

Names::Names() {
    // Words of the language, and names that mean something in a stencil.
    for (const char* word :
         {"stencil", "run",   "if",    "then",     "else",    "and",    "or",      "not",  "t",      "x",
          "y",       "z",     "pi",    "true",     "false",   "step",   "time",    "seed", "param",  "field",
          "let",     "def",   "const", "coef",     "reduce",  "where",  "on",      "for",  "inject", "sample",
          "points",  "table", "fast",  "schedule", "spacing", "origin", "accuracy"})
        taken_.insert(word);
}

std::string Names::take(std::string wanted) {
    if (wanted.empty() || wanted[0] == '_') wanted = "v" + wanted;
    for (char& each : wanted) {
        const bool is_word = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                             (each >= '0' && each <= '9') || each == '_';
        if (!is_word) each = '_';
    }
    std::string name = wanted;
    for (int i = 1; !taken_.insert(name).second; ++i)
        name = i == 1 ? wanted + "_" : wanted + "_" + std::to_string(i);
    return name;
}

std::string decimal(double value, bool as_float) {
    return as_float ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

std::string broken(const std::string& line) {
    constexpr std::size_t kWidth = 104;
    if (line.size() <= kWidth) return line;
    std::string text;
    std::size_t begin = 0;
    while (line.size() - begin > kWidth) {
        std::size_t at = std::string::npos;
        for (const char* before : {" + ", " - ", " then ", " else ", " and ", " or "}) {
            const std::size_t found = line.rfind(before, begin + kWidth);
            if (found != std::string::npos && found > begin + 8 && (at == std::string::npos || found > at))
                at = found;
        }
        if (at == std::string::npos) break;
        text += line.substr(begin, at - begin) + "\n        ";
        begin = at + 1;
    }
    return text + line.substr(begin);
}

}  // namespace halo::lift
