// Places in a text as the protocol counts them: lines from 0, and characters in the units of the encoding
// that server and client have agreed on.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/source.h"

namespace halo::lsp {

using Json = nlohmann::json;

enum class Encoding : std::uint8_t { utf8, utf16 };

// The lines of one text, which must outlive it. Lines end in "\n", "\r\n" or "\r".
class Lines {
public:
    Lines(std::string_view text, Encoding encoding);

    Json position(std::uint32_t offset) const;  // {"line", "character"}
    Json range(SourceRange where) const;        // {"start", "end"}
    std::uint32_t line_of(std::uint32_t offset) const;

    // The offset of a position. What lies behind the end of a line is that end, and what lies behind the last
    // line the end of the text; a position within a character is its beginning. Throws
    // RequestError or Json::exception where it is no position.
    std::uint32_t offset(const Json& position) const;
    SourceRange offsets(const Json& range) const;  // begin <= end

    // How many units of the encoding the text between two offsets has.
    std::uint32_t units(std::uint32_t begin, std::uint32_t end) const;

private:
    std::string_view text_;
    Encoding encoding_;
    std::vector<std::uint32_t> starts_;
};

}  // namespace halo::lsp
