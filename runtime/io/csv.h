// Rows of numbers in text: separated by commas, semicolons, tabs or spaces, one row a line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace halo::rt {

// The rows one after the other, `columns` numbers each. Empty lines, and what follows a `#`, are left out,
// and so is a first line that is no row of numbers (the columns' names). `what` names the destination in
// messages
// ("table atoms"). Throws Error with the file and the line: not there, another number of columns, no number.
std::vector<double> read_csv(const std::string& path, std::size_t columns, const std::string& what);

}  // namespace halo::rt
