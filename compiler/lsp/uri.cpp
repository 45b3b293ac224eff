#include "compiler/lsp/uri.h"

#include <cctype>
#include <charconv>
#include <filesystem>

namespace halo::lsp {

namespace {

constexpr std::string_view kScheme = "file://";

}  // namespace

std::string path_of(std::string_view uri) {
    if (!uri.starts_with(kScheme)) return {};
    uri.remove_prefix(kScheme.size());
    uri.remove_prefix(std::min(uri.find('/'), uri.size()));  // file://localhost/…
    std::string path;
    for (std::size_t i = 0; i < uri.size(); ++i) {
        unsigned int byte = 0;
        const char* const digits = uri.data() + i + 1;
        const bool is_escape = uri[i] == '%' && i + 2 < uri.size() &&
                               std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
        path += is_escape ? static_cast<char>(byte) : uri[i];
        if (is_escape) i += 2;
    }
    return std::filesystem::path(path).lexically_normal().string();
}

std::string uri_of(std::string_view path) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string uri(kScheme);
    for (const char c : path) {
        const auto byte = static_cast<unsigned char>(c);
        const bool is_plain = byte < 0x80 && (std::isalnum(byte) != 0 ||
                                              std::string_view("/-._~").find(c) != std::string_view::npos);
        if (is_plain) {
            uri += c;
        } else {
            uri += '%';
            uri += kDigits[byte >> 4];
            uri += kDigits[byte & 15];
        }
    }
    return uri;
}

}  // namespace halo::lsp
