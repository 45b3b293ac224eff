// The calls of sources in which loops are replaced by stencils (include/halocline/lifted.h).
#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "runtime/api/c_handles.h"
#include "runtime/api/errors.h"
#include "runtime/api/field_state.h"
#include "runtime/api/lifted_arrays.h"
#include "runtime/api/lifted_order.h"
#include "runtime/api/whole_simulation.h"

namespace rt = halo::rt;
using namespace halocline;
using namespace halocline::detail;

namespace {

// One for each thread: stencils of a thread work on the same arrays.
const Device& device_of_thread() {
    thread_local const Device device = Device::best();
    return device;
}
HeldOrder& order_of_thread() {
    thread_local HeldOrder order;
    return order;
}

// Kernels for more cells take the device longer than the host.
constexpr std::int64_t kMostCellsHeld = 1 << 16;
constexpr std::int64_t kMostLaunchesHeld = 256;

// Whether nothing is read past a face, so that there need be no room around the cells.
bool ends_at_faces(const rt::LaunchPlan& plan) {
    return std::ranges::all_of(plan.fields, [&](const rt::FieldPlan& field) {
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(plan.rank); ++axis)
            for (std::size_t side = 0; side < 2; ++side)
                if (field.halo[axis][side] > 0 && field.boundary[axis][side].kind != rt::BoundaryKind::free)
                    return false;
        return true;
    });
}

// Bytes of the struct, which has none that mean nothing.
static_assert(sizeof(halo_lift_array) == sizeof(void*) + 10 * sizeof(std::int64_t) + 4 * sizeof(int));
bool is_same(const halo_lift_array& a, const halo_lift_array& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

// A stencil works on arrays of the program, or on their kept copies, where they are as its kernels need them;
// else on arrays of its own, to and from which the cells are copied. Most calls give what the call before
// gave: then all is where it was.
struct halo_lift_stencil {
    struct Use {
        std::string name;
        halo_lift_array array{};
        std::shared_ptr<KeptArray> kept;
        bool is_bound = false;
        std::vector<char> copied;  // the cells that the stencil's own array has, of an input over fewer axes
    };
    struct Place {
        void* first = nullptr;
        std::int64_t pitch = 0, slice = 0;
        friend bool operator==(const Place&, const Place&) = default;
    };

    explicit halo_lift_stencil(const Program& made) : program(made), device(device_of_thread()) {}

    void begin(const std::int64_t* cells, int axes) {
        given_ = 0;
        const bool is_as_before = cells != nullptr && std::cmp_equal(axes, grid.size()) &&
                                  std::ranges::equal(grid, std::span(cells, grid.size()));
        if (is_as_before) return;
        grid = grid_of(cells, axes);
        has_changed_ = true;
    }
    void use(const char* name, const halo_lift_array& array) {
        if (given_ < uses_.size() && uses_[given_].name == name && is_same(uses_[given_].array, array)) {
            ++given_;
            return;
        }
        uses_.resize(given_++);
        uses_.push_back({name, array, nullptr, false, {}});
        has_changed_ = true;
    }
    void set(const std::string& param, double value) {
        const auto [known, is_new] = params_.try_emplace(param, value);
        if (!is_new && known->second == value) return;
        known->second = value;
        have_params_changed_ = true;
    }

    void step(std::int64_t count) {
        KeptArrays& arrays = KeptArrays::all();
        const std::scoped_lock lock(arrays.mutex);
        if (given_ != uses_.size()) has_changed_ = true;
        uses_.resize(given_);
        if (has_changed_ || whole == nullptr || known_changes_ != arrays.changes()) {
            has_changed_ = true;
            for (Use& use : uses_) {
                use.kept = nullptr;
                use.is_bound = false;
            }
            if (whole == nullptr || whole->grid != grid) make({}, {});
            choose_places();
            find_held_cells();
            known_changes_ = arrays.changes();
            has_changed_ = false;
        }
        for (Use& use : uses_)
            if (!use.is_bound) copy_in(use);
        if (std::exchange(have_params_changed_, false))
            for (const auto& [name, value] : params_)
                whole->set(name, value);
        if (count == 1 && !held_cells_.empty()) return hold_step();
        whole->step(count);
        if (!is_on_gpu()) return;
        if (!arrays.keeps) device.wait();  // what goes wrong is said while the loops can still run
    }

    // To the array that the field is after the step, which may be that of another one before.
    void copy_back(const char* name, const halo_lift_array& array) {
        KeptArrays& arrays = KeptArrays::all();
        const std::scoped_lock lock(arrays.mutex);
        Use& use = use_of(name);
        if (!is_same(use.array, array)) has_changed_ = true;  // which is for the next call to look at
        if (use.kept != nullptr) {
            if (!use.is_bound) {
                use.kept = arrays.on(device.state(), array, axes(), plan_of(use.name).type, whole->extent);
                whole->read_view(use.name, 0, view_of(use));
            }
            use.kept->changed();
        }
        if (use.kept != nullptr || use.is_bound) return;
        if (plan_of(use.name).grid.is_whole())
            return for_parts(touched(array), array.bytes, [&](const rt::Box& part, char* cells) {
                whole->read_box(use.name, 0, part, cells);
                scatter(array, part, part, cells);
            });
        const auto extent = extent_in_three(use.name);
        std::vector<char>& cells = dense(extent, array.bytes);
        whole->read_elements(use.name, 0, cells.data(), static_cast<std::int64_t>(cells.size()));
        scatter(array, touched(array), rt::whole_box(extent), cells.data());
    }

    const Program program;
    const Device device;
    Grid grid;
    std::shared_ptr<WholeSimulation> whole;

private:
    // The cells that a step touches, where its launches may be held back: small ones, of which nothing but
    // the kept arrays is left.
    void find_held_cells() {
        held_cells_.clear();
        const rt::LaunchPlan& plan = whole->plan;
        const bool has_more = !plan.reductions.empty() || !plan.repeats.empty() || !plan.coefs.empty() ||
                              !plan.tables.empty() || !plan.points.empty() ||
                              plan.fields.size() != places.size();
        const bool are_kept =
            std::ranges::all_of(uses_, [](const Use& use) { return use.is_bound && use.kept != nullptr; });
        if (has_more || !are_kept || !is_on_gpu() || !device.state()->device->can_hold_launches()) return;
        std::vector<HeldOrder::Cells> cells;
        for (const Use& use : uses_) {
            cells.push_back({use.kept.get(), touched(use.array), plan_of(use.name).role != rt::Role::input});
            if (cells.back().box.cells() > kMostCellsHeld) return;
        }
        held_cells_ = std::move(cells);
    }
    void hold_step() {
        const DeviceLock lock(*device.state());
        rt::Device& on = *device.state()->device;
        HeldOrder& order = order_of_thread();
        if (on.held_launches() >= kMostLaunchesHeld) on.start_held_launches();
        const std::int64_t noted = on.noted_launches();
        on.hold_launches(order.after(held_cells_, noted - on.held_launches()));
        try {
            whole->step(1);
        } catch (...) {
            on.stop_holding();
            throw;
        }
        on.stop_holding();
        if (const std::int64_t now = on.noted_launches(); now > noted) order.add(held_cells_, now - 1);
    }

    Use& use_of(const char* name) {
        const auto found = std::ranges::find(uses_, name, &Use::name);
        if (found == uses_.end()) refuse(fmt::format("'{}' was given no array in this call", name));
        return *found;
    }
    bool is_on_gpu() const { return device.state()->cuda != nullptr; }
    const rt::FieldPlan& plan_of(const std::string& name) const {
        const auto& fields = whole->plan.fields;
        return fields[static_cast<std::size_t>(find_named(fields, name, "field", whole->plan.name))];
    }
    int axes() const { return static_cast<int>(grid.size()); }

    // geometry: of all its arrays, where some are bound.
    void make(const std::optional<rt::Geometry>& geometry, const std::map<std::string, Place>& bound) {
        if (whole != nullptr) {
            const DeviceLock lock(*device.state());
            device.state()->device->start_held_launches();  // kernels of its
        }
        whole.reset();
        for (Use& use : uses_)
            use.copied.clear();
        places.clear();
        have_params_changed_ = true;
        whole = std::make_shared<WholeSimulation>(program, device.state(), grid, SimulationOptions{});
        whole->sums_in_rows = true;  // which the loops add in another order anyway
        const auto& halo = whole->plan.halo;
        const bool has_room = std::ranges::all_of(
            halo, [](const auto& sides) { return sides[0] <= kKeptRoom && sides[1] <= kKeptRoom; });
        can_bind = ends_at_faces(whole->plan) && (!is_on_gpu() || has_room);
        if (!geometry) return;
        // Nothing past a face is read: neither is there room for it, nor need there be.
        whole->plan.halo = {};
        for (rt::FieldPlan& field : whole->plan.fields)
            field.halo = {};
        whole->geometry = geometry;
        whole->arrays_are_apart = false;
        for (const auto& [name, place] : bound)
            bind(name, place);
    }
    void bind(const std::string& name, const Place& place) {
        const auto [known, is_new] = places.try_emplace(name);
        if (known->second == place) return;
        known->second = place;
        auto field = std::make_shared<FieldState>();
        field->device = device.state();
        field->type = plan_of(name).type;
        field->grid = grid;
        field->pitch = place.pitch;
        field->slice = place.slice;
        field->before = field->after = std::numeric_limits<std::int64_t>::max() / 16;
        field->cells = {place.first};
        whole->bind(name, field);
    }

    // An output or input over all axes, of which one array is enough.
    bool can_be_bound(const Use& use) const {
        const rt::FieldPlan& field = plan_of(use.name);
        return field.role != rt::Role::state && field.history == 0 && field.interleave == 1 &&
               field.grid.is_whole() && is_plain(use.array, axes());
    }
    Place place_of(const Use& use) const {
        if (use.kept != nullptr)
            return {use.kept->first_cell(), use.kept->geometry().pitch,
                    axes() > 2 ? use.kept->geometry().slice : 0};
        return {use.array.first, axes() > 1 ? use.array.stride[1] : grid[0],
                axes() > 2 ? use.array.stride[2] : 0};
    }

    bool is_over_all_axes(const Use& use) const {
        return plan_of(use.name).grid.is_whole() && is_plain(use.array, axes());
    }
    // On the CPU arrays are worked on where they are, unless their rows are not as far apart in all of them:
    // then there are copies whose are, and what has one is worked on there.
    bool lie_apart() const {
        std::optional<Place> first;
        return std::ranges::any_of(uses_, [&](const Use& use) {
            if (!is_over_all_axes(use)) return false;
            const Place place = place_of(use);
            if (!first) first = place;
            return place.pitch != first->pitch || place.slice != first->slice || !is_a_grid(place) ||
                   KeptArrays::all().has(device.state(), use.array, axes(), plan_of(use.name).type);
        });
    }
    // Rows of all copies as long as the longest ones.
    void make_alike() {
        halo::rt::Extent longest = whole->extent;
        for (const Use& use : uses_)
            for (std::size_t axis = 0; use.kept != nullptr && axis + 1 < grid.size(); ++axis)
                longest[axis] = std::max(longest[axis], use.kept->geometry().extent[axis]);
        for (Use& use : uses_)
            if (use.kept != nullptr && !use.kept->has_room(longest))
                use.kept =
                    KeptArrays::all().on(device.state(), use.array, axes(), plan_of(use.name).type, longest);
    }

    // Decides what is bound, and makes the simulation anew where its arrays lie otherwise.
    void choose_places() {
        KeptArrays& arrays = KeptArrays::all();
        std::optional<Place> first;
        std::map<std::string, Place> bound;
        const bool keeps = arrays.keeps && (is_on_gpu() || lie_apart());
        for (Use& use : uses_) {
            const bool is_kept = keeps && is_over_all_axes(use);
            if (is_kept)
                use.kept =
                    arrays.on(device.state(), use.array, axes(), plan_of(use.name).type, whole->extent);
            else
                give_up(use.array);
        }
        make_alike();
        // Arrays that lie in each other, as parts of the columns of one, are copied cell by cell.
        const bool are_held = std::ranges::all_of(
            uses_, [&](const Use& use) { return use.kept == nullptr || arrays.holds(use.kept); });
        for (Use& use : uses_) {
            if (are_held) break;
            give_up(use.array);
            use.kept = nullptr;
        }
        for (Use& use : uses_) {
            if (keeps && use.kept == nullptr) continue;
            if (is_on_gpu() && use.kept == nullptr) continue;
            if (!can_bind || !can_be_bound(use)) continue;
            const Place place = place_of(use);
            if (!first && is_a_grid(place)) first = place;
            if (!first) continue;
            use.is_bound = place == Place{place.first, first->pitch, first->slice} && is_a_grid(place);
            if (use.is_bound) bound[use.name] = place;
        }
        const bool was_bound = !places.empty();
        bool is_as_before = was_bound == !bound.empty() && places.size() == bound.size();
        if (is_as_before && was_bound)
            is_as_before = whole->geometry->pitch == first->pitch &&
                           (axes() < 3 || whole->geometry->slice == first->slice) &&
                           std::ranges::equal(
                               places, bound, {}, [](const auto& each) { return each.first; },
                               [](const auto& each) { return each.first; });
        if (!is_as_before) {
            std::optional<rt::Geometry> geometry;
            if (first && !bound.empty())
                geometry = rt::view_geometry(axes(), whole->extent, {}, device.state()->device->row_layout(),
                                             first->pitch, first->slice);
            make(geometry, bound);
            return;
        }
        for (const auto& [name, place] : bound)
            bind(name, place);
    }
    // Whether rows and planes are as far apart as arrays of a simulation may be.
    bool is_a_grid(const Place& place) const {
        return place.pitch >= grid[0] &&
               (axes() < 3 || (place.slice >= place.pitch * grid[1] && place.slice % place.pitch == 0));
    }
    static void give_up(const halo_lift_array& array) {
        const auto [begin, end] = span_of_array(array);
        KeptArrays::all().give_up(begin, end);
    }

    View view_of(const Use& use) const {
        const rt::Geometry& place = use.kept->geometry();
        const std::int64_t size = use.array.bytes;
        return {static_cast<char*>(use.kept->first_cell()) - place.origin * size, place.elements * size,
                place.origin, place.pitch, place.slice};
    }
    halo::rt::Extent extent_in_three(const std::string& name) const {
        return plan_of(name).grid.extent(whole->extent);
    }
    std::vector<char>& dense(const halo::rt::Extent& extent, std::int64_t bytes) {
        cells_.resize(static_cast<std::size_t>(extent.cells() * bytes));
        return cells_;
    }
    void copy_in(Use& use) {
        if (use.kept != nullptr) return whole->write_view(use.name, 0, view_of(use));
        if (use.array.is_overwritten != 0) return;
        if (plan_of(use.name).grid.is_whole())
            return for_parts(touched(use.array), use.array.bytes, [&](const rt::Box& part, char* cells) {
                gather(use.array, part, part, cells);
                whole->write_box(use.name, 0, part, cells);
            });
        const auto extent = extent_in_three(use.name);
        std::vector<char>& cells = dense(extent, use.array.bytes);
        std::ranges::fill(cells, 0);
        gather(use.array, touched(use.array), rt::whole_box(extent), cells.data());
        if (cells == use.copied) return;
        whole->write_elements(use.name, 0, cells.data(), static_cast<std::int64_t>(cells.size()));
        if (plan_of(use.name).role == rt::Role::input) use.copied = cells;
    }

    std::vector<Use> uses_;                     // of this call, or of the one before, from given_ on
    std::size_t given_ = 0;                     // of them, in this call
    std::map<std::string, double> params_;      // by the latest call
    bool has_changed_ = true;                   // what is given, since places were chosen
    bool have_params_changed_ = true;           // since they were set
    std::uint64_t known_changes_ = 0;           // KeptArrays::changes() then
    bool can_bind = false;                      // arrays, by what its kernels read
    std::map<std::string, Place> places;        // that fields are bound to
    std::vector<char> cells_;                   // a dense copy of one array
    std::vector<HeldOrder::Cells> held_cells_;  // of a step that is held back; none: it is not
};

namespace {

halo_lift_stencil& stencil_of(halo_lifted* lifted) {
    return need_handle(need_handle(lifted, "the stencil").stencil, "the stencil");
}

}  // namespace

void halo_lift_keep_arrays(int keep) {
    KeptArrays& arrays = KeptArrays::all();
    const std::scoped_lock lock(arrays.mutex);
    if (keep == 0) guarded([&] { arrays.give_up_all(); });
    arrays.keep(keep != 0);
}

halo_code halo_lift_take_back(const void* array) {
    return guarded([&] {
        KeptArrays& arrays = KeptArrays::all();
        const std::scoped_lock lock(arrays.mutex);
        const auto* const at = static_cast<const char*>(array);
        if (at == nullptr)
            arrays.give_up_all();
        else
            arrays.give_up(at, at + 1);
    });
}

halo_code halo_lift_open(const halo_program* program, halo_lift_stencil** stencil) {
    return guarded([&] {
        need(stencil, "the place for the handle");
        *stencil = new halo_lift_stencil(need_handle(program, "the program").program);
    });
}

halo_code halo_lift_begin(halo_lift_stencil* stencil, const int64_t* grid, int axes) {
    return guarded([&] { need_handle(stencil, "the stencil").begin(grid, axes); });
}

halo_code halo_lift_set(halo_lifted* lifted, const char* param, double value) {
    return guarded([&] { stencil_of(lifted).set(text_of(param, "the parameter"), value); });
}

halo_code halo_lift_write(halo_lifted* lifted, const char* field, const halo_lift_array* array) {
    return guarded([&] {
        need(array, "the array");
        need(field, "the field");
        stencil_of(lifted).use(field, *array);
    });
}

halo_code halo_lift_step(halo_lifted* lifted, int64_t count) {
    return guarded([&] { translated([&] { stencil_of(lifted).step(count); }); });
}

halo_code halo_lift_reduce(halo_lifted* lifted, const char* reduction, double* value) {
    return guarded([&] {
        translated([&] {
            need(value, "the place for the value");
            const std::scoped_lock lock(KeptArrays::all().mutex);
            *value = stencil_of(lifted).whole->reduce(text_of(reduction, "the reduction"));
        });
    });
}

halo_code halo_lift_copy_back(halo_lifted* lifted, const char* field, const halo_lift_array* array) {
    return guarded([&] {
        need(array, "the array");
        need(field, "the field");
        translated([&] { stencil_of(lifted).copy_back(field, *array); });
    });
}

halo_code halo_lift_give_back(const halo_lift_array* array) {
    return guarded([&] {
        need(array, "the array");
        const std::scoped_lock lock(KeptArrays::all().mutex);
        const auto [begin, end] = span_of_array(*array);
        KeptArrays::all().give_up(begin, std::max(end, begin + 1));
    });
}
