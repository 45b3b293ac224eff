// Components of a cell side by side in one array: halos, sessions and plans.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "catch.h"
#include "refusal.h"
#include "runtime/core/fields_aside.h"
#include "runtime/core/level_copies.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/plan_json.h"
#include "runtime/core/session.h"
#include "sample_plans.h"

using namespace halo::rt;

namespace {

constexpr BoundaryKind kInterleavedKinds[] = {BoundaryKind::periodic, BoundaryKind::fixed,
                                              BoundaryKind::clamp, BoundaryKind::mirror, BoundaryKind::free};

template <class T>
T argument_value(void* const* arguments, int index) {
    T value;
    std::memcpy(&value, arguments[index], sizeof value);
    return value;
}

// Two components of a state and one array: v.x[t+1] = v.x[x-1], v.y[t+1] = v.y + v.x[t-1].
Sample pair_sample() {
    Sample sample;
    LaunchPlan& plan = sample.plan;
    plan.name = "pair";
    plan.axes = {"x"};
    plan.spacing = plan.origin = {constant_scalar(1)};
    for (const int component : {0, 1}) {
        FieldPlan field;
        field.name = component == 0 ? "v.x" : "v.y";
        field.type = ElementType::f64;
        field.role = Role::state;
        field.history = 1;
        field.interleave = 2;
        field.component = component;
        if (component == 0) {
            field.boundary[0] = {FacePlan{BoundaryKind::periodic, {}, 0},
                                 FacePlan{BoundaryKind::periodic, {}, 0}};
            field.halo[0] = {1, 1};
        }
        plan.fields.push_back(field);
    }
    plan.halo[0] = {1, 1};
    KernelPlan kernel;
    kernel.name = "pair_step";
    kernel.tile = {1 << 20, 1, 1};
    for (const int time : {1, 0, -1}) {
        Argument argument;
        argument.time = time;
        kernel.arguments.push_back(argument);
    }
    Argument extent;
    extent.kind = Argument::Kind::extent;
    kernel.arguments.resize(10, extent);  // as many as the device of the tests wants
    kernel.refresh_halos = {{0, 1}};
    plan.kernels = {kernel};
    sample.module = std::make_unique<FakeModule>();
    sample.module->functions["pair_step"] = [](const auto&, std::int64_t, void* const* arguments) {
        auto* next = argument_value<double*>(arguments, 0);
        const auto* now = argument_value<const double*>(arguments, 1);
        const auto* past = argument_value<const double*>(arguments, 2);
        const auto n = argument_value<std::int32_t>(arguments, 3);
        for (std::int32_t x = 0; x < n; ++x) {
            next[x * 2] = now[(x - 1) * 2];
            next[x * 2 + 1] = now[x * 2 + 1] + past[x * 2];
        }
    };
    return sample;
}

}  // namespace

TEST_CASE("halos of components side by side are those of arrays of their own") {
    std::mt19937 random(7);
    const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
    constexpr int kComponents = 3;
    for (int round = 0; round < 300; ++round) {
        const int rank = 1 + pick(3);
        halo::rt::Extent extent{};
        std::vector<FieldPlan> fields(kComponents);
        std::array<std::array<int, 2>, kMaxRank> halo{};
        for (int axis = 0; axis < rank; ++axis) {
            extent[axis] = 1 + pick(5);
            halo[axis] = {3, 3};
            for (FieldPlan& field : fields) {
                field.halo[axis] = {pick(4), pick(4)};
                for (FacePlan& face : field.boundary[axis])
                    face = {kInterleavedKinds[pick(5)], constant_scalar(100 + pick(100)), 0};
            }
        }
        const Geometry geometry = make_geometry(rank, extent, halo);
        const auto elements = static_cast<std::size_t>(geometry.elements);
        std::vector<float> together(elements * kComponents);
        for (float& value : together)
            value = static_cast<float>(random() % 1000);
        std::vector<std::vector<float>> alone(kComponents, std::vector<float>(elements));
        for (std::size_t c = 0; c < kComponents; ++c) {
            for (std::size_t at = 0; at < elements; ++at)
                alone[c][at] = together[at * kComponents + c];
            fill_halo(make_halo_passes(fields[c], geometry, {}, HaloPart::all), ElementType::f32,
                      alone[c].data());
            fields[c].interleave = kComponents;
            fields[c].component = static_cast<int>(c);
            fill_halo(make_halo_passes(fields[c], geometry, {}, HaloPart::all), ElementType::f32,
                      together.data());
        }
        std::size_t wrong = 0;
        for (std::size_t at = 0; at < together.size(); ++at)
            wrong += together[at] != alone[at % kComponents][at / kComponents] ? 1 : 0;
        CHECK(wrong == 0);
    }
}

TEST_CASE("a session keeps components side by side in one array a level") {
    for (const bool poison : {false, true}) {
        FakeDevice device;
        Sample sample = pair_sample();
        std::vector<std::unique_ptr<Module>> modules;
        modules.push_back(std::move(sample.module));
        constexpr std::size_t n = 5;
        SessionOptions options;
        options.poison = poison;
        Session session(std::move(sample.plan), {n, 1, 1}, device, std::move(modules), options);
        CHECK(device.live_allocations == 3);
        std::vector<double> x{1, 2, 3, 4, 5}, y(n, 0), past{9, 8, 7, 6, 5};
        session.upload("v.x", 0, x);
        session.upload("v.y", 0, y);
        session.upload("v.x", -1, past);
        for (int step = 0; step < 7; ++step) {
            session.step();
            std::vector<double> next(n);
            for (std::size_t i = 0; i < n; ++i) {
                next[i] = x[(i + n - 1) % n];
                y[i] += past[i];
            }
            past = x;
            x = next;
            CHECK(session.download("v.x") == x);
            CHECK(session.download("v.y") == y);
            CHECK(session.download("v.x", -1) == past);
            std::vector<double> some(2);
            session.download_lattice("v.y", 0, Lattice{{1, 0, 0}, {2, 1, 1}, {3, 1, 1}}, some.data());
            CHECK(some == std::vector<double>{y[1], y[4]});
        }
    }
}

TEST_CASE("copies of levels hold what was there, whatever steps do since") {
    FakeDevice device;
    Sample sample = pair_sample();
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    constexpr std::int64_t kCells = 9;
    Session session(sample.plan, {kCells, 1, 1}, device, std::move(modules), {});
    std::vector<double> start(kCells);
    for (std::size_t i = 0; i < start.size(); ++i)
        start[i] = static_cast<double>(i * i % 13);
    session.upload("v.x", 0, std::span<const double>(start));
    session.upload("v.y", 0, std::span<const double>(start));

    // One array for both components.
    CHECK(LevelCopies::bytes_of(session, {"v.y", "v.x"}) == LevelCopies::bytes_of(session, {"v.x"}));
    LevelCopies copies(session, {"v.y", "v.x"});
    LevelCopies other(session, {"v.y"});
    for (const int steps : {0, 1, 2, 3}) {
        session.step(steps);
        copies.take();
        const std::vector<double> x = session.download("v.x"), y = session.download("v.y");
        session.step(3);
        std::vector<double> copied(kCells);
        copies.download_box("v.x", whole_box({kCells, 1, 1}), copied.data());
        CHECK(copied == x);
        copies.download_box("v.y", whole_box({kCells, 1, 1}), copied.data());
        CHECK(copied == y);
        copied.resize(2);
        copies.download_box("v.y", Box{{3, 0, 0}, {5, 1, 1}}, copied.data());
        CHECK(copied == std::vector<double>(y.begin() + 3, y.begin() + 5));
    }
    CHECK_FALSE(refusal([&] { copies.download_box("v.z", whole_box({2, 1, 1}), start.data()); }).empty());
    CHECK_FALSE(refusal([&] { copies.download_box("v.x", whole_box({10, 1, 1}), start.data()); }).empty());
}

namespace {

// Sets cells of f64 aside, one by one.
class AsideOnHost final : public CellsAside {
public:
    bool set_aside(const std::vector<CellsOfArray>& parts) override {
        parts_.clear();
        for (const auto& [array, cells, every, type] : parts) {
            std::vector<double>& part = parts_.emplace_back();
            for (std::int64_t z = 0; z < cells.extent[2]; ++z)
                for (std::int64_t y = 0; y < cells.extent[1]; ++y)
                    for (std::int64_t x = 0; x < cells.extent[0]; ++x)
                        part.push_back(static_cast<const double*>(
                            array)[cells.origin + x * every + y * cells.pitch + z * cells.slice]);
        }
        return true;
    }
    bool are_finite() override { return true; }
    void fetch(std::size_t part, void* dense) override {
        std::copy(parts_[part].begin(), parts_[part].end(), static_cast<double*>(dense));
    }

private:
    std::vector<std::vector<double>> parts_;
};

class DeviceWithAside : public FakeDevice {
public:
    std::unique_ptr<CellsAside> make_cells_aside() override { return std::make_unique<AsideOnHost>(); }
};

}  // namespace

TEST_CASE("one of components that lie side by side is set aside") {
    DeviceWithAside device;
    Sample sample = pair_sample();
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    Session session(sample.plan, {9, 1, 1}, device, std::move(modules), {});
    const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8, 9}, y{11, 12, 13, 14, 15, 16, 17, 18, 19};
    session.upload("v.x", 0, std::span<const double>(x));
    session.upload("v.y", 0, std::span<const double>(y));
    const std::unique_ptr<FieldsAside> aside = FieldsAside::of(session);
    const Lattice all = lattice_of(whole_box({9, 1, 1}));
    REQUIRE(aside->set_aside({{"v.y", 0, {{2, 0, 0}, {3, 1, 1}, {3, 1, 1}}}, {"v.x", 0, all}}));
    session.step(2);
    REQUIRE(session.download("v.x") != x);
    std::vector<double> some(3), whole(9);
    aside->fetch(0, some.data());
    CHECK(some == std::vector<double>{13, 16, 19});
    aside->fetch(1, whole.data());
    CHECK(whole == x);
    REQUIRE(aside->set_aside({{"v.y", -1, all}}));
    aside->fetch(0, whole.data());
    CHECK(whole == session.download("v.y", -1));
    FakeDevice none;
    Sample other = pair_sample();
    modules.clear();
    modules.push_back(std::move(other.module));
    Session without(other.plan, {9, 1, 1}, none, std::move(modules), {});
    CHECK(FieldsAside::of(without) == nullptr);
}

TEST_CASE("components side by side survive the way through JSON, and must agree") {
    const LaunchPlan plan = pair_sample().plan;
    const LaunchPlan copy = plan_from_json(plan_to_json(plan));
    CHECK(copy.fields[0].interleave == 2);
    CHECK(copy.fields[1].component == 1);
    CHECK(plan_to_json(copy) == plan_to_json(plan));
    const auto refused = [&](auto&& damage) {
        LaunchPlan damaged = plan;
        damage(damaged);
        try {
            check_plan(damaged);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const auto has = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };
    CHECK(refused([](LaunchPlan&) {}).empty());
    CHECK(has(refused([](LaunchPlan& p) { p.fields[0].component = 2; }), "component 2 of 2"));
    CHECK(has(refused([](LaunchPlan& p) { p.fields[1].component = 0; }), "not its next component"));
    CHECK(has(refused([](LaunchPlan& p) { p.fields.pop_back(); }), "lacks the components"));
    CHECK(has(refused([](LaunchPlan& p) { p.fields[1].history = 0; }), "cannot share the array of 'v.x'"));
    CHECK(has(refused([](LaunchPlan& p) { p.fields[1].type = ElementType::f32; }), "cannot share"));
    CHECK(has(refused([](LaunchPlan& p) { p.fields[0].interleave = 0; }), "component 0 of 0"));
    CHECK(
        has(refused([](LaunchPlan& p) { p.kernels[0].arguments[1].field = 1; }), "lies in another's array"));
}

TEST_CASE("a row of many components that cannot be indexed is refused") {
    FakeDevice device;
    Sample sample = pair_sample();
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    try {
        Session(std::move(sample.plan), {1'500'000'000, 1, 1}, device, std::move(modules));
        CHECK(false);
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::bad_argument);
        CHECK(std::string(error.what()).find("too long to index") != std::string::npos);
    }
    CHECK(device.live_allocations == 0);
}
