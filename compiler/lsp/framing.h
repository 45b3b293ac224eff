// Messages on a stream of bytes: a header with "Content-Length: N", an empty line, N bytes of JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace halo::lsp {

class MessageReader {
public:
    static constexpr std::size_t kMaxBytes = 64u << 20;  // of a message
    static constexpr std::size_t kMaxHeader = 64u << 10;

    struct Message {
        std::string text;
        std::string trouble;  // why there is none: the header cannot be read
    };

    void feed(std::string_view bytes) { bytes_ += bytes; }
    // The next message that is there as a whole. A header that cannot be read is left out, with its trouble.
    std::optional<Message> next();
    // What comes cannot be told apart any more: a message too long, or a header without an end.
    bool is_lost() const { return is_lost_; }

private:
    std::string bytes_;
    bool is_lost_ = false;
};

std::string framed(const std::string& text);

}  // namespace halo::lsp
