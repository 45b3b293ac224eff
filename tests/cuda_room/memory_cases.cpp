// Memory, copies and halos of a CUDA device against the host's.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "catch.h"
#include "cuda_under_test.h"
#include "runtime/core/element.h"

using namespace halo::rt;

namespace {

std::vector<double> numbers(std::int64_t count, double first = 1) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i)
        values.push_back(first + static_cast<double>(i));
    return values;
}

template <class Element>
std::vector<Element> read_back(const void* address, std::int64_t count) {
    std::vector<Element> values(static_cast<std::size_t>(count));
    device_under_test().copy_to_host(values.data(), address,
                                     count * static_cast<std::int64_t>(sizeof(Element)));
    return values;
}

template <class Element>
void check_cells(const Geometry& g, ElementType type) {
    CudaDevice& device = device_under_test();
    const std::vector<double> start = numbers(g.extent[0] * g.extent[1] * g.extent[2]);
    const std::vector<Element> dense(start.begin(), start.end());
    const DeviceMemory array(device, g.elements * size_of(type));
    device.set_bytes(array.address(), 0xff, array.bytes());
    device.upload_cells(array.address(), g, type, dense.data());

    // Each cell is in its place, and nothing else was touched.
    std::vector<Element> wanted(static_cast<std::size_t>(g.elements));
    std::memset(wanted.data(), 0xff, wanted.size() * sizeof(Element));
    for (std::int64_t z = 0; z < g.extent[2]; ++z)
        for (std::int64_t y = 0; y < g.extent[1]; ++y)
            for (std::int64_t x = 0; x < g.extent[0]; ++x)
                wanted[g.origin + x + y * g.pitch + z * g.slice] =
                    dense[x + g.extent[0] * (y + g.extent[1] * z)];
    const auto found = read_back<Element>(array.address(), g.elements);
    CHECK(std::memcmp(found.data(), wanted.data(), wanted.size() * sizeof(Element)) == 0);

    std::vector<Element> back(dense.size());
    device.download_cells(back.data(), array.address(), g, type);
    CHECK(back == dense);
}

FieldPlan random_field(std::mt19937& random, int rank) {
    FieldPlan field;
    for (int axis = 0; axis < rank; ++axis) {
        for (int side = 0; side < 2; ++side) {
            FacePlan& face = field.boundary[axis][side];
            face.kind = static_cast<BoundaryKind>(random() % 5);
            face.value.steps = {{HostScalar::Op::constant, 0.1 + 10 * axis + side, 0}};
            field.halo[axis][side] = static_cast<int>(random() % 5);
        }
    }
    return field;
}

template <class Element>
void check_halo(const FieldPlan& field, const Geometry& g, ElementType type) {
    CudaDevice& device = device_under_test();
    const auto passes = make_halo_passes(field, g, {}, HaloPart::all);
    const std::vector<double> start = numbers(g.elements);
    std::vector<Element> wanted(start.begin(), start.end());
    const DeviceMemory array(device, g.elements * size_of(type));
    device.copy_to_device(array.address(), wanted.data(), array.bytes());
    device.run_halo_passes(passes, type, array.address());
    fill_halo(passes, type, wanted.data());
    CHECK(read_back<Element>(array.address(), g.elements) == wanted);
}

}  // namespace

TEST_CASE("a device says what it is") {
    const CudaDeviceInfo& info = device_under_test().info();
    CHECK_FALSE(info.name.empty());
    CHECK(info.major >= 5);
    CHECK(info.multiprocessors > 0);
    CHECK(info.max_threads_per_block >= 512);
    CHECK(info.max_shared_bytes_per_block >= 48 << 10);
    CHECK(info.arch() == "sm_" + std::to_string(info.major) + std::to_string(info.minor));
    CHECK(device_under_test().description().find(info.name) == 0);
    const MemoryInfo memory = device_under_test().memory();
    CHECK(memory.free_bytes > 0);
    CHECK(memory.free_bytes <= memory.total_bytes);

    const CudaStatus status = cuda_status();
    CHECK(status.driver);
    CHECK(status.driver_version >= 11040);
    CHECK(status.why.empty());
    REQUIRE_FALSE(status.devices.empty());
    CHECK(status.devices[0].total_bytes > 0);
}

TEST_CASE("bytes go to the device, between its places, and back") {
    CudaDevice& device = device_under_test();
    const std::vector<double> values = numbers(1000);
    const DeviceMemory first(device, 8000), second(device, 8000);
    CHECK(reinterpret_cast<std::uintptr_t>(first.address()) % 256 == 0);
    device.copy_to_device(first.address(), values.data(), 8000);
    device.set_bytes(second.address(), 0, 8000);
    CHECK(read_back<double>(second.address(), 1000) == std::vector<double>(1000, 0.0));
    device.copy_on_device(second.address(), first.address(), 4000);
    auto mixed = values;
    std::fill(mixed.begin() + 500, mixed.end(), 0.0);
    CHECK(read_back<double>(second.address(), 1000) == mixed);
}

TEST_CASE("cells of arrays of every rank go to their places and back") {
    const std::array<std::array<int, 2>, kMaxRank> halo = {{{1, 2}, {3, 1}, {2, 2}}};
    for (const auto& extent : {halo::rt::Extent{1, 1, 1}, {33, 1, 1}, {1000, 1, 1}}) {
        check_cells<float>(make_geometry(1, extent, halo), ElementType::f32);
        check_cells<double>(make_geometry(1, extent, halo), ElementType::f64);
    }
    for (const auto& extent : {halo::rt::Extent{1, 1, 1}, {33, 7, 1}, {5, 100, 1}})
        check_cells<float>(make_geometry(2, extent, halo), ElementType::f32);
    for (const auto& extent : {halo::rt::Extent{1, 1, 1}, {33, 7, 5}, {64, 1, 3}, {1, 9, 1}}) {
        check_cells<float>(make_geometry(3, extent, halo), ElementType::f32);
        check_cells<double>(make_geometry(3, extent, halo), ElementType::f64);
    }
}

TEST_CASE("cells that take several copies go to their places and back") {
    const std::array<std::array<int, 2>, kMaxRank> halo = {{{1, 2}, {3, 1}, {2, 2}}};
    check_cells<double>(make_geometry(1, {1300007, 1, 1}, halo), ElementType::f64);
    check_cells<float>(make_geometry(2, {1500001, 3, 1}, halo), ElementType::f32);
    check_cells<double>(make_geometry(2, {1001, 1203, 1}, halo), ElementType::f64);
    check_cells<double>(make_geometry(3, {203, 61, 101}, halo), ElementType::f64);
    check_cells<float>(make_geometry(3, {1003, 1201, 3}, halo), ElementType::f32);

    Geometry row_of_each_plane = make_geometry(3, {203, 61, 100}, halo);
    row_of_each_plane.extent = {203, 1, 100};
    row_of_each_plane.origin += 7 * row_of_each_plane.pitch;
    check_cells<double>(row_of_each_plane, ElementType::f64);

    // Every second row and every third plane: planes begin where no row does.
    Geometry some = make_geometry(3, {203, 61, 100}, halo);
    REQUIRE(some.slice / some.pitch % 2 == 1);
    some.extent = {203, 30, 34};
    some.pitch *= 2;
    some.slice *= 3;
    check_cells<double>(some, ElementType::f64);
}

namespace {

template <class Element>
void check_every(const Geometry& g, ElementType type, const halo::rt::Extent& stride) {
    CudaDevice& device = device_under_test();
    const std::vector<double> start = numbers(g.elements);
    const std::vector<Element> all(start.begin(), start.end());
    const DeviceMemory array(device, g.elements * size_of(type));
    device.copy_to_device(array.address(), all.data(), array.bytes());
    Geometry cells = g;
    for (std::size_t axis = 0; axis < 3; ++axis)
        cells.extent[axis] = (g.extent[axis] - 1) / stride[axis] + 1;
    cells.pitch *= stride[1];
    cells.slice *= stride[2];
    std::vector<Element> wanted;
    for (std::int64_t z = 0; z < g.extent[2]; z += stride[2])
        for (std::int64_t y = 0; y < g.extent[1]; y += stride[1])
            for (std::int64_t x = 0; x < g.extent[0]; x += stride[0])
                wanted.push_back(all[static_cast<std::size_t>(g.origin + x + y * g.pitch + z * g.slice)]);
    std::vector<Element> found(wanted.size());
    CHECK(device.download_every(found.data(), array.address(), cells, stride[0], type));
    CHECK(found == wanted);
}

}  // namespace

TEST_CASE("cells in equal steps are gathered where they are") {
    const std::array<std::array<int, 2>, kMaxRank> halo = {{{1, 2}, {3, 1}, {2, 2}}};
    const Geometry line = make_geometry(1, {70001, 1, 1}, halo),
                   plane = make_geometry(2, {301, 5003, 1}, halo);
    const Geometry small = make_geometry(3, {129, 35, 21}, halo);
    for (const halo::rt::Extent& stride :
         {halo::rt::Extent{1, 1, 1}, {4, 4, 4}, {1, 2, 3}, {7, 1, 2}, {200, 50, 50}}) {
        check_every<std::uint8_t>(small, ElementType::u8, stride);
        check_every<std::uint16_t>(small, ElementType::f16, stride);
        check_every<float>(small, ElementType::f32, stride);
        check_every<double>(small, ElementType::f64, stride);
        check_every<double>(line, ElementType::f64, stride);
        check_every<float>(plane, ElementType::f32, stride);
    }
    // More than is gathered at once.
    check_every<double>(make_geometry(3, {1001, 1200, 9}, halo), ElementType::f64, {1, 1, 1});
}

TEST_CASE("halos are filled as on the host") {
    std::mt19937 random(7);
    for (int round = 0; round < 150; ++round) {
        const int rank = 1 + round % 3;
        const FieldPlan field = random_field(random, rank);
        halo::rt::Extent extent{};
        for (int axis = 0; axis < rank; ++axis)
            extent[axis] = 1 + static_cast<std::int64_t>(random() % (axis == 0 ? 70 : 9));
        const Geometry g = make_geometry(rank, extent, field.halo);
        check_halo<float>(field, g, ElementType::f32);
        check_halo<double>(field, g, ElementType::f64);
    }
}

namespace {

// Bits, not values: -0 differs from 0, and no number is what the type's bits say.
template <class Element>
void check_comparison(const Geometry& g, ElementType type) {
    CudaDevice& device = device_under_test();
    const std::int64_t cells = g.extent[0] * g.extent[1] * g.extent[2];
    std::vector<double> values = numbers(cells, 0);
    const bool has_nan = is_real(type) && cells > 3;
    if (has_nan) values[3] = std::numeric_limits<double>::quiet_NaN();
    if (is_real(type) && cells > 4) values[4] = -std::numeric_limits<double>::infinity();
    std::vector<Element> one(values.size()), other;
    encode(values.data(), cells, type, one.data());
    other = one;
    const DeviceMemory a(device, g.elements * size_of(type)), b(device, g.elements * size_of(type));
    device.set_bytes(a.address(), 0xff, a.bytes());  // halos and gaps differ
    device.set_bytes(b.address(), 0x00, b.bytes());
    const auto compare = [&] {
        device.upload_cells(a.address(), g, type, one.data());
        device.upload_cells(b.address(), g, type, other.data());
        return device.compare_cells(a.address(), b.address(), g, type).value();
    };
    CHECK(compare().different == 0);
    CHECK(compare().numbers == cells - (has_nan ? 1 : 0));
    other.back() ^= 1;
    CHECK(compare().different == 1);
    for (Element& each : other)
        each ^= static_cast<Element>(Element{1} << (8 * sizeof(Element) - 1));
    CHECK(compare().different == cells);
}

}  // namespace

TEST_CASE("arrays are compared where they are") {
    for (const Geometry& g :
         {make_geometry(1, {7, 1, 1}, {{{1, 1}}}), make_geometry(2, {301, 77, 1}, {{{2, 2}, {1, 3}}}),
          make_geometry(3, {129, 35, 21}, {{{1, 1}, {1, 1}, {2, 2}}})}) {
        check_comparison<std::uint32_t>(g, ElementType::f32);
        check_comparison<std::uint64_t>(g, ElementType::f64);
        check_comparison<std::uint32_t>(g, ElementType::i32);
        check_comparison<std::uint16_t>(g, ElementType::f16);
        check_comparison<std::uint8_t>(g, ElementType::u8);
    }
}

namespace {

// Halos and gaps hold what is no number, and do not count; every place of a cell does.
template <class Element>
void check_finite(const Geometry& g, ElementType type) {
    CudaDevice& device = device_under_test();
    const std::int64_t cells = g.extent[0] * g.extent[1] * g.extent[2];
    const std::vector<double> values(static_cast<std::size_t>(cells), -65504);  // the largest of f16
    std::vector<Element> dense(values.size());
    encode(values.data(), cells, type, dense.data());
    const DeviceMemory memory(device, g.elements * size_of(type));
    device.set_bytes(memory.address(), 0xff, memory.bytes());
    const auto is_finite = [&] {
        device.upload_cells(memory.address(), g, type, dense.data());
        return device.cells_are_finite(memory.address(), g, type);
    };
    CHECK(is_finite() == true);
    const std::int64_t last_row = cells - g.extent[0];
    for (const std::int64_t at : {std::int64_t{0}, g.extent[0] - 1, last_row, cells / 2, cells - 1}) {
        for (const double bad : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
            const Element kept = dense[static_cast<std::size_t>(at)];
            encode(bad, type, &dense[static_cast<std::size_t>(at)]);
            INFO("cell " << at << " of " << cells << " is " << bad);
            CHECK(is_finite() == !is_real(type));
            dense[static_cast<std::size_t>(at)] = kept;
        }
    }
    CHECK(is_finite() == true);
}

}  // namespace

TEST_CASE("cells that are not finite are found where they are") {
    for (const Geometry& g :
         {make_geometry(1, {7, 1, 1}, {{{1, 1}}}), make_geometry(1, {5000, 1, 1}, {{{1, 1}}}),
          make_geometry(2, {1301, 77, 1}, {{{2, 2}, {1, 3}}}),
          make_geometry(2, {3, 17001, 1}, {{{1, 0}, {1, 1}}}),
          make_geometry(3, {129, 35, 21}, {{{1, 1}, {1, 1}, {2, 2}}})}) {
        check_finite<std::uint32_t>(g, ElementType::f32);
        check_finite<std::uint64_t>(g, ElementType::f64);
        check_finite<std::uint16_t>(g, ElementType::f16);
        check_finite<std::uint16_t>(g, ElementType::bf16);
        check_finite<std::uint32_t>(g, ElementType::i32);
    }
}

TEST_CASE("rows of partial results are combined on the device") {
    CudaDevice& device = device_under_test();
    REQUIRE(device.can_finish_reductions());
    std::mt19937 random(3);
    constexpr std::int64_t kRows = 3;
    using Op = ReductionPlan::Op;
    const auto same = [](double got, double expected) {
        return got == expected || (std::isnan(got) && std::isnan(expected));
    };
    for (const std::int64_t count : {1, 2, 255, 256, 257, 5000}) {
        std::vector<double> values;  // whole numbers: their sums are exact in any order
        for (std::int64_t i = 0; i < kRows * count; ++i)
            values.push_back(static_cast<double>(random()) - 2e9);
        // What is not a number is so in the end, and only for its own row.
        if (count > 2) values[static_cast<std::size_t>(count) + 1] = std::numeric_limits<double>::quiet_NaN();
        const DeviceMemory partials(device, 8 * kRows * count), results(device, 8 * kRows);
        device.copy_to_device(partials.address(), values.data(), 8 * kRows * count);
        for (const Op op : {Op::sum, Op::min, Op::max}) {
            device.finish_reductions(op, partials.address(), count, kRows, results.address());
            const std::vector<double> got = read_back<double>(results.address(), kRows);
            for (std::int64_t row = 0; row < kRows; ++row) {
                const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * count);
                double expected = op == Op::sum ? 0.0 : *first;
                for (auto value = first; value != first + static_cast<std::ptrdiff_t>(count); ++value) {
                    const bool replaces = op == Op::min ? *value < expected : *value > expected;
                    if (op == Op::sum) expected += *value;
                    if (op != Op::sum && !std::isnan(expected) && (replaces || std::isnan(*value)))
                        expected = *value;
                }
                INFO(count << " partial results, row " << row);
                CHECK(same(got[static_cast<std::size_t>(row)], expected));
            }
        }
    }
}

TEST_CASE("a copy to the host is of what was there, whatever is put into the stream after it") {
    CudaDevice& device = device_under_test();
    const DeviceMemory word(device, 8);
    const auto set = [&](std::int64_t value) { device.copy_to_device(word.address(), &value, 8); };
    const auto got = [](EarlyCopy& copy) {
        std::int64_t value = 0;
        std::memcpy(&value, copy.wait(), 8);
        return value;
    };
    const std::unique_ptr<EarlyCopy> first = device.make_early_copy(8), second = device.make_early_copy(8);
    set(7);
    first->begin(word.address());
    device.set_bytes(word.address(), 0, 8);
    second->begin(word.address());
    CHECK(got(*first) == 7);
    CHECK(got(*second) == 0);
    set(9);
    first->begin(word.address());
    CHECK(got(*first) == 9);
    second->begin(word.address());  // not waited for: its memory stays until it is done
}

TEST_CASE("copies beside work go there and back between the marks that are waited for") {
    CudaDevice& device = device_under_test();
    constexpr std::int64_t kBytes = 1 << 20;
    const DeviceMemory array(device, kBytes), other(device, kBytes);
    auto* const memory = static_cast<char*>(device.allocate_on_host(kBytes));
    REQUIRE(memory != nullptr);
    const std::unique_ptr<WorkMark> out = device.make_mark(), back = device.make_mark();
    const auto beside = [&](WorkMark& done, const auto& copy) {
        device.use_stream(Device::StreamKind::fetch);
        device.wait_for_stream(Device::StreamKind::main);
        copy();
        done.set();
        device.use_stream(Device::StreamKind::main);
    };
    for (const int value : {3, 4, 5}) {
        device.set_bytes(array.address(), value, kBytes);
        beside(*out, [&] { device.begin_copy_to_host(memory, array.address(), kBytes); });
        beside(*back, [&] { device.begin_copy_to_device(other.address(), memory, kBytes); });
        out->wait();
        device.set_bytes(array.address(), 0, kBytes);
        back->wait();
        device.copy_on_device(array.address(), other.address(), kBytes);
        const std::vector<char> got = read_back<char>(array.address(), kBytes);
        CHECK(std::ranges::count(got, static_cast<char>(value)) == kBytes);
    }
    device.release_on_host(memory);
}

TEST_CASE("timers measure spans of the device's time") {
    CudaDevice& device = device_under_test();
    const auto timer = device.make_timer();
    const DeviceMemory memory(device, 1 << 20);
    timer->start();
    device.set_bytes(memory.address(), 1, 1 << 20);
    timer->stop();
    CHECK(timer->milliseconds() >= 0);
}

TEST_CASE("more memory than there is is refused with the figures") {
    CudaDevice& device = device_under_test();
    const std::int64_t too_much = device.memory().total_bytes + (std::int64_t{1} << 30);
    try {
        device.allocate(too_much);
        FAIL("it was given");
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::out_of_memory);
        CHECK(std::string(error.what()).find("iB of GPU memory are needed, and ") != std::string::npos);
        CHECK(std::string(error.what()).find("are free on " + device.info().name) != std::string::npos);
    }
    const DeviceMemory small(device, 100);  // and it goes on
    CHECK(small.address() != nullptr);
}

TEST_CASE("GPUs that are not there are refused") {
    for (const int ordinal : {-1, 1000}) {
        try {
            open_cuda_device(ordinal);
            FAIL("it was opened");
        } catch (const Error& error) {
            CHECK(error.code() == ErrorCode::no_device);
            CHECK(std::string(error.what()).find("there is no GPU " + std::to_string(ordinal)) == 0);
        }
    }
}

TEST_CASE("boxes of cells are copied between devices, in the order of their work") {
    CudaDevice& one = device_under_test();
    // The same GPU by a stream of its own.
    const std::unique_ptr<CudaDevice> other = open_cuda_device(one.info().ordinal);
    const Geometry small = make_geometry(3, {7, 5, 4}, {{{1, 1}, {1, 1}, {1, 1}}});
    const Geometry large = make_geometry(3, {40, 6, 9}, {{{2, 2}, {1, 1}, {1, 1}}});
    const DeviceMemory from(one, small.elements * 4), to(*other, large.elements * 4);
    const std::vector<double> values = numbers(7 * 5 * 4);
    const std::vector<float> dense(values.begin(), values.end());
    one.upload_cells(from.address(), small, ElementType::f32, dense.data());
    other->set_bytes(to.address(), 0, to.bytes());

    BoxCopy box;
    box.from = static_cast<const float*>(from.address()) + small.origin + small.pitch;  // row 1
    box.to = static_cast<float*>(to.address()) + large.origin + 3 + 2 * large.slice;
    box.row_bytes = 7 * 4;
    box.rows = 3;
    box.planes = 4;
    box.from_pitch = small.pitch * 4;
    box.from_slice = small.slice * 4;
    box.to_pitch = large.pitch * 4;
    box.to_slice = large.slice * 4;
    one.record_event();
    other->wait_for_event(one);
    other->copy_from(one, box);
    other->record_event();
    one.wait_for_event(*other);
    one.set_bytes(from.address(), 0, from.bytes());  // after the copy, though of another stream

    std::vector<float> cells(40 * 6 * 9);
    other->download_cells(cells.data(), to.address(), large, ElementType::f32);
    bool all = true;
    for (int z = 0; z < 9; ++z)
        for (int y = 0; y < 6; ++y)
            for (int x = 0; x < 40; ++x) {
                const bool inside = x >= 3 && x < 10 && y < 3 && z >= 2 && z < 6;
                const float wanted =
                    inside ? dense[static_cast<std::size_t>(x - 3 + 7 * (y + 1 + 5 * (z - 2)))] : 0;
                all = all && cells[static_cast<std::size_t>(x + 40 * (y + 6 * z))] == wanted;
            }
    CHECK(all);
    // One row: a plain copy.
    box.rows = box.planes = 1;
    other->copy_from(one, box);
    CHECK(read_back<float>(from.address(), small.elements) ==
          std::vector<float>(static_cast<std::size_t>(small.elements)));
}
