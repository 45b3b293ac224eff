// Text with scoped indentation: what every printer of the project writes through.
//
//   Writer out;
//   out.line("for (int k = 0; k < {}; ++k) {{", planes);
//   {
//       auto body = out.indent();
//       out.line("step(k);");
//   }
//   out.line("}}");
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace halo {

class Writer {
public:
    explicit Writer(int indent_width = 4) : indent_width_(indent_width) {}

    // Indents what is written while it lives.
    class [[nodiscard]] Indent {
    public:
        explicit Indent(Writer& writer) : writer_(writer) { ++writer_.depth_; }
        ~Indent() { --writer_.depth_; }
        Indent(const Indent&) = delete;
        Indent& operator=(const Indent&) = delete;

    private:
        Writer& writer_;
    };
    Indent indent() { return Indent(*this); }

    // Appends to the current line. Newlines within the text start lines that are indented, too; an empty line
    // is left without trailing spaces.
    void text(std::string_view text);
    template <class... Arguments>
    void write(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        text(fmt::format(format, std::forward<Arguments>(arguments)...));
    }

    // A whole line; ends the current one first where it has text.
    template <class... Arguments>
    void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        if (!at_line_start()) end_line();
        text(fmt::format(format, std::forward<Arguments>(arguments)...));
        end_line();
    }
    void end_line();
    void blank_line();  // at most one in a row, and none at the start

    bool at_line_start() const { return out_.empty() || out_.back() == '\n'; }
    const std::string& str() const { return out_; }
    std::string take() { return std::move(out_); }

private:
    int indent_width_;
    int depth_ = 0;
    std::string out_;
};

}  // namespace halo
