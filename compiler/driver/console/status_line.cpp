#include "compiler/driver/console/status_line.h"

#include <algorithm>
#include <cstdio>

namespace halo::driver {

namespace {

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kPlainLine{5};

}  // namespace

StatusLine::StatusLine(const Console& console) : console_(console), shown_(Clock::now()) {}

StatusLine::~StatusLine() {
    clear();
}

bool StatusLine::due() const {
    if (console_.quiet()) return false;
    return Clock::now() - shown_ >=
           (console_.error_is_terminal() ? Clock::duration(kRedraw) : Clock::duration(kPlainLine));
}

void StatusLine::show(const std::string& text) {
    if (!due()) return;
    shown_ = Clock::now();
    if (!console_.error_is_terminal()) return console_.message(text);
    const int room = console_.width() - 1;  // the last column makes some terminals wrap
    int columns = 0;
    std::string fitting;
    for (std::size_t i = 0; i < text.size() && columns < room; ++i) {
        std::size_t end = i + 1;
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
            ++end;
        fitting += text.substr(i, end - i);
        i = end - 1;
        ++columns;
    }
    fitting += std::string(
        static_cast<std::size_t>(std::clamp(columns_ - columns, 0, std::max(0, room - columns))), ' ');
    std::fprintf(stderr, "\r%s", fitting.c_str());
    std::fflush(stderr);
    columns_ = columns;
}

void StatusLine::clear() {
    if (columns_ == 0) return;
    const int columns = std::min(columns_, console_.width() - 1);
    std::fprintf(stderr, "\r%s\r", std::string(static_cast<std::size_t>(std::max(0, columns)), ' ').c_str());
    std::fflush(stderr);
    columns_ = 0;
}

}  // namespace halo::driver
