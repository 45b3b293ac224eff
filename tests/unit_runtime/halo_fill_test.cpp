// Halos against the definition, cell by cell: every mix of boundaries, corners, halos wider than the grid.
#include "runtime/core/halo_fill.h"

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "catch.h"

using namespace halo::rt;

namespace {

constexpr BoundaryKind kKinds[] = {BoundaryKind::periodic, BoundaryKind::fixed, BoundaryKind::clamp,
                                   BoundaryKind::mirror, BoundaryKind::free};
const double kNan = std::numeric_limits<double>::quiet_NaN();

using Shows = ImageMap::Shows;

// Where a read ends, by walking: one reflection or one period at a time.
ImageSource walk(BoundaryKind low, BoundaryKind high, std::int64_t index, std::int64_t n) {
    bool reflected = false;
    for (int guard = 0; guard < 1000; ++guard) {
        if (index >= 0 && index < n) return {Shows::cell, index, 0};
        const int side = index < 0 ? 0 : 1;
        const BoundaryKind kind = side == 0 ? low : high;
        const std::int64_t edge = side == 0 ? 0 : n - 1;
        if (kind == BoundaryKind::fixed) return {Shows::value, 0, side};
        if (kind == BoundaryKind::free && !reflected) return {Shows::nothing, 0, side};
        if (kind == BoundaryKind::clamp) {
            index = edge;
        } else if (kind == BoundaryKind::periodic) {
            index += side == 0 ? n : -n;
        } else {
            if (n == 1 && reflected) return {Shows::cell, 0, 0};  // only one cell to show
            index = 2 * edge - index;
            reflected = true;
        }
    }
    FAIL("the walk does not end");
    return {};
}

struct Case {
    int rank = 1;
    halo::rt::Extent extent{};
    FieldPlan field;
    std::array<std::array<int, 2>, kMaxRank> layout{};  // the halo of the arrays, at least the field's

    double face_value(int axis, int side) const { return 1000 + 10 * axis + side; }
    void set(int axis, BoundaryKind low, BoundaryKind high) {
        for (int side = 0; side < 2; ++side) {
            FacePlan& face = field.boundary[axis][side];
            face.kind = side == 0 ? low : high;
            face.value.steps = {{HostScalar::Op::constant, face_value(axis, side), 0}};
        }
    }
    std::string text() const {
        std::string words;
        for (int axis = 0; axis < rank; ++axis)
            for (int side = 0; side < 2; ++side)
                words += std::to_string(static_cast<int>(field.boundary[axis][side].kind)) + " halo " +
                         std::to_string(field.halo[axis][side]) + " of " + std::to_string(extent[axis]) +
                         "; ";
        return words;
    }
};

double cell_value(const Case& c, std::int64_t x, std::int64_t y, std::int64_t z) {
    return static_cast<double>(1 + x + c.extent[0] * (y + c.extent[1] * z));
}

// nullopt where the cell is never read.
std::optional<double> expected(const Case& c, const std::array<std::int64_t, halo::rt::kMaxRank>& cell) {
    std::array<std::int64_t, halo::rt::kMaxRank> source{};
    bool free = false;
    for (int axis = 0; axis < c.rank; ++axis) {
        const auto& faces = c.field.boundary[axis];
        const ImageSource found = walk(faces[0].kind, faces[1].kind, cell[axis], c.extent[axis]);
        if (found.shows == Shows::value) return c.face_value(axis, found.side);  // the first such axis
        free = free || found.shows == Shows::nothing;
        source[axis] = found.cell;
    }
    if (free) return std::nullopt;
    return cell_value(c, source[0], source[1], source[2]);
}

template <class Element>
void set_cells(const Case& c, const Geometry& g, std::vector<Element>& array, double shift) {
    for (std::int64_t z = 0; z < c.extent[2]; ++z)
        for (std::int64_t y = 0; y < c.extent[1]; ++y)
            for (std::int64_t x = 0; x < c.extent[0]; ++x)
                array[g.origin + x + y * g.pitch + z * g.slice] =
                    static_cast<Element>(cell_value(c, x, y, z) + shift);
}

// Compares all cells of the field's halo; returns the number of mistakes. `shift` was added to all cells.
template <class Element>
int count_mistakes(const Case& c, const Geometry& g, const std::vector<Element>& array, double shift) {
    std::array<std::int64_t, halo::rt::kMaxRank> low{}, high{};
    for (int axis = 0; axis < 3; ++axis) {
        low[axis] = axis < c.rank ? -c.field.halo[axis][0] : 0;
        high[axis] = axis < c.rank ? c.extent[axis] + c.field.halo[axis][1] : 1;
    }
    int mistakes = 0;
    for (std::int64_t z = low[2]; z < high[2]; ++z) {
        for (std::int64_t y = low[1]; y < high[1]; ++y) {
            for (std::int64_t x = low[0]; x < high[0]; ++x) {
                const auto value = expected(c, {x, y, z});
                if (!value) continue;
                const double wanted = *value + (*value < 1000 ? shift : 0);
                const Element found = array[g.origin + x + y * g.pitch + z * g.slice];
                if (static_cast<double>(found) != wanted) ++mistakes;
            }
        }
    }
    return mistakes;
}

// Runs the units of each pass in three pieces, the last first: they must not depend on each other.
void fill_in_pieces(const std::vector<HaloPass>& passes, ElementType type, void* array) {
    for (const HaloPass& pass : passes) {
        const std::int64_t n = pass.units();
        const std::int64_t cuts[] = {0, n / 3, n - n / 4, n};
        for (int piece = 2; piece >= 0; --piece)
            run_halo_pass(pass, type, array, cuts[piece], cuts[piece + 1]);
    }
}

// Pieces of the grid, as one kernel writes them after the other, from the last plane to the first: few rows
// of each plane, of two planes at once where they can be.
void fill_behind_pieces(const std::vector<HaloPass>& passes, ElementType type, const Geometry& g, void* array,
                        std::int64_t strip) {
    const std::int64_t planes = g.extent[g.rank - 1], rows = g.rank == 3 ? g.extent[1] : 1;
    for (std::int64_t end = planes; end > 0; end -= 2)
        for (std::int64_t row = 0; row < rows; row += strip)
            fill_images(passes, type, g, array,
                        {std::max<std::int64_t>(end - 2, 0), end, row, std::min(row + strip, rows)});
}

template <class Element>
void check_case(const Case& c) {
    const ElementType type = sizeof(Element) == 4 ? ElementType::f32 : ElementType::f64;
    const Geometry g = make_geometry(c.rank, c.extent, c.layout);
    std::vector<Element> array(static_cast<std::size_t>(g.elements), static_cast<Element>(kNan));
    set_cells(c, g, array, 0);
    fill_halo(make_halo_passes(c.field, g, {}, HaloPart::all), type, array.data());
    int mistakes = count_mistakes(c, g, array, 0);
    // New cells, as a kernel writes them: the constants are there already.
    set_cells(c, g, array, 0.5);
    fill_in_pieces(make_halo_passes(c.field, g, {}, HaloPart::images), type, array.data());
    mistakes += count_mistakes(c, g, array, 0.5);
    double shift = 0.5;
    for (const std::int64_t strip : {std::int64_t{1}, std::int64_t{2}, c.extent[1]}) {
        if (c.rank == 1) break;
        shift /= 2;
        set_cells(c, g, array, shift);
        fill_behind_pieces(make_halo_passes(c.field, g, {}, HaloPart::images), type, g, array.data(), strip);
        mistakes += count_mistakes(c, g, array, shift);
    }
    if (mistakes == 0) return;
    INFO(c.text());
    CHECK(mistakes == 0);
}

void check_both(Case c) {
    c.layout = c.field.halo;
    check_case<double>(c);
    c.layout[0][0] += 3;  // arrays of other fields have wider halos
    c.layout[0][1] += 1;
    if (c.rank > 1) c.layout[1][0] += 2;
    check_case<float>(c);
}

}  // namespace

TEST_CASE("a read past an edge goes where walking there one image at a time ends") {
    for (const BoundaryKind low : kKinds) {
        for (const BoundaryKind high : kKinds) {
            for (std::int64_t n = 1; n <= 6; ++n) {
                for (std::int64_t index = -20; index < n + 20; ++index) {
                    const ImageSource wanted = walk(low, high, index, n);
                    const ImageSource found = image_source(low, high, index, n);
                    const bool same =
                        wanted.shows == found.shows &&
                        (wanted.shows == Shows::cell ? wanted.cell == found.cell : wanted.side == found.side);
                    if (!same) {
                        INFO(static_cast<int>(low)
                             << " " << static_cast<int>(high) << " " << index << " of " << n);
                        CHECK(same);
                    }
                }
            }
        }
    }
}

TEST_CASE("halos of one axis, every pair of kinds, grids narrower than their halo") {
    for (const BoundaryKind low : kKinds)
        for (const BoundaryKind high : kKinds)
            for (std::int64_t n : {1, 2, 3, 5, 40})
                for (int width : {0, 1, 2, 4, 7}) {
                    Case c;
                    c.extent = {n, 1, 1};
                    c.set(0, low, high);
                    c.field.halo[0] = {width, 7 - width};
                    check_both(c);
                }
}

TEST_CASE("corners of two axes, every mix of kinds") {
    for (const BoundaryKind x_low : kKinds)
        for (const BoundaryKind x_high : kKinds)
            for (const BoundaryKind y_low : kKinds)
                for (const BoundaryKind y_high : kKinds)
                    for (const auto& extent : {halo::rt::Extent{1, 1, 1}, {2, 5, 1}, {6, 3, 1}}) {
                        Case c;
                        c.rank = 2;
                        c.extent = extent;
                        c.set(0, x_low, x_high);
                        c.set(1, y_low, y_high);
                        c.field.halo[0] = {2, 3};
                        c.field.halo[1] = {3, 1};
                        check_both(c);
                    }
}

TEST_CASE("edges and corners of three axes, a thousand mixes") {
    std::mt19937 random(20240607);
    const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
    for (int round = 0; round < 1000; ++round) {
        Case c;
        c.rank = 3;
        for (int axis = 0; axis < 3; ++axis) {
            c.extent[axis] = 1 + pick(5);
            c.set(axis, kKinds[pick(5)], kKinds[pick(5)]);
            c.field.halo[axis] = {pick(4), pick(4)};
        }
        check_both(c);
    }
}

TEST_CASE("cells past free faces alone stay poisoned") {
    Case c;
    c.rank = 2;
    c.extent = {4, 3, 1};
    c.set(0, BoundaryKind::free, BoundaryKind::free);
    c.set(1, BoundaryKind::periodic, BoundaryKind::periodic);
    c.field.halo = {{{1, 1}, {1, 1}, {0, 0}}};
    const Geometry g = make_geometry(2, c.extent, c.field.halo);
    std::vector<double> array(static_cast<std::size_t>(g.elements), kNan);
    set_cells(c, g, array, 0);
    fill_halo(make_halo_passes(c.field, g, {}, HaloPart::all), ElementType::f64, array.data());
    for (std::int64_t y = 0; y < 3; ++y) {
        CHECK(std::isnan(array[g.origin - 1 + y * g.pitch]));
        CHECK(std::isnan(array[g.origin + 4 + y * g.pitch]));
    }
    CHECK(array[g.origin - g.pitch] == cell_value(c, 0, 2, 0));
}

TEST_CASE("a fixed value follows its parameter") {
    Case c;
    c.extent = {4, 1, 1};
    c.set(0, BoundaryKind::fixed, BoundaryKind::fixed);
    c.field.boundary[0][0].value.steps = {{HostScalar::Op::param, 0, 1}};
    c.field.halo[0] = {2, 0};
    const Geometry g = make_geometry(1, c.extent, c.field.halo);
    std::vector<float> array(static_cast<std::size_t>(g.elements), 0.0f);
    fill_halo(make_halo_passes(c.field, g, {7.0, 2.5}, HaloPart::fixed), ElementType::f32, array.data());
    CHECK(array[g.origin - 1] == 2.5f);
    CHECK(array[g.origin - 2] == 2.5f);
}
