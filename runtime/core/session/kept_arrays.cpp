#include "runtime/core/session/kept_arrays.h"

#include <algorithm>
#include <stdexcept>

#include "runtime/core/plan_check.h"

namespace halo::rt::session {

namespace {

constexpr std::int64_t kArrayAlignment = 256;  // of arrays in one piece of memory, in bytes

}  // namespace

KeptArrays::KeptArrays(Setup& setup, Arrays& arrays, const Params& params)
    : setup_(setup), arrays_(arrays), params_(params), pool_(setup.plan.fields.size()), free_(pool_) {
    for (std::size_t i = 0; i < setup.plan.fields.size(); ++i) {
        const FieldPlan& field = setup.plan.fields[i];
        // Other components of an array are in that of the first one.
        if (field.role != Role::state || field.component > 0) continue;
        for (int time = 0; time >= -field.history; --time)
            parts_.push_back({static_cast<int>(i), time});
    }
}

std::int64_t KeptArrays::bytes_of(int field) const {
    return (arrays_.level_bytes(field) + kArrayAlignment - 1) / kArrayAlignment * kArrayAlignment;
}

std::int64_t KeptArrays::bytes_of_state(bool in_a_row) const {
    std::int64_t bytes = 0;
    for (const Part& part : parts_)
        if (part.time == 0 || !in_a_row) bytes += bytes_of(part.field);
    return bytes;
}

int KeptArrays::levels_of_states() const {
    int levels = 0;
    for (const Part& part : parts_) {
        const int own = 1 + setup_.plan.fields[static_cast<std::size_t>(part.field)].history;
        if (levels != 0 && own != levels) return 0;
        levels = own;
    }
    return levels;
}

void KeptArrays::add_room(int states, bool in_a_row) {
    add_arrays([&](const Part& part) { return part.time < 0 && in_a_row ? 1 : states; });
}

void KeptArrays::add_room_of_levels(int levels) {
    add_arrays([&](const Part& part) { return part.time == 0 ? levels : 0; });
}

void KeptArrays::add_arrays(const std::function<int(const Part&)>& arrays_of) {
    std::int64_t bytes = 0;
    for (const Part& part : parts_)
        bytes += arrays_of(part) * bytes_of(part.field);
    if (bytes > 0) memory_.emplace_back(*setup_.device, bytes);
    if (bytes > 0 && setup_.options.poison)  // NaN in each type
        setup_.device->set_bytes(memory_.back().address(), 0xff, bytes);
    ++rooms_;
    std::int64_t first = 0;
    for (const Part& part : parts_)
        for (int i = 0; i < arrays_of(part); ++i) {
            void* const array = static_cast<char*>(memory_.back().address()) + first;
            pool_[static_cast<std::size_t>(part.field)].push_back(array);
            free_[static_cast<std::size_t>(part.field)].push_back(array);
            first += bytes_of(part.field);
        }
}

void KeptArrays::drop_room() noexcept {
    if (--rooms_ > 0) return;
    for (auto& arrays : pool_)
        arrays.clear();
    free_ = pool_;
    memory_.clear();
    has_constants_.clear();
}

bool KeptArrays::is_bound(int field, const void* array) const {
    return std::ranges::any_of(arrays_.slots(field),
                               [&](const Level& level) { return level.array == array; });
}

Level KeptArrays::present(const Part& part) {
    Level level = arrays_.level(part.field, part.time);
    const int components = setup_.plan.fields[static_cast<std::size_t>(part.field)].interleave;
    for (int other = 1; other < components; ++other)
        level.images_due = level.images_due || arrays_.level(part.field + other, part.time).images_due;
    return level;
}

void KeptArrays::bind(int field, int time, const Level& level) {
    arrays_.exchange(field, time, level);
    if (has_constants_[level.array]) return;
    arrays_.set_constants(field, level.array, params_.values());
    has_constants_[level.array] = true;
}

void KeptArrays::free_if_unused(int field, void* array) {
    if (!is_kept(array) && !is_bound(field, array)) free_[static_cast<std::size_t>(field)].push_back(array);
}

KeptArrays::State KeptArrays::keep() {
    if (home_.empty())
        for (std::size_t i = 0; i < setup_.plan.fields.size(); ++i) {
            home_.emplace_back();
            for (const Level& level : arrays_.slots(static_cast<int>(i)))
                home_.back().push_back(level.array);
        }
    State state;
    for (const Part& part : parts_) {
        state.push_back(present(part));
        ++kept_[state.back().array];
    }
    return state;
}

KeptArrays::State KeptArrays::take() {
    State state;
    for (const Part& part : parts_) {
        state.push_back({take_free(part.field), false});
        ++kept_[state.back().array];
    }
    return state;
}

void* KeptArrays::take_free(int field) {
    std::vector<void*>& free = free_[static_cast<std::size_t>(field)];
    if (free.empty()) throw std::logic_error("more states are kept than there is room for");
    void* const array = free.back();
    free.pop_back();
    return array;
}

void KeptArrays::put_back(const State& state) {
    State before;
    for (const Part& part : parts_)
        before.push_back(present(part));
    for (std::size_t i = 0; i < parts_.size(); ++i)
        bind(parts_[i].field, parts_[i].time, state[i]);
    for (std::size_t i = 0; i < parts_.size(); ++i)
        free_if_unused(parts_[i].field, before[i].array);
    make_way();  // no array is that of two levels
}

void KeptArrays::forget(State& state) {
    for (std::size_t i = 0; i < state.size(); ++i) {
        const auto known = kept_.find(state[i].array);
        if (--known->second > 0) continue;
        kept_.erase(known);
        free_if_unused(parts_[i].field, state[i].array);
    }
    state.clear();
}

void KeptArrays::replace(int field, int time, bool with_cells) {
    Level level = present({field, time});
    const void* const away = level.array;
    level.array = take_free(field);
    level.images_due = level.images_due && with_cells;
    bind(field, time, level);
    if (with_cells) setup_.device->copy_on_device(level.array, away, arrays_.level_bytes(field));
}

bool KeptArrays::make_way() {
    if (kept_.empty()) return false;
    bool reads_kept = false;
    for (const Part& part : parts_) {
        reads_kept = reads_kept || is_kept(arrays_.level(part.field, part.time).array);
        const int next = 1 + setup_.plan.fields[static_cast<std::size_t>(part.field)].spare_levels;
        for (int time = 1; part.time == 0 && time <= next; ++time)
            if (is_kept(arrays_.level(part.field, time).array)) replace(part.field, time, false);
    }
    return reads_kept;
}

void KeptArrays::make_way(int field, int time, bool with_cells) {
    field -= setup_.plan.fields[static_cast<std::size_t>(field)].component;
    if (is_kept(arrays_.level(field, time).array)) replace(field, time, with_cells);
}

void KeptArrays::make_way_to_all(bool with_cells) {
    make_way();
    for (const Part& part : parts_)
        make_way(part.field, part.time, with_cells);
}

void KeptArrays::go_home() {
    if (home_.empty() || !kept_.empty()) return;
    for (std::size_t i = 0; i < home_.size(); ++i) {
        const FieldPlan& field = setup_.plan.fields[i];
        if (field.role != Role::state || field.component > 0) continue;
        const int index = static_cast<int>(i);
        std::vector<void*> left = home_[i];
        const auto take = [&] {
            void* const array = left.back();
            left.pop_back();
            return array;
        };
        for (int time = 0; time >= -field.history; --time)
            std::erase(left, arrays_.level(index, time).array);
        for (int time = 0; time >= -field.history; --time) {
            Level level = present({index, time});
            const void* const away = level.array;
            if (std::ranges::find(home_[i], away) != home_[i].end()) continue;
            level.array = take();
            bind(index, time, level);
            setup_.device->copy_on_device(level.array, away, arrays_.level_bytes(index));
        }
        for (int time = 1; time <= 1 + field.spare_levels; ++time)
            bind(index, time, {take(), false});
    }
    home_.clear();
    free_ = pool_;
}

}  // namespace halo::rt::session
