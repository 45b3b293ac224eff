#pragma once

#include <string>
#include <vector>

namespace halo::rt {

// Names in a folder but "." and "..", in no order; none where there is no such folder. Throws Error (io)
// where it cannot be read. (An iterator of std::filesystem ends the process where it has no memory.)
std::vector<std::string> names_in(const std::string& folder);

}  // namespace halo::rt
