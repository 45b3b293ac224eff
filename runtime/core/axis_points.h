// Axes whose cells are not equally far apart: where their points lie, and what steps read of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halo::rt {

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
    friend bool operator==(const AxisPoints&, const AxisPoints&) = default;

private:
    double value(const AxisTable& table, std::int64_t cell) const;
    // From a point to one that lies `by` cells further along the axis.
    double way(std::int64_t cell, bool from_half, int by, bool to_half) const;

    std::vector<double> distances_;
    std::vector<double> positions_;
    bool is_periodic_;
};

// Throws Error (bad_argument) where one is not above 0. The last counts on a periodic axis alone, and on a
// grid of one cell. axis: its name.
void check_distances(const std::vector<double>& distances, bool is_periodic, const std::string& axis);

}  // namespace halo::rt
