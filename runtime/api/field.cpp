#include <fmt/format.h>

#include <algorithm>

#include "runtime/api/errors.h"
#include "runtime/api/field_state.h"
#include "runtime/api/program_source.h"

namespace halocline {

namespace rt = halo::rt;
using detail::translated;
using detail::Turn;

namespace {

void check_counts(int past, int scratch) {
    if (past < 0 || scratch < 0)
        throw Error(ErrorCode::bad_argument,
                    "a field cannot have less than 0 levels of the past, or to be written");
}

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

}  // namespace

Field::Field(const Device& device, Type type, const Layout& layout, int past, int scratch) {
    translated([&] {
        check_counts(past, scratch);
        auto state = std::make_shared<detail::FieldState>();
        state->device = device.state();
        state->type = static_cast<rt::ElementType>(type);
        state->grid = layout.grid;
        state->past = past;
        state->pitch = layout.pitch;
        state->slice = layout.slice;
        state->before = layout.first_cell;
        state->after = layout.elements - layout.first_cell;
        const std::int64_t size = rt::size_of(state->type), bytes = layout.elements * size;
        if (bytes < 1 || state->after < 1)
            throw Error(ErrorCode::bad_argument, "that layout has no elements; common_layout() gives one");
        const Turn turn(*state->device);
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
        check_counts(past, 0);
        if (static_cast<int>(arrays.size()) < 1 + past)
            throw Error(ErrorCode::bad_argument,
                        fmt::format("a field with {} past levels needs {} arrays or more; {} were given",
                                    past, 1 + past, arrays.size()));
        auto state = std::make_shared<detail::FieldState>();
        state->device = device.state();
        state->type = static_cast<rt::ElementType>(type);
        state->grid = grid;
        state->past = past;
        state->pitch = arrays.front().pitch;
        state->slice = arrays.front().slice;
        const std::int64_t size = rt::size_of(state->type);
        for (const View& view : arrays) {
            check_room(view, size);
            if (view.pitch != state->pitch || (grid.size() > 2 && view.slice != state->slice))
                throw Error(ErrorCode::bad_argument,
                            "all arrays of a field must have one pitch and one slice");
            const std::int64_t after = view.bytes / size - view.first_cell;
            const bool first = state->cells.empty();
            state->before = first ? view.first_cell : std::min(state->before, view.first_cell);
            state->after = first ? after : std::min(state->after, after);
            void* const cell = static_cast<char*>(view.memory) + view.first_cell * size;
            if (std::find(state->cells.begin(), state->cells.end(), cell) != state->cells.end())
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
        const Turn turn(*state_->device);
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
        return view;
    });
}

void Field::changed() {
    const Turn turn(*state_->device);
    ++state_->version;
}

}  // namespace halocline
