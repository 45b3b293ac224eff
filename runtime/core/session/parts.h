// What all parts of a session share. Not for other rooms.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/core/session.h"

namespace halo::rt::session {

// index mod n, from 0 on.
constexpr std::int64_t modulo(std::int64_t index, std::int64_t n) {
    const std::int64_t rest = index % n;
    return rest < 0 ? rest + n : rest;
}

// What a session was made from; it stays but for the arrays in the options, which may be bound anew.
struct Setup {
    // Throws bad_argument where the plan is not sound or cannot run on such a grid or such arrays.
    Setup(LaunchPlan plan, const Extent& extent, Device& device, const SessionOptions& options);
    // How the arrays of a coarser grid lie (FieldGrid::factor).
    Geometry geometry_of_grid(int factor) const { return rt::geometry_of_grid(factor, geometry, plan.halo); }
    // How a field's array lies: as all of its grid do, but for fields over fewer axes.
    Geometry geometry_of(const FieldPlan& field) const {
        return geometry_of_field(field.grid, geometry, plan.halo);
    }
    std::int64_t cell_count() const { return geometry.extent.cells(); }
    std::int64_t cell_count(const FieldPlan& field) const {
        const auto extent = field.grid.extent(geometry.extent);
        return extent.cells();
    }
    // Whether arrays that lie so have the room that kernels need.
    bool has_room_in(const Geometry& other) const;
    bool can_record() const { return options.record && device->can_record(); }

    LaunchPlan plan;
    SessionOptions options;
    Device* device;
    Geometry geometry;
};

// Levels rotate without moving pointers about: a field with L levels keeps them in slots 0 … L-1, and in
// phase p its level k steps before the latest is in slot (k - p) mod L. A step is a phase; a time block,
// which writes several levels at once, is as many. So everything repeats after a cycle of lcm(L) phases, and
// the launches of each are prepared once, until a scalar changes.
struct Clock {
    explicit Clock(const LaunchPlan& plan);
    std::int64_t phase() const { return steps_done + phase_shift; }
    std::size_t in_cycle(std::int64_t phase) const { return static_cast<std::size_t>(modulo(phase, cycle)); }
    bool at_cycle_start() const { return in_cycle(phase()) == 0; }
    // After steps that were as many phases as they write levels.
    void advance(std::int64_t steps, std::int64_t levels) {
        steps_done += steps;
        phase_shift += levels - steps;
    }

    // Steps are counted from another number, with the levels where they are.
    void count_from(std::int64_t steps) {
        phase_shift = phase() - steps;
        steps_done = continued_from = steps;
    }

    std::int64_t cycle = 1;
    std::int64_t steps_done = 0;
    std::int64_t phase_shift = 0;     // phases less steps
    std::int64_t continued_from = 0;  // steps that others did before this session
};

// What changed since it was last computed.
struct Due {
    bool scalars = true;    // params, tables or points changed: all launches, constants and columns
    bool launches = false;  // arrays of levels changed: the launches
    bool columns = false;   // rows of tables changed: the columns that are computed
};

class Params {
public:
    explicit Params(const LaunchPlan& plan);
    std::size_t size() const { return numbers_.size(); }
    const std::optional<double>& operator[](int index) const {
        return numbers_[static_cast<std::size_t>(index)];
    }
    void set(int index, double value) { numbers_[static_cast<std::size_t>(index)] = value; }
    std::vector<double> values() const;  // throws where one has none

private:
    const LaunchPlan& plan_;
    std::vector<std::optional<double>> numbers_;
};

}  // namespace halo::rt::session
