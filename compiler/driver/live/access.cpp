#include "compiler/driver/live/access.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "runtime/core/error.h"

namespace halo::driver::live {

namespace {

// Takes the same time wherever the texts differ, so that an answer's time tells nothing of the token.
bool are_equal(std::string_view one, std::string_view other) {
    if (one.size() != other.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < one.size(); ++i)
        difference |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
    return difference == 0;
}

// A name that some page has given the loopback address (DNS rebinding) is none of these. The port may be
// another: that of a tunnel.
bool is_loopback(std::string_view host) {
    const std::string_view name = host.substr(0, host.rfind(':'));
    return name == "127.0.0.1" || name == "localhost";
}

}  // namespace

std::string random_token() {
    std::array<std::uint8_t, 16> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        throw rt::Error(rt::ErrorCode::internal, "the operating system gives no random numbers");
    std::string token;
    for (const std::uint8_t byte : bytes)
        token += fmt::format("{:02x}", byte);
    return token;
}

std::optional<HttpResponse> Access::refuse(HttpRequest& request) const {
    const auto forbidden = [](const std::string& why) {
        return HttpResponse{403, "text/plain; charset=utf-8", why + "\n"};
    };
    if (!is_loopback(request.host))
        return forbidden(
            "this page is for 127.0.0.1 and localhost alone; of another machine, through a tunnel");
    if (!request.origin.empty() && request.origin != "http://" + request.host)
        return forbidden("this is asked for by a page of another origin");
    const std::string_view path = request.path;
    const std::size_t end = path.find('/', 1);
    const std::string_view given = path.substr(1, end == std::string_view::npos ? end : end - 1);
    if (!are_equal(given, token_))
        return forbidden("this is not the address of the page: the command prints it, with its token");
    request.path = end == std::string_view::npos ? "" : std::string(path.substr(end));
    return std::nullopt;
}

}  // namespace halo::driver::live
