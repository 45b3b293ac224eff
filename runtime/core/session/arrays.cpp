#include "runtime/core/session/arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/core/element.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/text.h"

namespace halo::rt::session {

namespace {

// The byte that a poisoned array is filled with: all bits set is a NaN of each real type. Integers have no
// NaN and take a conspicuous number; a boolean has only two values.
int poison_byte(ElementType type) {
    if (is_real(type)) return 0xff;
    return type == ElementType::boolean ? 1 : 0xa5;
}

std::string levels_text(const LaunchPlan& plan) {
    std::string text;
    for (const FieldPlan& field : plan.fields) {
        const int levels = level_count(field);
        text += fmt::format("{}{} of '{}' ({})", text.empty() ? "" : ", ",
                            levels == 1 ? "1 level" : fmt::format("{} levels", levels), field.name,
                            name_of(field.type));
    }
    return text;
}

bool is_external(const Setup& setup, const FieldPlan& field) {
    return setup.options.arrays.contains(field.name);
}

void check_memory(const Setup& setup, const Kernels& kernels) {
    const MemoryInfo memory = setup.device->memory();
    if (memory.total_bytes == 0) return;
    const Geometry& geometry = setup.geometry;
    double needed = 0;  // in double: the sum over fields may pass 63 bits
    for (const FieldPlan& field : setup.plan.fields) {
        if (is_external(setup, field)) continue;
        needed += static_cast<double>(level_count(field)) *
                  static_cast<double>(setup.geometry_of(field).elements) *
                  static_cast<double>(size_of(field.type));
    }
    for (const ReductionPlan& reduction : setup.plan.reductions)
        needed += 8.0 * static_cast<double>(kernels.block_count(reduction.kernel));
    if (needed <= static_cast<double>(memory.free_bytes)) return;
    constexpr double kMost = 9e18;
    throw Error(
        ErrorCode::out_of_memory,
        fmt::format("'{}' on {} cells needs {} for {}, but {} of {} are free on {}; use a smaller grid",
                    setup.plan.name, extent_text(setup.plan.rank, geometry.extent),
                    bytes_text(static_cast<std::int64_t>(std::min(needed, kMost))), levels_text(setup.plan),
                    bytes_text(memory.free_bytes), bytes_text(memory.total_bytes),
                    setup.device->description()));
}

// Checks sizes of interleaved arrays: kernels count the elements of a row, and of the whole array along one
// axis, in 32 bits.
void check_interleaved_size(const Setup& setup) {
    constexpr std::int64_t kMost = 2147483647;
    for (const FieldPlan& field : setup.plan.fields) {
        if (field.interleave == 1 || setup.geometry.pitch * field.interleave <= kMost) continue;
        throw Error(ErrorCode::bad_argument,
                    fmt::format("a row of {} cells with {} components side by side ('{}' and others) is too "
                                "long to index; use a smaller grid or leave out `layout aos`",
                                setup.geometry.extent[0], field.interleave, field.name));
    }
}

std::string levels_words(const FieldPlan& field) {
    const int scratch = level_count(field) - 1 - field.history;
    return fmt::format("{} that hold values and {} that steps write next", 1 + field.history, scratch);
}

}  // namespace

Arrays::Arrays(Setup& setup, const Clock& clock, const Kernels& kernels, Due& due)
    : setup_(setup), clock_(clock), due_(due) {
    check_memory(setup, kernels);
    check_interleaved_size(setup);
    for (std::size_t i = 0; i < setup.plan.fields.size(); ++i)
        allocate(static_cast<int>(i));
    find_fillers();
}

void Arrays::allocate(int field) {
    const FieldPlan& known = plan_of(field);
    const SessionOptions& options = setup_.options;
    const auto external = options.arrays.find(known.name);
    const bool is_own = external == options.arrays.end();
    if (!is_own) check_bindable(field, external->second);
    FieldArrays arrays;
    for (int slot = 0; slot < level_count(known); ++slot) {
        Level level;
        level.images_due = true;
        if (is_own && known.component == 0) {
            arrays.memory.emplace_back(*setup_.device, level_bytes(field));
            level.array = arrays.memory.back().address();
            setup_.device->set_bytes(level.array, options.poison ? poison_byte(known.type) : 0,
                                     level_bytes(field));
        } else if (is_own) {
            level.array = slots(field - known.component)[static_cast<std::size_t>(slot)].array;
        }
        arrays.slots.push_back(level);
    }
    arrays.images = make_halo_passes(known, setup_.geometry_of(known), {}, HaloPart::images);
    fields_.push_back(std::move(arrays));
    if (!is_own) return bind(field, std::vector<void*>(external->second));
    // Cells of an integer field that no statement has set are 0; past them poison shows reads.
    if (!options.poison || is_real(known.type)) return;
    const std::vector<char> zeros(static_cast<std::size_t>(setup_.cell_count(known) * size_of(known.type)));
    for (const Level& level : slots(field))
        upload(field, level, zeros.data());
}

// Finds the kernels that fill halos: those of a field stand in the step one after the other, once for each
// time that it is written.
void Arrays::find_fillers() {
    const std::vector<KernelPlan>& kernels = setup_.plan.kernels;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const auto& filled = kernels[k].fills_halo;
        if (!filled) continue;
        std::vector<int>& fillers = at(filled->field).fillers;
        const bool follows = fillers.empty() || fillers.back() + 1 == static_cast<int>(k);
        const bool again = std::any_of(fillers.begin(), fillers.end(), [&](int known) {
            return kernels[static_cast<std::size_t>(known)].name == kernels[k].name;
        });
        if (follows && !again) fillers.push_back(static_cast<int>(k));
    }
    for (FieldArrays& field : fields_)
        if (!field.fillers.empty()) field.images.clear();
}

Level& Arrays::level(int field, int time, std::int64_t phase) {
    auto& slots = at(field).slots;
    const std::int64_t age = latest_time(plan_of(field)) - time;
    return slots[static_cast<std::size_t>(modulo(age - phase, static_cast<std::int64_t>(slots.size())))];
}

Level& Arrays::level_in_step(int field, int time, std::int64_t phase) {
    return level(field, time, plan_of(field).role == Role::state ? phase : phase + 1);
}

void* Arrays::first_cell(int field, const Level& level) const {
    const FieldPlan& known = plan_of(field);
    return static_cast<char*>(level.array) +
           setup_.geometry_of(known).origin * known.interleave * size_of(known.type);
}

std::int64_t Arrays::level_bytes(int field) const {
    const FieldPlan& known = plan_of(field);
    return setup_.geometry_of(known).elements * known.interleave * size_of(known.type);
}

std::int64_t Arrays::bytes() const {
    std::int64_t bytes = 0;
    for (const FieldPlan& field : setup_.plan.fields)
        bytes += level_count(field) * setup_.geometry_of(field).elements * size_of(field.type);
    return bytes;
}

// Whether kernels fill the whole halo of a level whenever it is written.
bool Arrays::fills_in_steps(int field) const {
    const std::vector<int>& fillers = at(field).fillers;
    return !fillers.empty() &&
           !setup_.plan.kernels[static_cast<std::size_t>(fillers.front())].fills_after_uploads;
}

void Arrays::fill_images(int field) {
    for (Level& level : at(field).slots) {
        if (!level.images_due) continue;
        setup_.device->run_halo_passes(images(field), plan_of(field).type, level.array);
        level.images_due = false;
    }
}

void Arrays::set_constants(const std::vector<double>& params) {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        if (fills_in_steps(static_cast<int>(i))) continue;
        const FieldPlan& field = setup_.plan.fields[i];
        const auto constants = make_halo_passes(field, setup_.geometry_of(field), params, HaloPart::fixed,
                                                setup_.geometry.extent);
        for (const Level& level : fields_[i].slots)
            setup_.device->run_halo_passes(constants, field.type, level.array);
    }
}

void Arrays::set_constants(int field, void* array, const std::vector<double>& params) {
    const int components = plan_of(field).interleave;
    for (int each = field; each < field + components; ++each) {
        const FieldPlan& known = plan_of(each);
        if (fills_in_steps(each)) continue;
        const auto constants = make_halo_passes(known, setup_.geometry_of(known), params, HaloPart::fixed,
                                                setup_.geometry.extent);
        if (!constants.empty()) setup_.device->run_halo_passes(constants, known.type, array);
    }
}

void Arrays::mark_written(int field) {
    for (int time = 0; time >= -plan_of(field).history; --time)
        level(field, time).images_due = true;
}

void Arrays::mark_states_written() {
    for (std::size_t i = 0; i < fields_.size(); ++i)
        if (setup_.plan.fields[i].role == Role::state) mark_written(static_cast<int>(i));
}

void Arrays::clear_written() {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        if (setup_.plan.fields[i].role == Role::input) continue;
        for (Level& level : fields_[i].slots) {
            setup_.device->set_bytes(level.array, 0, level_bytes(static_cast<int>(i)));
            level.images_due = true;
        }
    }
    due_.scalars = true;  // constants past fixed faces are to be put there again
}

// ---- arrays of the caller's

void Arrays::check_bindable(int field, std::span<void* const> arrays) const {
    const FieldPlan& known = plan_of(field);
    if (known.interleave > 1)
        throw Error(
            ErrorCode::bad_argument,
            fmt::format("'{}' lies side by side with other components, and cannot be given arrays of its "
                        "own; leave out `layout aos`",
                        known.name));
    if (static_cast<int>(arrays.size()) != level_count(known))
        throw Error(ErrorCode::bad_argument,
                    fmt::format("field '{}' of '{}' needs {} arrays: {}; {} were given", known.name,
                                setup_.plan.name, level_count(known), levels_words(known), arrays.size()));
    const std::int64_t alignment = cell_alignment(setup_.device->row_layout()) * size_of(known.type);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        if (arrays[i] == nullptr || std::count(arrays.begin(), arrays.end(), arrays[i]) > 1)
            throw Error(ErrorCode::bad_argument,
                        fmt::format("each level of field '{}' needs an array of its own", known.name));
        const auto cell = reinterpret_cast<std::uintptr_t>(arrays[i]) +
                          static_cast<std::uintptr_t>(setup_.geometry_of(known).origin * size_of(known.type));
        if (cell % static_cast<std::uintptr_t>(alignment) != 0)
            throw Error(
                ErrorCode::bad_argument,
                fmt::format("the address of cell (0,0,0) of field '{}' must be a multiple of {} bytes",
                            known.name, alignment));
    }
}

// The number of steps between the latest level and that one.
std::int64_t Arrays::age_of(int field, int place) const {
    const FieldPlan& known = plan_of(field);
    const std::int64_t age = latest_time(known) + place;
    return place <= known.history || age < level_count(known) ? age : 0;
}

void* Arrays::level_array(int field, int place) const noexcept {
    const std::int64_t slot = modulo(age_of(field, place) - clock_.phase(), level_count(plan_of(field)));
    return slots(field)[static_cast<std::size_t>(slot)].array;
}

std::vector<void*> Arrays::level_arrays(int field) const {
    std::vector<void*> arrays;
    for (int place = 0; place < level_count(plan_of(field)); ++place)
        arrays.push_back(level_array(field, place));
    return arrays;
}

void Arrays::bind(int field, std::span<void* const> arrays) {
    const FieldPlan& known = plan_of(field);
    check_bindable(field, arrays);
    auto& slots = at(field).slots;
    const auto is_bound = [&](const void* array) {
        return std::find(arrays.begin(), arrays.end(), array) != arrays.end();
    };
    for (const Level& level : slots)
        if (!is_bound(level.array))
            due_.scalars = true;  // constants past fixed faces are to be put there, too
    for (std::size_t place = 0; place < arrays.size(); ++place) {
        const std::int64_t age = age_of(field, static_cast<int>(place));
        Level& level = slots[static_cast<std::size_t>(modulo(age - clock_.phase(), level_count(known)))];
        if (level.array != arrays[place]) due_.launches = true;
        level.array = arrays[place];
        level.images_due = place <= static_cast<std::size_t>(known.history);
    }
    setup_.options.arrays.emplace(known.name, std::vector<void*>(arrays.begin(), arrays.end()));
    // Keeps arrays that the session allocated and that are bound again.
    auto& own = at(field).memory;
    const auto is_gone = [&](const DeviceMemory& memory) { return !is_bound(memory.address()); };
    if (std::none_of(own.begin(), own.end(), is_gone)) return;
    setup_.device->synchronize();  // steps may still use the memory that is released
    std::erase_if(own, is_gone);
}

void Arrays::exchange(int field, int time, const Level& given) {
    const int components = plan_of(field).interleave;
    for (int each = field; each < field + components; ++each) {
        Level& place = level(each, time);
        due_.launches = due_.launches || place.array != given.array;
        place = given;
    }
}

void Arrays::borrow(int field, void* array) {
    FieldArrays& arrays = at(field);
    Level& level = arrays.slots.front();
    if (arrays.own == nullptr) arrays.own = level.array;
    due_.launches = due_.launches || level.array != array;
    level = {array, true};
}

void Arrays::give_back() {
    for (FieldArrays& arrays : fields_) {
        if (arrays.own == nullptr) continue;
        arrays.slots.front() = {std::exchange(arrays.own, nullptr), true};
        due_.launches = true;
    }
}

void Arrays::allocate_again() {
    fields_.clear();  // first, so that there is room
    for (std::size_t i = 0; i < setup_.plan.fields.size(); ++i)
        allocate(static_cast<int>(i));
    find_fillers();
    due_.scalars = true;
}

std::vector<DeviceMemory> Arrays::give_up(int field) {
    const std::vector<void*> arrays = level_arrays(field);
    check_bindable(field, arrays);
    setup_.options.arrays.emplace(plan_of(field).name, arrays);
    return std::exchange(at(field).memory, {});
}

}  // namespace halo::rt::session
