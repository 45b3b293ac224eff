// Whether every ghost, those in edges and corners too, and the halos beside them, come from where they
// should.
#include "runtime/pieces/exchange.h"

#include <algorithm>
#include <vector>

#include "catch.h"
#include "runtime/core/geometry.h"
#include "runtime/host/host_device.h"

using namespace halo::rt;

namespace {

constexpr std::array<std::array<int, 2>, kMaxRank> kHalo{{{2, 1}, {1, 2}, {1, 1}}};

struct Array {
    Geometry geometry;
    std::vector<double> elements;
    double& at(std::int64_t x, std::int64_t y, std::int64_t z) {
        return elements[static_cast<std::size_t>(geometry.origin + x + y * geometry.pitch +
                                                 z * geometry.slice)];
    }
};

double number_of(const Grid& grid, std::int64_t x, std::int64_t y, std::int64_t z) {
    const auto wrap = [&](std::int64_t index, std::size_t axis) {
        return (index + grid.extent[axis]) % grid.extent[axis];
    };
    return static_cast<double>(wrap(x, 0) + 1000 * wrap(y, 1) + 1000000 * wrap(z, 2));
}

constexpr Depths kGhosts{{{2, 1}, {1, 2}, {2, 2}}};

// Gives how many transfers went as whole planes.
int check(const Grid& grid, const Lengths& counts, RowLayout layout, bool by_planes,
          const Depths& ghosts = kGhosts) {
    const Decomposition cut = decompose(grid, counts, ghosts, {"x", "y", "z"});
    std::vector<Array> arrays;
    for (const Piece& piece : cut.pieces) {
        Array array;
        array.geometry = make_geometry(grid.rank, piece.extent(), kHalo, layout);
        array.elements.assign(static_cast<std::size_t>(array.geometry.elements), -1);
        for (std::int64_t z = piece.begin[2]; z < piece.end[2]; ++z)
            for (std::int64_t y = piece.begin[1]; y < piece.end[1]; ++y)
                for (std::int64_t x = piece.begin[0]; x < piece.end[0]; ++x)
                    array.at(x - piece.first(0), y - piece.first(1), z - piece.first(2)) =
                        number_of(grid, x, y, z);
        arrays.push_back(std::move(array));
    }
    const std::unique_ptr<Device> device = make_host_device(1);
    int whole = 0;
    for (const std::vector<Transfer>& along : transfers(cut, kHalo))
        for (const Transfer& transfer : along) {
            Array& from = arrays[static_cast<std::size_t>(transfer.from)];
            Array& to = arrays[static_cast<std::size_t>(transfer.to)];
            const auto given = whole_planes(transfer, transfer.source, from.geometry);
            const auto taken = whole_planes(transfer, transfer.target, to.geometry);
            REQUIRE(given.has_value() == taken.has_value());
            if (given && by_planes) {
                REQUIRE(given->count == taken->count);
                REQUIRE(taken->first + taken->count <= to.geometry.elements);
                std::copy_n(from.elements.begin() + given->first, given->count,
                            to.elements.begin() + taken->first);
                ++whole;
            } else {
                device->copy_from(*device, box_copy(transfer, from.geometry, from.elements.data(),
                                                    to.geometry, to.elements.data(), sizeof(double)));
            }
        }
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const Piece& piece = cut.pieces[i];
        INFO("piece " << i);
        bool all = true;
        for (std::int64_t z = 0; z < piece.cells(2); ++z)
            for (std::int64_t y = 0; y < piece.cells(1); ++y)
                for (std::int64_t x = 0; x < piece.cells(0); ++x)
                    all = all && arrays[i].at(x, y, z) == number_of(grid, piece.first(0) + x,
                                                                    piece.first(1) + y, piece.first(2) + z);
        CHECK(all);
    }
    return whole;
}

}  // namespace

TEST_CASE("every ghost is the neighbour's cell") {
    for (const RowLayout layout : {RowLayout::padded, RowLayout::tight}) {
        for (const bool wraps : {false, true}) {
            for (const bool by_planes : {false, true}) {
                const std::array<bool, kMaxRank> around{wraps, wraps, wraps};
                const auto gives = [&](const Grid& grid, const Lengths& counts, int whole) {
                    const int given = check(grid, counts, layout, by_planes);
                    // Tight rows may have room of their own, too.
                    if (layout == RowLayout::padded || !by_planes) CHECK(given == (by_planes ? whole : 0));
                };
                gives({3, {13, 12, 11}, around}, {1, 1, 3}, wraps ? 6 : 4);
                gives({3, {13, 12, 11}, around}, {1, 3, 1}, 0);
                gives({3, {13, 12, 11}, around}, {2, 2, 2}, wraps ? 16 : 8);
                gives({3, {13, 12, 11}, {false, wraps, false}}, {3, 2, 2}, 12);
                gives({2, {13, 12, 1}, around}, {3, 2, 1}, wraps ? 12 : 6);
                gives({1, {13, 1, 1}, around}, {4, 1, 1}, 0);
            }
        }
    }
}

// Shrunk from a random program: steps read one way alone, so the first piece has no ghosts along y, and no
// more rows than the second is given.
TEST_CASE("all rows of one piece are not whole planes of another") {
    for (const RowLayout layout : {RowLayout::padded, RowLayout::tight})
        for (const bool by_planes : {false, true})
            check({3, {13, 9, 11}, {}}, {1, 3, 1}, layout, by_planes, {{{0, 0}, {3, 0}, {0, 0}}});
}
