#include "compiler/lsp/framing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace halo::lsp {

namespace {

bool is_length_field(std::string_view name) {
    constexpr std::string_view wanted = "content-length";
    return std::equal(name.begin(), name.end(), wanted.begin(), wanted.end(),
                      [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

// The number of Content-Length; nullopt where there is none that can be read.
std::optional<std::size_t> length_in(std::string_view header) {
    while (!header.empty()) {
        const std::size_t end = std::min(header.find("\r\n"), header.size());
        const std::string_view field = header.substr(0, end);
        const std::size_t colon = field.find(':');
        if (colon != std::string_view::npos && is_length_field(field.substr(0, colon))) {
            std::string_view digits = field.substr(colon + 1);
            while (!digits.empty() && digits.front() == ' ')
                digits.remove_prefix(1);
            std::size_t length = 0;
            const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
            if (error == std::errc() && rest == digits.data() + digits.size()) return length;
            return std::nullopt;
        }
        header.remove_prefix(std::min(end + 2, header.size()));
    }
    return std::nullopt;
}

}  // namespace

std::optional<MessageReader::Message> MessageReader::next() {
    constexpr std::string_view kEmptyLine = "\r\n\r\n";
    if (is_lost_) return std::nullopt;
    const std::size_t end = bytes_.find(kEmptyLine);
    if (end == std::string::npos) {
        if (bytes_.size() <= kMaxHeader) return std::nullopt;
        is_lost_ = true;
        return Message{"", "there is no end of the header"};
    }
    const std::size_t begin = end + kEmptyLine.size();
    const std::optional<std::size_t> length = length_in(std::string_view(bytes_).substr(0, end));
    if (!length) {
        bytes_.erase(0, begin);
        return Message{"", "the header has no Content-Length that can be read"};
    }
    if (*length > kMaxBytes) {
        is_lost_ = true;
        return Message{
            "", fmt::format("a message has {} bytes at most, and this one has {}", kMaxBytes, *length)};
    }
    if (bytes_.size() - begin < *length) return std::nullopt;
    Message message{bytes_.substr(begin, *length), ""};
    bytes_.erase(0, begin + *length);
    return message;
}

std::string framed(const std::string& text) {
    return fmt::format("Content-Length: {}\r\n\r\n{}", text.size(), text);
}

}  // namespace halo::lsp
