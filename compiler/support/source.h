// A spec's text and places in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halo {

// Half-open byte range [begin, end) of a SourceFile, within one of its parts.
struct SourceRange {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    friend bool operator==(const SourceRange&, const SourceRange&) = default;
};

struct LineColumn {
    std::uint32_t line = 1;    // from 1
    std::uint32_t column = 1;  // from 1, in characters (UTF-8 code points)
};

// A file and the modules that it uses, one after another, so that an offset tells both the file and the place
// in it.
class SourceFile {
public:
    SourceFile(std::string name, std::string text);

    // One more file, behind the others; the offset of its first byte. Views of text() do not survive it.
    std::uint32_t add(std::string name, const std::string& text);

    const std::string& name() const { return parts_.front().name; }
    const std::string& name(std::uint32_t offset) const { return part(offset).name; }
    std::vector<std::string> names() const;          // of all parts, in order
    std::string_view text() const { return text_; }  // of all parts
    std::string_view text(SourceRange range) const;
    std::uint32_t part_begin(std::uint32_t offset) const { return part(offset).begin; }

    // Of the part that the offset is in.
    LineColumn line_column(std::uint32_t offset) const;
    std::string_view line_at(std::uint32_t offset) const;  // without its newline

    std::string_view line(
        std::uint32_t number) const;  // of the first part, without its newline; number from 1

private:
    struct Part {
        std::string name;
        std::uint32_t begin = 0, end = 0;
        std::vector<std::uint32_t> line_starts;
    };
    const Part& part(std::uint32_t offset) const;
    std::string_view line(const Part& part, std::size_t number) const;

    std::vector<Part> parts_;
    std::string text_;
};

}  // namespace halo
