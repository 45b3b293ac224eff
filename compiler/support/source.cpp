#include "compiler/support/source.h"

#include <algorithm>
#include <utility>

namespace halo {

namespace {

bool is_continuation_byte(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u;
}

}  // namespace

SourceFile::SourceFile(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
    line_starts_.push_back(0);
    for (std::size_t i = 0; i < text_.size(); ++i) {
        if (text_[i] == '\n') line_starts_.push_back(static_cast<std::uint32_t>(i + 1));
    }
}

std::string_view SourceFile::text(SourceRange range) const {
    const std::size_t end = std::min<std::size_t>(range.end, text_.size());
    const std::size_t begin = std::min<std::size_t>(range.begin, end);
    return std::string_view(text_).substr(begin, end - begin);
}

LineColumn SourceFile::line_column(std::uint32_t offset) const {
    const std::uint32_t inside = std::min(offset, static_cast<std::uint32_t>(text_.size()));
    const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), inside);
    const std::uint32_t start = *std::prev(next);
    const auto characters = std::count_if(text_.begin() + start, text_.begin() + inside,
                                          [](char byte) { return !is_continuation_byte(byte); });
    return {static_cast<std::uint32_t>(next - line_starts_.begin()),
            static_cast<std::uint32_t>(characters + 1)};
}

std::string_view SourceFile::line(std::uint32_t number) const {
    if (number == 0 || number > line_starts_.size()) return {};
    const std::size_t begin = line_starts_[number - 1];
    std::size_t end = number < line_starts_.size() ? line_starts_[number] - 1 : text_.size();
    if (end > begin && text_[end - 1] == '\r') --end;
    return std::string_view(text_).substr(begin, end - begin);
}

}  // namespace halo
