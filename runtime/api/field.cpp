#include <fmt/format.h>

#include <algorithm>

#include "runtime/api/arguments.h"
#include "runtime/api/errors.h"
#include "runtime/api/field_state.h"
#include "runtime/api/program_source.h"

namespace halocline {

namespace rt = halo::rt;
using detail::DeviceLock;
using detail::translated;

namespace {

// Of elements that may be used around the first cell.
void check_room(const View& view, std::int64_t size) {
    if (view.memory != nullptr && view.first_cell >= 0 && view.bytes / size > view.first_cell) return;
    throw Error(
        ErrorCode::bad_argument,
        view.memory == nullptr
            ? "a view needs the address of its memory"
            : fmt::format("the first cell of a view, element {}, is not within its {} bytes ({} elements)",
                          view.first_cell, view.bytes, view.bytes / size));
}

// Bytes from the first cell to the end of the last one.
std::uintptr_t span_of_cells(const detail::FieldState& field) {
    const Grid& grid = field.grid;
    std::int64_t elements = grid[0];
    if (grid.size() > 1) elements += (grid[1] - 1) * field.pitch;
    if (grid.size() > 2) elements += (grid[2] - 1) * field.slice;
    if (grid.size() > 3) elements += (grid[3] - 1) * field.volume;
    return static_cast<std::uintptr_t>(elements * rt::size_of(field.type));
}

// Whether the cells of two arrays, given by their first ones, have memory in common.
bool overlap(const detail::FieldState& field, const void* one, const void* other) {
    const auto a = reinterpret_cast<std::uintptr_t>(one), b = reinterpret_cast<std::uintptr_t>(other);
    return (a < b ? b - a : a - b) < span_of_cells(field);
}

}  // namespace

Field::Field(const Device& device, Type type, const Layout& layout, int past, int scratch) {
    translated([&] {
        detail::check_levels(past, scratch);
        const rt::ElementType element = detail::checked_type(type);
        if (layout.elements == 0)
            throw Error(ErrorCode::bad_argument, "that layout has no elements; common_layout() gives one");
        detail::check_place(layout.grid,
                            {layout.pitch, layout.slice, layout.volume, layout.first_cell, layout.elements});
        auto state = std::make_shared<detail::FieldState>();
        state->device = device.state();
        state->type = element;
        state->grid = layout.grid;
        state->past = past;
        state->pitch = layout.pitch;
        state->slice = layout.slice;
        state->volume = layout.volume;
        state->before = layout.first_cell;
        state->after = layout.elements - layout.first_cell;
        const std::int64_t size = rt::size_of(state->type), bytes = layout.elements * size;
        const DeviceLock lock(*state->device);
        rt::Device& on = *state->device->device;
        for (int i = 0; i < 1 + past + scratch; ++i) {
            state->memory.emplace_back(on, bytes);
            void* const array = state->memory.back().address();
            on.set_bytes(array, 0, bytes);
            state->cells.push_back(static_cast<char*>(array) + layout.first_cell * size);
        }
        state_ = std::move(state);
    });
}

Field Field::of_views(const Device& device, Type type, const Grid& grid, const std::vector<View>& arrays,
                      int past) {
    return translated([&] {
        detail::check_levels(past, 0);
        const rt::ElementType element = detail::checked_type(type);
        detail::check_grid(grid);
        if (static_cast<int>(arrays.size()) < 1 + past)
            throw Error(ErrorCode::bad_argument,
                        fmt::format("a field with {} past levels needs {} arrays or more; {} were given",
                                    past, 1 + past, arrays.size()));
        auto state = std::make_shared<detail::FieldState>();
        state->device = device.state();
        state->type = element;
        state->grid = grid;
        state->past = past;
        state->pitch = arrays.front().pitch;
        state->slice = arrays.front().slice;
        state->volume = detail::volume_of(arrays.front(), grid);
        const std::int64_t size = rt::size_of(state->type);
        for (const View& view : arrays) {
            check_room(view, size);
            const std::int64_t volume = detail::volume_of(view, grid);
            if (view.pitch != state->pitch || (grid.size() > 2 && view.slice != state->slice) ||
                volume != state->volume)
                throw Error(ErrorCode::bad_argument,
                            "all arrays of a field must have one pitch and one slice");
            detail::check_place(grid,
                                {view.pitch, view.slice, volume, view.first_cell, view.bytes / size, size});
            const std::int64_t after = view.bytes / size - view.first_cell;
            const bool first = state->cells.empty();
            state->before = first ? view.first_cell : std::min(state->before, view.first_cell);
            state->after = first ? after : std::min(state->after, after);
            void* const cell = static_cast<char*>(view.memory) + view.first_cell * size;
            if (std::ranges::any_of(state->cells,
                                    [&](const void* other) { return overlap(*state, cell, other); }))
                throw Error(ErrorCode::bad_argument, "each level of a field needs an array of its own");
            state->cells.push_back(cell);
        }
        return Field(std::move(state));
    });
}

Type Field::type() const noexcept {
    return static_cast<Type>(state_->type);
}

const Grid& Field::grid() const noexcept {
    return state_->grid;
}

View Field::view(int level) const {
    return translated([&] {
        const DeviceLock lock(*state_->device);
        if (level > 0 || level < -state_->past)
            throw Error(
                ErrorCode::bad_argument,
                fmt::format("the field has levels {} to 0; there is no level {:+}", -state_->past, level));
        const std::int64_t size = rt::size_of(state_->type);
        View view;
        view.memory =
            static_cast<char*>(state_->cells[static_cast<std::size_t>(-level)]) - state_->before * size;
        view.bytes = (state_->before + state_->after) * size;
        view.first_cell = state_->before;
        view.pitch = state_->pitch;
        view.slice = state_->slice;
        view.volume = state_->volume;
        return view;
    });
}

namespace {

// Of an array of the field, for dense elements in the host's memory, of which so many bytes are there.
rt::Geometry geometry_for(const detail::FieldState& state, const View& array, const void* elements,
                          std::int64_t bytes, const char* there_are) {
    rt::Geometry geometry;
    geometry.rank = static_cast<int>(state.grid.size());
    std::copy(state.grid.begin(), state.grid.end(), geometry.extent.begin());
    geometry.pitch = array.pitch;
    geometry.slice = array.slice;
    geometry.volume = detail::volume_of(array, state.grid);
    geometry.origin = array.first_cell;
    geometry.elements = array.bytes / rt::size_of(state.type);
    const std::int64_t wanted = geometry.extent.cells() * rt::size_of(state.type);
    if (elements == nullptr || bytes != wanted)
        throw Error(ErrorCode::bad_argument, fmt::format("a level of the field has {} bytes, and {} {}",
                                                         wanted, there_are, elements == nullptr ? 0 : bytes));
    return geometry;
}

}  // namespace

void Field::read_elements(void* elements, std::int64_t bytes, int level) const {
    translated([&] {
        const DeviceLock lock(*state_->device);
        const View array = view(level);
        const rt::Geometry geometry = geometry_for(*state_, array, elements, bytes, "there is room for");
        state_->device->device->download_cells(elements, array.memory, geometry, state_->type);
    });
}

void Field::write_elements(const void* elements, std::int64_t bytes, int level) {
    translated([&] {
        const DeviceLock lock(*state_->device);
        const View array = view(level);
        const rt::Geometry geometry = geometry_for(*state_, array, elements, bytes, "what is given has");
        state_->device->device->upload_cells(array.memory, geometry, state_->type, elements);
        changed();
    });
}

Field Field::copy() const {
    return translated([&] {
        const DeviceLock lock(*state_->device);
        rt::Device& on = *state_->device->device;
        const std::int64_t size = rt::size_of(state_->type);
        const std::int64_t bytes = (state_->before + state_->after) * size;
        auto twin = std::make_shared<detail::FieldState>();
        twin->device = state_->device;
        twin->type = state_->type;
        twin->grid = state_->grid;
        twin->past = state_->past;
        twin->pitch = state_->pitch;
        twin->slice = state_->slice;
        twin->volume = state_->volume;
        twin->before = state_->before;
        twin->after = state_->after;
        for (void* const cell : state_->cells) {
            twin->memory.emplace_back(on, bytes);
            void* const array = twin->memory.back().address();
            on.copy_on_device(array, static_cast<char*>(cell) - state_->before * size, bytes);
            twin->cells.push_back(static_cast<char*>(array) + state_->before * size);
        }
        return Field(std::move(twin));
    });
}

void Field::changed() {
    const DeviceLock lock(*state_->device);
    ++state_->version;
}

}  // namespace halocline
