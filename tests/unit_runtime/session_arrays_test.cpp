// Sessions on arrays of the caller's: the same bits as on their own, whatever lies around them.
#include <array>
#include <string>
#include <vector>

#include "catch.h"
#include "contains.h"
#include "refusal.h"
#include "runtime/core/session.h"
#include "sample_plans.h"

using namespace halo::rt;

namespace {

constexpr halo::rt::Extent kExtent = {19, 6, 5};

std::vector<double> start_values(std::int64_t cells, int seed) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < cells; ++i)
        values.push_back(static_cast<double>((i * 37 + seed) % 64) / 16);
    return values;
}

// `count` arrays that lie as the geometry says, in memory with room around them that stands out.
class Arrays {
public:
    Arrays(const Geometry& geometry, int count) : geometry_(geometry) {
        for (int i = 0; i < count; ++i)
            memory_.emplace_back(static_cast<std::size_t>(geometry.elements + 2 * kRoom), kUntouched);
    }
    std::vector<void*> addresses() {
        std::vector<void*> all;
        for (std::vector<double>& array : memory_)
            all.push_back(first_element(array));
        return all;
    }
    bool room_is_untouched() {
        for (std::vector<double>& array : memory_)
            for (const double& value : array) {
                const std::int64_t at = &value - first_element(array);
                if ((at < 0 || at >= geometry_.elements) && value != kUntouched) return false;
            }
        return true;
    }

private:
    static constexpr std::int64_t kRoom = 64;
    static constexpr double kUntouched = 12345;
    // So that cell (0,0,0) is aligned as vectors need it.
    double* first_element(std::vector<double>& array) const {
        constexpr std::int64_t kAlignment = 32;
        double* element = array.data();
        while ((reinterpret_cast<std::uintptr_t>(element + geometry_.origin) / sizeof(double)) % kAlignment !=
               0)
            ++element;
        return element;
    }
    Geometry geometry_;
    std::vector<std::vector<double>> memory_;
};

std::vector<std::unique_ptr<Module>> modules_of(Sample& sample) {
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    return modules;
}

Session open_heat(FakeDevice& device, const SessionOptions& options = {}) {
    Sample sample = heat_sample(3, ElementType::f64);
    Session session(sample.plan, kExtent, device, modules_of(sample), options);
    session.set_param("rate", 0.05);
    return session;
}

Geometry wide_geometry() {
    const LaunchPlan plan = heat_sample(3, ElementType::f64).plan;
    return view_geometry(3, kExtent, plan.halo, RowLayout::padded, 128, 128 * 10);
}

}  // namespace

TEST_CASE("a session on arrays of the caller's computes what one on its own does") {
    for (const bool recordable : {false, true}) {
        FakeDevice device;
        device.recordable = recordable;
        Session own = open_heat(device);
        const std::vector<double> start = start_values(own.cells(), 0);
        own.upload("u", 0, std::span<const double>(start));
        own.step(150);

        SessionOptions options;
        options.geometry = wide_geometry();
        Arrays arrays(*options.geometry, 2);
        options.arrays["u"] = arrays.addresses();
        const int allocations = device.live_allocations;
        Session on_views = open_heat(device, options);
        CHECK(device.live_allocations == allocations + 2);  // partial results alone
        on_views.upload("u", 0, std::span<const double>(start));
        on_views.step(150);
        CHECK(on_views.download("u") == own.download("u"));
        CHECK(on_views.reduction("change") == own.reduction("change"));
        CHECK(on_views.geometry().pitch == 128);
        CHECK(arrays.room_is_untouched());
    }
}

TEST_CASE("cells in equal steps come as those of the whole field do") {
    FakeDevice device;
    Session session = open_heat(device);
    const std::vector<double> all = start_values(session.cells(), 3);
    session.upload("u", 0, std::span<const double>(all));
    const Box whole = whole_box(kExtent);
    for (const halo::rt::Extent& stride :
         {halo::rt::Extent{1, 1, 1}, {1, 2, 3}, {3, 1, 2}, {4, 3, 1}, {18, 5, 4}}) {
        Lattice lattice;
        lattice.begin = {0, 0, 0};
        lattice.stride = stride;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            lattice.begin[axis] = (kExtent[axis] - 1) % stride[axis];  // so that the last cell is among them
            lattice.count[axis] = (kExtent[axis] - 1) / stride[axis] + 1;
        }
        std::vector<double> some(static_cast<std::size_t>(lattice.cells())), wanted;
        session.download_lattice("u", 0, lattice, some.data());
        for (std::int64_t z = lattice.begin[2]; z < kExtent[2]; z += stride[2])
            for (std::int64_t y = lattice.begin[1]; y < kExtent[1]; y += stride[1])
                for (std::int64_t x = lattice.begin[0]; x < kExtent[0]; x += stride[0])
                    wanted.push_back(all[static_cast<std::size_t>(whole.index({x, y, z}))]);
        CHECK(some == wanted);
        lattice.count[1] += 1;
        CHECK(contains(refusal([&] { session.download_lattice("u", 0, lattice, some.data()); }),
                       "its grid of 19 x 6 x 5 has not"));
    }
}

TEST_CASE("cells of a level are copied between sessions whose arrays lie otherwise") {
    FakeDevice device, elsewhere;
    Session from = open_heat(device);
    const std::vector<double> start = start_values(from.cells(), 7);
    from.upload("u", 0, std::span<const double>(start));
    SessionOptions options;
    options.geometry = wide_geometry();
    Session to = open_heat(device, options);
    REQUIRE(to.geometry().slice != from.geometry().slice);
    CHECK(to.copy_level("u", 0, from, "u", 0));
    CHECK(to.download("u") == start);
    to.step(3);  // with the halos of what was copied
    from.step(3);
    CHECK(to.download("u") == from.download("u"));

    Session beyond = open_heat(elsewhere);
    CHECK_FALSE(beyond.copy_level("u", 0, from, "u", 0));
    Sample narrow = heat_sample(3, ElementType::f32);
    Session other_type(narrow.plan, kExtent, device, modules_of(narrow));
    CHECK_FALSE(other_type.copy_level("u", 0, from, "u", 0));
    Sample small = heat_sample(3, ElementType::f64);
    Session other_grid(small.plan, {19, 6, 4}, device, modules_of(small));
    CHECK_FALSE(other_grid.copy_level("u", 0, from, "u", 0));
}

TEST_CASE("two sessions take turns on the arrays of one field") {
    FakeDevice device;
    Session one = open_heat(device);
    const std::vector<double> start = start_values(one.cells(), 3);
    one.upload("u", 0, std::span<const double>(start));
    SessionOptions options;
    options.geometry = one.geometry();
    options.arrays["u"] = one.level_arrays("u");
    Session other = open_heat(device, options);

    Session alone = open_heat(device);
    alone.upload("u", 0, std::span<const double>(start));
    for (int turn = 0; turn < 5; ++turn) {
        one.step(1 + turn);
        other.bind_levels("u", one.level_arrays("u"));
        other.step(2);
        one.bind_levels("u", other.level_arrays("u"));
        alone.step(3 + turn);
        CHECK(one.download("u") == alone.download("u"));
        CHECK(other.download("u") == alone.download("u"));
    }
}

TEST_CASE("a session keeps arrays of its own that are bound to it again, and releases the others") {
    FakeDevice device;
    Session own = open_heat(device), alone = open_heat(device);
    const int allocations = device.live_allocations;
    const std::vector<void*> first = own.level_arrays("u");
    own.bind_levels("u", std::vector<void*>{first[1], first[0]});
    CHECK(own.level_arrays("u") == std::vector<void*>{first[1], first[0]});
    CHECK(device.live_allocations == allocations);
    const std::vector<double> start = start_values(own.cells(), 5);
    own.upload("u", 0, std::span<const double>(start));
    alone.upload("u", 0, std::span<const double>(start));
    own.step(3);
    alone.step(3);
    CHECK(own.download("u") == alone.download("u"));

    Arrays others(own.geometry(), 1);
    own.bind_levels("u", std::vector<void*>{own.level_arrays("u")[0], others.addresses()[0]});
    CHECK(device.live_allocations == allocations - 1);
    own.step(2);
    alone.step(2);
    CHECK(own.download("u") == alone.download("u"));
    CHECK(own.release_levels("u").size() == 1);
    CHECK(others.room_is_untouched());
}

TEST_CASE("levels of the past keep their order when arrays are bound") {
    FakeDevice device;
    const auto open = [&] {
        Sample sample = wave_sample();
        Session session(sample.plan, {16, 1, 1}, device, modules_of(sample));
        return session;
    };
    Session one = open(), alone = open(), other = open();
    for (Session* session : {&one, &alone}) {
        session->upload("p", 0, std::span<const double>(start_values(16, 1)));
        session->upload("p", -1, std::span<const double>(start_values(16, 2)));
    }
    one.step(4);
    other.bind_levels("p", one.level_arrays("p"));
    other.step(3);
    alone.step(7);
    CHECK(other.download("p", 0) == alone.download("p", 0));
    CHECK(other.download("p", -1) == alone.download("p", -1));
}

TEST_CASE("cells that the caller changed get their halos before the next step") {
    FakeDevice device;
    Session session = open_heat(device), expected = open_heat(device);
    const std::vector<double> before = start_values(session.cells(), 0),
                              after = start_values(session.cells(), 9);
    session.upload("u", 0, std::span<const double>(before));
    session.step(3);
    device.upload_cells(session.level_arrays("u")[0], session.geometry(), ElementType::f64, after.data());
    session.mark_written("u");
    session.step();
    expected.upload("u", 0, std::span<const double>(after));
    expected.step();
    CHECK(session.download("u") == expected.download("u"));
}

TEST_CASE("arrays that do not fit are refused with what they must be") {
    const LaunchPlan plan = heat_sample(3, ElementType::f64).plan;
    const auto view = [&](std::int64_t pitch, std::int64_t slice) {
        return refusal([&] { view_geometry(3, kExtent, plan.halo, RowLayout::padded, pitch, slice); });
    };
    CHECK(contains(view(65, 65 * 8), "the pitch must be 64 or more and a multiple of 32"));
    CHECK(contains(view(32, 32 * 8), "the pitch must be 64 or more"));
    CHECK(contains(view(64, 64 * 7), "the slice must be 512 (the pitch times 8 rows) or more"));
    CHECK(contains(view(64, 64 * 8 + 1), "a multiple of the pitch, 64"));
    CHECK(view(64, 64 * 8).empty());
    CHECK(refusal([&] { view_geometry(3, kExtent, plan.halo, RowLayout::tight, 21, 21 * 8); }).empty());

    FakeDevice device;
    SessionOptions options;
    options.geometry = wide_geometry();
    Arrays arrays(*options.geometry, 3);
    options.arrays["u"] = arrays.addresses();
    CHECK(contains(refusal([&] { open_heat(device, options); }),
                   "needs 2 arrays: 1 that hold values and 1 that"));
    options.arrays["u"] = {arrays.addresses()[0], arrays.addresses()[0]};
    CHECK(contains(refusal([&] { open_heat(device, options); }), "an array of its own"));
    options.arrays["u"] = {arrays.addresses()[0], static_cast<double*>(arrays.addresses()[1]) + 1};
    CHECK(contains(refusal([&] { open_heat(device, options); }), "must be a multiple of 256 bytes"));
    options.arrays["u"] = {arrays.addresses()[0], arrays.addresses()[1]};
    options.geometry->origin -= 1;
    CHECK(contains(refusal([&] { open_heat(device, options); }), "elements before cell (0,0,0)"));
    CHECK(device.live_allocations == 0);
}
