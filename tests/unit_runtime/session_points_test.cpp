// Points of a session: what kernels are given of them, step by step, and what comes back.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "contains.h"
#include "refusal.h"
#include "runtime/core/points.h"
#include "runtime/core/session.h"
#include "sample_plans.h"

using namespace halo::rt;

namespace {

// One axis; u[t+1] = u, then gain * force is added at the points, and u sampled at them: f64.
Sample point_sample() {
    LaunchPlan plan;
    plan.name = "taps";
    plan.rank = 1;
    plan.axes = {"x"};
    plan.params = {{"h", 1.0}};
    plan.spacing = {param_scalar(0)};
    plan.origin = {constant_scalar(0)};
    plan.points = {
        {"taps", {"gain"}, {{"force", false}, {"seen", true}}, PointsPlan::Interpolation::linear, 1}};
    FieldPlan u;
    u.name = "u";
    u.type = ElementType::f64;
    u.role = Role::state;
    plan.fields = {u};
    const auto argument = [](Argument::Kind kind, int part = 0) {
        Argument made;
        made.kind = kind;
        made.part = part;
        return made;
    };
    const auto part = [&](PointsPart which, int more = 0) {
        return argument(Argument::Kind::points, static_cast<int>(which) + more);
    };
    Argument next = argument(Argument::Kind::field), now = next;
    next.time = 1;
    KernelPlan copy, inject, look;
    copy.name = "copy";
    copy.tile = {16, 1, 1};
    copy.arguments = {now, next, argument(Argument::Kind::extent)};
    inject.name = "inject";
    inject.tile = {4, 1, 1};
    inject.domain.kind = Domain::Kind::cells;
    inject.arguments = {next,
                        part(PointsPart::cell_x),
                        part(PointsPart::cell_begin),
                        part(PointsPart::entry_point),
                        part(PointsPart::entry_weight),
                        part(PointsPart::first_column),
                        part(PointsPart::first_column, 1),
                        argument(Argument::Kind::count, static_cast<int>(PointsCount::touched))};
    look.name = "look";
    look.tile = {4, 1, 1};
    look.domain.kind = Domain::Kind::samples;
    look.arguments = {next,
                      part(PointsPart::point_begin),
                      part(PointsPart::sample_x),
                      part(PointsPart::sample_weight),
                      part(PointsPart::first_column, 2),
                      argument(Argument::Kind::count, static_cast<int>(PointsCount::points))};
    for (KernelPlan* kernel : {&copy, &inject, &look})
        kernel->arguments.resize(10, argument(Argument::Kind::extent));  // as many as the fake device takes
    plan.kernels = {copy, inject, look};
    auto module = std::make_unique<FakeModule>();
    module->functions["copy"] = [](const auto& block, std::int64_t, void* const* a) {
        const double* const from = *static_cast<double* const*>(a[0]);
        double* const to = *static_cast<double* const*>(a[1]);
        const int extent = *static_cast<const int*>(a[2]);
        for (std::int64_t x = 16 * block[0]; x < std::min<std::int64_t>(16 * block[0] + 16, extent); ++x)
            to[x] = from[x];
    };
    module->functions["inject"] = [](const auto& block, std::int64_t, void* const* a) {
        double* const to = *static_cast<double* const*>(a[0]);
        const auto* const x = *static_cast<const int* const*>(a[1]);
        const auto* const begin = *static_cast<const int* const*>(a[2]);
        const auto* const point = *static_cast<const int* const*>(a[3]);
        const auto* const weight = *static_cast<const double* const*>(a[4]);
        const auto* const gain = *static_cast<const double* const*>(a[5]);
        const auto* const force = *static_cast<const double* const*>(a[6]);
        const int count = *static_cast<const int*>(a[7]);
        for (std::int64_t cell = 4 * block[0]; cell < std::min<std::int64_t>(4 * block[0] + 4, count); ++cell)
            for (int i = begin[cell]; i < begin[cell + 1]; ++i)
                to[x[cell]] += weight[i] * gain[point[i]] * force[point[i]];
    };
    module->functions["look"] = [](const auto& block, std::int64_t, void* const* a) {
        const double* const from = *static_cast<double* const*>(a[0]);
        const auto* const begin = *static_cast<const int* const*>(a[1]);
        const auto* const x = *static_cast<const int* const*>(a[2]);
        const auto* const weight = *static_cast<const double* const*>(a[3]);
        double* const seen = *static_cast<double* const*>(a[4]);
        const int count = *static_cast<const int*>(a[5]);
        for (std::int64_t p = 4 * block[0]; p < std::min<std::int64_t>(4 * block[0] + 4, count); ++p) {
            seen[p] = 0;
            for (int i = begin[p]; i < begin[p + 1]; ++i)
                seen[p] += weight[i] * from[x[i]];
        }
    };
    return {std::move(plan), std::move(module)};
}

// Notes, in order, launches in the main (M) and the side stream (S), and when the main (m) or the side stream
// (s) waits for the other.
class StreamDevice : public FakeDevice {
public:
    std::string noted;

    void use_stream(StreamKind kind) override { is_main_ = kind == StreamKind::main; }
    void wait_for_stream(StreamKind other) override {
        CHECK((other == StreamKind::main) != is_main_);
        noted += is_main_ ? 'm' : 's';
    }
    void launch(Kernel& kernel, const std::array<std::int64_t, 3>& blocks, void** arguments) override {
        noted += is_main_ ? 'M' : 'S';
        FakeDevice::launch(kernel, blocks, arguments);
    }

private:
    bool is_main_ = true;
};

// What steps of a point sample launch, and where; its samples read level `time`.
std::string noted_by_steps(std::int64_t least_cells, int time,
                           const std::function<void(LaunchPlan&)>& change = {}, std::int64_t steps = 3,
                           bool recordable = false) {
    StreamDevice device;
    device.recordable = recordable;
    Sample sample = point_sample();
    sample.plan.kernels.back().arguments.front().time = time;
    if (change) change(sample.plan);
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    SessionOptions options;
    options.least_cells_beside_samples = least_cells;
    Session session(std::move(sample.plan), {20, 1, 1}, device, std::move(modules), options);
    session.set_points("taps", std::vector<double>{2.5, 7});
    session.set_point_values("taps", "gain", std::vector<double>{1, 1});
    session.set_point_values("taps", "force", std::vector<double>{});
    session.step(steps);
    return device.noted;
}

Session open_points(FakeDevice& device) {
    Sample sample = point_sample();
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    return Session(std::move(sample.plan), {20, 1, 1}, device, std::move(modules));
}

}  // namespace

TEST_CASE("each step injects its row, nothing past the last, and what is sampled is kept") {
    for (const bool recordable : {false, true}) {
        FakeDevice device;
        device.recordable = recordable;
        Session session = open_points(device);
        session.set_points("taps", std::vector<double>{2, 4.5, 2});
        session.set_point_values("taps", "gain", std::vector<double>{1, 10, 100});
        session.set_point_values("taps", "force", std::vector<double>{1, 2, 3, 4, 5, 6});  // two steps
        session.step(2);
        CHECK(session.trace("taps", "seen") == std::vector<double>{301, 10, 301, 905, 35, 905});
        session.step(1);
        session.step(6000);  // more than a buffer holds
        const std::vector<double> all = session.trace("taps", "seen");
        REQUIRE(all.size() == 3 * 6003);
        CHECK(std::vector<double>(all.begin(), all.begin() + 3) == std::vector<double>{301, 10, 301});
        for (std::size_t i = 3; i < all.size(); i += 3)
            REQUIRE(all[i + 1] == 35);
        CHECK(session.download("u")[2] == 905);
        CHECK(session.download("u")[4] == 35);
        CHECK(session.trace("taps", "seen").size() == all.size());
        CHECK((device.replays > 0) == recordable);
    }
}

TEST_CASE("recorded steps inject and sample the rows of their own steps") {
    FakeDevice recording, launching;
    recording.recordable = true;
    Session recorded = open_points(recording), launched = open_points(launching);
    std::vector<double> force(3 * 500);  // fewer than there are steps
    for (std::size_t i = 0; i < force.size(); ++i)
        force[i] = static_cast<double>(i * 37 % 101) / 8;
    for (Session* const session : {&recorded, &launched}) {
        session->set_points("taps", std::vector<double>{2, 4.5, 2});
        session->set_point_values("taps", "gain", std::vector<double>{1, 10, 100});
        session->set_point_values("taps", "force", force);
    }
    for (const std::int64_t count : {1, 7, 200, 64, 333, 130}) {
        INFO(count);
        for (Session* const session : {&recorded, &launched})
            session->step(count);
        CHECK(recorded.download("u") == launched.download("u"));
        CHECK(recorded.trace("taps", "seen") == launched.trace("taps", "seen"));
        force[static_cast<std::size_t>(count)] += 1;  // other rows, and other places
        for (Session* const session : {&recorded, &launched}) {
            session->set_point_values("taps", "force", force);
            session->set_points("taps", std::vector<double>{static_cast<double>(count % 11), 4.5, 2});
        }
    }
    CHECK(recording.replays > 0);
    CHECK(launching.replays == 0);
}

TEST_CASE("a session goes back to a step whose levels and rows it is given") {
    for (const bool recordable : {false, true}) {
        FakeDevice device;
        device.recordable = recordable;
        Session session = open_points(device);
        session.set_points("taps", std::vector<double>{2, 4.5, 2});
        session.set_point_values("taps", "gain", std::vector<double>{1, 10, 100});
        session.set_point_values("taps", "force", std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9});
        session.step(1);
        const std::vector<double> first_level = session.download("u");
        const std::vector<double> first_row = session.trace("taps", "seen");
        session.step(2);
        const std::vector<double> all = session.trace("taps", "seen"), last_level = session.download("u");
        CHECK(refusal([&] { session.continue_from({1, {}, {}}); }).find("with the rows of taps.seen") !=
              std::string::npos);
        session.upload("u", 0, first_level);
        session.continue_from({1, {}, {{"taps", "seen", first_row}}});
        CHECK(session.steps_done() == 1);
        session.step(2);
        CHECK(session.trace("taps", "seen") == all);
        CHECK(session.download("u") == last_level);
    }
}

TEST_CASE("plans whose points do not hold together are refused") {
    FakeDevice device;
    const auto refused = [&](const std::function<void(LaunchPlan&)>& damage) {
        Sample sample = point_sample();
        damage(sample.plan);
        std::vector<std::unique_ptr<Module>> modules;
        modules.push_back(std::move(sample.module));
        return refusal([&] { Session(std::move(sample.plan), {20, 1, 1}, device, std::move(modules)); });
    };
    CHECK(contains(refused([](LaunchPlan& p) { p.kernels[1].arguments[1].part = 14; }),
                   "part 14 of points 'taps'"));
    CHECK(contains(refused([](LaunchPlan& p) { p.kernels[1].arguments[7].part = 2; }),
                   "part 2 of points 'taps'"));
    CHECK(contains(refused([](LaunchPlan& p) { p.kernels[1].arguments[1].index = 1; }), "takes points 1"));
    CHECK(contains(refused([](LaunchPlan& p) { p.kernels[1].domain.index = -1; }), "is over points -1"));
    CHECK(contains(refused([](LaunchPlan& p) { p.points[0].radius = 11; }), "have a radius of 11"));
}

TEST_CASE("no points touch and sample nothing") {
    FakeDevice device;
    Session session = open_points(device);
    session.set_points("taps", {});
    session.set_point_values("taps", "gain", {});
    session.set_point_values("taps", "force", {});
    session.step(3);
    CHECK(session.trace("taps", "seen").empty());
    CHECK(device.launches == 3);
}

TEST_CASE("places follow the spacing's params") {
    FakeDevice device;
    Session session = open_points(device);
    session.set_points("taps", std::vector<double>{6});
    session.set_point_values("taps", "gain", std::vector<double>{1});
    session.set_point_values("taps", "force", std::vector<double>{1, 1});
    session.step();
    session.set_param("h", 2);
    session.step();
    CHECK(session.download("u")[6] == 1);
    CHECK(session.download("u")[3] == 1);
    session.set_param("h", 0.25);
    CHECK(contains(refusal([&] { session.step(); }), "point 0 of 'taps' is at (6), outside of the grid"));
}

TEST_CASE("what is missing of points, or does not fit them, is named") {
    FakeDevice device;
    Session session = open_points(device);
    CHECK(contains(refusal([&] { session.step(); }), "points 'taps' of 'taps' were given no positions"));
    session.set_points("taps", std::vector<double>{1, 2});
    CHECK(contains(refusal([&] { session.step(); }), "'taps.gain' of 'taps' was given no values"));
    session.set_point_values("taps", "gain", std::vector<double>{1});
    CHECK(contains(refusal([&] { session.step(); }), "'taps.gain' has 1 values for 2 points; one for each"));
    session.set_point_values("taps", "gain", std::vector<double>{1, 1});
    CHECK(contains(refusal([&] { session.step(); }), "'taps.force' of 'taps' was given no values"));
    session.set_point_values("taps", "force", std::vector<double>{1, 1, 1});
    CHECK(contains(refusal([&] { session.step(); }), "'taps.force' has 3 values for 2 points; a row"));
    session.set_point_values("taps", "force", std::vector<double>{1, 1});
    session.step();
    CHECK(contains(refusal([&] { session.set_points("taps", std::vector<double>{1}); }),
                   "2 points since the first"));
    CHECK(contains(refusal([&] { session.set_points("pegs", {}); }), "no set of points 'pegs'"));
    CHECK(contains(refusal([&] { session.set_point_values("taps", "seen", {}); }), "'taps.seen' is sampled"));
    CHECK(contains(refusal([&] { session.set_point_values("taps", "hue", {}); }),
                   "'taps.hue' is read by nothing"));
    CHECK(contains(refusal([&] { session.trace("taps", "force"); }), "'taps.force' is sampled by nothing"));
}

TEST_CASE("points are sampled beside the next step's sweep, where that writes to nothing they read") {
    // Each step's samples wait for its own kernels, and what comes after the next step's kernels for them.
    CHECK(noted_by_steps(20, 1) == "MMsSMMmsSMMmsSm");
    CHECK(noted_by_steps(21, 1) == "MMMMMMMMM");
    // The next step writes to the level t of a state without a past.
    CHECK(noted_by_steps(20, 0) == "MMMMMMMMM");
    const auto keep_one = [](LaunchPlan& plan) { plan.fields.front().history = 1; };
    CHECK(noted_by_steps(20, 0, keep_one) == "MMsSMMmsSMMmsSm");
    // A kernel that comes after the samples changes what they read.
    const auto sample_first = [](LaunchPlan& plan) { std::swap(plan.kernels[1], plan.kernels[2]); };
    CHECK(noted_by_steps(20, 1, sample_first) == "MMMMMMMMM");
}

TEST_CASE("recorded steps are sampled beside the next one's sweep, and all are when a recording ends") {
    // A recording is of 20 steps, whatever the number of cells.
    std::string recorded = "MMsS";
    for (int step = 1; step < 20; ++step)
        recorded += "MMmsS";
    recorded += "m";
    CHECK(noted_by_steps(21, 1, {}, 20, true) == recorded);
    CHECK(noted_by_steps(21, 1, {}, 40, true) == recorded);  // the second time it is replayed
    const auto sample_first = [](LaunchPlan& plan) { std::swap(plan.kernels[1], plan.kernels[2]); };
    CHECK(noted_by_steps(21, 1, sample_first, 20, true) == std::string(60, 'M'));
}
