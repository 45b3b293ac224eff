// The levels of a session's fields: their cells from and to the host, and arrays of the caller's.
#include <fmt/format.h>

#include <type_traits>

#include "runtime/core/element.h"
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

bool Session::copy_level(const std::string& field, int time, const Session& from,
                         const std::string& from_field, int from_time) {
    session::Parts &to = state_->parts, &source = from.state_->parts;
    const int index = state_->field(field, time), other = from.state_->field(from_field, from_time);
    if (!session::has_like_cells(to, index, source, other)) return false;
    to.arrays.copy_cells(index, to.arrays.level(index, time), source.arrays.level(other, from_time).array,
                         source.setup.geometry_of(source.setup.plan.fields[static_cast<std::size_t>(other)]));
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
