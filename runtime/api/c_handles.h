// What the handles of the C interface are, and how its calls end. Not for users.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halocline/runtime.h"
#include "halocline/runtime.hpp"
#include "runtime/api/arguments.h"

struct halo_device {
    halocline::Device device;
};
struct halo_program {
    halocline::Program program;
};
struct halo_field {
    halocline::Field field;
};
struct halo_simulation {
    halocline::Simulation simulation;
};

namespace halocline::detail {

// Remembers the words of the exception that is being handled, and gives its code.
halo_code fail() noexcept;
const std::vector<Diagnostic>& last_diagnostics() noexcept;  // of the thread

template <class Work>
halo_code guarded(Work&& work) noexcept {
    try {
        std::forward<Work>(work)();
        return HALO_OK;
    } catch (...) {
        return fail();
    }
}

// Throws bad_argument where a pointer is NULL.
void need(const void* pointer, const char* what);
template <class Handle>
Handle& need_handle(Handle* handle, const char* what) {
    need(handle, what);
    return *handle;
}
std::string text_of(const char* text, const char* what);
// A list of the caller's, which may be NULL where it has no items.
template <class Item>
std::span<const Item> list_of(const Item* items, int count, const char* what) {
    const std::size_t length = checked_count(count, what);
    if (length > 0) need(items, what);
    return {items, length};
}
Grid grid_of(const int64_t* grid, int axes);
std::vector<Device> devices_of(const halo_device* const* devices, int count);

}  // namespace halocline::detail
