#include "runtime/core/geometry.h"

#include <vector>

#include "catch.h"
#include "runtime/core/error.h"
#include "runtime/core/text.h"

using namespace halo::rt;

namespace {

using Halo = std::array<std::array<int, 2>, kMaxRank>;

ErrorCode code_of(int rank, const halo::rt::Extent& extent, const Halo& halo) {
    try {
        make_geometry(rank, extent, halo);
    } catch (const Error& error) {
        return error.code();
    }
    FAIL("nothing was thrown");
    return ErrorCode::internal;
}

}  // namespace

TEST_CASE("the first cell of every row is aligned to 32 elements and all halos fit") {
    for (int rank = 1; rank <= 3; ++rank) {
        for (std::int64_t nx : {1, 31, 32, 33, 100}) {
            for (int width : {0, 1, 4, 33}) {
                const Halo halo = {{{width, width}, {rank > 1 ? width : 0, 1}, {2, 0}}};
                const halo::rt::Extent extent = {nx, rank > 1 ? 5 : 1, rank > 2 ? 3 : 1};
                const Geometry g = make_geometry(rank, extent, halo);
                CHECK(g.origin % 32 == 0);
                CHECK(g.pitch % 32 == 0);
                CHECK(g.slice % g.pitch == 0);
                CHECK(g.elements == g.slice * (rank > 2 ? extent[2] + 2 : 1) + (width > 0 ? 32 : 0));
                std::int64_t first = g.origin - width;
                std::int64_t last = g.origin + nx - 1 + width;
                CHECK(g.origin % g.pitch >= width);                 // within the row to the left
                CHECK(g.origin % g.pitch + nx + width <= g.pitch);  // and to the right
                if (rank > 1) {
                    first -= width * g.pitch;
                    last += (extent[1] - 1 + 1) * g.pitch;
                }
                if (rank > 2) {
                    first -= 2 * g.slice;
                    last += (extent[2] - 1) * g.slice;
                }
                CHECK(first >= 0);
                CHECK(last < g.elements);
            }
        }
    }
}

TEST_CASE("a vector that runs past the end of a row stays in the row") {
    const Geometry g = make_geometry(2, {33, 2, 1}, Halo{});
    CHECK(g.pitch == 64);
    CHECK(g.elements == 128);
}

TEST_CASE("tight rows share the gaps between them, and no two cells or halo cells an element") {
    for (int rank = 1; rank <= 3; ++rank) {
        for (std::int64_t nx : {1, 7, 8, 30, 512}) {
            for (int width : {0, 1, 4, 9}) {
                const Halo halo = {{{width, 1}, {rank > 1 ? 2 : 0, 0}, {0, rank > 2 ? 1 : 0}}};
                const halo::rt::Extent extent = {nx, rank > 1 ? 4 : 1, rank > 2 ? 3 : 1};
                const Geometry g = make_geometry(rank, extent, halo, RowLayout::tight);
                CHECK(g.pitch % 16 == 0);
                CHECK(g.pitch < nx + width + 1 + 32);
                if (rank > 1) CHECK(g.pitch % 512 != 0);
                std::vector<bool> taken(static_cast<std::size_t>(g.elements));
                bool inside = true, apart = true;
                for (std::int64_t z = -halo[2][0]; z < extent[2] + halo[2][1]; ++z) {
                    for (std::int64_t y = -halo[1][0]; y < extent[1] + halo[1][1]; ++y) {
                        for (std::int64_t x = -width; x < nx + 1; ++x) {
                            const std::int64_t at = g.origin + x + y * g.pitch + z * g.slice;
                            inside = inside && at >= 0 && at < g.elements;
                            if (!inside) continue;
                            apart = apart && !taken[static_cast<std::size_t>(at)];
                            taken[static_cast<std::size_t>(at)] = true;
                        }
                    }
                }
                CHECK(inside);
                CHECK(apart);
            }
        }
    }
}

TEST_CASE("cells are counted in 64 bits") {
    const Geometry g = make_geometry(3, {4096, 4096, 4096}, {{{1, 1}, {1, 1}, {1, 1}}});
    CHECK(g.pitch == 32 + 4128);
    CHECK(g.slice == g.pitch * 4098);
    CHECK(g.elements == g.slice * 4098 + 32);
    const Geometry row = make_geometry(1, {2147483000, 1, 1}, Halo{});
    CHECK(row.elements >= 2147483000);
}

TEST_CASE("grids that cannot be are refused") {
    CHECK(code_of(2, {0, 4, 1}, Halo{}) == ErrorCode::bad_argument);
    CHECK(code_of(2, {4, -1, 1}, Halo{}) == ErrorCode::bad_argument);
    CHECK(code_of(2, {4, 4, 2}, Halo{}) == ErrorCode::bad_argument);
    CHECK(code_of(1, {std::int64_t{1} << 31, 1, 1}, Halo{}) == ErrorCode::bad_argument);
    CHECK(code_of(1, {2147483647, 1, 1}, {{{1, 1}, {0, 0}, {0, 0}}}) == ErrorCode::bad_argument);  // its row
    CHECK(code_of(3, {2147483000, 2147483000, 2147483000}, Halo{}) == ErrorCode::bad_argument);
    CHECK(code_of(5, {1, 1, 1}, Halo{}) == ErrorCode::bad_argument);
    CHECK(code_of(1, {4, 1, 1}, {{{-1, 0}, {0, 0}, {0, 0}}}) == ErrorCode::bad_argument);
}

TEST_CASE("sizes read well") {
    CHECK(bytes_text(17) == "17 bytes");
    CHECK(bytes_text(1536) == "1.5 KiB");
    CHECK(bytes_text(std::int64_t{139} << 30) == "139.0 GiB");
    CHECK(extent_text(2, {4, 5, 1}) == "4 x 5");
}

TEST_CASE("a field over fewer axes has an array of its own cells, in which all that is read has room") {
    const Halo halo = {{{2, 1}, {1, 3}, {0, 4}}};
    const halo::rt::Extent extent = {37, 11, 5};
    for (const RowLayout layout : {RowLayout::padded, RowLayout::tight}) {
        const Geometry grid = make_geometry(3, extent, halo, layout);
        CHECK(geometry_of_field({}, grid, halo).elements == grid.elements);
        for (int axes = 1; axes < 7; ++axes) {
            FieldGrid field;
            for (int axis = 0; axis < 3; ++axis)
                field.along[axis] = (axes >> axis & 1) != 0;
            const Geometry own = geometry_of_field(field, grid, halo);
            CHECK(own.extent == field.extent(extent));
            CHECK(own.pitch == (field.has(0) ? grid.pitch : 1));
            const Halo around = field.halo(halo);
            std::vector<bool> taken(static_cast<std::size_t>(own.elements));
            std::int64_t twice = 0;
            for (std::int64_t z = -around[2][0]; z < own.extent[2] + around[2][1]; ++z)
                for (std::int64_t y = -around[1][0]; y < own.extent[1] + around[1][1]; ++y)
                    for (std::int64_t x = -around[0][0]; x < own.extent[0] + around[0][1]; ++x) {
                        const std::int64_t at = own.origin + x + y * own.pitch + z * own.slice;
                        REQUIRE(at >= 0);
                        REQUIRE(at < own.elements);
                        twice += taken[static_cast<std::size_t>(at)] ? 1 : 0;
                        taken[static_cast<std::size_t>(at)] = true;
                    }
            CHECK(twice == 0);
        }
        FieldGrid profile;
        profile.along = {false, false, true};
        CHECK(geometry_of_field(profile, grid, halo).elements == extent[2] + halo[2][1]);
    }
}

TEST_CASE("blocks over faces are as many as the largest face needs, for each axis") {
    Domain domain;
    domain.kind = Domain::Kind::faces;
    domain.index = 2;
    domain.ranges = {{{{false, -1}, {true, 1}}, {{false, -2}, {true, 1}}, {{false, 0}, {true, 0}}}};
    const Halo halo{{{2, 2}, {2, 2}, {2, 2}}};
    using halo::rt::Extent;
    CHECK(domain_extent(domain, make_geometry(2, {40, 5, 1}, halo)) == Extent{42, 2, 1});
    CHECK(domain_extent(domain, make_geometry(2, {4, 50, 1}, halo)) == Extent{53, 2, 1});
    CHECK(domain_extent(domain, make_geometry(3, {4, 5, 60}, halo)) == Extent{8, 60, 2});
    domain.factor = 2;
    CHECK(domain_extent(domain, make_geometry(2, {40, 8, 1}, halo)) == Extent{22, 2, 1});
}
