// Kinds of options that several commands have.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace halo::driver {

// An option that can be given many times, one value each, so that it never swallows a following argument.
CLI::Option* repeatable(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                        const std::string& description);

void modules(CLI::App& command, std::vector<std::string>& folders);  // -I

}  // namespace halo::driver
