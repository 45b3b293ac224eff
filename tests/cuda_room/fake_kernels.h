// The kernels that the fake driver has, as functions: the sizes of their parameters, and what all their
// threads do together. Part of fake_libcuda.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "fake_libcuda.h"

namespace fake_gpu {

inline FakeLibcuda state;

// What is not put into streams, while a thread that does not allow for it records one.
inline bool is_refused_beside_recordings() {
    constexpr int kRelaxed = 2;
    return !state.streams_recorded_by_caller.empty() && state.capture_mode != kRelaxed;
}
inline std::size_t last_blocks = 0;  // of the kernel that runs, along its first axis

struct Kernel {
    std::vector<std::size_t> sizes;
    std::function<void(void* const*)> run;
    int shared_bytes = 0;
};

template <class Value>
Value get(void* const* arguments, int index) {
    Value value;
    std::memcpy(&value, arguments[index], sizeof value);
    return value;
}

template <class Element>
void halo_layer(void* const* a) {
    const auto array = get<Element*>(a, 0);
    const auto destination = get<std::int64_t>(a, 1), source = get<std::int64_t>(a, 2);
    const auto value = get<Element>(a, 3);
    const bool constant = get<std::uint32_t>(a, 4) != 0;
    const auto row = get<std::int64_t>(a, 5), inner = get<std::int64_t>(a, 6);
    const auto inner_stride = get<std::int64_t>(a, 7), outer_stride = get<std::int64_t>(a, 8);
    for (std::int64_t i = 0; i < get<std::int64_t>(a, 9); ++i) {
        const std::int64_t unit = i / row;
        Element* base = array + unit % inner * inner_stride + unit / inner * outer_stride + i % row;
        base[destination] = constant ? value : base[source];
    }
}

template <class Element>
void compare_cells(void* const* a) {
    const auto first = get<const Element*>(a, 0), second = get<const Element*>(a, 1);
    const auto nx = get<std::int64_t>(a, 3), ny = get<std::int64_t>(a, 4);
    const auto counts = get<std::int64_t*>(a, 10);
    for (std::int64_t i = 0; i < get<std::int64_t>(a, 7); ++i) {
        const std::int64_t row = i / nx;
        const std::int64_t at = get<std::int64_t>(a, 2) + i % nx + row % ny * get<std::int64_t>(a, 5) +
                                row / ny * get<std::int64_t>(a, 6);
        counts[0] += first[at] != second[at] ? 1 : 0;
        counts[1] += (first[at] & get<std::uint64_t>(a, 8)) <= get<std::uint64_t>(a, 9) ? 1 : 0;
    }
}

template <class Element>
void find_not_finite(void* const* a) {
    const auto array = get<const Element*>(a, 0);
    const auto nx = get<std::int64_t>(a, 2), ny = get<std::int64_t>(a, 3), nz = get<std::int64_t>(a, 4);
    for (std::int64_t row = 0; row < ny * nz; ++row) {
        const Element* const first = array + get<std::int64_t>(a, 1) + row % ny * get<std::int64_t>(a, 5) +
                                     row / ny * get<std::int64_t>(a, 6);
        for (std::int64_t x = 0; x < nx; ++x)
            if ((first[x] & get<std::uint64_t>(a, 7)) >= get<std::uint64_t>(a, 8))
                *get<std::int64_t*>(a, 9) = 1;
    }
}

template <class Element>
void gather_cells(void* const* a) {
    const auto nx = get<std::int64_t>(a, 3), ny = get<std::int64_t>(a, 4), nz = get<std::int64_t>(a, 5);
    auto* to = get<Element*>(a, 0);
    for (std::int64_t row = 0; row < ny * nz; ++row)
        for (std::int64_t x = 0; x < nx; ++x)
            *to++ = get<const Element*>(
                a, 1)[get<std::int64_t>(a, 2) + x * get<std::int64_t>(a, 6) +
                      row % ny * get<std::int64_t>(a, 7) + row / ny * get<std::int64_t>(a, 8)];
}

enum class Finish { sum, min, max };
template <Finish kOp>
void finish_reductions(void* const* a) {
    const auto count = get<std::int64_t>(a, 1);
    for (std::int64_t row = 0; row < static_cast<std::int64_t>(last_blocks); ++row) {
        const double* const partials = get<const double*>(a, 0) + row * count;
        double result = kOp == Finish::sum ? 0 : kOp == Finish::max ? -INFINITY : INFINITY;
        for (std::int64_t i = 0; i < count; ++i) {
            const double next = partials[i];
            const bool keeps = std::isnan(result) || (kOp == Finish::max ? result > next : result < next);
            result = kOp == Finish::sum ? result + next : keeps ? result : next;
        }
        get<double*>(a, 2)[row] = result;
    }
}

// next, now, cells, rate: periodic along a line.
inline void heat_line(void* const* a) {
    const auto next = get<double*>(a, 0);
    const auto now = get<const double*>(a, 1);
    const auto n = get<std::int32_t>(a, 2);
    const auto rate = get<double>(a, 3);
    for (int x = 0; x < n; ++x)
        next[x] = now[x] + rate * (now[x - 1] - 2 * now[x] + now[x + 1]);
}

// Those of runtime/limits/kernels.cu.
inline void copy_limits(void* const* a, std::size_t bytes) {
    std::memset(get<void*>(a, 0), 0, bytes);
    if (!state.copies_are_wrong) std::memcpy(get<void*>(a, 0), get<const void*>(a, 1), bytes);
}
inline void copy_vectors(void* const* a) {
    copy_limits(a, static_cast<std::size_t>(get<std::int64_t>(a, 2)) * 16);
}
inline void copy_in_l2(void* const* a) {
    copy_limits(a, last_blocks * 256 * 4 * 16);
}
inline void grid_barriers(void* const* a) {
    *get<std::uint32_t*>(a, 1) = state.barriers_hang ? 1 : 0;
}

}  // namespace fake_gpu
