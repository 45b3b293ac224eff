// A number of the command line, written as in a spec: 0.1, 1/63, 0.1*2, sqrt(2)/2.
#pragma once

#include <optional>
#include <string>

namespace halo::driver {

struct Constant {
    std::optional<double> value;
    std::string trouble;  // why there is none
};
Constant read_constant(const std::string& text);

// Throws CommandError (usage), where `what` ("--set dt") says whose value it is.
double constant_value(const std::string& text, const std::string& what);

}  // namespace halo::driver
