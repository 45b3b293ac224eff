// Who may ask: whoever knows the token of the run, from this machine. Other users of the machine and pages of
// other origins, which can reach the loopback address too, do not know it.
#pragma once

#include <optional>
#include <string>

#include "compiler/driver/live/http.h"

namespace halo::driver::live {

// 128 bits from the operating system, as 32 hexadecimal digits. Throws rt::Error where it has none.
std::string random_token();

class Access {
public:
    explicit Access(std::string token) : token_(std::move(token)) {}

    // The answer that refuses a request; nullopt where it may be answered. Then `path` is left without the
    // token: "/frame".
    std::optional<HttpResponse> refuse(HttpRequest& request) const;
    const std::string& token() const { return token_; }

private:
    std::string token_;
};

}  // namespace halo::driver::live
