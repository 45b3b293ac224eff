#include "runtime/pieces/decomposition.h"

#include <functional>
#include <string>
#include <vector>

#include "catch.h"
#include "runtime/core/error.h"

using namespace halo::rt;

namespace {

const std::vector<std::string> kAxes{"x", "y", "z"};

Depths ghosts(std::int64_t deep) {
    Depths depths{};
    for (auto& of_axis : depths)
        of_axis = {deep, deep};
    return depths;
}

std::string message_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

}  // namespace

TEST_CASE("pieces have every cell of the grid once, as evenly as can be") {
    const Grid grid{3, {7, 11, 13}, {}};
    const Decomposition cut = decompose(grid, {2, 3, 4}, ghosts(1), kAxes);
    REQUIRE(cut.count() == 24);
    std::vector<int> owners(7 * 11 * 13);
    for (const Piece& piece : cut.pieces) {
        for (std::int64_t z = piece.begin[2]; z < piece.end[2]; ++z)
            for (std::int64_t y = piece.begin[1]; y < piece.end[1]; ++y)
                for (std::int64_t x = piece.begin[0]; x < piece.end[0]; ++x)
                    ++owners[static_cast<std::size_t>(x + 7 * (y + 11 * z))];
        CHECK((piece.own(2) == 3 || piece.own(2) == 4));
    }
    for (const int count : owners)
        CHECK(count == 1);
}

TEST_CASE("ghosts lie where there is a neighbour") {
    const Decomposition open = decompose({1, {12, 1, 1}, {}}, {3, 1, 1}, ghosts(2), kAxes);
    CHECK(open.pieces[0].ghosts[0] == std::array<std::int64_t, 2>{0, 2});
    CHECK(open.pieces[1].ghosts[0] == std::array<std::int64_t, 2>{2, 2});
    CHECK(open.pieces[2].ghosts[0] == std::array<std::int64_t, 2>{2, 0});
    CHECK(open.beside(0, 0, 0) == -1);
    CHECK(open.beside(0, 0, 1) == 1);
    const Decomposition ring = decompose({1, {12, 1, 1}, {true, false, false}}, {3, 1, 1}, ghosts(2), kAxes);
    CHECK(ring.pieces[0].first(0) == -2);
    CHECK(ring.pieces[2].ghosts[0] == std::array<std::int64_t, 2>{2, 2});
    CHECK(ring.beside(0, 0, 0) == 2);
    CHECK(ring.beside(2, 0, 1) == 0);
    // Along an axis that is not cut there are none, periodic or not.
    const Decomposition whole = decompose({1, {12, 1, 1}, {true, false, false}}, {1, 1, 1}, ghosts(2), kAxes);
    CHECK(whole.pieces[0].extent()[0] == 12);
}

TEST_CASE("pieces of several grids begin between cells of all of them") {
    const Grid grid{2, {9, 29, 1}, {}, 8};
    const Decomposition cut = decompose(grid, {1, 3, 1}, ghosts(8), kAxes);
    CHECK(cut.pieces[0].end[1] == 8);
    CHECK(cut.pieces[1].begin[1] == 8);
    CHECK(cut.pieces[1].ghosts[1] == std::array<std::int64_t, 2>{8, 8});
    CHECK(cut.pieces[2].begin[1] == 16);
    CHECK(cut.pieces[2].end[1] == 29);
    const Decomposition coarse = cut.of_grid(4);
    CHECK(coarse.grid.extent == Extent{2, 7, 1});
    CHECK(coarse.pieces[0].extent() == Extent{2, 4, 1});
    CHECK(coarse.pieces[1].first(1) == 0);
    CHECK(coarse.pieces[1].extent() == Extent{2, 6, 1});
    CHECK(coarse.pieces[2].own(1) == 3);
    const std::string none =
        message_of([&] { choose_decomposition(grid, 4, ghosts(8), {false, true, false}, kAxes); });
    CHECK(
        none.find("cut between the cells of all grids, every 8; it can be cut into 3, or have fewer grids") !=
        std::string::npos);
}

TEST_CASE("what cannot be cut is said with the figures") {
    const Grid grid{2, {100, 10, 1}, {}};
    const std::string thin = message_of([&] { decompose(grid, {1, 4, 1}, ghosts(3), kAxes); });
    CHECK(thin.find("4 pieces along y would have 2 of its 10 cells") != std::string::npos);
    CHECK(thin.find("needs 3 of its neighbour") != std::string::npos);
    const std::string none =
        message_of([&] { choose_decomposition(grid, 4, ghosts(3), {false, true, false}, kAxes); });
    CHECK(none.find("it can be cut into 3") != std::string::npos);
    CHECK(message_of([&] { choose_decomposition(grid, 2, ghosts(3), {}, kAxes); }).find("use one device") !=
          std::string::npos);
    // More pieces than cells.
    CHECK_THROWS_AS(decompose({1, {3, 1, 1}, {}}, {4, 1, 1}, ghosts(0), kAxes), Error);
}

TEST_CASE("slabs along the slowest axis, blocks where they exchange less") {
    const std::array<bool, kMaxRank> all{true, true, true};
    const Grid cube{3, {512, 512, 512}, {}};
    CHECK(choose_decomposition(cube, 2, ghosts(1), all, kAxes).counts == halo::rt::Lengths{1, 1, 2});
    CHECK(choose_decomposition(cube, 4, ghosts(1), all, kAxes).counts == halo::rt::Lengths{1, 2, 2});
    CHECK(choose_decomposition(cube, 64, ghosts(1), all, kAxes).counts[0] > 1);
    // A long grid is cut across its length.
    const Grid bar{3, {64, 64, 4096}, {}};
    CHECK(choose_decomposition(bar, 8, ghosts(1), all, kAxes).counts == halo::rt::Lengths{1, 1, 8});
    CHECK(choose_decomposition(cube, 7, ghosts(1), {false, false, true}, kAxes).counts ==
          halo::rt::Lengths{1, 1, 7});
}
