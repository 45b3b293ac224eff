// A spec's text and places in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halo {

// Half-open byte range [begin, end) of a SourceFile.
struct SourceRange {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    friend bool operator==(const SourceRange&, const SourceRange&) = default;
};

struct LineColumn {
    std::uint32_t line = 1;    // from 1
    std::uint32_t column = 1;  // from 1, in characters (UTF-8 code points)
};

class SourceFile {
public:
    SourceFile(std::string name, std::string text);
    const std::string& name() const { return name_; }
    std::string_view text() const { return text_; }
    std::string_view text(SourceRange range) const;
    LineColumn line_column(std::uint32_t offset) const;
    std::string_view line(std::uint32_t number) const;  // without its newline; number from 1

private:
    std::string name_;
    std::string text_;
    std::vector<std::uint32_t> line_starts_;
};

}  // namespace halo
