// The part of HTTP/1.1 that the page of a run needs: a request and an answer on each connection, without a
// network. What is not of that part is refused rather than guessed.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace halo::driver::live {

struct HttpRequest {
    std::string method;                             // GET, POST
    std::string path;                               // /token/frame, decoded
    std::map<std::string, std::string> query = {};  // what follows `?`, decoded
    std::string host, origin;                       // of these headers; empty where they are missing
    std::size_t length = 0;                         // of the body, in bytes
    std::string body = {};
};

struct HttpResponse {
    int status = 200;
    std::string type = "text/plain; charset=utf-8";
    std::string body;
};

inline constexpr std::size_t kLargestHead = 8192, kLargestBody = 4096;  // bytes

// Reads the lines before the body, without the empty one at their end: the request without its body, or the
// answer that refuses it.
std::variant<HttpRequest, HttpResponse> parse_head(std::string_view head);

// The bytes of an answer. Pages of other origins can neither read nor embed it, and no cache keeps it.
std::string to_bytes(const HttpResponse& response);

// %41 → A, and + → a blank; nullopt where the text is not so written.
std::optional<std::string> decode_url(std::string_view text);

}  // namespace halo::driver::live
