#include "compiler/driver/console/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "compiler/driver/console/exit_code.h"

namespace halo::driver {

namespace {

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

// A terminal that can move its cursor.
bool is_terminal(int descriptor) {
    return isatty(descriptor) != 0 && environment("TERM") != "dumb";
}

bool locale_is_utf8() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        std::string_view value = environment(name);
        if (value.empty()) continue;
        return value.find("UTF-8") != std::string_view::npos || value.find("utf8") != std::string_view::npos;
    }
    return false;
}

const char* escape(Tone tone) {
    switch (tone) {
        case Tone::plain:
            return "";
        case Tone::strong:
            return "\x1b[1m";
        case Tone::good:
            return "\x1b[32m";
        case Tone::warning:
            return "\x1b[1;35m";
        case Tone::error:
            return "\x1b[1;31m";
        case Tone::faint:
            return "\x1b[2m";
    }
    return "";
}

void write_all(std::FILE* stream, std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stream);
    std::fflush(stream);
}

}  // namespace

Console::Console()
    : error_is_terminal_(is_terminal(STDERR_FILENO)),
      error_has_colour_(error_is_terminal_ && environment("NO_COLOR").empty()),
      output_has_colour_(is_terminal(STDOUT_FILENO) && environment("NO_COLOR").empty()),
      utf8_(locale_is_utf8()) {}

void Console::result(std::string_view text) const {
    if (silent_) return;
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
        throw CommandError(ExitCode::file, "standard output cannot be written (is the disk full?)");
    }
}

void Console::message(std::string_view line) const {
    if (quiet()) return;
    write_all(stderr, std::string(line) + '\n');
}

void Console::warning(std::string_view line) const {
    if (silent_) return;
    write_all(stderr, paint("warning:", Tone::warning, error_has_colour_) + ' ' + std::string(line) + '\n');
}

void Console::error(std::string_view line, std::string_view hint) const {
    if (silent_) return;
    std::string text = paint("error:", Tone::error, error_has_colour_) + ' ' + std::string(line) + '\n';
    if (!hint.empty()) text += "  " + std::string(hint) + '\n';
    write_all(stderr, text);
}

int Console::width() const {
    winsize size{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

std::string Console::paint(std::string_view text, Tone tone, bool colour) const {
    if (!colour || tone == Tone::plain) return std::string(text);
    return escape(tone) + std::string(text) + "\x1b[0m";
}

}  // namespace halo::driver
