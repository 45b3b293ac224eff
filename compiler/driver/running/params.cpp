#include "compiler/driver/running/params.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/spec/constant.h"

namespace halo::driver {

double param_value(const ir::Param& param, const std::string& text, const std::string& what) {
    const double value = constant_value(text, what);
    if (param.is_integer() && value != std::nearbyint(value))
        refuse_usage(fmt::format("{}: {} is no whole number, and {} is an integer", what, text, param.name),
                     fmt::format("{}={:.0f}", what, value));
    if (param.is_integer() &&
        (value < static_cast<double>(param.least) || value > static_cast<double>(param.largest)))
        refuse_usage(fmt::format("{}: {} is not between {} and {}", what, text, param.least, param.largest));
    return value;
}

void set_param(RunRequest& request, const std::string& name, double value) {
    const auto known = std::ranges::find(request.params, name, &std::pair<std::string, double>::first);
    if (known == request.params.end())
        request.params.emplace_back(name, value);
    else
        known->second = value;
}

std::vector<double> param_values(const ir::Program& program, const RunRequest& request) {
    std::vector<double> values;
    for (const ir::Param& param : program.params) {
        const auto given =
            std::ranges::find(request.params, param.name, &std::pair<std::string, double>::first);
        values.push_back(given == request.params.end() ? param.default_value.value_or(0) : given->second);
    }
    return values;
}

}  // namespace halo::driver
