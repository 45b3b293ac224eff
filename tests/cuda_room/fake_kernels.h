// The kernels that the fake driver has, as functions: the sizes of their parameters, and what all their
// threads do together; and which of them a module has. Part of fake_libcuda.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
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

// A launch, which copies its arguments now, as the driver does.
inline std::function<void()> launch_of(const Kernel* kernel, unsigned blocks_x, void** arguments) {
    std::vector<std::uint64_t> values(kernel->sizes.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        std::memcpy(&values[i], arguments[i], kernel->sizes[i]);
    return [kernel, values, blocks_x]() mutable {
        ++state.launches;
        last_blocks = blocks_x;
        std::vector<void*> pointers;
        for (auto& value : values)
            pointers.push_back(&value);
        kernel->run(pointers.data());
    };
}

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

// next, now, columns, rows, pitch, rate: each cell by itself.
inline void scale_rows(void* const* a) {
    const auto next = get<double*>(a, 0);
    const auto now = get<const double*>(a, 1);
    const auto pitch = get<std::int32_t>(a, 4);
    for (int y = 0; y < get<std::int32_t>(a, 3); ++y)
        for (int x = 0; x < get<std::int32_t>(a, 2); ++x)
            next[y * pitch + x] = get<double>(a, 5) * now[y * pitch + x];
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

struct FakeModule {
    std::map<std::string, Kernel> kernels;
    bool has_constants = false;
    bool has_all = false;  // every kernel, and they do nothing
};

// Of a kernel's functions, by the width of an element, the one that the text loads elements for.
using KernelFunction = void (*)(void* const*);
inline KernelFunction by_width(std::string_view code, KernelFunction of_8, KernelFunction of_16,
                               KernelFunction of_32, KernelFunction of_64) {
    const auto loads = [&](const char* type) { return code.find(type) != std::string_view::npos; };
    return loads("ld.global.u8 ")    ? of_8
           : loads("ld.global.u16 ") ? of_16
           : loads("ld.global.u32 ") ? of_32
                                     : of_64;
}

inline FakeModule* make_module(std::string_view code) {
    auto* module = new FakeModule;
    const bool is_compiled = code.starts_with(
        "\x7f"
        "ELF");
    if (is_compiled && std::getenv("HALO_FAKE_ALL_KERNELS") != nullptr) {
        module->has_all = true;
    } else if (code.find(".entry halo_layer") != std::string_view::npos) {
        const bool wide = code.find(".param .b64 param_value") != std::string_view::npos;
        const std::size_t value = wide ? 8 : 4;
        module->kernels["halo_layer"] = {{8, 8, 8, value, 4, 8, 8, 8, 8, 8},
                                         wide ? halo_layer<std::uint64_t> : halo_layer<std::uint32_t>};
    } else if (code.find(".entry compare_cells") != std::string_view::npos) {
        module->kernels["compare_cells"] = {
            {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8},
            by_width(code, compare_cells<std::uint8_t>, compare_cells<std::uint16_t>,
                     compare_cells<std::uint32_t>, compare_cells<std::uint64_t>)};
    } else if (code.find(".entry gather_cells") != std::string_view::npos) {
        module->kernels["gather_cells"] = {
            {8, 8, 8, 8, 8, 8, 8, 8, 8},
            by_width(code, gather_cells<std::uint8_t>, gather_cells<std::uint16_t>,
                     gather_cells<std::uint32_t>, gather_cells<std::uint64_t>)};
    } else if (code.find(".entry find_not_finite") != std::string_view::npos) {
        module->kernels["find_not_finite"] = {
            {8, 8, 8, 8, 8, 8, 8, 8, 8, 8},
            by_width(code, find_not_finite<std::uint8_t>, find_not_finite<std::uint16_t>,
                     find_not_finite<std::uint32_t>, find_not_finite<std::uint64_t>)};
    } else if (code.find(".entry finish_reductions") != std::string_view::npos) {
        const bool is_sum = code.find("add.rn.f64") != std::string_view::npos;
        const bool is_max = code.find("setp.gt.or.f64") != std::string_view::npos;
        module->kernels["finish_reductions"] = {{8, 8, 8},
                                                is_sum   ? finish_reductions<Finish::sum>
                                                : is_max ? finish_reductions<Finish::max>
                                                         : finish_reductions<Finish::min>};
    } else {
        module->kernels["heat_line"] = {{8, 8, 4, 8}, heat_line};
        module->kernels["scale_rows"] = {{8, 8, 4, 4, 4, 8}, scale_rows};
        module->kernels["nothing"] = {{}, [](void* const*) {}, 1024};
        module->kernels["empty_kernel"] = {{}, [](void* const*) {}};
        module->kernels["copy_vectors"] = {{8, 8, 8}, copy_vectors};
        module->kernels["copy_in_l2"] = {{8, 8, 4}, copy_in_l2};
        module->kernels["grid_barriers"] = {{8, 8, 4}, grid_barriers};
        module->has_constants = true;
    }
    return module;
}

}  // namespace fake_gpu
