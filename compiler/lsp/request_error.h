// Answers of requests that cannot be done.
#pragma once

#include <stdexcept>
#include <string>

namespace halo::lsp {

// A request that gets an error for an answer.
class RequestError : public std::runtime_error {
public:
    RequestError(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
    int code() const { return code_; }

private:
    int code_;
};
inline constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
                     kInvalidParams = -32602, kInternalError = -32603, kNotInitialized = -32002,
                     kRequestFailed = -32803, kRequestCancelled = -32800;

}  // namespace halo::lsp
