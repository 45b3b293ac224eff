// The inside of a Field handle. Not for users.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "halocline/runtime.hpp"
#include "runtime/api/device_state.h"
#include "runtime/core/device.h"
#include "runtime/core/geometry.h"

namespace halocline::detail {

struct WholeSimulation;

struct FieldState {
    std::shared_ptr<DeviceState> device;
    halo::rt::ElementType type = halo::rt::ElementType::f32;
    Grid grid;
    int past = 0;
    std::int64_t pitch = 0, slice = 0, volume = 0;
    std::int64_t before = 0, after = 0;  // elements before cell (0,0,0), and from it on
    std::vector<void*> cells;            // (0,0,0) of each array: t, the past, those that are written next
    std::vector<halo::rt::DeviceMemory> memory;  // empty where the arrays are the caller's
    std::uint64_t version = 0;                   // grows with each change of cells or their order
    struct User {                                // who puts what past the faces
        std::weak_ptr<WholeSimulation> simulation;
        int field = 0;
    };
    std::vector<User> users;

    FieldState() = default;
    FieldState(const FieldState&) = delete;
    FieldState& operator=(const FieldState&) = delete;
    ~FieldState() {
        if (device == nullptr) return;
        const DeviceLock lock(*device);
        memory.clear();
    }
};

halo::rt::Geometry geometry_of(const Layout& layout);
Layout layout_of(const halo::rt::Geometry& geometry, halo::rt::RowLayout rows);

}  // namespace halocline::detail
