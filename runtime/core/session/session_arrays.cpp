// The levels of a session's fields: their cells from and to the host, and arrays of the caller's.
#include <fmt/format.h>

#include <type_traits>

#include "runtime/core/element.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/session/state.h"
#include "runtime/core/text.h"

namespace halo::rt {

using session::Level;

// Components that lie side by side have no array of their own.
bool session::has_like_cells(const Parts& here, int field, const Parts& there, int other) {
    const FieldPlan &a = here.setup.plan.fields[static_cast<std::size_t>(field)],
                    &b = there.setup.plan.fields[static_cast<std::size_t>(other)];
    return here.setup.device == there.setup.device && a.type == b.type && a.interleave == 1 &&
           b.interleave == 1 && here.setup.geometry_of(a).extent == there.setup.geometry_of(b).extent;
}

namespace {

template <class Element>
constexpr ElementType kElementType = std::is_same_v<Element, float> ? ElementType::f32 : ElementType::f64;

void check_count(const session::Setup& setup, const FieldPlan& field, std::size_t given) {
    if (static_cast<std::int64_t>(given) == setup.cell_count(field)) return;
    throw Error(ErrorCode::bad_argument,
                fmt::format("field '{}' has {} = {} values, but the array holds {}", field.name,
                            extent_text(setup.plan.rank, field.grid.extent(setup.geometry.extent)),
                            setup.cell_count(field), given));
}

template <class Element>
void upload_values(session::Parts& parts, int field, int time, std::span<const Element> values) {
    const FieldPlan& known = parts.setup.plan.fields[static_cast<std::size_t>(field)];
    check_count(parts.setup, known, values.size());
    parts.kept.make_way(field, time, known.interleave > 1);
    Level& to = parts.arrays.level(field, time);
    to.images_due = true;
    if (known.type == kElementType<Element>) return parts.arrays.upload(field, to, values.data());
    std::vector<char> converted(values.size() * static_cast<std::size_t>(size_of(known.type)));
    encode(values.data(), parts.setup.cell_count(known), known.type, converted.data());
    parts.arrays.upload(field, to, converted.data());
}

template <class Element>
void download_values(session::Parts& parts, int field, int time, std::span<Element> values) {
    const FieldPlan& known = parts.setup.plan.fields[static_cast<std::size_t>(field)];
    check_count(parts.setup, known, values.size());
    const Level& from = parts.arrays.level(field, time);
    if (known.type == kElementType<Element>) return parts.arrays.download(field, from, values.data());
    std::vector<char> native(values.size() * static_cast<std::size_t>(size_of(known.type)));
    parts.arrays.download(field, from, native.data());
    decode(native.data(), parts.setup.cell_count(known), known.type, values.data());
}

bool are_alike(const Geometry& a, const Geometry& b) {
    return a.extent == b.extent && a.pitch == b.pitch && a.slice == b.slice && a.origin == b.origin &&
           a.elements == b.elements;
}

}  // namespace

bool session::can_borrow(const Parts& here, int field, const Parts& there, int other) {
    const FieldPlan &a = here.setup.plan.fields[static_cast<std::size_t>(field)],
                    &b = there.setup.plan.fields[static_cast<std::size_t>(other)];
    if (!has_like_cells(here, field, there, other) || a.role != Role::input || level_count(a) != 1 ||
        here.setup.options.arrays.contains(a.name) ||
        !are_alike(here.setup.geometry_of(a), there.setup.geometry_of(b)) ||
        !here.arrays.fillers(field).empty() || !there.arrays.fillers(other).empty())
        return false;
    bool has_constants = false, is_within = true;
    for (int axis = 0; axis < kMaxRank; ++axis)
        for (int side = 0; side < 2; ++side) {
            is_within = is_within && a.halo[axis][side] <= b.halo[axis][side];
            if (a.halo[axis][side] == 0) continue;  // it is not read past that face
            if (a.boundary[axis][side].kind != b.boundary[axis][side].kind) return false;
            has_constants = has_constants || a.image(axis, side).shows_value();
        }
    return is_within || !has_constants;  // they are there as far as the other one reads
}

void Session::upload(const std::string& field, int time, std::span<const double> values) {
    upload_values(state_->parts, state_->field(field, time), time, values);
}

void Session::upload(const std::string& field, int time, std::span<const float> values) {
    upload_values(state_->parts, state_->field(field, time), time, values);
}

void Session::download(const std::string& field, int time, std::span<double> values) {
    download_values(state_->parts, state_->field(field, time), time, values);
}

void Session::download(const std::string& field, int time, std::span<float> values) {
    download_values(state_->parts, state_->field(field, time), time, values);
}

std::vector<double> Session::download(const std::string& field, int time) {
    const session::Setup& setup = state_->parts.setup;
    const FieldPlan& known = setup.plan.fields[static_cast<std::size_t>(state_->field(field, time))];
    std::vector<double> values(static_cast<std::size_t>(setup.cell_count(known)));
    download(field, time, std::span<double>(values));
    return values;
}

void Session::upload_elements(const std::string& field, int time, const void* elements, std::int64_t bytes) {
    session::Arrays& arrays = state_->parts.arrays;
    const int index = state_->field(field, time);
    arrays.check_bytes(index, bytes);
    state_->parts.kept.make_way(index, time, true);
    Level& level = arrays.level(index, time);
    arrays.upload(index, level, elements);
    level.images_due = true;
}

void Session::download_elements(const std::string& field, int time, void* elements, std::int64_t bytes) {
    session::Arrays& arrays = state_->parts.arrays;
    const int index = state_->field(field, time);
    arrays.check_bytes(index, bytes);
    arrays.download(index, arrays.level(index, time), elements);
}

void Session::upload_box(const std::string& field, int time, const Box& box, const void* elements) {
    session::Arrays& arrays = state_->parts.arrays;
    const int index = state_->field(field, time);
    arrays.check_box(index, box);
    state_->parts.kept.make_way(index, time, true);
    Level& level = arrays.level(index, time);
    arrays.upload(index, level, box, elements);
    level.images_due = true;
}

void Session::download_box(const std::string& field, int time, const Box& box, void* elements) {
    session::Arrays& arrays = state_->parts.arrays;
    const int index = state_->field(field, time);
    arrays.check_box(index, box);
    arrays.download(index, arrays.level(index, time), box, elements);
}

void Session::download_lattice(const std::string& field, int time, const Lattice& lattice, void* elements) {
    session::Arrays& arrays = state_->parts.arrays;
    const int index = state_->field(field, time);
    arrays.check_box(index, bounds(lattice));
    arrays.download(index, arrays.level(index, time), lattice, elements);
}

bool Session::copy_level(const std::string& field, int time, const Session& from,
                         const std::string& from_field, int from_time) {
    session::Parts &to = state_->parts, &source = from.state_->parts;
    const int index = state_->field(field, time), other = from.state_->field(from_field, from_time);
    if (!session::has_like_cells(to, index, source, other)) return false;
    to.kept.make_way(index, time, true);
    to.arrays.copy_cells(index, to.arrays.level(index, time), source.arrays.level(other, from_time).array,
                         source.setup.geometry_of(source.setup.plan.fields[static_cast<std::size_t>(other)]));
    return true;
}

bool Session::borrow_level(const std::string& field, const Session& from, const std::string& from_field,
                           int from_time) {
    session::Parts &here = state_->parts, &there = from.state_->parts;
    const int index = state_->field(field), other = from.state_->field(from_field, from_time);
    if (!session::can_borrow(here, index, there, other)) return false;
    here.arrays.borrow(index, there.arrays.level(other, from_time).array);
    return true;
}

void Session::give_back_levels() {
    state_->parts.arrays.give_back();
}

bool Session::has_like_arrays(const std::string& field, const Session& other,
                              const std::string& other_field) const {
    const session::Parts &here = state_->parts, &there = other.state_->parts;
    const int index = state_->field(field), its = other.state_->field(other_field);
    return session::has_like_cells(here, index, there, its) &&
           are_alike(here.setup.geometry_of(here.setup.plan.fields[static_cast<std::size_t>(index)]),
                     there.setup.geometry_of(there.setup.plan.fields[static_cast<std::size_t>(its)]));
}

bool Session::lie_as(const Geometry& geometry) {
    session::Setup& setup = state_->parts.setup;
    if (are_alike(setup.geometry, geometry)) return true;
    if (steps_done() != 0 || state_->block != nullptr || !setup.options.arrays.empty() ||
        setup.plan.fixed_grid || !setup.has_room_in(geometry))
        return false;
    setup.geometry = geometry;
    state_->parts.arrays.allocate_again();
    return true;
}

std::optional<CellComparison> Session::compare_level(const std::string& field, int time,
                                                     const Session& other) const {
    session::Parts &here = state_->parts, &there = other.state_->parts;
    const int index = state_->field(field, time), its = other.state_->field(field, time);
    const Geometry geometry = here.setup.geometry_of(here.setup.plan.fields[static_cast<std::size_t>(index)]);
    if (!session::has_like_cells(here, index, there, its) ||
        !are_alike(geometry, there.setup.geometry_of(there.setup.plan.fields[static_cast<std::size_t>(its)])))
        return std::nullopt;
    return here.setup.device->compare_cells(here.arrays.level(index, time).array,
                                            there.arrays.level(its, time).array, geometry,
                                            here.setup.plan.fields[static_cast<std::size_t>(index)].type);
}

std::optional<bool> Session::is_finite(const std::string& field, int time) const {
    session::Parts& parts = state_->parts;
    const int index = state_->field(field, time);
    const FieldPlan& plan = parts.setup.plan.fields[static_cast<std::size_t>(index)];
    if (plan.interleave != 1) return std::nullopt;
    return parts.setup.device->cells_are_finite(parts.arrays.level(index, time).array,
                                                parts.setup.geometry_of(plan), plan.type);
}

std::vector<void*> Session::level_arrays(const std::string& field) const {
    return state_->parts.arrays.level_arrays(state_->field(field));
}

void* Session::level_array(int field, int place) const noexcept {
    return state_->parts.arrays.level_array(field, place);
}

void Session::bind_levels(const std::string& field, std::span<void* const> arrays) {
    state_->parts.arrays.bind(state_->field(field), arrays);
}

std::vector<DeviceMemory> Session::release_levels(const std::string& field) {
    return state_->parts.arrays.give_up(state_->field(field));
}

void Session::mark_written(const std::string& field) {
    state_->parts.arrays.mark_written(state_->field(field));
}

}  // namespace halo::rt
