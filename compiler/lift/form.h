// A Model as statements on a grid: which axis each subscript is, the box of cells that each store is for, how
// far each read reaches, and whether it sees what was there before or what the step has written. Plain data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/lift/model.h"

namespace halo::lift {

// An array, or one of several that rotate, as in a[t % 2].
struct Field {
    // What is read beyond a face: nothing, what is not looked at, the cell at the edge, the one at the other.
    enum class Past : std::uint8_t { nothing, anything, clamp, periodic };
    std::string name;
    int object = -1;
    std::optional<int> modulus, phase;
    std::vector<Polynomial>
        extents;  // of the array itself, x first; of an axis that no stride tells: cells used
    std::vector<Polynomial> pitch;   // as told by the next stride, where one does; at least the extent
    std::vector<Polynomial> stride;  // elements (or pointers) from cell to cell, by axis
    std::vector<int> level;          // pointers on the way, by axis
    // Which cell of the array the grid's first one is, by axis; empty: its own first.
    std::vector<Polynomial> first;
    // That strides which are parameters of their own are so far apart that no two cells are the same: 1 at
    // least.
    std::vector<Polynomial> apart;
    // Of an array with fewer axes than the grid, by axis of the grid: which of its own it is, x first; -1: it
    // has one value along it, with one cell and the stride 0. Else empty.
    std::vector<int> own_axis;
    bool lies_along(std::size_t axis) const { return own_axis.empty() || own_axis[axis] >= 0; }
    std::size_t own(std::size_t axis) const {
        return own_axis.empty() ? axis : static_cast<std::size_t>(own_axis[axis]);
    }
    Polynomial phase_stride;  // of a[t % 2]
    int phase_level = 0;
    bool is_written = false, is_old_read = false;
    bool is_state = false;  // else, where written, an output
    // An output of which cells are read as they were, too: by a field of another name in the same array.
    bool has_before = false;
    int after_step = -1;  // the field that is called like this one after a step; itself: no swap
    int writes = 0;
    std::vector<std::array<Past, 2>> past;  // by axis; at the low and at the high face
};

struct AxisIndex {  // a subscript along one axis: the loop's index, if any, plus offset
    int loop = -1;
    Polynomial offset;
};

struct Access {
    int field = -1;
    std::vector<AxisIndex> axes;  // x first
};

struct Range {
    Polynomial lower, upper;  // half-open
};

struct ReadEdge {  // the cells of a statement that read another cell than the offset says
    std::size_t axis = 0;
    bool is_low = false;
    Range cells;
    std::optional<Polynomial> fixed;  // all of them this cell; else
    Polynomial apart;                 // each the one so far away
};

struct ResolvedRead {
    int field = -1;
    bool is_new = false;      // sees what the step has written so far
    std::vector<int> offset;  // cells, by axis
    std::vector<ReadEdge> edges;
    std::vector<Range> cells;                 // of the statement, in which it is read; by axis
    std::vector<std::vector<Range>> touched;  // cells of the array; by axis
};

struct Statement {
    int store = -1;
    int field = -1;  // -1: a reduction
    std::vector<AxisIndex> axes;
    std::vector<Range> region;          // by axis
    std::map<int, ResolvedRead> reads;  // by Model::reads
    std::vector<int> loops;             // without a loop over time
};

struct Form {
    std::vector<std::string> axes;  // x, y, z
    std::vector<Polynomial> grid;   // cells along each
    std::vector<Field> fields;
    std::vector<Statement> statements;
    std::vector<std::string> assumptions;  // what the source does not say: "n <= ld"
};

struct FormOptions {
    bool no_alias = false;    // the user says: arrays do not overlap
    bool equal_rims = false;  // the user says: rotating arrays agree in cells that no loop writes
    bool strict_fp = false;   // refuse sums of reals, which a spec adds in another order
    bool in_place = false;    // what changes an array in place is an output beside an input (form_in_place.h)
};

// Throws Refusal.
Form find_form(const Model& model, const FormOptions& options);

// What must be 1 at least, so that each statement has cells and stays within the arrays: where it is, the
// spec computes what the function does.
std::vector<Polynomial> form_needs(const Model& model, const Form& form);

// The Terms that a store computes, its conditions too; operands first.
std::vector<int> terms_of(const Model& model, const Store& store);

}  // namespace halo::lift
