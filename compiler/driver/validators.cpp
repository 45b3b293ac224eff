#include "compiler/driver/validators.h"

#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

namespace halo::driver {

namespace {

std::string mistake_above_zero(const std::string& text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    const bool is_number = error == std::errc() && stop == end && std::isfinite(number);
    return is_number && number > 0 ? "" : "`" + text + "` is no number above 0";
}

std::string mistake_step_count(const std::string& text) {
    const bool is_count = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    return is_count ? "" : "`" + text + "` is no number of steps; for example --steps 1000";
}

}  // namespace

CLI::Validator above_zero() {
    return {mistake_above_zero, "POSITIVE"};
}

CLI::Validator step_count() {
    return {mistake_step_count, ""};
}

}  // namespace halo::driver
