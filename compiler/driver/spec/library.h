// The modules that come with the compiler, from lib/: every spec finds them, wherever it lies.
#pragma once

#include <map>
#include <string>

namespace halo::driver {

// Their texts by name.
const std::map<std::string, std::string>& library_modules();

}  // namespace halo::driver
