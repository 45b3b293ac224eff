#include "compiler/support/source.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace halo {

namespace {

bool is_continuation_byte(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u;
}

}  // namespace

SourceFile::SourceFile(std::string name, std::string text) {
    add(std::move(name), text);
}

std::vector<std::string> SourceFile::names() const {
    std::vector<std::string> names;
    for (const Part& part : parts_)
        names.push_back(part.name);
    return names;
}

std::uint32_t SourceFile::add(std::string name, const std::string& text) {
    if (!parts_.empty()) text_ += '\n';  // the end of a part is not the beginning of the next
    Part part;
    part.name = std::move(name);
    part.begin = static_cast<std::uint32_t>(text_.size());
    text_ += text;
    part.end = static_cast<std::uint32_t>(text_.size());
    part.line_starts.push_back(part.begin);
    for (std::uint32_t i = part.begin; i < part.end; ++i) {
        if (text_[i] == '\n') part.line_starts.push_back(i + 1);
    }
    parts_.push_back(std::move(part));
    return parts_.back().begin;
}

const SourceFile::Part& SourceFile::part(std::uint32_t offset) const {
    const auto next = std::upper_bound(parts_.begin(), parts_.end(), offset,
                                       [](std::uint32_t at, const Part& part) { return at < part.begin; });
    return *std::prev(next);
}

std::string_view SourceFile::text(SourceRange range) const {
    const std::size_t end = std::min<std::size_t>(range.end, text_.size());
    const std::size_t begin = std::min<std::size_t>(range.begin, end);
    return std::string_view(text_).substr(begin, end - begin);
}

LineColumn SourceFile::line_column(std::uint32_t offset) const {
    const Part& part = this->part(offset);
    const std::uint32_t inside = std::min(offset, part.end);
    const auto next = std::upper_bound(part.line_starts.begin(), part.line_starts.end(), inside);
    const std::uint32_t start = *std::prev(next);
    const auto characters = std::count_if(text_.begin() + start, text_.begin() + inside,
                                          [](char byte) { return !is_continuation_byte(byte); });
    return {static_cast<std::uint32_t>(next - part.line_starts.begin()),
            static_cast<std::uint32_t>(characters + 1)};
}

std::string_view SourceFile::line_at(std::uint32_t offset) const {
    return line(part(offset), line_column(offset).line);
}

std::string_view SourceFile::line(std::uint32_t number) const {
    return line(parts_.front(), number);
}

std::string_view SourceFile::line(const Part& part, std::size_t number) const {
    if (number == 0 || number > part.line_starts.size()) return {};
    const std::size_t begin = part.line_starts[number - 1];
    std::size_t end = number < part.line_starts.size() ? part.line_starts[number] - 1 : part.end;
    if (end > begin && text_[end - 1] == '\r') --end;
    return std::string_view(text_).substr(begin, end - begin);
}

}  // namespace halo
