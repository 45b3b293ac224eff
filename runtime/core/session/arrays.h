// The arrays of a session's fields: one for each time level, with what fills their halos. Not for other
// rooms.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/lattice.h"
#include "runtime/core/session/kernels.h"
#include "runtime/core/session/parts.h"

namespace halo::rt::session {

struct Level {
    void* array = nullptr;    // that it lies in
    bool images_due = false;  // uploaded since its halo was filled
};

class Arrays {
public:
    // Throws out_of_memory where the device lacks the bytes for them and for the partial results of
    // reductions.
    Arrays(Setup& setup, const Clock& clock, const Kernels& kernels, Due& due);

    // In `phase`, counted in steps: for a state, between steps and within one; for others within a step the
    // phase is the next one, as their levels move on before they are written.
    Level& level(int field, int time, std::int64_t phase);
    Level& level(int field, int time) { return level(field, time, clock_.phase()); }
    // As a kernel that is launched in `phase` takes it.
    Level& level_in_step(int field, int time, std::int64_t phase);
    void* first_cell(int field, const Level& level) const;  // element of its array, as kernels take it
    const std::vector<Level>& slots(int field) const { return at(field).slots; }
    std::int64_t level_bytes(int field) const;
    std::int64_t bytes() const;  // all levels of all fields

    // Halos. Images are filled after each write, constants once and when a param changed; where a formula
    // says what lies past a face, kernels fill a level's halo instead, in order.
    const std::vector<HaloPass>& images(int field) const { return at(field).images; }
    const std::vector<int>& fillers(int field) const { return at(field).fillers; }
    void fill_images(int field);                            // of the levels where they are due
    void set_constants(const std::vector<double>& params);  // in all levels: kernels leave them alone
    void set_constants(int field, void* array, const std::vector<double>& params);  // in one
    void mark_written(int field);  // its present and past levels: their images are due
    void mark_states_written();
    void clear_written();  // all levels of states and outputs become 0

    // Places are those of the caller's list: t, then t-1 …, then the levels that steps write next.
    void* level_array(int field, int place) const noexcept;
    std::vector<void*> level_arrays(int field) const;
    void check_bindable(int field, std::span<void* const> arrays) const;
    void bind(int field, std::span<void* const> arrays);
    std::vector<DeviceMemory> give_up(int field);
    // Another array for a level, and for all components that lie in it. Constants past fixed faces are there.
    void exchange(int field, int time, const Level& level);
    // Of an input: its level is in another session's array until all that was borrowed is given back.
    void borrow(int field, void* array);
    void give_back();
    // All arrays anew, for a geometry that changed; none is the caller's.
    void allocate_again();

    // Cells from and to dense arrays of the field's element type (cells.cpp).
    void upload(int field, const Level& level, const Box& box, const void* dense);
    void download(int field, const Level& level, const Lattice& lattice, void* dense) const;
    CellsOfArray cells_in(int field, const Level& level, const Lattice& lattice) const;
    void download(int field, const Level& level, const Box& box, void* dense) const;
    void upload(int field, const Level& level, const void* dense);
    void download(int field, const Level& level, void* dense) const;
    // From an array on the same device, of cells like the field's, that lie as `geometry` says.
    void copy_cells(int field, Level& level, const void* array, const Geometry& geometry);
    void check_box(int field, const Box& box) const;
    void check_bytes(int field, std::int64_t bytes) const;

private:
    struct FieldArrays {
        std::vector<Level> slots;
        std::vector<DeviceMemory> memory;  // of arrays that are the session's own, in any order
        std::vector<HaloPass> images;
        std::vector<int> fillers;
        void* own = nullptr;  // where an array is borrowed: in whose place
    };
    FieldArrays& at(int field) { return fields_[static_cast<std::size_t>(field)]; }
    const FieldArrays& at(int field) const { return fields_[static_cast<std::size_t>(field)]; }
    const FieldPlan& plan_of(int field) const { return setup_.plan.fields[static_cast<std::size_t>(field)]; }
    void allocate(int field);
    void find_fillers();
    bool fills_in_steps(int field) const;
    std::int64_t age_of(int field, int place) const;

    Setup& setup_;
    const Clock& clock_;
    Due& due_;
    std::vector<FieldArrays> fields_;
};

}  // namespace halo::rt::session
