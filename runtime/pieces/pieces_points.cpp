// Points of the whole grid. Every piece is told all of them: what is injected comes to all cells that a piece
// computes, ghosts too, and a point is sampled by the piece that has it among its own cells.
#include <algorithm>
#include <cmath>

#include "runtime/core/points.h"
#include "runtime/pieces/pieces.h"

namespace halo::rt {

void Pieces::set_points(const std::string& points, std::span<const double> positions) {
    for (Session* session : sessions_)
        session->set_points(points, positions);
    positions_[points].assign(positions.begin(), positions.end());
}

void Pieces::set_point_values(const std::string& points, const std::string& name,
                              std::span<const double> values) {
    for (Session* session : sessions_)
        session->set_point_values(points, name, values);
}

std::vector<std::size_t> Pieces::owners(const std::string& points) const {
    const PointGrid grid = sessions_.front()->point_grid();
    const std::vector<double>& positions = positions_.at(points);
    const auto rank = static_cast<std::size_t>(grid.rank);
    std::vector<std::size_t> result;
    for (std::size_t at = 0; at < positions.size(); at += rank) {
        const auto has = [&](const Piece& piece) {
            for (std::size_t axis = 0; axis < rank; ++axis) {
                const auto cell = static_cast<std::int64_t>(
                    std::floor((positions[at + axis] - grid.origin[axis]) / grid.spacing[axis]));
                if (cell < piece.begin[axis] || cell >= piece.end[axis]) return false;
            }
            return true;
        };
        const auto found = std::find_if(cut_.pieces.begin(), cut_.pieces.end(), has);
        result.push_back(static_cast<std::size_t>(found - cut_.pieces.begin()));
    }
    return result;
}

std::vector<double> Pieces::trace(const std::string& points, const std::string& name) {
    std::vector<double> result = sessions_.front()->trace(points, name);
    if (sessions_.size() == 1 || result.empty()) return result;
    const std::vector<std::size_t> owner = owners(points);
    for (std::size_t i = 1; i < sessions_.size(); ++i) {
        const std::vector<double> values = sessions_[i]->trace(points, name);
        for (std::size_t v = 0; v < values.size(); ++v)
            if (owner[v % owner.size()] == i) result[v] = values[v];
    }
    return result;
}

}  // namespace halo::rt
