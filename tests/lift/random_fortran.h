// A generator of procedures of Fortran, for tests that compare what they are lifted to with what they
// compute.
#pragma once

#include <string>

namespace halo::test {

// A module with the subroutine `made`, which stays within its arrays whatever its sizes are.
std::string random_fortran(unsigned seed);

}  // namespace halo::test
