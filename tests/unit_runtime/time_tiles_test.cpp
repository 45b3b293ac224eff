// The order of time tiles, on sweeps that note what they read: every cell of every sweep once, and what it
// reads is what it would have been one sweep after the other.
#include "runtime/core/time_tiles.h"

#include <algorithm>
#include <cstdint>
#include <random>

#include "catch.h"

using namespace halo::rt;

namespace {

using Words = std::vector<std::uint64_t>;

std::uint64_t mixed(std::uint64_t word, std::uint64_t with) {
    word = (word ^ with) * 0x9e3779b97f4a7c15U;
    return word ^ (word >> 29);
}

// Rows of planes, without the first axis, which time tiles do not cut.
struct TiledGrid {
    std::int64_t planes = 1, rows = 1;
    std::vector<Words> arrays;
    std::vector<Words> visits;  // by sweep

    std::size_t at(std::int64_t plane, std::int64_t row) const {
        return static_cast<std::size_t>(plane * rows + row);
    }
    static bool is_near(std::int64_t index, std::int64_t n, bool ring) {
        return index >= (ring ? -n : 0) && index < (ring ? 2 * n : n);
    }
    void compute(const TimeTiles& tiles, std::size_t s, std::int64_t plane, std::int64_t row) {
        const Sweep& sweep = tiles.sweeps[s];
        const int slowest = tiles.geometry.rank - 1;
        std::uint64_t word = s;
        for (const Sweep::Use& use : sweep.uses) {
            if (!use.read) continue;
            const Words& array = *static_cast<const Words*>(use.array);
            const std::int64_t row_reach = slowest == 2 ? use.reach[1] : 0, reach = use.reach[slowest];
            for (std::int64_t p = plane - reach; p <= plane + reach; ++p)
                for (std::int64_t r = row - row_reach; r <= row + row_reach; ++r)
                    if (is_near(p, planes, tiles.rings[slowest]) && is_near(r, rows, tiles.rings[1]))
                        word = mixed(word, array[at((p + planes) % planes, (r + rows) % rows)]);
        }
        for (const Sweep::Use& use : sweep.uses)
            if (use.written)
                (*const_cast<Words*>(static_cast<const Words*>(use.array)))[at(plane, row)] = word;
        ++visits[s][at(plane, row)];
    }
};

struct Draw {
    std::mt19937 random;
    std::int64_t operator()(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
    }
};

// Steps of a few kernels: each writes the next level of a state of its own, or an array of one step, from
// what any of the others hold.
std::vector<Sweep> draw_sweeps(Draw& draw, std::vector<Words>& arrays, int steps) {
    struct Kernel {
        int first = 0, levels = 1;  // its arrays
        std::vector<std::pair<int, std::array<std::int64_t, halo::rt::kMaxRank>>> reads;
    };
    std::vector<Kernel> kernels(static_cast<std::size_t>(draw(1, 3)));
    int count = 0;
    for (Kernel& kernel : kernels) {
        kernel.first = count;
        kernel.levels = static_cast<int>(draw(1, 3));
        count += kernel.levels;
    }
    for (Kernel& kernel : kernels)
        for (int k = 0; k < static_cast<int>(kernels.size()); ++k)
            if (draw(0, 2) > 0) kernel.reads.push_back({k, {0, draw(0, 2), draw(0, 2)}});
    arrays.resize(static_cast<std::size_t>(count));
    std::vector<Sweep> sweeps;
    for (int step = 0; step < steps; ++step) {
        for (const Kernel& kernel : kernels) {
            Sweep sweep;
            const int written = kernel.first + (step + 1) % kernel.levels;
            sweep.uses.push_back({&arrays[static_cast<std::size_t>(written)], false, true, {}});
            for (const auto& [k, reach] : kernel.reads) {
                const Kernel& read = kernels[static_cast<std::size_t>(k)];
                const int array = read.first + static_cast<int>(step + draw(0, 1)) % read.levels;
                if (array == written) continue;
                sweep.uses.push_back({&arrays[static_cast<std::size_t>(array)], true, false, reach});
            }
            sweeps.push_back(std::move(sweep));
        }
    }
    return sweeps;
}

void fill(TiledGrid& grid, std::size_t sweeps) {
    std::uint64_t word = 1;
    const auto cells = static_cast<std::size_t>(grid.planes * grid.rows);
    for (Words& array : grid.arrays) {
        array.resize(cells);
        for (std::uint64_t& cell : array)
            cell = word = mixed(word, 7);
    }
    grid.visits.assign(sweeps, Words(cells, 0));
}

void run_in_tiles(const TimeTiles& tiles, TiledGrid& grid, bool last_first) {
    for (int phase = 0; phase < 2; ++phase) {
        for (int number = 0; number < tiles.shape.chunks; ++number) {
            const int chunk = last_first ? tiles.shape.chunks - 1 - number : number;
            order_pieces(tiles, chunk, phase, [&](const Sweep& sweep, const HaloPiece& piece) {
                const auto s = static_cast<std::size_t>(&sweep - tiles.sweeps.data());
                for (std::int64_t plane = piece.begin; plane < piece.end; ++plane)
                    for (std::int64_t row = piece.row_begin; row < piece.row_end; ++row)
                        grid.compute(tiles, s, plane, row);
            });
        }
    }
}

Geometry geometry_of(int rank, std::int64_t rows, std::int64_t planes) {
    return make_geometry(rank, {5, rank == 2 ? planes : rows, rank == 2 ? 1 : planes}, {});
}

Sweep::Use use(const void* array, bool written, std::int64_t reach) {
    return {array, !written, written, {reach, reach, reach}};
}

}  // namespace

TEST_CASE("time tiles read and write what one sweep after the other does") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        Draw draw{std::mt19937(seed)};
        TimeTiles tiles;
        TiledGrid grid;
        const int rank = static_cast<int>(draw(2, 3));
        grid.planes = draw(1, 60);
        grid.rows = rank == 2 ? 1 : draw(1, 60);
        tiles.geometry = geometry_of(rank, grid.rows, grid.planes);
        const int steps = static_cast<int>(draw(2, 4));
        tiles.sweeps = draw_sweeps(draw, grid.arrays, steps);
        const std::optional<Lags> lags = find_lags(tiles.sweeps);
        REQUIRE(lags);
        tiles.lags = *lags;
        std::int64_t most = 0;
        std::int64_t rows = 1;  // at least, of strips on a ring
        for (const auto& lag : tiles.lags) {
            most = std::max(most, lag[rank - 1]);
            rows = std::max(rows, 2 * (lag[1] + 2));
        }
        tiles.rings[rank - 1] = grid.planes >= 2 * (most + 2) && draw(0, 1) == 1;
        if (rank == 3) tiles.rings[1] = draw(0, 1) == 1;
        tiles.shape.steps = steps;
        tiles.shape.rows = draw(1, grid.rows);
        if (rank == 3 && tiles.rings[1])
            tiles.shape.rows = std::min(std::max(tiles.shape.rows, rows), grid.rows);
        tiles.shape.planes = draw(1, 3);
        tiles.shape.chunks =
            static_cast<int>(std::clamp<std::int64_t>(grid.planes / (2 * (most + 2)), 1, draw(1, 6)));
        fill(grid, tiles.sweeps.size());
        for (std::size_t s = 0; s < tiles.sweeps.size(); ++s)
            for (std::int64_t plane = 0; plane < grid.planes; ++plane)
                for (std::int64_t row = 0; row < grid.rows; ++row)
                    grid.compute(tiles, s, plane, row);
        const std::vector<Words> expected = grid.arrays, visits = grid.visits;
        for (const bool last_first : {false, true}) {
            fill(grid, tiles.sweeps.size());
            run_in_tiles(tiles, grid, last_first);
            INFO("seed " << seed);
            REQUIRE(grid.visits == visits);
            REQUIRE(grid.arrays == expected);
        }
    }
}

TEST_CASE("a sweep that reads beside its cell what it changes has no time tiles") {
    const Words a, b;
    Sweep sweep;
    sweep.uses = {use(&a, false, 1), use(&a, true, 0)};
    CHECK_FALSE(find_lags({sweep}));
    sweep.uses = {use(&a, false, 0), use(&a, true, 0), use(&b, false, 1)};
    CHECK(find_lags({sweep}));
}

TEST_CASE("an image may lie farther away than the halo that shows it") {
    FieldPlan field;
    const auto distance = [&](BoundaryKind low, BoundaryKind high, std::int64_t n, std::int64_t reach,
                              bool ring = false) {
        field.boundary[1][0].kind = low;
        field.boundary[1][1].kind = high;
        return image_distance(field, 1, n, reach, ring);
    };
    using enum BoundaryKind;
    CHECK(distance(fixed, free, 10, 2) == 2);
    CHECK(distance(clamp, clamp, 10, 2) == 2);
    CHECK(distance(mirror, fixed, 10, 3) == 3);
    CHECK(distance(periodic, periodic, 10, 1) == 9);
    CHECK(distance(periodic, periodic, 10, 3, true) == 3);
    CHECK(distance(periodic, periodic, 2, 5, true) == 5);
    CHECK(distance(mirror, mirror, 10, 3, true) == 3);
    CHECK(distance(periodic, periodic, 10, 0) == 0);
    CHECK(distance(mirror, mirror, 2, 4) == 4);
}

TEST_CASE("the shape of time tiles follows the caches") {
    constexpr std::int64_t kMega = 1 << 20;
    TileNeeds needs;
    needs.cell_bytes = 8;
    needs.reach = {1, 1, 1};
    for (std::int64_t steps = 1; steps <= 16; ++steps)
        needs.lags.push_back({0, steps - 1, steps - 1});
    const CacheShare cache{2, kMega, 16 * kMega};

    SECTION("a grid that the caches hold needs none") {
        CHECK(choose_shape(geometry_of(2, 1, 200), needs, cache, {}).steps == 1);
    }
    SECTION("planes that are too large are cut into strips, where they may be") {
        const Geometry large = make_geometry(3, {512, 512, 512}, {});
        needs.strips = true;
        const TileShape shape = choose_shape(large, needs, cache, {});
        CHECK(shape.steps > 2);
        CHECK(shape.rows < 512);
        CHECK(shape.chunks == 2);
        CHECK((shape.steps + 2) * shape.rows * large.pitch * needs.cell_bytes <= 16 * kMega);
        needs.strips = false;
        CHECK(choose_shape(large, needs, {2, kMega, kMega}, {}).steps == 1);
    }
    SECTION("rows that are too long for the own cache go through the common one") {
        const Geometry wide = make_geometry(2, {100000, 2000, 1}, {});
        CHECK(choose_shape(wide, needs, cache, {}).steps > 2);
        CHECK(choose_shape(wide, needs, {2, kMega, 0}, {}).steps == 1);
    }
    SECTION("a ring has no chunk so short that its borders meet") {
        needs.rings[1] = true;
        const Geometry few = make_geometry(2, {1 << 20, 5, 1}, {});
        CHECK(choose_shape(few, needs, cache, {3, 0}).steps == 1);
        CHECK(choose_shape(few, needs, cache, {2, 0}).steps == 2);
    }
    SECTION("images from afar leave nothing to gain") {
        const Geometry large = make_geometry(2, {8192, 8192, 1}, {});
        CHECK(choose_shape(large, needs, cache, {}).steps > 2);
        for (std::size_t steps = 0; steps < needs.lags.size(); ++steps)
            needs.lags[steps] = {0, 8191 * static_cast<std::int64_t>(steps), 0};
        needs.reach = {1, 8191, 0};
        CHECK(choose_shape(large, needs, cache, {}).steps == 1);
    }
    SECTION("as asked") {
        needs.strips = true;
        const TileShape shape = choose_shape(geometry_of(3, 9, 40), needs, cache, {3, 2});
        CHECK(shape.steps == 3);
        CHECK(shape.rows == 2);
        CHECK(shape.chunks == 2);
    }
}
