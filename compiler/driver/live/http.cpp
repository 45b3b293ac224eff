#include "compiler/driver/live/http.h"

#include <charconv>
#include <cstdint>
#include <utility>

namespace halo::driver::live {

namespace {

// Cuts off what stands before `end`, and that itself; all where there is none.
std::string_view cut_until(std::string_view& text, char end) {
    const std::size_t at = text.find(end);
    const std::string_view word = text.substr(0, at);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
    return word;
}

}  // namespace

std::optional<std::string> decode_url(std::string_view text) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i] == '+' ? ' ' : text[i];
            continue;
        }
        const std::string_view digits = text.substr(i + 1, 2);
        const char* const past = digits.data() + digits.size();
        std::uint8_t byte = 0;
        const auto [end, error] = std::from_chars(digits.data(), past, byte, 16);
        if (digits.size() != 2 || error != std::errc() || end != past) return std::nullopt;
        decoded += static_cast<char>(byte);
        i += 2;
    }
    return decoded;
}

bool take_target(std::string_view target, HttpRequest& request) {
    std::optional<std::string> path = decode_url(cut_until(target, '?'));
    if (!path || !path->starts_with('/')) return false;
    request.path = std::move(*path);
    while (!target.empty()) {
        std::string_view value = cut_until(target, '&');
        const std::optional<std::string> name = decode_url(cut_until(value, '='));
        std::optional<std::string> decoded = decode_url(value);
        if (!name || !decoded) return false;
        request.query[*name] = std::move(*decoded);
    }
    return true;
}

}  // namespace halo::driver::live
