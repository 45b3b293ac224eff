#include "compiler/driver/command/validators.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <system_error>

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/spec/constant.h"

namespace halo::driver {

namespace {

std::string mistake_above_zero(const std::string& text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    const bool is_number = error == std::errc() && stop == end && std::isfinite(number);
    return is_number && number > 0 ? "" : "`" + text + "` is no number above 0";
}

// The option parser would take what is too large for the largest number that there is.
template <class Number>
std::errc parse_whole(const std::string& text, Number& number) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc()) return error;
    return stop == end ? error : std::errc::invalid_argument;
}

// Numbers of steps may be written as in a spec: 1e3, 20*50. They are put in digits.
std::string take_step_count(std::string& text) {
    std::int64_t steps = 0;
    constexpr double kMostExact = 9007199254740992;  // 2^53
    std::errc error = parse_whole(text, steps);
    if (error == std::errc::invalid_argument) {
        const Constant constant = read_constant(text);
        if (constant.value && *constant.value == std::trunc(*constant.value) &&
            std::fabs(*constant.value) <= kMostExact) {
            steps = static_cast<std::int64_t>(*constant.value);
            error = std::errc();
            if (steps >= 0) text = std::to_string(steps);
        }
    }
    if (error == std::errc::result_out_of_range && !text.starts_with('-'))
        return "`" + text + "` steps are more than can be counted (9223372036854775807)";
    if (error == std::errc() && steps >= 0) return "";
    return "`" + text + "` is no number of steps; for example --steps 1000";
}

std::string mistake_whole_number(const std::string& text) {
    std::uint64_t number = 0;
    return parse_whole(text, number) == std::errc() ? "" : "`" + text + "` is no whole number from 0 on";
}

}  // namespace

CLI::Validator above_zero() {
    return {mistake_above_zero, "POSITIVE"};
}

CLI::Validator step_count() {
    return {take_step_count, ""};
}

CLI::Validator natural_number() {
    return {mistake_whole_number, ""};
}

void refuse_empty_values(const CLI::App& command, const std::string& hint) {
    for (const CLI::Option* option : command.get_options()) {
        const bool takes_values = option->get_expected_max() > 0 && option->get_name() != "ARGUMENTS";
        if (takes_values && std::ranges::count(option->results(), std::string()) > 0)
            refuse_usage(option->get_name() + ": the value is empty", hint);
    }
}

}  // namespace halo::driver
