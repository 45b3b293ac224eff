// Numbers and lists as they stand in messages.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace halo::schedule {

std::string grouped(std::int64_t number);                           // 262144 -> "262,144"
std::string lengths(const std::array<int, 3>& values, int rank);    // {32, 4, 1}, rank 2 -> "32x4"
std::string counted(std::int64_t number, const std::string& noun);  // "1 block", "2 blocks"

}  // namespace halo::schedule
