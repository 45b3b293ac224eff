// Cells that a CUDA device sets aside, and fetches later.
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "catch.h"
#include "cuda_under_test.h"
#include "runtime/core/element.h"

using namespace halo::rt;

namespace {

// An array of numbers, and cells of it; and the same cells on the host.
template <class Element>
struct ArrayAndCells {
    ArrayAndCells(const Geometry& g, ElementType type,
                  const std::array<std::int64_t, halo::rt::kMaxRank>& begin, const halo::rt::Extent& stride)
        : memory(device_under_test(), g.elements * size_of(type)) {
        std::vector<Element> all(static_cast<std::size_t>(g.elements));
        std::vector<double> values(all.size());
        std::iota(values.begin(), values.end(), 1.0);
        encode(values.data(), g.elements, type, all.data());
        device_under_test().copy_to_device(memory.address(), all.data(), memory.bytes());
        cells = {memory.address(), g, stride[0], type};
        cells.cells.origin += begin[0] + begin[1] * g.pitch + begin[2] * g.slice;
        cells.cells.pitch *= stride[1];
        cells.cells.slice *= stride[2];
        for (std::size_t axis = 0; axis < 3; ++axis)
            cells.cells.extent[axis] = (g.extent[axis] - begin[axis] - 1) / stride[axis] + 1;
        for (std::int64_t z = begin[2]; z < g.extent[2]; z += stride[2])
            for (std::int64_t y = begin[1]; y < g.extent[1]; y += stride[1])
                for (std::int64_t x = begin[0]; x < g.extent[0]; x += stride[0])
                    wanted.push_back(all[static_cast<std::size_t>(g.origin + x + y * g.pitch + z * g.slice)]);
    }
    void change() const { device_under_test().set_bytes(memory.address(), 0xff, memory.bytes()); }
    bool is_fetched(CellsAside& aside, std::size_t part) const {
        std::vector<Element> found(wanted.size());
        aside.fetch(part, found.data());
        return found == wanted;
    }
    DeviceMemory memory;
    CellsOfArray cells;
    std::vector<Element> wanted;
};

}  // namespace

TEST_CASE("cells that are set aside are fetched as they were, whatever their arrays became") {
    const std::unique_ptr<CellsAside> aside = device_under_test().make_cells_aside();
    REQUIRE(aside != nullptr);
    const Geometry g = make_geometry(3, {129, 35, 21}, {{{1, 2}, {3, 1}, {2, 2}}});
    const Geometry line = make_geometry(1, {700001, 1, 1}, {{{1, 1}}});
    for (int round = 0; round < 2; ++round) {
        const ArrayAndCells<std::uint16_t> halves(g, ElementType::f16, {0, 0, 20}, {1, 1, 1});
        const ArrayAndCells<float> column(g, ElementType::f32, {128, 34, 0}, {1, 1, 3});
        const ArrayAndCells<float> side(g, ElementType::f32, {128, 1, 2}, {1, 5, 2});
        const ArrayAndCells<std::uint8_t> cell(g, ElementType::u8, {128, 34, 20}, {1, 1, 1});
        const ArrayAndCells<double> some(g, ElementType::f64, {3, 2, 1}, {4, 2, 3});
        const ArrayAndCells<std::int32_t> whole(g, ElementType::i32, {0, 0, 0}, {1, 1, 1});
        const ArrayAndCells<double> large(line, ElementType::f64, {0, 0, 0}, {1, 1, 1});
        CellsOfArray none = cell.cells;
        none.cells.extent[1] = 0;
        REQUIRE(aside->set_aside({halves.cells, none, column.cells, side.cells, cell.cells, some.cells,
                                  whole.cells, large.cells}));
        halves.change();
        column.change();
        side.change();
        cell.change();
        some.change();
        whole.change();
        large.change();
        CHECK(aside->are_finite() == std::isfinite(decode(&halves.wanted.back(), ElementType::f16)));
        CHECK(large.is_fetched(*aside, 7));
        CHECK(halves.is_fetched(*aside, 0));
        aside->fetch(1, nullptr);
        CHECK(column.is_fetched(*aside, 2));
        CHECK(side.is_fetched(*aside, 3));
        CHECK(cell.is_fetched(*aside, 4));
        CHECK(some.is_fetched(*aside, 5));
        CHECK(whole.is_fetched(*aside, 6));
        CHECK(large.is_fetched(*aside, 7));
    }
}

TEST_CASE("one cell that is not finite is found among all that are set aside") {
    CudaDevice& device = device_under_test();
    const std::unique_ptr<CellsAside> aside = device.make_cells_aside();
    const Geometry g = make_geometry(2, {61, 17, 1}, {{{1, 1}, {1, 1}}});
    const DeviceMemory good(device, g.elements * 4), other(device, g.elements * 4);
    device.set_bytes(good.address(), 0, good.bytes());
    device.set_bytes(other.address(), 0xff, other.bytes());  // halos are no numbers
    std::vector<float> values(61 * 17, 1.5f);
    const CellsOfArray all{other.address(), g, 1, ElementType::f32};
    const CellsOfArray zeros{good.address(), g, 1, ElementType::f32};
    const auto are_finite = [&] {
        device.upload_cells(other.address(), g, ElementType::f32, values.data());
        REQUIRE(aside->set_aside({zeros, all, zeros}));
        device.set_bytes(other.address(), 0xff, other.bytes());
        return aside->are_finite();
    };
    CHECK(are_finite());
    for (const std::size_t bad : {std::size_t{0}, std::size_t{60}, std::size_t{500}, values.size() - 1}) {
        const float before = std::exchange(values[bad], HUGE_VALF);
        CHECK_FALSE(are_finite());
        values[bad] = before;
    }
    CHECK(are_finite());
    REQUIRE(aside->set_aside({{other.address(), g, 1, ElementType::i32}}));  // these are no reals
    CHECK(aside->are_finite());
}
