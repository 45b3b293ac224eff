// The memory that a random function runs in, and random arguments for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "random_function.h"

namespace halo::test {

struct Region {
    char* begin;
    char* end;
    CType type;
};

// What a run of a function may touch, with other bytes between the arrays.
struct Memory {
    std::vector<char> bytes = std::vector<char>(1 << 18);
    std::vector<Region> regions;
    std::size_t used = 0;

    char* take(std::size_t size, CType type) {
        used = (used + 63) / 64 * 64 + 128;
        char* begin = bytes.data() + used;
        used += size + 128;
        if (used > bytes.size()) throw std::bad_alloc();
        regions.push_back({begin, begin + size, type});
        return begin;
    }
    bool has(const void* at) const { return at >= bytes.data() && at < bytes.data() + bytes.size(); }
    // A cell of the array that the pointer points into, or of one that is none of these.
    bool allows(const char* base, const char* cell, std::size_t size) const {
        if (!has(base)) return true;
        return std::any_of(regions.begin(), regions.end(), [&](const Region& each) {
            return base >= each.begin && base < each.end && cell >= each.begin && cell + size <= each.end;
        });
    }
};

void write_value(char* at, CType type, double value);
double read_value(const char* at, CType type);

// Where two runs left other values; empty: nowhere. Values that are no numbers are alike; zeros of
// two signs are unless keeps_zeros.
std::string first_difference(const Memory& memory, const std::vector<char>& want,
                             const std::vector<char>& have, bool keeps_zeros);

// Values on both sides of what the function compares with: of each constant and each other argument; below
// zero, zero, one, large. Pointers without `restrict` may overlap, unless no_alias. The places of the
// arguments: of numbers, where they are; of arrays, their first cell.
std::vector<char*> random_arguments(const RandomFunction& function, bool no_alias, unsigned run,
                                    Memory& memory);

}  // namespace halo::test
