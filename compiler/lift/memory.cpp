#include "compiler/lift/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>

namespace halo::lift {

using c::Number;

SharedMemory::SharedMemory(std::size_t bytes) : size_(bytes) {
    void* found =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<char*>(found);
}
SharedMemory::~SharedMemory() {
    ::munmap(begin_, size_);
}
void* SharedMemory::take(std::size_t bytes) {
    const std::size_t at = (used_ + 63) / 64 * 64;
    if (at + bytes > size_) throw std::bad_alloc();
    used_ = at + bytes;
    return begin_ + at;
}

std::size_t bytes_of(Number type) {
    switch (type) {
        case Number::boolean:
        case Number::i8:
        case Number::u8:
            return 1;
        case Number::i16:
        case Number::u16:
            return 2;
        case Number::i32:
        case Number::u32:
        case Number::f32:
            return 4;
        default:
            return 8;
    }
}

namespace {

template <class T>
double get(const void* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
}
template <class T>
void put(void* at, double value) {
    const T stored = static_cast<T>(value);
    std::memcpy(at, &stored, sizeof stored);
}

}  // namespace

double read_number(const void* at, Number type) {
    switch (type) {
        case Number::boolean:
        case Number::u8:
            return get<std::uint8_t>(at);
        case Number::i8:
            return get<std::int8_t>(at);
        case Number::i16:
            return get<std::int16_t>(at);
        case Number::u16:
            return get<std::uint16_t>(at);
        case Number::i32:
            return get<std::int32_t>(at);
        case Number::u32:
            return get<std::uint32_t>(at);
        case Number::i64:
        case Number::u64:
            return get<std::int64_t>(at);
        case Number::f32:
            return get<float>(at);
        default:
            return get<double>(at);
    }
}

void write_number(void* at, Number type, double value) {
    switch (type) {
        case Number::boolean:
        case Number::u8:
            return put<std::uint8_t>(at, value);
        case Number::i8:
            return put<std::int8_t>(at, value);
        case Number::i16:
            return put<std::int16_t>(at, value);
        case Number::u16:
            return put<std::uint16_t>(at, value);
        case Number::i32:
            return put<std::int32_t>(at, value);
        case Number::u32:
            return put<std::uint32_t>(at, value);
        case Number::i64:
        case Number::u64:
            return put<std::int64_t>(at, value);
        case Number::f32:
            return put<float>(at, value);
        default:
            return put<double>(at, value);
    }
}

double ulps_apart(double a, double b, Number type) {
    if (std::isnan(a) && std::isnan(b)) return 0;
    if (std::isnan(a) || std::isnan(b)) return INFINITY;
    if (!c::is_real(type)) return std::abs(a - b);
    // The two zeros are neighbours: 1 divided by them shows which one it is.
    if (type == Number::f32) {
        const auto place = [](double value) {
            const auto bits = std::bit_cast<std::int32_t>(static_cast<float>(value));
            return static_cast<double>(bits < 0 ? -(bits & 0x7fffffff) - 1 : bits);
        };
        return std::abs(place(a) - place(b));
    }
    const auto place = [](double value) {
        const auto bits = std::bit_cast<std::int64_t>(value);
        return bits < 0 ? -(bits & 0x7fffffffffffffff) - 1 : bits;
    };
    // As whole numbers, as two neighbours may be one double.
    const std::int64_t low = std::min(place(a), place(b)), high = std::max(place(a), place(b));
    return static_cast<double>(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
}

Blocks::Blocks(SharedMemory& memory, Number type, const std::vector<std::int64_t>& sizes)
    : type_(type), sizes_(sizes), top_(make(memory, 0)) {}

void* Blocks::make(SharedMemory& memory, std::size_t level) {
    const auto size = static_cast<std::size_t>(sizes_[level]);
    if (level + 1 == sizes_.size()) return memory.take(size * bytes_of(type_));
    void** table = static_cast<void**>(memory.take(size * sizeof(void*)));
    for (std::size_t i = 0; i < size; ++i)
        table[i] = make(memory, level + 1);
    return table;
}

void* Blocks::at(const std::vector<std::int64_t>& offsets) const {
    void* block = top_;
    for (std::size_t level = 0; level + 1 < sizes_.size(); ++level)
        block = static_cast<void**>(block)[offsets[level]];
    return static_cast<char*>(block) + static_cast<std::size_t>(offsets.back()) * bytes_of(type_);
}

void* Blocks::elements(std::size_t& bytes) const {
    bytes = static_cast<std::size_t>(sizes_.back()) * bytes_of(type_);
    return top_;
}

}  // namespace halo::lift
