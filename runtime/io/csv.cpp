#include "runtime/io/csv.h"

#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

#include "runtime/core/error.h"
#include "runtime/core/file_read.h"

namespace halo::rt {

namespace {

bool is_separator(char c) {
    return c == ',' || c == ';' || c == ' ' || c == '\t' || c == '\r';
}

std::vector<std::string_view> split(std::string_view line) {
    std::vector<std::string_view> words;
    std::size_t at = 0;
    while (at < line.size()) {
        while (at < line.size() && is_separator(line[at]))
            ++at;
        const std::size_t begin = at;
        while (at < line.size() && !is_separator(line[at]))
            ++at;
        if (at > begin) words.push_back(line.substr(begin, at - begin));
    }
    return words;
}

std::optional<double> number(std::string_view word) {
    if (word.starts_with('+')) word.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return value;
}

[[noreturn]] void refuse(const std::string& path, int line, const std::string& text) {
    throw Error(ErrorCode::bad_argument, path + ":" + std::to_string(line) + ": " + text);
}

}  // namespace

std::vector<double> read_csv(const std::string& path, std::size_t columns, const std::string& what) {
    constexpr std::int64_t kMostBytes = std::int64_t{1} << 32;
    std::istringstream file(FileRead(path).read_all(kMostBytes));
    std::vector<double> values;
    std::string text;
    bool is_first = true;
    for (int line = 1; std::getline(file, text); ++line) {
        const std::vector<std::string_view> words = split(std::string_view(text).substr(0, text.find('#')));
        if (words.empty()) continue;
        const bool may_be_names = is_first;
        is_first = false;
        if (may_be_names && !number(words.front())) continue;
        if (words.size() != columns)
            refuse(path, line,
                   what + " takes " + std::to_string(columns) + " numbers a row, and this line has " +
                       std::to_string(words.size()));
        for (const std::string_view word : words) {
            const std::optional<double> value = number(word);
            if (!value) refuse(path, line, "`" + std::string(word) + "` is no number");
            values.push_back(*value);
        }
    }
    return values;
}

}  // namespace halo::rt
