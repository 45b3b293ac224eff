// Sessions on a device whose kernels are plain functions, against loops over dense arrays.
#include "runtime/core/session.h"

#include <cmath>
#include <vector>

#include "catch.h"
#include "runtime/core/plan_json.h"
#include "sample_plans.h"

using namespace halo::rt;

namespace {

using halo::rt::Extent;

Session open_session(Sample sample, const Extent& extent, FakeDevice& device,
                     const SessionOptions& options = {}) {
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::make_unique<FakeModule>());  // one that knows nothing
    modules.push_back(std::move(sample.module));
    return Session(std::move(sample.plan), extent, device, std::move(modules), options);
}

std::vector<double> ramp(std::int64_t count) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i)
        values.push_back(static_cast<double>((i * 37) % 64) / 16);
    return values;
}

// heat_sample by its definition, on dense arrays.
template <class Element>
struct Heat {
    int rank;
    Extent n;
    Element rate, wall;
    std::vector<Element> u;
    double change = 0;

    Element at(std::int64_t x, std::int64_t y, std::int64_t z) const {
        if (y < 0) return wall;
        x = (x + n[0]) % n[0];
        y = std::min(y, n[1] - 1);
        if (n[2] == 1) z = 0;
        if (z < 0) z = -z;
        if (z >= n[2]) z = 2 * (n[2] - 1) - z;
        return u[x + n[0] * (y + n[1] * z)];
    }
    void step() {
        std::vector<Element> next(u.size());
        change = 0;
        for (std::int64_t z = 0; z < n[2]; ++z)
            for (std::int64_t y = 0; y < n[1]; ++y)
                for (std::int64_t x = 0; x < n[0]; ++x) {
                    Element sum = at(x - 1, y, z) + at(x + 1, y, z);
                    if (rank > 1) sum += at(x, y - 1, z) + at(x, y + 1, z);
                    if (rank > 2) sum += at(x, y, z - 1) + at(x, y, z + 1);
                    const Element here = at(x, y, z);
                    const Element lack = static_cast<Element>(2 * rank) * here;
                    const Element flux = rate * (sum - lack);
                    Element& result = next[x + n[0] * (y + n[1] * z)];
                    result = here + flux;
                    change = std::fmax(change, std::fabs(static_cast<double>(result - here)));
                }
        u = next;
    }
    double total() const {
        double sum = 0;
        for (const Element value : u)
            sum += static_cast<double>(value);
        return sum;
    }
};

template <class Element>
void compare_heat(int rank, const Extent& extent, bool recordable) {
    const ElementType type = sizeof(Element) == 4 ? ElementType::f32 : ElementType::f64;
    FakeDevice device;
    device.recordable = recordable;
    Session session = open_session(heat_sample(rank, type), extent, device, {true, true});
    const std::vector<double> start = ramp(session.cells());
    Heat<Element> reference{rank, extent, static_cast<Element>(0.1), 2, {start.begin(), start.end()}};
    session.set_param("rate", 0.1);
    session.upload("u", 0, start);
    int done = 0;
    for (const int steps : {1, 2, 5, 200, 3, 130}) {
        if (done == 8) {  // a wall of another temperature, midway
            session.set_param("wall", -1.5);
            reference.wall = static_cast<Element>(-1.5);
        }
        session.step(steps);
        for (int step = 0; step < steps; ++step)
            reference.step();
        done += steps;
        const std::vector<double> wanted(reference.u.begin(), reference.u.end());
        const bool same = session.download("u") == wanted;
        INFO("rank " << rank << ", " << extent[0] << " x " << extent[1] << " x " << extent[2] << " after "
                     << done);
        CHECK(same);
        CHECK(session.reduction("change") == reference.change);
        CHECK(session.reduction("total") == Approx(reference.total()).epsilon(1e-12));
    }
    CHECK(session.steps_done() == done);
    CHECK(device.launches == done);
    CHECK((device.replays > 0) == recordable);
}

// How often recorded steps are replayed in such calls, after some steps.
int replays_of(std::int64_t at_a_time, int calls, std::int64_t before = 0) {
    FakeDevice device;
    device.recordable = true;
    Session session = open_session(heat_sample(2, ElementType::f64), {19, 7, 1}, device, {true, true});
    Session plainly = open_session(heat_sample(2, ElementType::f64), {19, 7, 1}, device, {true, false});
    session.expect_steps(at_a_time);
    for (Session* each : {&session, &plainly}) {
        each->set_param("rate", 0.1);
        each->upload("u", 0, ramp(session.cells()));
        each->step(before);
    }
    for (int call = 0; call < calls; ++call) {
        session.step(at_a_time);
        plainly.step(at_a_time);
        CHECK(session.download("u") == plainly.download("u"));
        CHECK(session.reduction("change") == plainly.reduction("change"));
    }
    CHECK(session.steps_done() == before + at_a_time * calls);
    return device.replays;
}

}  // namespace

TEST_CASE("recordings are as long as steps are asked for at a time, where that is worth one") {
    CHECK(replays_of(24, 3) == 3);
    CHECK(replays_of(24, 3, 1) == 3);  // from the other of two levels on
    CHECK(replays_of(25, 4) == 4);
    CHECK(replays_of(64, 2) == 2);
    CHECK(replays_of(100, 3) == 6);  // none is longer than others are
    CHECK(replays_of(101, 3, 1) == 6);
    CHECK(replays_of(7, 20) == 0);
}

TEST_CASE("steps are those of the definition, for any grid, recorded or not") {
    for (const bool recordable : {false, true}) {
        compare_heat<double>(1, {1, 1, 1}, recordable);
        compare_heat<double>(1, {37, 1, 1}, recordable);
        compare_heat<float>(2, {1, 4, 1}, recordable);
        compare_heat<double>(2, {19, 7, 1}, recordable);
        compare_heat<float>(3, {9, 5, 7}, recordable);
        compare_heat<double>(3, {3, 1, 1}, recordable);
        compare_heat<float>(3, {1, 1, 2}, recordable);
    }
}

TEST_CASE("scalars made of the step and of reductions are computed anew for each step") {
    using Op = HostScalar::Op;
    Sample sample = heat_sample(2, ElementType::f64);
    REQUIRE(sample.plan.reductions[0].name == "change");
    sample.plan.reductions[0].initial = 0.5;
    int changed = 0;
    for (Argument& argument : sample.plan.kernels[0].arguments) {
        if (argument.kind != Argument::Kind::scalar) continue;
        ++changed;  // 0.1 / (1 + step + change of the last step)
        argument.scalar.steps = {{Op::constant, 0.1, 0}, {Op::constant, 1, 0},  {Op::step, 0, 0},
                                 {Op::add, 0, 0},        {Op::reduction, 0, 0}, {Op::add, 0, 0},
                                 {Op::div, 0, 0}};
    }
    REQUIRE(changed == 1);
    FakeDevice device;
    device.recordable = true;
    Session session = open_session(std::move(sample), {19, 7, 1}, device);
    session.set_param("rate", 0);
    const std::vector<double> start = ramp(session.cells());
    Heat<double> reference{2, {19, 7, 1}, 0, 2, {start.begin(), start.end()}};
    reference.change = 0.5;
    session.upload("u", 0, start);
    double step = 0;
    for (const int steps : {1, 2, 200}) {
        session.step(steps);
        for (int i = 0; i < steps; ++i, ++step) {
            reference.rate = 0.1 / (1 + step + reference.change);
            reference.step();
        }
        CHECK(session.download("u") == reference.u);
        CHECK(session.reduction("change") == reference.change);
    }
    CHECK(device.replays == 0);
}

TEST_CASE("levels move on by pointer, past ones are kept") {
    for (const bool recordable : {false, true}) {
        FakeDevice device;
        device.recordable = recordable;
        Session session = open_session(wave_sample(), {23, 1, 1}, device);
        std::vector<double> now = ramp(23), past = ramp(23);
        for (double& value : past)
            value *= 0.75;
        session.upload("p", 0, now);
        session.upload("p", -1, past);
        for (const int steps : {1, 1, 2, 140}) {
            session.step(steps);
            for (int step = 0; step < steps; ++step) {
                std::vector<double> next(23);
                for (std::size_t x = 0; x < 23; ++x)
                    next[x] =
                        2 * now[x] - past[x] + 0.25 * (now[(x + 22) % 23] - 2 * now[x] + now[(x + 1) % 23]);
                past = now;
                now = next;
            }
            for (std::size_t x = 0; x < 23; ++x) {
                CHECK(session.download("p", 0)[x] == Approx(now[x]));
                CHECK(session.download("p", -1)[x] == Approx(past[x]));
            }
        }
        // New values in the middle of a run, whatever slot the levels are in.
        session.upload("p", 0, ramp(23));
        CHECK(session.download("p", 0) == ramp(23));
    }
}

TEST_CASE("outputs keep a past, their other cells, and weights reach kernels both ways") {
    for (const bool by_pointer : {true, false}) {
        FakeDevice device;
        Session session = open_session(weights_sample(by_pointer), {5, 1, 1}, device);
        session.upload("u", 0, std::vector<double>{1, 2, 3, 4, 5});
        session.upload("out", 0, std::vector<double>{7, 0, 0, 0, 9});
        session.step();
        CHECK(session.download("out") == std::vector<double>{7, 1.25, 2, 2.75, 9});
        CHECK(session.download("out", -1) == std::vector<double>{7, 0, 0, 0, 9});
        const std::vector<double> weights = {1, -1};
        session.set_coef("w", weights);
        session.step(2);
        CHECK(session.download("out") == std::vector<double>{7, -2.75, -2, -1.25, 9});
        CHECK(session.download("out", -1) == std::vector<double>{7, -0.75, 0, 0.75, 9});
    }
}

TEST_CASE("values convert to and from the field's type") {
    FakeDevice device;
    Session session = open_session(heat_sample(1, ElementType::f32), {3, 1, 1}, device);
    session.upload("u", 0, std::vector<double>{0.1, 0.2, 0.3});
    CHECK(session.download("u")[0] == static_cast<double>(0.1f));
    std::vector<float> narrow(3);
    session.download("u", 0, std::span<float>(narrow));
    CHECK(narrow[2] == 0.3f);
    Session wide = open_session(heat_sample(1, ElementType::f64), {3, 1, 1}, device);
    wide.upload("u", 0, std::span<const float>(narrow));
    CHECK(wide.download("u")[1] == static_cast<double>(0.2f));
    wide.download("u", 0, std::span<float>(narrow));
    CHECK(narrow[1] == 0.2f);
}

TEST_CASE("cells start at zero, or poisoned") {
    FakeDevice device;
    Session clean = open_session(heat_sample(2, ElementType::f32), {3, 2, 1}, device);
    CHECK(clean.download("u") == std::vector<double>(6, 0.0));
    Session poisoned = open_session(heat_sample(2, ElementType::f32), {3, 2, 1}, device, {true, true});
    for (const double value : poisoned.download("u"))
        CHECK(std::isnan(value));
}

TEST_CASE("a run stops at its steps, at its condition, or when asked") {
    FakeDevice device;
    Session session = open_session(heat_sample(1, ElementType::f64), {16, 1, 1}, device);
    session.set_param("rate", 0.25);
    session.upload("u", 0, ramp(16));
    using Op = HostScalar::Op;
    // change < 0.01; params are rate and wall, so reduction 0 is index 2.
    const HostScalar until{{{Op::param, 0, 2}, {Op::constant, 0.01, 0}, {Op::less, 0, 0}}};

    RunOptions options;
    options.steps = 7;
    CHECK(session.run(options).steps == 7);
    CHECK(session.run({}).steps == 0);

    options.steps = 100000;
    options.until = until;
    const RunResult found = session.run(options);
    CHECK(found.stop == RunResult::Stop::until);
    CHECK(found.steps < 1000);
    CHECK(session.reduction("change") < 0.01);
    CHECK(session.evaluate_with_reductions(until) == 1);
    // One step earlier it was not there yet: the same again, in steps of one.
    Session again = open_session(heat_sample(1, ElementType::f64), {16, 1, 1}, device);
    again.set_param("rate", 0.25);
    again.upload("u", 0, ramp(16));
    again.step(7 + found.steps - 1);
    CHECK(again.reduction("change") >= 0.01);

    options.until = std::nullopt;
    options.batch = 10;
    std::vector<std::int64_t> seen;
    options.keep_going = [&](std::int64_t done) {
        seen.push_back(done);
        return done < 30;
    };
    const RunResult asked = session.run(options);
    CHECK(asked.stop == RunResult::Stop::asked);
    CHECK(asked.steps == 30);
    CHECK(seen == std::vector<std::int64_t>{10, 20, 30});

    options.steps = 25;
    options.until = until;  // holds at once: it is looked at every 4 steps
    options.check_every = 4;
    const RunResult checked = session.run(options);
    CHECK(checked.steps == 4);
    CHECK(checked.stop == RunResult::Stop::until);
    CHECK(seen.back() == 4);
}

TEST_CASE("looking back at recorded steps stops at the same step as looking after each") {
    using Op = HostScalar::Op;
    const auto below = [](double bound) {
        return HostScalar{{{Op::param, 0, 2}, {Op::constant, bound, 0}, {Op::less, 0, 0}}};
    };
    for (const double bound : {1e-1, 1e-2, 3e-3, 1e-3, 1e-6, 0.0}) {
        for (const std::int64_t check_every : {1, 7}) {
            for (const std::int64_t batch : {0, 100}) {
                FakeDevice recording, plain;
                recording.recordable = recording.finishes_reductions = true;
                std::vector<Session> sessions;
                sessions.push_back(open_session(heat_sample(2, ElementType::f64), {11, 5, 1}, recording));
                sessions.push_back(open_session(heat_sample(2, ElementType::f64), {11, 5, 1}, plain));
                std::vector<RunResult> results;
                for (Session& session : sessions) {
                    session.set_param("rate", 0.2);
                    session.upload("u", 0, ramp(55));
                    session.step(3);  // so that recordings cannot start at once
                    RunOptions options;
                    options.steps = 1000;
                    options.until = below(bound);
                    options.check_every = check_every;
                    options.batch = batch;
                    options.keep_going = [](std::int64_t) { return true; };
                    results.push_back(session.run(options));
                }
                INFO(bound << " every " << check_every << " batch " << batch);
                CHECK(results[0].steps == results[1].steps);
                CHECK(results[0].stop == results[1].stop);
                CHECK(sessions[0].steps_done() == sessions[1].steps_done());
                CHECK(sessions[0].download("u") == sessions[1].download("u"));
                CHECK(sessions[0].reduction("change") == sessions[1].reduction("change"));
                CHECK(sessions[0].reduction("total") == sessions[1].reduction("total"));
                CHECK(recording.finished_reductions > 0);
                for (Session& session : sessions)
                    session.step(70);  // and on from there
                CHECK(sessions[0].download("u") == sessions[1].download("u"));
            }
        }
    }
    // A sum is added up in block order by the host, so it is looked at after each step.
    FakeDevice device;
    device.recordable = device.finishes_reductions = true;
    Session session = open_session(heat_sample(1, ElementType::f64), {11, 1, 1}, device);
    session.set_param("rate", 0.2);
    RunOptions options;
    options.steps = 200;
    options.until = HostScalar{{{Op::param, 0, 3}, {Op::constant, -1, 0}, {Op::less, 0, 0}}};
    CHECK(session.run(options).steps == 200);
    CHECK(device.finished_reductions == 0);
}

TEST_CASE("the device combines greatest values of many blocks before they are copied") {
    for (const std::int64_t blocks : {4099, 6400, 1025, 1023}) {
        INFO(blocks << " blocks");
        const std::int64_t cells = 8 * blocks;
        FakeDevice finishing, plain;
        finishing.finishes_reductions = true;
        finishing.has_host_memory = blocks % 3 != 0;
        std::vector<Session> sessions;
        for (FakeDevice* device : {&finishing, &plain}) {
            sessions.push_back(open_session(heat_sample(1, ElementType::f64), {cells, 1, 1}, *device));
            Session& session = sessions.back();
            session.set_param("rate", 0.2);
            std::vector<double> start = ramp(session.cells());
            start.back() += 100;  // the greatest change is in the last blocks
            session.upload("u", 0, start);
            session.step(3);
        }
        CHECK(sessions[0].reduction("change") == sessions[1].reduction("change"));
        CHECK(sessions[0].reduction("total") == sessions[1].reduction("total"));
        CHECK((finishing.finished_reductions > 0) == (blocks >= 1024));
    }
}

TEST_CASE("the device adds up sums of many blocks where their order does not matter") {
    for (const bool in_rows : {false, true}) {
        FakeDevice device;
        device.finishes_reductions = true;
        SessionOptions options;
        options.sums_in_rows = in_rows;
        Session session = open_session(heat_sample(1, ElementType::f64), {8 * 4099, 1, 1}, device, options);
        session.set_param("rate", 0.0);
        session.upload("u", 0, std::vector<double>(static_cast<std::size_t>(session.cells()), 0.5));
        session.step(1);
        CHECK(session.reduction("total") == 0.5 * 8 * 4099);  // exact in any order
        CHECK(device.finished_reductions <= 64);              // rows, by one launch
        CHECK((device.finished_reductions > 0) == in_rows);
    }
}

TEST_CASE("recorded steps are used until a parameter changes, and made again") {
    FakeDevice device;
    device.recordable = true;
    Session session = open_session(heat_sample(1, ElementType::f64), {16, 1, 1}, device);
    session.set_param("rate", 0.25);
    session.step(640);
    CHECK(device.recordings == 1);
    CHECK(device.replays == 10);
    session.set_param("rate", 0.25);  // no change
    session.step(640);
    CHECK(device.recordings == 1);
    session.set_param("rate", 0.125);
    session.step(640);
    CHECK(device.recordings == 2);
    CHECK(device.launches == 3 * 640);

    FakeDevice plain;
    plain.recordable = true;
    Session unrecorded = open_session(heat_sample(1, ElementType::f64), {16, 1, 1}, plain, {false, false});
    unrecorded.set_param("rate", 0.25);
    unrecorded.step(640);
    CHECK(plain.recordings == 0);
}

TEST_CASE("a plan that was written and read runs alike") {
    FakeDevice device;
    Sample sample = heat_sample(3, ElementType::f32);
    Sample copy = heat_sample(3, ElementType::f32);
    copy.plan = plan_from_json(plan_to_json(sample.plan));
    Session first = open_session(std::move(sample), {5, 6, 7}, device);
    Session second = open_session(std::move(copy), {5, 6, 7}, device);
    for (Session* session : {&first, &second}) {
        session->set_param("rate", 0.15);
        session->upload("u", 0, ramp(210));
        session->step(20);
    }
    CHECK(first.download("u") == second.download("u"));
}

TEST_CASE("sessions give back what they take") {
    FakeDevice device;
    {
        Session first = open_session(weights_sample(true), {50, 1, 1}, device);
        Session second = open_session(wave_sample(), {50, 1, 1}, device);
        CHECK(device.live_allocations == 3 + 1 + 3);  // levels and weights; levels
        first = std::move(second);
        CHECK(device.live_allocations == 3);
        CHECK(first.array_bytes() == 3 * first.geometry().elements * 8);
    }
    CHECK(device.live_allocations == 0);
}
