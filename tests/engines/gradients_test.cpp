// Gradients on emulated CUDA: the same bits wherever snapshots are kept, those of the interpreter where the
// sums are exact, and nothing that goes over the host from step to step.
#include <cmath>
#include <string>
#include <vector>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/adjoint/turns.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/planning/offline_target.h"
#include "compiler/driver/running/gradient.h"
#include "compiler/passes/recompute_terms.h"
#include "counting_device.h"
#include "random_schedule.h"

using namespace halo;
using namespace halo::test;

namespace {

constexpr Extent kGrid = {23, 9, 1};
constexpr std::int64_t kLevelBytes = 23 * 9 * 8;

std::unique_ptr<driver::Engine> engine_on(rt::Device& device, const ir::Program& program, bool poison = false,
                                          bool again = false) {
    driver::CodeOptions options;
    options.target = driver::offline_target("sm_90");
    options.extent = kGrid;
    options.single_steps = true;
    ir::Program optimized = driver::optimize(program, options);
    if (again)
        if (auto recomputed = passes::recompute_terms(optimized)) optimized = std::move(*recomputed);
    const driver::Code code = driver::cuda_code(optimized, driver::choose_plan(optimized, options).plan());
    return driver::make_session_engine(
        rt::Session(code.lowered.plan, kGrid, device, load_cuda(code.lowered, device), {.poison = poison}));
}

struct Result {
    double objective = 0;
    std::vector<double> numbers;  // of params, of the trace, of cells
    std::int64_t steps_forward = 0;
};

// What is differentiated: the wave's energy after the last step, or all energies, or both levels of the wave,
// or what receivers see, with weights.
enum class Of { last_energy, all_energies, wave, seen };
constexpr Of kAll[] = {Of::last_energy, Of::all_energies, Of::wave, Of::seen};

adjoint::Request request_of(Of of) {
    const std::vector<std::string> with{"v", "p", "dt", "shots.wavelet"};
    if (of == Of::wave) return {{"p"}, with, false, true};
    if (of == Of::seen) return {{"phones.seen"}, with};
    return {{"energy"}, with, of == Of::all_energies};
}

std::string objective_of(Of of) {
    if (of == Of::wave) return "";
    return of == Of::seen ? "phones.seen" : "energy";
}

// A wave that is damped by what it is, sent by a point and seen at two.
struct WaveGradient {
    explicit WaveGradient(Of what, std::int64_t count)
        : program(load_program(R"(stencil shot(x, y) {
            param dt = 0.5
            field v: f64
            field p: f64 { boundary fixed 0 }
            points shots, phones: linear
            p[t+1] = 2*p - p[t-1] + (v * dt)^2 * laplacian(p) - 0.01 * p^3
            inject p[t+1] at shots += shots.wavelet[t]
            sample p at phones into phones.seen[t]
            reduce energy = sum(p[t+1]^2)
        })",
                               true)),
          turns(adjoint::make_turns(program, request_of(what))),
          adjoint(turns.last),
          earlier(turns.earlier),
          of(what),
          steps(count) {}

    Result run(const std::function<std::unique_ptr<driver::Engine>(const ir::Program&)>& make,
               const rt::SnapshotPlaces& places, CountingDevice* device = nullptr,
               bool in_turns = true) const {
        const std::unique_ptr<driver::Engine> forward = make(program), backward = make(adjoint.program),
                                              before = earlier && in_turns ? make(earlier->program) : nullptr;
        const driver::GradientEngines engines{*forward, *backward, before.get()};
        driver::GradientPlan plan{program, adjoint, before ? &*earlier : nullptr, objective_of(of),
                                  of == Of::all_energies};
        driver::share_arrays(engines, plan);
        std::vector<double> v, p;
        for (int i = 0; i < 23 * 9; ++i) {
            v.push_back(0.6 + 0.01 * (i % 13));
            p.push_back(std::sin(0.37 * i));
        }
        const auto values = [](const std::vector<double>& from) {
            return driver::FieldValues::rounded(rt::ElementType::f64, from);
        };
        forward->upload("v", 0, values(v));
        for (const int time : {0, -1})
            forward->upload("p", time, values(p));
        std::vector<double> wavelet;
        for (std::int64_t step = 0; step < steps; ++step)
            wavelet.push_back(std::cos(static_cast<double>(step)));
        if (of == Of::wave)
            for (const adjoint::Adjoint::Part& part : adjoint.parts)
                backward->upload(part.field, 0, values(part.time == 0 ? v : p));
        plan.steps = steps;
        plan.snapshots = places;
        if (of == Of::seen)
            for (std::int64_t i = 0; i < 2 * steps; ++i)
                plan.weights.push_back(std::sin(static_cast<double>(3 * i)));
        plan.points = {{"shots", {4.25, 5}, {{"wavelet", true, wavelet}}},
                       {"phones", {7, 3.5, 12.75, 6}, {}}};
        if (device != nullptr) device->to_host = device->within = 0;
        const auto kept = driver::make_kept_states(*forward, program, places);
        const driver::GradientResult found = driver::run_gradient(engines, plan, *kept, [](auto) {});
        Result result{found.objective, {}, found.steps_forward};
        if (device != nullptr) to_host = device->to_host, within = device->within;
        for (const auto& [name, number] : found.numbers)
            result.numbers.push_back(number);
        for (const auto& [name, rows] : found.traces)
            result.numbers.insert(result.numbers.end(), rows.begin(), rows.end());
        for (const adjoint::Adjoint::Gradient& each : adjoint.gradients) {
            if (each.kind != adjoint::Adjoint::Kind::field) continue;
            const driver::FieldValues cells = backward->download(each.name);
            for (std::int64_t i = 0; i < cells.size(); ++i)
                result.numbers.push_back(cells.at(i));
        }
        return result;
    }

    const ir::Program program;
    const adjoint::Turns turns;
    const adjoint::Adjoint& adjoint;
    const std::optional<adjoint::Adjoint>& earlier;
    const Of of;
    const std::int64_t steps;
    mutable int to_host = 0, within = 0;  // copies in the last run
};

}  // namespace

TEST_CASE("gradients are the same bits wherever snapshots are kept") {
    for (const Of of : kAll) {
        const WaveGradient wave(of, 9);
        CountingDevice device(kLevelBytes);
        const auto sharing = [&](int levels) {
            rt::SnapshotPlaces places;
            places.levels = levels;
            places.on_device = adjoint::most_kept(9, driver::snapshot_budget(places, 2));
            return places;
        };
        const auto emulated = [&](const ir::Program& program) { return engine_on(device, program); };
        const Result all = wave.run(emulated, {0, 9});
        CHECK(all.steps_forward == (of == Of::wave ? 8 : 9));  // nothing is read of what the last one leaves
        for (const rt::SnapshotPlaces& places : std::vector<rt::SnapshotPlaces>{
                 {0, 9, true}, {0, 1}, {0, 3}, {3, 0}, {2, 1}, {9, 0}, sharing(2), sharing(5), sharing(8)}) {
            const Result other = wave.run(emulated, places);
            CHECK(other.objective == all.objective);
            CHECK(other.numbers == all.numbers);
        }
        const auto interpreter = [](const ir::Program& program) {
            return driver::make_interpreter_engine(program, kGrid);
        };
        const Result meant = wave.run(interpreter, {0, 2});
        // One program for all steps adds what is 0, and finds the same.
        CHECK(wave.run(interpreter, {0, 2}, nullptr, false).numbers == meant.numbers);
        CHECK(wave.earlier.has_value() == (of != Of::all_energies));
        CHECK(meant.objective == Approx(all.objective).epsilon(1e-13));
        REQUIRE(meant.numbers.size() == all.numbers.size());
        double largest = 0;
        for (std::size_t i = 0; i < meant.numbers.size(); ++i)
            largest = std::max(
                largest, std::abs(meant.numbers[i] - all.numbers[i]) / (1 + std::abs(meant.numbers[i])));
        CHECK(largest < 1e-12);
    }
}

TEST_CASE("gradients are the same bits where terms of the adjoint are computed again") {
    for (const Of of : kAll) {
        const WaveGradient wave(of, 6);
        CHECK((wave.earlier && passes::recompute_terms(wave.earlier->program)) == (of != Of::all_energies));
        CountingDevice device(kLevelBytes);
        for (const bool poison : {false, true}) {
            const auto engines = [&](bool again) {
                return [&, again](const ir::Program& program) {
                    const bool goes_on = wave.earlier && &program == &wave.earlier->program;
                    return engine_on(device, program, poison && goes_on, again);
                };
            };
            for (const rt::SnapshotPlaces& places : std::vector<rt::SnapshotPlaces>{{0, 6}, {0, 2}}) {
                const Result stored = wave.run(engines(false), places),
                             again = wave.run(engines(true), places);
                CHECK(again.objective == stored.objective);
                CHECK(again.numbers == stored.numbers);
            }
        }
        CHECK(device.allocations() == 0);
    }
}

TEST_CASE("gradients of few steps are the same whether steps are undone in turns or by one program") {
    for (const Of of : kAll)
        for (const int steps : {1, 2, 3, 4}) {
            const WaveGradient wave(of, steps);
            const auto interpreter = [](const ir::Program& program) {
                return driver::make_interpreter_engine(program, kGrid);
            };
            CountingDevice device(kLevelBytes);
            // The one that goes on is given all that it reads.
            const auto emulated = [&](const ir::Program& program) {
                return engine_on(device, program, wave.earlier && &program == &wave.earlier->program);
            };
            const Result one = wave.run(interpreter, {0, 2}, nullptr, false);
            CHECK(wave.run(interpreter, {0, 2}).numbers == one.numbers);
            const Result turns = wave.run(emulated, {0, steps}),
                         alone = wave.run(emulated, {0, steps}, nullptr, false);
            REQUIRE(turns.numbers.size() == one.numbers.size());
            for (std::size_t i = 0; i < one.numbers.size(); ++i) {
                CHECK(turns.numbers[i] == Approx(one.numbers[i]).epsilon(1e-12).margin(1e-12));
                CHECK(alone.numbers[i] == Approx(one.numbers[i]).epsilon(1e-12).margin(1e-12));
            }
            CHECK(device.allocations() == 0);
        }
}

TEST_CASE("gradients on a device let the host wait as often for many steps as for few") {
    for (const Of of : kAll) {
        CountingDevice device(kLevelBytes);
        const auto emulated = [&](const ir::Program& program) { return engine_on(device, program); };
        const WaveGradient few(of, 4), many(of, 12);
        few.run(emulated, {0, 3}, &device);
        many.run(emulated, {0, 3}, &device);
        CHECK(few.to_host > 0);
        CHECK(many.to_host == few.to_host);
        many.run(emulated, {1, 2}, &device);
        CHECK(many.to_host > few.to_host);
    }
}

TEST_CASE("steps back that read no state are done several at a time, and find the same") {
    const ir::Program program = load_program(R"(stencil linear(x, y) {
        param rate = 0.2
        field u: f64 { boundary x fixed 0, y mirror }
        field q: f64
        u[t+1] = u + rate * laplacian(u) + q
        reduce r = sum(u[t+1]^2)
    })",
                                             true);
    const adjoint::Turns turns = adjoint::make_turns(program, {{"r"}, {"q", "u"}, false});
    REQUIRE(turns.earlier);
    REQUIRE(turns.earlier->levels.empty());
    CountingDevice device(kLevelBytes);
    const auto found = [&](bool emulated, bool in_turns) {
        const auto make = [&](const ir::Program& of) {
            return emulated ? engine_on(device, of) : driver::make_interpreter_engine(of, kGrid);
        };
        const auto forward = make(program), backward = make(turns.last.program),
                   earlier = make(turns.earlier->program);
        const driver::GradientEngines engines{*forward, *backward, in_turns ? earlier.get() : nullptr};
        driver::GradientPlan plan{program, turns.last, in_turns ? &*turns.earlier : nullptr, "r"};
        driver::share_arrays(engines, plan);
        std::vector<double> q;
        for (int i = 0; i < 23 * 9; ++i)
            q.push_back(std::sin(0.37 * i));
        forward->upload("q", 0, driver::FieldValues::rounded(rt::ElementType::f64, q));
        plan.steps = 9;
        plan.snapshots = {0, in_turns ? 0 : 2};
        const auto kept = driver::make_kept_states(*forward, program, plan.snapshots);
        std::vector<std::int64_t> left;
        driver::run_gradient(engines, plan, *kept, [&](std::int64_t steps) { left.push_back(steps); });
        CHECK(left.size() == (in_turns ? 2 : 9));
        CHECK(left.back() == 0);
        return std::pair(backward->download("q_adj").elements, backward->download("u_adj").elements);
    };
    const auto expected = found(false, false);
    CHECK(found(false, true) == expected);
    CHECK(found(true, true) == found(true, false));
    CHECK(device.allocations() == 0);
}

TEST_CASE("states in the host's memory come and go beside steps, and the host waits for none") {
    for (const Of of : kAll) {
        CountingDevice waiting(kLevelBytes);
        const auto by_waiting = [&](const ir::Program& program) { return engine_on(waiting, program); };
        const WaveGradient few(of, 4), many(of, 12);
        few.run(by_waiting, {0, 3}, &waiting);
        const int waits = few.to_host;
        const Result expected = many.run(by_waiting, {5, 0}, &waiting);
        CHECK(many.to_host > waits);
        for (const bool late : {false, true}) {
            CopyingDevice device(kLevelBytes, late);
            const auto emulated = [&](const ir::Program& program) { return engine_on(device, program); };
            for (const int in_transit : {1, 2})
                for (const auto& [on_host, on_device] :
                     std::vector<std::pair<int, int>>{{5, 0}, {1, 0}, {2, 0}, {3, 2}, {1, 4}, {12, 0}}) {
                    const Result found = many.run(emulated, {on_host, on_device, false, in_transit}, &device);
                    CHECK(found.objective == expected.objective);
                    CHECK(found.numbers == expected.numbers);
                    CHECK(many.to_host <= waits + 1);  // at the end, for what is on its way
                }
            CHECK(device.allocations() == 0);
        }
    }
}

TEST_CASE("gradients on a device copy no state from step to step") {
    for (const Of of : kAll) {
        CountingDevice device(kLevelBytes);
        const auto emulated = [&](const ir::Program& program) { return engine_on(device, program); };
        const WaveGradient few(of, 3), many(of, 12);
        for (const int snapshots : {1, 3, 12}) {
            few.run(emulated, {0, std::min(snapshots, 3)}, &device);
            many.run(emulated, {0, snapshots}, &device);
            // What no step changes, the state at the end to where the run began, both its levels, and the
            // adjoint's to where the last step's engine has it.
            CHECK(many.within <= 1 + 2 + 1);
            CHECK(few.within <= 1 + 2 + 1);
        }
        CHECK(device.allocations() == 0);
    }
}

TEST_CASE(
    "states that are kept where they lie are whole: their halos, parts and the cells that steps leave out") {
    struct Case {
        const char* what;
        const char* text;
        bool copies;  // to the adjoint
    };
    for (const Case& each :
         std::vector<Case>{{"constants past faces", R"(stencil s(x, y) {
                param rate = 0.1, inflow = 2
                field u: f64 { boundary x.low fixed 0.3 * inflow, x.high clamp, y mirror }
                u[t+1] = u + rate * (1 + u^2) * laplacian(u)
                reduce r = sum(u[t+1]^2)
            })",
                            false},
                           {"two levels that go round", R"(stencil s(x, y) {
                param rate = 0.1
                field u: f64 { boundary x periodic, y fixed 1 }
                u[t+1] = 2*u - u[t-1] + rate * u * laplacian(u, order=4) + 0.01 * u[t-1,x+1]^2
                reduce r = sum(u[t+1]^2)
            })",
                            false},
                           {"cells that are left out", R"(stencil s(x, y) {
                param rate = 0.1
                field u: f64
                u[t+1] = u[x-1] * (0.3 + rate) + u[y+1]^2 / 10
                reduce r = sum(u[t+1]^2)
            })",
                            true},
                           {"formulas past faces", R"(stencil s(x, y) {
                param rate = 0.1
                field u: f64 { boundary x.low robin 1, 2, 0.5, x.high gradient 0.2, y extrapolate 2 }
                u[t+1] = u + rate * u * laplacian(u)
                reduce r = sum(u[t+1]^2)
            })",
                            true},
                           {"components side by side", R"(stencil s(x, y) {
                param rate = 0.1
                field v: (x: f64, y: f64) { layout aos; boundary x fixed 0.5, y clamp }
                v.x[t+1] = v.x + rate * v.y * laplacian(v.x)
                v.y[t+1] = v.y - rate * v.x * laplacian(v.y)
                reduce r = sum(v.x[t+1]^2 + v.y[t+1]^2)
            })",
                            true},
                           {"several states of different pasts", R"(stencil s(x, y) {
                param rate = 0.1
                field u: f64 { boundary clamp }
                field w: f64 { boundary fixed 1 }
                field n: f32 { boundary fixed 0 }
                u[t+1] = 2*u - u[t-1] + rate * w * laplacian(u)
                w[t+1] = w + rate * u[t+1]^2 * laplacian(w)
                n[t+1] = n / 2 + w
                reduce r = sum(u[t+1] * w[t+1] * n[t+1])
            })",
                            false},
                           {"terms that are 0 where what they are of is not", R"(stencil s(x, y) {
                param rate = 0.1
                field u: f64 { boundary fixed 1 }
                field w: f64
                let c { boundary fixed 0 } = u * u
                u[t+1] = u + 0.1 * laplacian(u)
                w[t+1] = w + rate * w * (c[x-1] + u)
                reduce r = sum(w[t+1] + u[t+1]^2)
            })",
                            true}}) {
        INFO(each.what);
        const ir::Program program = load_program(each.text, true);
        std::vector<std::string> with{"rate"};
        std::vector<std::pair<std::string, int>> levels;
        for (const ir::Field& field : program.fields) {
            if (field.role != ir::Role::state) continue;
            with.push_back(field.name);
            for (int time = 0; time >= -field.history; --time)
                levels.emplace_back(field.name, time);
        }
        const adjoint::Turns turns = adjoint::make_turns(program, {{"r"}, with, false});
        const adjoint::Adjoint& adjoint = turns.last;
        const std::optional<adjoint::Adjoint>& earlier = turns.earlier;
        REQUIRE(earlier);
        driver::GradientPlan plan{program, adjoint, &*earlier, "r"};
        plan.steps = 7;
        plan.returns = true;
        CountingDevice device(kLevelBytes);
        std::vector<double> first;
        struct Run {
            rt::SnapshotPlaces places;
            bool again = false;  // terms are computed again
        };
        for (const auto& [places, again] : std::vector<Run>{{{9, 0}},
                                                            {{0, 7, true}},
                                                            {{0, 7}},
                                                            {{0, 1}},
                                                            {{0, 3}},
                                                            {{2, 1}},
                                                            {{1, 2}},
                                                            {{0, 7}, true},
                                                            {{2, 1}, true}}) {
            const std::unique_ptr<driver::Engine> forward = engine_on(device, program, true, again),
                                                  backward = engine_on(device, adjoint.program, false, again),
                                                  others = engine_on(device, earlier->program, true, again);
            const driver::GradientEngines engines{*forward, *backward, others.get()};
            driver::share_arrays(engines, plan);
            for (const auto& [field, time] : levels) {
                std::vector<double> values;
                for (int i = 0; i < 23 * 9; ++i)
                    values.push_back(0.3 * std::sin(0.37 * i + time + static_cast<double>(field.size())));
                forward->upload(field, time, driver::FieldValues::rounded(forward->type_of(field), values));
            }
            const auto start = [&] {
                std::vector<driver::FieldValues> all;
                for (const auto& [field, time] : levels)
                    all.push_back(forward->download(field, time));
                return all;
            };
            const std::vector<driver::FieldValues> before = start();
            const auto kept = driver::make_kept_states(*forward, program, places);
            device.within = 0;
            const driver::GradientResult found = driver::run_gradient(engines, plan, *kept, [](auto) {});
            if (places.on_host == 0 && !each.copies && !again)
                CHECK(device.within <= static_cast<int>(levels.size() + adjoint.pasts.size()));  // back
            const std::vector<driver::FieldValues> after = start();
            for (std::size_t i = 0; i < levels.size(); ++i)
                CHECK(after[i].elements == before[i].elements);
            std::vector<double> numbers{found.objective};
            for (const auto& [name, number] : found.numbers)
                numbers.push_back(number);
            for (const adjoint::Adjoint::Gradient& gradient : adjoint.gradients) {
                if (gradient.kind != adjoint::Adjoint::Kind::field) continue;
                const driver::FieldValues cells = backward->download(gradient.name);
                for (std::int64_t i = 0; i < cells.size(); ++i)
                    numbers.push_back(cells.at(i));
            }
            for (const double number : numbers)
                REQUIRE(std::isfinite(number));
            if (first.empty()) first = numbers;
            CHECK(numbers == first);
        }
    }
}
