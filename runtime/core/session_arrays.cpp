// Arrays of the caller's for the levels of a field, and how they lie.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/core/plan_check.h"
#include "runtime/core/session_state.h"
#include "runtime/core/text.h"

namespace halo::rt {

namespace {

std::string levels_words(const FieldPlan& field) {
    const int scratch = level_count(field) - 1 - field.history;
    return fmt::format("{} that hold values and {} that steps write next", 1 + field.history, scratch);
}

}  // namespace

void Session::State::check_geometry() const {
    const Geometry least = view_geometry(plan.rank, geometry.extent, plan.halo, device->row_layout(),
                                         geometry.pitch, geometry.slice);
    const std::int64_t after = geometry.elements - geometry.origin,
                       least_after = least.elements - least.origin;
    if (geometry.origin >= least.origin && after >= least_after) return;
    throw Error(
        ErrorCode::bad_argument,
        fmt::format(
            "arrays of '{}' need {} elements before cell (0,0,0) and {} from it on; these have {} and "
            "{}",
            plan.name, least.origin, least_after, geometry.origin, after));
}

void Session::State::check_fixed_grid() const {
    if (!plan.fixed_grid) return;
    const FixedGrid& fixed = *plan.fixed_grid;
    if (geometry.extent != fixed.extent)
        throw Error(
            ErrorCode::bad_argument,
            fmt::format("the code of '{}' is for a grid of {} cells alone, and this one has {}", plan.name,
                        extent_text(plan.rank, fixed.extent), extent_text(plan.rank, geometry.extent)));
    if (geometry.pitch != fixed.pitch || (plan.rank > 2 && geometry.slice != fixed.slice))
        throw Error(
            ErrorCode::bad_argument,
            fmt::format("the code of '{}' is for arrays with rows {} elements apart{}, and these have {}{}",
                        plan.name, fixed.pitch,
                        plan.rank > 2 ? fmt::format(" and planes {}", fixed.slice) : "", geometry.pitch,
                        plan.rank > 2 ? fmt::format(" and {}", geometry.slice) : ""));
}

void Session::State::check_bindable(const FieldPlan& field, std::span<void* const> arrays) const {
    if (field.interleave > 1)
        throw Error(
            ErrorCode::bad_argument,
            fmt::format("'{}' lies side by side with other components, and cannot be given arrays of its "
                        "own; leave out `layout aos`",
                        field.name));
    if (static_cast<int>(arrays.size()) != level_count(field))
        throw Error(ErrorCode::bad_argument,
                    fmt::format("field '{}' of '{}' needs {} arrays: {}; {} were given", field.name,
                                plan.name, level_count(field), levels_words(field), arrays.size()));
    const std::int64_t alignment = cell_alignment(device->row_layout()) * size_of(field.type);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        if (arrays[i] == nullptr || std::count(arrays.begin(), arrays.end(), arrays[i]) > 1)
            throw Error(ErrorCode::bad_argument,
                        fmt::format("each level of field '{}' needs an array of its own", field.name));
        const auto cell = reinterpret_cast<std::uintptr_t>(arrays[i]) +
                          static_cast<std::uintptr_t>(geometry.origin * size_of(field.type));
        if (cell % static_cast<std::uintptr_t>(alignment) != 0)
            throw Error(
                ErrorCode::bad_argument,
                fmt::format("the address of cell (0,0,0) of field '{}' must be a multiple of {} bytes",
                            field.name, alignment));
    }
}

// Steps between the latest level and that one.
std::int64_t Session::State::age_of(const FieldPlan& field, int place) const {
    const std::int64_t age = latest_time(field) + place;
    return place <= field.history || age < level_count(field) ? age : 0;
}

void* Session::State::level_array(int field, int place) const noexcept {
    const FieldPlan& known = plan.fields[static_cast<std::size_t>(field)];
    const std::int64_t slot = modulo(age_of(known, place) - phase(), level_count(known));
    return fields[static_cast<std::size_t>(field)].slots[static_cast<std::size_t>(slot)].array;
}

std::vector<void*> Session::State::level_arrays(int field) const {
    std::vector<void*> arrays;
    for (int place = 0; place < level_count(plan.fields[static_cast<std::size_t>(field)]); ++place)
        arrays.push_back(level_array(field, place));
    return arrays;
}

void Session::State::bind_levels(int field, std::span<void* const> arrays) {
    const FieldPlan& known = plan.fields[static_cast<std::size_t>(field)];
    check_bindable(known, arrays);
    auto& slots = fields[static_cast<std::size_t>(field)].slots;
    const auto is_bound = [&](const void* array) {
        return std::find(arrays.begin(), arrays.end(), array) != arrays.end();
    };
    for (const Level& level : slots)
        if (!is_bound(level.array))
            scalars_due = true;  // constants past fixed faces are to be put there, too
    for (std::size_t place = 0; place < arrays.size(); ++place) {
        const std::int64_t age = age_of(known, static_cast<int>(place));
        Level& level = slots[static_cast<std::size_t>(modulo(age - phase(), level_count(known)))];
        if (level.array != arrays[place]) launches_due = true;
        level.array = arrays[place];
        level.images_due = place <= static_cast<std::size_t>(known.history);
    }
    options.arrays.emplace(known.name, std::vector<void*>(arrays.begin(), arrays.end()));
    // Of what the session allocated, arrays that are bound again stay.
    auto& own = fields[static_cast<std::size_t>(field)].memory;
    const auto is_gone = [&](const DeviceMemory& memory) { return !is_bound(memory.address()); };
    if (std::none_of(own.begin(), own.end(), is_gone)) return;
    device->synchronize();  // steps may still be at work in what goes
    std::erase_if(own, is_gone);
}

void Session::State::mark_written(int field) {
    for (int time = 0; time >= -plan.fields[static_cast<std::size_t>(field)].history; --time)
        level(field, time, phase()).images_due = true;
}

std::vector<void*> Session::level_arrays(const std::string& field) const {
    return state_->level_arrays(state_->find_field(field, 0));
}

void* Session::level_array(int field, int place) const noexcept {
    return state_->level_array(field, place);
}

void Session::bind_levels(const std::string& field, std::span<void* const> arrays) {
    state_->bind_levels(state_->find_field(field, 0), arrays);
}

std::vector<DeviceMemory> Session::give_up_levels(const std::string& field) {
    State& s = *state_;
    const int index = s.find_field(field, 0);
    const std::vector<void*> arrays = s.level_arrays(index);
    s.check_bindable(s.plan.fields[static_cast<std::size_t>(index)], arrays);
    s.options.arrays.emplace(field, arrays);
    return std::exchange(s.fields[static_cast<std::size_t>(index)].memory, {});
}

void Session::mark_written(const std::string& field) {
    state_->mark_written(state_->find_field(field, 0));
}

}  // namespace halo::rt
