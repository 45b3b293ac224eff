// States that are kept where they lie. Not for other rooms.
//
// To keep a state costs no copy: its arrays are kept, and no step writes to a kept array. Where a step would,
// another array takes its place in the level. So a state that is gone back to is there at once, and states
// one step apart share the arrays of the levels that they have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "runtime/core/session/arrays.h"

namespace halo::rt::session {

class KeptArrays {
public:
    struct Part {  // of a state: a level that steps read
        int field = 0;
        int time = 0;
    };
    using State = std::vector<Level>;  // by part

    KeptArrays(Setup& setup, Arrays& arrays, const Params& params);

    const std::vector<Part>& parts() const { return parts_; }
    Level present(const Part& part);
    std::int64_t bytes_of_state(bool in_a_row) const;
    int levels_of_states() const;  // of each field's; 0 where fields differ, and where there is none
    // Takes memory for so many states more, and gives it back: that of all, once nobody asks for any.
    // in_a_row: each is kept one step after the one before, and adds its latest level to what that has.
    void add_room(int states, bool in_a_row);  // throws out_of_memory
    void add_room_of_levels(int levels);       // of each field
    void drop_room() noexcept;

    State keep();                       // the present one
    State take();                       // arrays for another one, whose cells the caller fills
    void put_back(const State& state);  // as the present one; it stays kept
    void forget(State& state);
    // Once no state is kept: the present one is moved to the arrays that the session began with.
    void go_home();

    // Puts others in the place of kept arrays that steps would write to. Whether a level that they read lies
    // in a kept array, so that steps are to be done one at a time.
    bool make_way();
    // Before something else writes to a level, or to all that are present. with_cells: those go along.
    void make_way(int field, int time, bool with_cells);
    void make_way_to_all(bool with_cells);
    void constants_due() { has_constants_.clear(); }  // past fixed faces

private:
    // arrays_of: how many for each part.
    void add_arrays(const std::function<int(const Part&)>& arrays_of);
    std::int64_t bytes_of(int field) const;  // of an array in one piece of memory with others
    bool is_kept(const void* array) const { return kept_.contains(array); }
    bool is_bound(int field, const void* array) const;
    void bind(int field, int time, const Level& level);
    void replace(int field, int time, bool with_cells);
    void free_if_unused(int field, void* array);
    void* take_free(int field);

    Setup& setup_;
    Arrays& arrays_;
    const Params& params_;
    std::vector<Part> parts_;
    int rooms_ = 0;
    std::vector<DeviceMemory> memory_;
    std::map<const void*, int> kept_;            // how many states each array is of
    std::vector<std::vector<void*>> pool_;       // arrays in that memory, by field
    std::vector<std::vector<void*>> free_;       // those that are neither kept nor a level's
    std::vector<std::vector<void*>> home_;       // by field; empty while nothing was exchanged
    std::map<const void*, bool> has_constants_;  // of those that were exchanged for others
};

}  // namespace halo::rt::session
