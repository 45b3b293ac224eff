#include "runtime/pieces/exchange.h"

namespace halo::rt {

std::array<std::vector<Transfer>, kMaxRank> transfers(const Decomposition& cut,
                                                      const std::array<std::array<int, 2>, kMaxRank>& halo) {
    std::array<std::vector<Transfer>, kMaxRank> result;
    for (int axis = 0; axis < cut.grid.rank; ++axis) {
        const auto along = static_cast<std::size_t>(axis);
        for (int to = 0; to < cut.count(); ++to) {
            const Piece& target = cut.pieces[static_cast<std::size_t>(to)];
            for (int side = 0; side < 2; ++side) {
                const std::int64_t deep = target.ghosts[along][static_cast<std::size_t>(side)];
                if (deep == 0) continue;
                const int from = cut.beside(to, axis, side);
                const Piece& source = cut.pieces[static_cast<std::size_t>(from)];
                Transfer transfer;
                transfer.from = from;
                transfer.to = to;
                transfer.axis = axis;
                for (int other = 0; other < cut.grid.rank; ++other) {
                    const auto o = static_cast<std::size_t>(other);
                    transfer.source[o] = transfer.target[o] = -halo[o][0];
                    transfer.count[o] = target.cells(other) + halo[o][0] + halo[o][1];
                }
                // The source is the last own cells of the piece below, or the first of the piece above.
                const std::int64_t ghosts_below = source.ghosts[along][0];
                transfer.source[along] = ghosts_below + (side == 0 ? source.own(axis) - deep : 0);
                transfer.target[along] = side == 0 ? 0 : target.ghosts[along][0] + target.own(axis);
                transfer.count[along] = deep;
                result[along].push_back(transfer);
            }
        }
    }
    return result;
}

BoxCopy box_copy(const Transfer& transfer, const Geometry& from, const void* source, const Geometry& to,
                 void* target, std::int64_t element) {
    BoxCopy box = copy_of_cells(cells_of(target, to, element, transfer.target),
                                cells_of(source, from, element, transfer.source), transfer.count, element);
    // Whole rows or planes lie in one piece of memory in both arrays, with the padding between the rows.
    const bool same_rows = from.pitch == to.pitch;
    const bool whole_rows = transfer.count[0] >= from.extent[0] && transfer.count[0] >= to.extent[0];
    if (!same_rows || !whole_rows) return box;
    const bool same_planes = from.slice == to.slice;
    const bool whole_planes = transfer.count[1] >= from.extent[1] && transfer.count[1] >= to.extent[1];
    if (box.planes == 1 || (same_planes && whole_planes)) {
        box.row_bytes += (box.rows - 1) * box.from_pitch + (box.planes - 1) * box.from_slice;
        box.rows = box.planes = 1;
    } else {
        box.row_bytes += (box.rows - 1) * box.from_pitch;
        box.rows = box.planes;
        box.planes = 1;
        box.from_pitch = box.from_slice;
        box.to_pitch = box.to_slice;
    }
    return box;
}

std::optional<ElementRange> whole_planes(const Transfer& transfer, const Cells& cells,
                                         const Geometry& geometry) {
    if (geometry.rank < 2) return std::nullopt;
    const auto last = static_cast<std::size_t>(geometry.rank - 1);
    if (transfer.axis != geometry.rank - 1) return std::nullopt;
    const std::int64_t before = (geometry.origin + cells[0]) % geometry.pitch;
    if (before + transfer.count[0] > geometry.pitch) return std::nullopt;
    const std::int64_t plane = geometry.strides()[last];
    return ElementRange{geometry.origin / plane * plane + cells[last] * plane, transfer.count[last] * plane};
}

}  // namespace halo::rt
