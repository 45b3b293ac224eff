// Where the command's words go. Results go to standard output; messages and progress go to standard error, so
// that `haloc … | tool` and `haloc … > file` get results alone. Escape sequences are used on terminals only,
// and colours not where NO_COLOR is set (https://no-color.org).
#pragma once

#include <string>
#include <string_view>

namespace halo::driver {

enum class Tone { plain, strong, good, warning, error, faint };

class Console {
public:
    Console();

    void set_quiet(bool quiet) { quiet_ = quiet; }
    bool quiet() const { return quiet_ || silent_; }
    // No words at all: another process of the same run says them.
    void set_silent(bool silent) { silent_ = silent; }
    bool silent() const { return silent_; }

    void result(std::string_view text) const;   // to standard output, as it is
    void message(std::string_view line) const;  // a line to standard error; not when quiet
    void warning(std::string_view line) const;  // "warning: …", also when quiet
    void error(std::string_view line,
               std::string_view hint = {}) const;  // "error: …" and a line with the hint

    bool error_is_terminal() const { return error_is_terminal_; }
    bool error_has_colour() const { return error_has_colour_; }
    bool output_has_colour() const { return output_has_colour_; }
    bool utf8() const { return utf8_; }
    int width() const;  // columns of the terminal at standard error, 80 where it does not say

    std::string paint(std::string_view text, Tone tone, bool colour) const;

private:
    bool quiet_ = false;
    bool silent_ = false;
    bool error_is_terminal_;
    bool error_has_colour_;
    bool output_has_colour_;
    bool utf8_;
};

}  // namespace halo::driver
