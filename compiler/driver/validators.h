// What options check that CLI11 has no good message for.
#pragma once

#include <CLI/CLI.hpp>

namespace halo::driver {

CLI::Validator above_zero();  // a finite number
CLI::Validator step_count();  // 0 or more

}  // namespace halo::driver
