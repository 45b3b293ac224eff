// The arrays of a simulation on one device: those that are bound to its fields, and its own.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/api/errors.h"
#include "runtime/api/whole_simulation.h"
#include "runtime/core/plan_check.h"

namespace halocline::detail {

namespace rt = halo::rt;

namespace {

// Whether kernels read past the face; what lies past a free one is never read.
bool reads_past(const rt::FieldPlan& field, std::size_t axis, std::size_t side) {
    return field.halo[axis][side] > 0 && field.boundary[axis][side].kind != rt::BoundaryKind::free;
}

}  // namespace

int WholeSimulation::find_field(const std::string& name) const {
    return find_named(plan.fields, name, "field", plan.name);
}

rt::Geometry WholeSimulation::chosen_geometry() const {
    if (geometry) return *geometry;
    return rt::make_geometry(plan.rank, extent, plan.halo, device->device->row_layout());
}

// Checks that there is an array for each level. False where there are enough for single steps alone.
bool WholeSimulation::check_levels(const rt::FieldPlan& known, const FieldState& field) const {
    const bool moves = known.role == rt::Role::state || (known.role == rt::Role::output && known.history > 0);
    if (moves ? field.past != known.history : field.past < known.history)
        refuse(fmt::format(
            "field '{}' of '{}' keeps {} past levels, and the arrays that it is to be bound to are of a "
            "field with {}",
            known.name, plan.name, known.history, field.past));
    const int levels = rt::level_count(known), there = static_cast<int>(field.cells.size());
    const int scratch = there - field.past - 1, needed = levels - 1 - known.history;
    if (scratch >= needed) return true;
    if (!session && scratch >= needed - known.spare_levels) return false;
    refuse(fmt::format(
        "field '{}' of '{}' needs {} arrays: {} for t and the past, {} that steps write next; there "
        "are {}",
        known.name, plan.name, levels, 1 + known.history, needed, there));
}

// The geometry of all arrays of the simulation with these. Throws where other arrays have another one.
rt::Geometry WholeSimulation::checked_place(const rt::FieldPlan& known, const FieldState& field) const {
    const rt::Geometry wanted =
        geometry  ? *geometry
        : session ? session->geometry()
                  : rt::view_geometry(plan.rank, extent, plan.halo, device->device->row_layout(), field.pitch,
                                      field.slice);
    if (field.pitch != wanted.pitch || (plan.rank > 2 && field.slice != wanted.slice))
        refuse(fmt::format(
            "all arrays of a simulation lie alike: those of '{}' must have pitch {} and slice {}, and "
            "have {} and {}; bind fields before anything else is done, or use common_layout()",
            known.name, wanted.pitch, wanted.slice, field.pitch, field.slice));
    if (plan.rank > 3 && field.volume != wanted.volume)
        refuse(
            fmt::format("the volumes of '{}' must be {} elements apart, as many planes as there are with "
                        "their halos, and are {}",
                        known.name, wanted.volume, field.volume));
    if (field.before < wanted.origin || field.after < wanted.elements - wanted.origin)
        refuse(fmt::format(
            "the arrays of '{}' need room for halos: {} elements before cell (0,0,0) and {} from it on; "
            "there are {} and {}; for programs that share fields common_layout() tells what suits all",
            known.name, wanted.origin, wanted.elements - wanted.origin, field.before, field.after));
    const std::int64_t alignment = rt::cell_alignment(device->device->row_layout()) * rt::size_of(known.type);
    for (const void* const cell : field.cells)
        if (reinterpret_cast<std::uintptr_t>(cell) % static_cast<std::uintptr_t>(alignment) != 0)
            refuse(fmt::format(
                "the address of cell (0,0,0) of each array of '{}' must be a multiple of {} bytes",
                known.name, alignment));
    return wanted;
}

// Kernels assume that the arrays that they read and write are different.
void WholeSimulation::check_apart(const std::string& name, const FieldState& field) const {
    for (const auto& [other, binding] : bindings) {
        if (other == name || !arrays_are_apart) continue;
        for (const void* const cell : field.cells)
            if (std::find(binding.field->cells.begin(), binding.field->cells.end(), cell) !=
                binding.field->cells.end())
                refuse(fmt::format("'{}' and '{}' of '{}' cannot be bound to the same array", other, name,
                                   plan.name));
    }
}

void WholeSimulation::check_users(int index, const FieldState& field) const {
    const rt::FieldPlan& mine = plan.fields[static_cast<std::size_t>(index)];
    for (const FieldState::User& user : field.users) {
        const auto other = user.simulation.lock();
        if (other == nullptr || other.get() == this) continue;
        const rt::FieldPlan& theirs = other->plan.fields[static_cast<std::size_t>(user.field)];
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(plan.rank); ++axis)
            for (std::size_t side = 0; side < 2; ++side) {
                if (!reads_past(mine, axis, side) || !reads_past(theirs, axis, side)) continue;
                const rt::BoundaryKind kind = mine.boundary[axis][side].kind;
                if (kind == theirs.boundary[axis][side].kind && kind != rt::BoundaryKind::formula) continue;
                refuse(fmt::format(
                    "'{}' of '{}' and '{}' of '{}' cannot share their arrays: they {} past the {} face "
                    "of {}",
                    mine.name, plan.name, theirs.name, other->plan.name,
                    kind == rt::BoundaryKind::formula ? "have formulas for what lies"
                                                      : "have different boundaries",
                    side == 0 ? "low" : "high", plan.axes[axis]));
            }
    }
}

void WholeSimulation::bind(const std::string& name, const std::shared_ptr<FieldState>& field) {
    const int index = find_field(name);
    const rt::FieldPlan& known = plan.fields[static_cast<std::size_t>(index)];
    if (field->device != device) refuse(fmt::format("the arrays for '{}' are on another Device", name));
    if (known.interleave > 1)
        refuse(fmt::format(
            "'{}' lies side by side with other components, and cannot be bound; leave out `layout aos`",
            name));
    if (!known.grid.is_whole())
        refuse(fmt::format(
            "'{}' lies {}, and cannot be bound; write to it", name,
            known.grid.has_all_axes() ? "on a coarser grid" : "over fewer axes than the grid has"));
    if (field->type != known.type)
        refuse(fmt::format(
            "field '{}' of '{}' has elements of {} bytes in another type than the arrays, whose have {}",
            name, plan.name, rt::size_of(known.type), rt::size_of(field->type)));
    if (field->grid != grid)
        refuse(fmt::format("the simulation has {} cells, and the arrays for '{}' {}", grid_text(grid), name,
                           grid_text(field->grid)));
    const bool enough = check_levels(known, *field);
    const rt::Geometry place = checked_place(known, *field);
    check_apart(name, *field);
    check_users(index, *field);
    geometry = place;
    if (!enough) {
        plan.time_block.reset();
        for (rt::FieldPlan& each : plan.fields)
            each.spare_levels = 0;
    }
    Binding binding{field, index, field->version};
    if (session) session->bind_levels(name, arrays_of(binding));
    const auto is_gone = [this](const FieldState::User& user) {
        const auto simulation = user.simulation.lock();
        return simulation == nullptr || simulation.get() == this;
    };
    if (const auto before = bindings.find(name); before != bindings.end())
        std::erase_if(before->second.field->users, is_gone);
    std::erase_if(field->users, is_gone);
    bindings.insert_or_assign(name, binding);
    field->users.push_back({weak_from_this(), index});
}

std::vector<void*> WholeSimulation::arrays_of(const Binding& binding) const {
    const rt::FieldPlan& known = plan.fields[static_cast<std::size_t>(binding.index)];
    const FieldState& field = *binding.field;
    const std::int64_t origin = (geometry ? *geometry : session->geometry()).origin * rt::size_of(field.type);
    std::vector<void*> arrays;
    const auto add = [&](std::size_t place) {
        arrays.push_back(static_cast<char*>(field.cells[place]) - origin);
    };
    for (int level = 0; level <= known.history; ++level)
        add(static_cast<std::size_t>(level));
    const int scratch = rt::level_count(known) - 1 - known.history;
    for (int i = 0; i < scratch; ++i)
        add(static_cast<std::size_t>(1 + field.past + i));
    return arrays;
}

rt::Session& WholeSimulation::start() {
    if (session) return *session;
    rt::SessionOptions options;
    options.geometry = geometry;
    options.sums_in_rows = sums_in_rows;
    if (plan.time_block) options.time_block_code = code->time_block_code;
    for (auto& [name, binding] : bindings) {
        options.arrays[name] = arrays_of(binding);
        binding.seen = binding.field->version;
    }
    session.emplace(plan, extent, *device->device, code->load(*device->device), options);
    for (const auto& [name, value] : params)
        session->set_param(name, value);
    return *session;
}

std::shared_ptr<FieldState> WholeSimulation::share(const std::string& name) {
    const int index = find_field(name);
    if (const auto bound = bindings.find(name); bound != bindings.end()) return bound->second.field;
    const rt::FieldPlan& known = plan.fields[static_cast<std::size_t>(index)];
    if (known.interleave > 1)
        refuse(
            fmt::format("'{}' lies side by side with other components, and has no array of its own; leave "
                        "out `layout aos`",
                        name));
    if (!known.grid.is_whole())
        refuse(fmt::format(
            "'{}' lies {}, and cannot be bound elsewhere", name,
            known.grid.has_all_axes() ? "on a coarser grid" : "over fewer axes than the grid has"));
    rt::Session& running = start();
    const rt::Geometry& place = running.geometry();
    auto field = std::make_shared<FieldState>();
    field->memory = running.release_levels(name);
    field->device = device;
    field->type = known.type;
    field->grid = grid;
    field->past = known.history;
    field->pitch = place.pitch;
    field->slice = place.slice;
    if (place.rank > 3) field->volume = place.volume;
    field->before = place.origin;
    field->after = place.elements - place.origin;
    for (void* const array : running.level_arrays(name))
        field->cells.push_back(static_cast<char*>(array) + place.origin * rt::size_of(known.type));
    field->users.push_back({weak_from_this(), index});
    bindings[name] = {field, index, field->version};
    return field;
}

}  // namespace halocline::detail
