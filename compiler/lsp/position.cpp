#include "compiler/lsp/position.h"

#include <algorithm>
#include <limits>

#include "compiler/lsp/request_error.h"

namespace halo::lsp {

namespace {

// Bytes of the character that begins with `first`; a byte that begins none is one by itself.
std::uint32_t character_bytes(unsigned char first) {
    if (first >= 0xf0) return 4;
    if (first >= 0xe0) return 3;
    return first >= 0xc0 ? 2 : 1;
}

std::uint32_t character_units(std::uint32_t bytes, Encoding encoding) {
    if (encoding == Encoding::utf8) return bytes;
    return bytes == 4 ? 2 : 1;  // beyond the basic plane: a pair of surrogates
}

std::uint32_t count_in(const Json& position, const char* what) {
    const Json& number = position.at(what);
    if (!number.is_number_integer())
        throw RequestError(kInvalidParams, std::string(what) + " is a whole number");
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
    const bool is_large = number.is_number_unsigned() && number.get<std::uint64_t>() > std::uint64_t{kMost};
    return static_cast<std::uint32_t>(
        is_large ? kMost : std::clamp<std::int64_t>(number.get<std::int64_t>(), 0, kMost));
}

}  // namespace

Lines::Lines(std::string_view text, Encoding encoding) : text_(text), encoding_(encoding), starts_{0} {
    for (std::uint32_t i = 0; i < text.size(); ++i) {
        const bool is_pair = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
        if (text[i] == '\n' || (text[i] == '\r' && !is_pair)) starts_.push_back(i + 1);
    }
}

std::uint32_t Lines::line_of(std::uint32_t offset) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
    return static_cast<std::uint32_t>(after - starts_.begin()) - 1;
}

std::uint32_t Lines::units(std::uint32_t begin, std::uint32_t end) const {
    end = std::min(end, static_cast<std::uint32_t>(text_.size()));
    if (begin >= end) return 0;
    if (encoding_ == Encoding::utf8) return end - begin;
    std::uint32_t count = 0;
    while (begin < end) {
        const std::uint32_t bytes = character_bytes(static_cast<unsigned char>(text_[begin]));
        count += character_units(bytes, encoding_);
        begin += bytes;
    }
    return count;
}

Json Lines::position(std::uint32_t offset) const {
    offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
    const std::uint32_t line = line_of(offset);
    return {{"line", line}, {"character", units(starts_[line], offset)}};
}

Json Lines::range(SourceRange where) const {
    return {{"start", position(where.begin)}, {"end", position(where.end)}};
}

std::uint32_t Lines::offset(const Json& position) const {
    const auto line = count_in(position, "line");
    const auto character = count_in(position, "character");
    const auto size = static_cast<std::uint32_t>(text_.size());
    if (line >= starts_.size()) return size;
    std::uint32_t at = starts_[line];
    for (std::uint32_t passed = 0; at < size && text_[at] != '\n' && text_[at] != '\r';) {
        const std::uint32_t bytes = character_bytes(static_cast<unsigned char>(text_[at]));
        passed += character_units(bytes, encoding_);
        if (passed > character) break;
        at = std::min(at + bytes, size);
    }
    return at;
}

SourceRange Lines::offsets(const Json& range) const {
    const std::uint32_t begin = offset(range.at("start"));
    return {begin, std::max(begin, offset(range.at("end")))};
}

}  // namespace halo::lsp
