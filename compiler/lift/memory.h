// An array as a function sees it, for verify.cpp: cells in memory, behind pointers where the source has some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/lift/c_code.h"

namespace halo::lift {

// Memory that a child process shares.
class SharedMemory {
public:
    explicit SharedMemory(std::size_t bytes);
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    void* take(std::size_t bytes);  // aligned to 64. Throws std::bad_alloc

private:
    char* begin_;
    std::size_t size_, used_ = 0;
};

double read_number(const void* at, c::Number type);
void write_number(void* at, c::Number type, double value);  // rounded to the type
std::size_t bytes_of(c::Number type);
// Places between them: 0 where both are NaN, 1 from one zero to the other.
double ulps_apart(double a, double b, c::Number type);

// Elements of `sizes.back()`, behind tables of pointers of the sizes before it.
class Blocks {
public:
    Blocks(SharedMemory& memory, c::Number type, const std::vector<std::int64_t>& sizes);
    void* top() const { return top_; }
    void* at(const std::vector<std::int64_t>& offsets) const;  // one for each level
    void* elements(std::size_t& bytes) const;                  // of one level

private:
    void* make(SharedMemory& memory, std::size_t level);
    c::Number type_;
    std::vector<std::int64_t> sizes_;
    void* top_;
};

}  // namespace halo::lift
