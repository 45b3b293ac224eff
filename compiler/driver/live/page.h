// The page: one file, with its style and its script.
#pragma once

#include <string>

namespace halo::driver::live {

std::string page_text();

}  // namespace halo::driver::live
