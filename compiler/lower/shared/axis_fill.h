// What lies past the faces of a field along one axis: as statements that fill the ghosts on both sides of a
// line along it, and as a function of a cell, for the axes that are filled after it in the same launch.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "compiler/lower/shared/context.h"

namespace halo::lower {

class AxisFill {
public:
    // filled: axes that are filled before, so that lines go over what lies past their faces, too.
    AxisFill(Context& context, const Level& level, int axis, const std::vector<int>& filled, Machine machine);

    int axis() const { return axis_; }
    // The axes across the line, the contiguous one first.
    const std::vector<int>& others() const { return others_; }
    int first_cell(int other) const { return -widths_[other][0]; }
    int width_past(int other) const { return widths_[other][1]; }
    kernel::Expr past_end(int other) const { return context_.extent(other) + width_past(other); }

    // Lines read their cells by that function of (i, j, k), which knows what lies past other faces. Without
    // one they read them where they lie.
    void read_by(std::string function) { read_by_ = std::move(function); }

    // Fills the ghosts of the line at (i, j, k).
    kernel::Block line();

    // The function of (i, j, k), with that name, that gives the value there, also past the faces along this
    // axis; reads as lines do, by a function. None where that takes more than an expression.
    std::optional<kernel::DeclareLambda> function(const std::string& name);

private:
    using Expr = kernel::Expr;

    void declare_edges(kernel::Block& line);
    Expr extent() const { return context_.extent(axis_); }
    Expr stride() const { return context_.stride(axis_); }
    Expr ghost_index(int side, int distance) const;
    Expr period_number(int side, int distance) const;
    bool may_leave(int side) const;
    Expr face_source(int side, int distance) const;
    Expr fixed_value(int side) const;

    Expr cell(const Expr& offset) { return context_.element(level_, offset); }
    Expr cell_inside(int side, int number);
    Expr cell_counted(const Expr& number);
    Expr read(const Expr& number) const;
    Expr value_inside(int side, int number);
    Expr stored_inside(int side, int number);
    Expr stored_counted(const Expr& number);

    Expr formula(int side, int distance, kernel::Block& body);
    void store(int side, int distance, const Expr& value, kernel::Block& body);
    void fill(int side, int distance, kernel::Block& body);
    void fill_mirror(int side, int distance, kernel::Block& body);
    Expr shown(int side, int distance, kernel::Block& body);

    Context& context_;
    Level level_;
    const ir::Field& field_;
    int axis_;
    Machine machine_;
    std::string read_by_;
    std::vector<int> others_;
    std::array<std::array<int, 2>, ir::kMaxRank> widths_{};  // of ghosts past other faces
    CellIndex index_;
    Expr edge_[2];  // elements from cell (0, 0, 0) to the line's first and last cell
    bool reads_last_ = false;
};

}  // namespace halo::lower
