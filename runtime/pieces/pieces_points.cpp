// Points of the whole grid. Every piece is told all of them: what is injected comes to all cells that a piece
// computes, ghosts too, and a point is sampled by the piece that has it among its own cells.
#include <algorithm>
#include <cmath>
#include <cstring>

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

// Assembles the rows of all points; each number is taken from the piece that samples it.
std::vector<double> Pieces::trace(const std::string& points, const std::string& name) {
    transport_->wait();
    std::vector<double> result = sessions_.front()->trace(points, name);
    if (cut_.count() == 1 || result.empty()) return ranks_->is_first() ? result : std::vector<double>();
    const std::vector<std::size_t> owner = owners(points);
    const auto take = [&](std::size_t piece, const double* values) {
        for (std::size_t v = 0; v < result.size(); ++v)
            if (owner[v % owner.size()] == piece) result[v] = values[v];
    };
    for (std::size_t i = 1; i < sessions_.size(); ++i)
        take(i, sessions_[i]->trace(points, name).data());
    if (!is_shared()) return result;
    const std::vector<std::string> parts =
        ranks_->gather({reinterpret_cast<const char*>(result.data()), 8 * result.size()});
    for (std::size_t peer = 1; peer < parts.size(); ++peer) {
        std::vector<double> values(result.size());
        std::memcpy(values.data(), parts[peer].data(), 8 * values.size());
        take(peer, values.data());
    }
    return ranks_->is_first() ? result : std::vector<double>();
}

}  // namespace halo::rt
