#include "compiler/driver/console/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace halo::driver {

namespace {

std::string repeat(std::string_view text, int count) {
    std::string result;
    for (int i = 0; i < count; ++i)
        result += text;
    return result;
}

// Three significant digits without an exponent: 312, 31.2, 3.12, 0.00312.
std::string three_digits(double value) {
    if (value <= 0 || !std::isfinite(value)) return "0";
    int decimals = std::clamp(2 - static_cast<int>(std::floor(std::log10(value))), 0, 9);
    return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

std::string format_rate(double cells_per_second) {
    return three_digits(cells_per_second / 1e9) + " GStencil/s";
}

std::string format_seconds(double seconds) {
    if (seconds < 0.9995) return fmt::format("{} ms", three_digits(seconds * 1e3));
    if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
    auto whole = static_cast<std::int64_t>(std::llround(std::min(seconds, 1e15)));
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string format_step_time(double seconds) {
    return seconds < 0.9995e-3 ? three_digits(seconds * 1e6) + " µs" : format_seconds(seconds);
}

std::string format_bytes(double bytes) {
    constexpr std::array<const char*, 6> units{"B", "kB", "MB", "GB", "TB", "PB"};
    std::size_t unit = 0;
    while (bytes >= 999.5 && unit + 1 < units.size()) {
        bytes /= 1000;
        ++unit;
    }
    if (unit == 0) return fmt::format("{} B", std::llround(bytes));
    return fmt::format("{} {}", three_digits(bytes), units[unit]);
}

Progress::Progress(const Console& console, std::string name, std::int64_t cells, std::int64_t steps,
                   std::int64_t before)
    : console_(console),
      status_(console),
      name_(std::move(name)),
      cells_(cells),
      steps_(steps),
      before_(before),
      start_(Clock::now()) {}

void Progress::update(std::int64_t steps_done) {
    done_ = steps_done;
    if (!status_.due()) return;
    constexpr int kRoomForBar = 61;
    const bool with_bar = console_.error_is_terminal() && console_.width() >= kRoomForBar;
    status_.show(line(std::chrono::duration<double>(Clock::now() - start_).count(), with_bar));
}

void Progress::clear() {
    status_.clear();
}

std::string Progress::line(double seconds, bool with_bar) const {
    double share = steps_ > 0 ? static_cast<double>(done_) / static_cast<double>(steps_) : 1;
    std::string bar;
    if (with_bar) {
        constexpr int kBar = 20;
        int full = std::clamp(static_cast<int>(share * kBar), 0, kBar);
        bar = console_.utf8() ? repeat("━", full) + repeat("─", kBar - full)
                              : repeat("#", full) + repeat("-", kBar - full);
        bar += ' ';
    }
    const auto here = static_cast<double>(done_ - before_);
    std::string left =
        here > 0 ? format_seconds(seconds * static_cast<double>(steps_ - done_) / here) + " left" : "";
    double rate = seconds > 0 ? static_cast<double>(cells_) * here / seconds : 0;
    return fmt::format("{} {:3.0f} % {}{} of {} steps  {}  {}", name_, std::floor(share * 100), bar, done_,
                       steps_, format_rate(rate), left);
}

}  // namespace halo::driver
