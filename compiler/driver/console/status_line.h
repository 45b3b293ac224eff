// A line about work under way. On a terminal: redrawn, at most ten times a second and never wider than the
// terminal. Elsewhere: a plain line every few seconds. Nothing when the console is quiet.
#pragma once

#include <chrono>
#include <string>

#include "compiler/driver/console/console.h"

namespace halo::driver {

class StatusLine {
public:
    explicit StatusLine(const Console& console);
    ~StatusLine();
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;

    bool due() const;                    // show() would show something now
    void show(const std::string& text);  // where it is due
    void clear();                        // takes the line off the terminal, so that messages can be written

private:
    using Clock = std::chrono::steady_clock;

    const Console& console_;
    Clock::time_point shown_;
    int columns_ = 0;
};

}  // namespace halo::driver
