// What options check that CLI11 has no good message for.
#pragma once

#include <CLI/CLI.hpp>

namespace halo::driver {

CLI::Validator above_zero();      // a finite number
CLI::Validator step_count();      // 0 or more; a transform: 1e3 becomes 1000
CLI::Validator natural_number();  // from 0 on, of 64 bits

// An empty text is no value, and must not be taken for an option that was not given. (Clang's arguments may
// be anything.) Throws CommandError.
void refuse_empty_values(const CLI::App& command, const std::string& hint);

}  // namespace halo::driver
