// Data to measure with: random, and the same in every run on every machine. Numbers with few digits or many
// zeros would save power, and so time, on some machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace halo::bench {

// Within [0, 1), a multiple of 2^-24, so that it is the same number in f32 and f64.
double random_number(std::uint64_t seed, std::uint64_t index);

// Memory on the host that is not cleared first; it only grows.
class HostBuffer {
public:
    std::byte* resize(std::size_t bytes);
    std::byte* data() const { return data_.get(); }

private:
    std::unique_ptr<std::byte[]> data_;
    std::size_t capacity_ = 0;
};

// `count` random numbers as f32 or f64, by all processors.
void fill_random(std::byte* to, std::int64_t count, const std::string& type, std::uint64_t seed);

// The first byte in which the two differ; -1 where they are equal. By all processors.
std::int64_t first_difference(const std::byte* a, const std::byte* b, std::int64_t bytes);

}  // namespace halo::bench
