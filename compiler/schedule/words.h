// Numbers and lists as they stand in messages.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace halo::schedule {

std::string grouped(std::int64_t number);                           // 262144 -> "262,144"
std::string lengths(const rt::Lengths& values, int rank);           // {32, 4, 1}, rank 2 -> "32x4"
std::string counted(std::int64_t number, const std::string& noun);  // "1 block", "2 blocks"

bool is_space(char c);  // between the words of a schedule
// Where the next word of a schedule's text begins, from `at` on: behind spaces and comments.
std::size_t skip_space(std::string_view text, std::size_t at);

}  // namespace halo::schedule
