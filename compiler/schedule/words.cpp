#include "compiler/schedule/words.h"

#include <algorithm>

#include "compiler/schedule/schedule.h"

namespace halo::schedule {

std::string grouped(std::int64_t number) {
    std::string digits = std::to_string(number);
    const std::size_t first = digits.front() == '-' ? 1 : 0;
    for (std::size_t place = digits.size(); place > first + 3; place -= 3)
        digits.insert(place - 3, 1, ',');
    return digits;
}

std::string lengths(const rt::Lengths& values, int rank) {
    std::string text = std::to_string(values[0]);
    for (int axis = 1; axis < std::min(rank, kMostAxesOfTile); ++axis)
        text += "x" + std::to_string(values[axis]);
    return text;
}

std::string counted(std::int64_t number, const std::string& noun) {
    return grouped(number) + " " + noun + (number == 1 ? "" : "s");
}

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ';';
}

std::size_t skip_space(std::string_view text, std::size_t at) {
    while (at < text.size() && (is_space(text[at]) || text[at] == '#'))
        at = text[at] == '#' ? std::min(text.find('\n', at), text.size()) : at + 1;
    return at;
}

}  // namespace halo::schedule
