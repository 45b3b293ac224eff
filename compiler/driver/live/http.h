// What the page asks and what it is answered, without a network.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace halo::driver::live {

struct HttpRequest {
    std::string method;                             // GET, POST
    std::string path;                               // /token/frame, decoded
    std::map<std::string, std::string> query = {};  // what follows `?`, decoded
    std::string host, origin;                       // of these headers; empty where they are missing
    std::string body = {};
};

struct HttpResponse {
    int status = 200;
    std::string type = "text/plain; charset=utf-8";
    std::string body;
};

// Takes the path and the query of "/token/frame?field=u"; false where it is not well formed.
bool take_target(std::string_view target, HttpRequest& request);

// %41 → A, and + → a blank; nullopt where the text is not so written.
std::optional<std::string> decode_url(std::string_view text);

}  // namespace halo::driver::live
