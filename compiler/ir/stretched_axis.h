// Axes whose cells are not equally far apart. What the step reads of them, positions and weights of
// differences, lies in hidden inputs over the axis alone: one number for each cell, computed before the first
// step. Who fills the other inputs of a program fills these as well.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/finite_difference.h"

namespace halo::ir {

struct Program;

// What a hidden input holds. For the cell i it is a number of the cell i + shift: its position, or the weight
// of the point `node` in the difference over the points `cells`, which are counted from that cell.
struct AxisTable {
    int shift = 0;
    bool at_half = false;  // of the point half a cell above that cell
    int derivative = 0;
    std::vector<int> cells;      // none: the position
    bool cells_at_half = false;  // the points lie half a cell above the cells
    int node = 0;                // of `cells`
    friend bool operator==(const AxisTable&, const AxisTable&) = default;
};

struct StretchedAxis {
    struct Table {
        std::string field;
        AxisTable holds;
    };
    int axis = 0;
    // The distance of each cell to the next: an input over this axis, or the one output of a program over it,
    // which has the params and coefs of the stencil and reads no field.
    std::string field;
    std::shared_ptr<const Program> formula;
    bool is_periodic = false;
    std::vector<Table> tables;
};

// Where the points of a stretched axis lie, inside the grid and past its faces: on a periodic axis the
// distances go round; on others the cells past a face are the mirror image of those inside, at the edge cell.
class AxisPoints {
public:
    // distances[i] > 0 is that of the cells i and i + 1.
    AxisPoints(std::vector<double> distances, bool is_periodic, double origin);

    std::int64_t cells() const { return static_cast<std::int64_t>(distances_.size()); }
    double distance(std::int64_t cell) const;
    double position(std::int64_t cell, bool at_half) const;
    std::vector<double> values(const AxisTable& table) const;  // by cell

private:
    double value(const AxisTable& table, std::int64_t cell) const;
    // From a point to one that lies `by` cells further along the axis.
    double way(std::int64_t cell, bool from_half, int by, bool to_half) const;

    std::vector<double> distances_;
    std::vector<double> positions_;
    bool is_periodic_;
};

}  // namespace halo::ir
