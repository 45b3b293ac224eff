#include "compiler/driver/live/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

namespace halo::driver::live {

namespace {

// Cuts off what stands before `end`, and that itself; all where there is none.
std::string_view cut_until(std::string_view& text, std::string_view end) {
    const std::size_t at = text.find(end);
    const std::string_view word = text.substr(0, at);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
    return word;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
        text.remove_suffix(1);
    return text;
}

std::string lower_case(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return lower;
}

template <class Number>
std::optional<Number> whole_number(std::string_view text, int base) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

HttpResponse bad_request(const std::string& why) {
    return {400, "text/plain; charset=utf-8", why + "\n"};
}

bool take_query(std::string_view text, std::map<std::string, std::string>& query) {
    while (!text.empty()) {
        std::string_view value = cut_until(text, "&");
        const std::string_view name = cut_until(value, "=");
        const std::optional<std::string> decoded_name = decode_url(name), decoded_value = decode_url(value);
        if (!decoded_name || !decoded_value) return false;
        query[*decoded_name] = *decoded_value;
    }
    return true;
}

const char* reason(int status) {
    switch (status) {
        case 200:
            return "OK";
        case 400:
            return "Bad Request";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 408:
            return "Request Timeout";
        case 413:
            return "Content Too Large";
        case 431:
            return "Request Header Fields Too Large";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        default:
            return "Service Unavailable";
    }
}

}  // namespace

std::optional<std::string> decode_url(std::string_view text) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i] == '+' ? ' ' : text[i];
            continue;
        }
        const std::optional<std::uint8_t> byte = whole_number<std::uint8_t>(text.substr(i + 1, 2), 16);
        if (!byte || i + 2 >= text.size()) return std::nullopt;
        decoded += static_cast<char>(*byte);
        i += 2;
    }
    return decoded;
}

std::variant<HttpRequest, HttpResponse> parse_head(std::string_view head) {
    if (head.size() > kLargestHead)
        return HttpResponse{431, "text/plain; charset=utf-8", "too many headers\n"};
    std::string_view line = cut_until(head, "\r\n");
    HttpRequest request;
    request.method = cut_until(line, " ");
    std::string_view target = cut_until(line, " ");
    if (request.method.empty() || !target.starts_with('/') || !line.starts_with("HTTP/1."))
        return bad_request("this is no request of HTTP/1.1");
    if (request.method != "GET" && request.method != "POST")
        return HttpResponse{405, "text/plain; charset=utf-8", "only GET and POST are answered\n"};
    const std::optional<std::string> path = decode_url(cut_until(target, "?"));
    if (!path || !take_query(target, request.query)) return bad_request("the address is not well formed");
    request.path = *path;
    bool has_host = false;
    while (!head.empty()) {
        std::string_view value = cut_until(head, "\r\n");
        if (value.find(':') == std::string_view::npos) return bad_request("a header without a colon");
        const std::string name = lower_case(cut_until(value, ":"));
        value = trimmed(value);
        if (name == "host") {
            if (std::exchange(has_host, true)) return bad_request("two Host headers");
            request.host = value;
        } else if (name == "origin") {
            request.origin = value;
        } else if (name == "transfer-encoding") {
            return HttpResponse{501, "text/plain; charset=utf-8", "a body is sent with its length\n"};
        } else if (name == "content-length") {
            const std::optional<std::size_t> length = whole_number<std::size_t>(value, 10);
            if (!length) return bad_request("Content-Length is no number");
            if (*length > kLargestBody)
                return HttpResponse{413, "text/plain; charset=utf-8", "the body is too long\n"};
            request.length = *length;
        }
    }
    return request;
}

std::string to_bytes(const HttpResponse& response) {
    return fmt::format(
               "HTTP/1.1 {} {}\r\n"
               "Content-Type: {}\r\n"
               "Content-Length: {}\r\n"
               "Connection: close\r\n"
               "Cache-Control: no-store\r\n"
               "Referrer-Policy: no-referrer\r\n"
               "X-Content-Type-Options: nosniff\r\n"
               "X-Frame-Options: DENY\r\n"
               "Cross-Origin-Resource-Policy: same-origin\r\n"
               "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src "
               "'unsafe-inline'; connect-src 'self'; img-src 'self' data:; form-action 'none'; base-uri "
               "'none'; frame-ancestors 'none'\r\n"
               "\r\n",
               response.status, reason(response.status), response.type, response.body.size()) +
           response.body;
}

}  // namespace halo::driver::live
