// Gradients for host programs, against differences of two runs.
#include <cmath>

#include "common.h"
#include "halocline/halocline.h"
#include "halocline/halocline.hpp"
#include "runtime/api/c_handles.h"
#include "runtime/cpu/jit.h"

using namespace halocline;

namespace {

const Grid kWaveGrid = {14, 9};
constexpr std::int64_t kWaveCells = 14 * 9;

// An output keeps the points busy; `unseen` is no part of the objective.
constexpr const char* kDampedWave = R"(stencil shot(x, y) {
    param dt = 0.5, damping = 0.01
    field v: f64
    field p: f64 { boundary fixed 0 }
    points shots, phones: linear
    p[t+1] = 2*p - p[t-1] + (v * dt)^2 * laplacian(p) - damping * p^3
    inject p[t+1] at shots += shots.wavelet[t]
    sample p at phones into phones.seen[t]
    reduce energy = sum(p[t+1]^2)
}
)";

Program damped_wave() {
    return compile(kDampedWave, {.name = "shot.halo"});
}

constexpr std::int64_t kWaveSteps = 12;

void start_wave(Simulation& simulation, double damping = 0.01, double push = 0) {
    std::vector<double> v, p, wavelet;
    for (int i = 0; i < kWaveCells; ++i) {
        v.push_back(0.6 + 0.01 * (i % 13) + push * std::cos(5 * i));
        p.push_back(std::sin(0.37 * i));
    }
    for (int step = 0; step < kWaveSteps; ++step)
        wavelet.push_back(std::cos(step));
    simulation.set("damping", damping);
    simulation.write("v", v);
    simulation.write("p", p);
    simulation.write("p", p, -1);
    simulation.set_points("shots", std::vector<double>{4.25, 5});
    simulation.set_point_values("shots", "wavelet", wavelet);
    simulation.set_points("phones", std::vector<double>{7, 3.5, 11.75, 6});
}

double energy_with(double damping, double push) {
    Simulation simulation(damped_wave(), Device::cpu(2), kWaveGrid);
    start_wave(simulation, damping, push);
    simulation.step(kWaveSteps);
    return simulation.reduce("energy");
}

}  // namespace

TEST_CASE("a gradient is what two runs differ by, again and again") {
    if (!halo::rt::cpu_available()) return;
    const Program program = damped_wave();
    Simulation simulation(program, Device::cpu(2), kWaveGrid);
    start_wave(simulation);
    const std::vector<double> before = simulation.read("p", -1);
    Gradient gradient(simulation, {"energy", {"v", "damping", "p", "shots.wavelet"}});
    CHECK(gradient.fields() == std::vector<std::string>{"v", "p"});
    CHECK(gradient.numbers() == std::vector<std::string>{"damping"});
    CHECK(gradient.traces() == std::vector<std::string>{"shots.wavelet"});
    CHECK(says(refusal([&] { gradient.number("damping"); }), "before compute()"));
    const GradientReport report = gradient.compute(kWaveSteps);
    CHECK(report.objective == Approx(energy_with(0.01, 0)).epsilon(1e-13));
    CHECK(report.steps_done_again == 0);
    CHECK(report.snapshots == kWaveSteps);
    CHECK(report.snapshots_on_host == 0);
    CHECK(report.snapshot_bytes >= 8 * kWaveCells);  // the past of each is in the one before
    CHECK(report.snapshot_bytes < 2 * 8 * kWaveCells);
    CHECK(simulation.steps_done() == 0);
    CHECK(simulation.read("p", -1) == before);

    const double by_damping = (energy_with(0.01 + 1e-6, 0) - energy_with(0.01 - 1e-6, 0)) / 2e-6;
    CHECK(gradient.number("damping") == Approx(by_damping).epsilon(1e-6));
    const std::vector<double> dv = gradient.read("v");
    double along = 0;
    for (int i = 0; i < kWaveCells; ++i)
        along += dv[static_cast<std::size_t>(i)] * std::cos(5 * i);
    CHECK(along == Approx((energy_with(0.01, 1e-6) - energy_with(0.01, -1e-6)) / 2e-6).epsilon(1e-6));
    CHECK(gradient.trace("shots.wavelet").size() == static_cast<std::size_t>(kWaveSteps));

    // With fewer snapshots, by another object, and again by the first one: the same bits.
    Gradient frugal(simulation, {"energy", {"v", "damping", "p", "shots.wavelet"}, false, 2});
    CHECK(frugal.compute(kWaveSteps).steps_done_again > 0);
    CHECK(frugal.read("v") == dv);
    CHECK(frugal.trace("shots.wavelet") == gradient.trace("shots.wavelet"));
    start_wave(simulation, 0.02);
    CHECK(gradient.compute(kWaveSteps).objective == Approx(energy_with(0.02, 0)).epsilon(1e-13));
    start_wave(simulation);
    gradient.compute(kWaveSteps);
    CHECK(gradient.read("v") == dv);
    // And the simulation goes on as one that had no gradient.
    simulation.step(kWaveSteps);
    CHECK(simulation.reduce("energy") == energy_with(0.01, 0));
}

TEST_CASE("the gradient of a misfit with what was measured is that with the residual as weights") {
    if (!halo::rt::cpu_available()) return;
    Simulation simulation(damped_wave(), Device::cpu(2), kWaveGrid);
    start_wave(simulation);
    Gradient gradient(simulation, {"phones.seen", {"v"}});
    std::vector<double> measured;
    for (int i = 0; i < 2 * kWaveSteps; ++i)
        measured.push_back(0.1 * std::sin(3 * i));
    const double misfit = gradient.compute(kWaveSteps, {{}, measured}).objective;
    const std::vector<double> dv = gradient.read("v"), seen = gradient.seen();
    REQUIRE(seen.size() == measured.size());
    std::vector<double> residual = seen;
    double expected = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        residual[i] -= measured[i];
        expected += residual[i] * residual[i] / 2;
    }
    CHECK(misfit == Approx(expected).epsilon(1e-13));
    gradient.compute(kWaveSteps, {residual, {}});
    CHECK(gradient.read("v") == dv);
    CHECK(says(refusal([&] { gradient.compute(kWaveSteps); }), "give either what was measured"));
    CHECK(says(refusal([&] { gradient.compute(kWaveSteps, {{}, std::span(measured).first(5)}); }),
               "12 steps of 2 points, 24 numbers, and 5 were given"));
}

TEST_CASE("gradients by the C interface are those of C++") {
    if (!halo::rt::cpu_available()) return;
    Simulation simulation(damped_wave(), Device::cpu(2), kWaveGrid);
    start_wave(simulation);
    Gradient expected(simulation, {"energy", {"v", "damping", "shots.wavelet"}, false, 3});
    const GradientReport report = expected.compute(kWaveSteps);

    const halo_simulation handle{simulation};
    const char* const with[] = {"v", "damping", "shots.wavelet", nullptr};
    halo_gradient* gradient = nullptr;
    REQUIRE(halo_gradient_create(&handle, "energy", with, 0, 3, &gradient) == HALO_OK);
    halo_gradient_report found{};
    REQUIRE(halo_gradient_compute(gradient, kWaveSteps, nullptr, nullptr, 0, &found) == HALO_OK);
    CHECK(found.objective == report.objective);
    CHECK(found.steps_done_again == report.steps_done_again);
    double damping = 0;
    std::vector<double> dv(kWaveCells), wavelet(kWaveSteps);
    CHECK(halo_gradient_number(gradient, "damping", &damping) == HALO_OK);
    CHECK(halo_gradient_read(gradient, "v", dv.data(), kWaveCells) == HALO_OK);
    size_t room = 5;
    CHECK(halo_gradient_trace(gradient, "shots.wavelet", wavelet.data(), &room) == HALO_BAD_ARGUMENT);
    CHECK(room == static_cast<size_t>(kWaveSteps));
    CHECK(halo_gradient_trace(gradient, "shots.wavelet", wavelet.data(), &room) == HALO_OK);
    CHECK(damping == expected.number("damping"));
    CHECK(dv == expected.read("v"));
    CHECK(wavelet == expected.trace("shots.wavelet"));
    CHECK(halo_gradient_read(gradient, "p", dv.data(), kWaveCells) == HALO_BAD_ARGUMENT);
    CHECK(says(halo_message(), "no field 'p'; there are v"));
    halo_gradient_release(gradient);
    CHECK(halo_gradient_create(nullptr, "energy", with, 0, 0, &gradient) == HALO_BAD_ARGUMENT);
}

TEST_CASE("gradients that cannot be are refused with a mend") {
    if (!halo::rt::cpu_available()) return;
    const Device device = Device::cpu(2);
    Simulation simulation(damped_wave(), device, kWaveGrid);
    CHECK(says(refusal([&] { Gradient(simulation, {"enrgy", {"v"}}); }), "it has phones.seen, energy"));
    CHECK(says(refusal([&] { Gradient(simulation, {"energy", {"w"}}); }), "no input, state or param `w`"));
    Gradient gradient(simulation, {"energy", {"v"}});
    CHECK(says(refusal([&] { gradient.compute(3); }), "'shots' of 'shot' were given no positions"));
    start_wave(simulation);
    CHECK(says(refusal([&] { gradient.compute(0); }), "one step or more"));
    simulation.step(2);
    CHECK(says(refusal([&] { gradient.compute(3); }), "has done 2"));

    Simulation noisy(compile("stencil noisy(x) {\n    field u: f64 { boundary clamp }\n"
                             "    u[t+1] = u + random()\n    reduce R = sum(u)\n}",
                             {.name = "noisy.halo"}),
                     device, {20});
    const std::string refused = refusal([&] { Gradient(noisy, {"R", {"u"}}); }, ErrorCode::unsupported);
    CHECK(says(refused, "noisy.halo:3:18:"));
    CHECK(says(refused, "give it as an input"));
}

namespace {

// `apart` is no part of what p becomes.
constexpr const char* kSeenWave = R"(stencil wave(x, y) {
    param dt = 0.5, damping = 0.01, unread = 2
    field v: f64
    field p: f64 { boundary x fixed 0, y periodic }
    field apart: f64
    field energy: f64
    points shots: linear
    p[t+1] = 2*p - p[t-1] + (v * dt)^2 * laplacian(p) - damping * p^3
    inject p[t+1] at shots += shots.wavelet[t]
    energy = p^2 * v
    apart[t+1] = unread * apart
}
)";

// What the wave begins with, and what its results are multiplied with.
struct SeenWave {
    std::vector<double> v, p, past, wavelet;
    double damping = 0.01;
    std::vector<double> of_p, of_past, of_energy;

    static std::vector<double> waves(double middle, double step, std::size_t count = kWaveCells) {
        std::vector<double> values;
        for (std::size_t i = 0; i < count; ++i)
            values.push_back(middle + 0.3 * std::sin(step * static_cast<double>(i)));
        return values;
    }
    SeenWave()
        : v(waves(0.6, 0.31)),
          p(waves(0, 0.7)),
          past(waves(0.1, 0.9)),
          wavelet(waves(0, 1.1, kWaveSteps)),
          of_p(waves(0.2, 1.3)),
          of_past(waves(-0.1, 1.7)),
          of_energy(waves(0.5, 2.3)) {}

    void give(Simulation& simulation) const {
        simulation.set("damping", damping);
        simulation.write("v", v);
        simulation.write("p", p);
        simulation.write("p", past, -1);
        simulation.set_points("shots", std::vector<double>{4.25, 5});
        simulation.set_point_values("shots", "wavelet", wavelet);
    }
    double value(const Program& program) const {
        Simulation simulation(program, Device::cpu(2), kWaveGrid);
        give(simulation);
        simulation.step(kWaveSteps);
        return dot(of_p, simulation.read("p")) + dot(of_past, simulation.read("p", -1)) +
               dot(of_energy, simulation.read("energy"));
    }
    static double dot(const std::vector<double>& a, const std::vector<double>& b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i)
            sum += a[i] * b[i];
        return sum;
    }
    // The change of value() along a direction of one of them.
    double slope(const Program& program, std::vector<double> SeenWave::* part,
                 const std::vector<double>& along) const {
        const auto moved = [&](double by) {
            SeenWave other = *this;
            for (std::size_t i = 0; i < along.size(); ++i)
                (other.*part)[i] += by * along[i];
            return other.value(program);
        };
        return (moved(1e-6) - moved(-1e-6)) / 2e-6;
    }
};

View dense_view(std::vector<double>& values) {
    return {values.data(), static_cast<std::int64_t>(values.size() * sizeof(double)), 0, kWaveGrid[0],
            kWaveCells};
}

}  // namespace

TEST_CASE("the gradient of fields is the vector-Jacobian product, by level") {
    if (!halo::rt::cpu_available()) return;
    const Program program = compile(kSeenWave, {.name = "wave.halo"});
    SeenWave wave;
    Simulation simulation(program, Device::cpu(2), kWaveGrid);
    wave.give(simulation);
    GradientOptions options;
    options.of_fields = {"p", "energy"};
    options.with = {"v", "p", "damping", "shots.wavelet", "apart", "unread"};
    check_gradient(program, options);
    Gradient gradient(simulation, options);
    // What nothing depends on is left out.
    CHECK(gradient.fields() == std::vector<std::string>{"v", "p"});
    CHECK(gradient.numbers() == std::vector<std::string>{"damping"});
    REQUIRE(gradient.levels().size() == 3);
    REQUIRE(gradient.weights().size() == 3);
    const std::vector<FieldWeights> weights{{"p", 0, {}, std::as_bytes(std::span(wave.of_p))},
                                            {"p", -1, dense_view(wave.of_past)},
                                            {"energy", 0, dense_view(wave.of_energy)}};
    const GradientReport report = gradient.compute(kWaveSteps, weights);
    CHECK(report.steps_done_again == 0);
    const auto level = [](const Gradient& of, const std::string& field, int time) {
        for (const Gradient::Level& each : of.levels())
            if (each.field == field && each.level == time) return of.adjoint().read(each.name);
        return std::vector<double>();
    };
    const std::vector<double> along = SeenWave::waves(0.1, 3.1),
                              in_time = SeenWave::waves(0, 2.9, kWaveSteps);
    CHECK(SeenWave::dot(level(gradient, "v", 0), along) ==
          Approx(wave.slope(program, &SeenWave::v, along)).epsilon(1e-6));
    CHECK(SeenWave::dot(level(gradient, "p", 0), along) ==
          Approx(wave.slope(program, &SeenWave::p, along)).epsilon(1e-6));
    CHECK(SeenWave::dot(level(gradient, "p", -1), along) ==
          Approx(wave.slope(program, &SeenWave::past, along)).epsilon(1e-6));
    CHECK(SeenWave::dot(gradient.trace("shots.wavelet"), in_time) ==
          Approx(wave.slope(program, &SeenWave::wavelet, in_time)).epsilon(1e-6));
    SeenWave more = wave, less = wave;
    more.damping += 1e-6, less.damping -= 1e-6;
    CHECK(gradient.number("damping") ==
          Approx((more.value(program) - less.value(program)) / 2e-6).epsilon(1e-6));
    CHECK(simulation.steps_done() == 0);
    CHECK(simulation.read("p", -1) == wave.past);

    // Again, and with fewer snapshots: the same bits. Without weights all is 0.
    const std::vector<double> by_v = level(gradient, "v", 0), by_past = level(gradient, "p", -1);
    gradient.compute(kWaveSteps, std::vector<FieldWeights>());
    CHECK(level(gradient, "v", 0) == std::vector<double>(kWaveCells, 0.0));
    options.snapshots = 2;
    Gradient frugal(simulation, options);
    CHECK(frugal.compute(kWaveSteps, weights).steps_done_again > 0);
    CHECK(level(frugal, "v", 0) == by_v);
    CHECK(level(frugal, "p", -1) == by_past);

    // The same in C: weights as numbers and where they lie.
    const halo_simulation handle{simulation};
    const char* const of[] = {"p", "energy", nullptr};
    const char* const with[] = {"v", "p", "damping", nullptr};
    halo_gradient* in_c = nullptr;
    REQUIRE(halo_gradient_create_of_fields(&handle, of, with, 2, &in_c) == HALO_OK);
    const View energy = dense_view(wave.of_energy);
    const halo_field_weights given[] = {
        {"p", 0, wave.of_p.data(), wave.of_p.size(), {}},
        {"p", -1, wave.of_past.data(), wave.of_past.size(), {}},
        {"energy", 0, nullptr, 0, {energy.memory, energy.bytes, 0, energy.pitch, energy.slice, 0}}};
    halo_gradient_report found{};
    std::vector<double> values(kWaveCells);
    CHECK(halo_gradient_read_level(in_c, "v", 0, values.data(), kWaveCells) == HALO_BAD_ARGUMENT);
    CHECK(says(halo_message(), "before compute()"));
    REQUIRE(halo_gradient_compute_of_fields(in_c, kWaveSteps, given, 3, &found) == HALO_OK);
    CHECK(found.snapshots == 2);
    CHECK(halo_gradient_read_level(in_c, "v", 0, values.data(), kWaveCells) == HALO_OK);
    CHECK(values == by_v);
    CHECK(halo_gradient_read_level(in_c, "p", -1, values.data(), kWaveCells) == HALO_OK);
    CHECK(values == by_past);
    CHECK(halo_gradient_read_level(in_c, "p", -2, values.data(), kWaveCells) == HALO_BAD_ARGUMENT);
    CHECK(says(halo_message(), "no level -2 of 'p'"));
    CHECK(says(halo_message(), "there are 0 of 'v', 0 of 'p', -1 of 'p'"));
    const halo_field_weights too_few[] = {{"p", 0, wave.of_p.data(), 3, {}}};
    CHECK(halo_gradient_compute_of_fields(in_c, kWaveSteps, too_few, 1, nullptr) == HALO_BAD_ARGUMENT);
    const halo_field_weights unknown[] = {{"q", 0, wave.of_p.data(), kWaveCells, {}}};
    CHECK(halo_gradient_compute_of_fields(in_c, kWaveSteps, unknown, 1, nullptr) == HALO_BAD_ARGUMENT);
    CHECK(says(halo_message(), "'q'"));
    halo_gradient_release(in_c);
}

TEST_CASE("gradients of fields that cannot be are refused, and those that are 0 need no adjoint") {
    if (!halo::rt::cpu_available()) return;
    const Program program = compile(kSeenWave, {.name = "wave.halo"});
    Simulation simulation(program, Device::cpu(2), kWaveGrid);
    SeenWave().give(simulation);
    const auto refused = [&](std::vector<std::string> of, std::vector<std::string> with,
                             const std::string& number = {}, bool every_step = false) {
        GradientOptions options{number, std::move(with), every_step};
        options.of_fields = std::move(of);
        return refusal([&] { check_gradient(program, options); });
    };
    CHECK(says(refused({"q"}, {"p"}), "there is no reduction, state or output `q`"));
    CHECK(says(refused({"p"}, {}), "with respect to something"));
    CHECK(says(refused({"p"}, {"v"}, "energy"), "of what the last step leaves"));
    CHECK(says(refused({"p"}, {"v"}, {}, true), "of what the last step leaves"));
    GradientOptions options;
    options.of_fields = {"apart"};
    options.with = {"v", "damping"};
    Gradient nothing(simulation, options);
    CHECK(nothing.compute(3, std::vector<FieldWeights>()).steps == 3);
    CHECK(nothing.levels().empty());
    CHECK(nothing.numbers().empty());
    CHECK(says(refusal([&] { nothing.adjoint(); }), "there is no adjoint"));
    CHECK(says(refusal([&] { nothing.compute(3); }), "with their weights"));
    options.of_fields = {"apart", "energy"};
    options.with = {"unread"};
    Gradient of_one(simulation, options);
    std::vector<double> ones(kWaveCells, 1.0);
    const std::vector<FieldWeights> both{{"energy", 0, dense_view(ones)}, {"apart", 0, dense_view(ones)}};
    simulation.write("apart", ones);
    of_one.compute(3, both);
    CHECK(of_one.weights().size() == 1);
    CHECK(of_one.number("unread") == Approx(3 * 4 * kWaveCells).epsilon(1e-14));
    options.of_fields = {"apart"};
    std::vector<double> short_rows(3);
    options.with = {"apart"};
    const auto of_level = [&](const std::string& field, int level) {
        const std::vector<FieldWeights> one{{field, level, {}}};
        return refusal([&] { Gradient(simulation, options).compute(3, one); });
    };
    CHECK(says(of_level("v", 0), "level 0 of 'v' is none"));
    CHECK(says(of_level("p", -2), "level -2 of 'p' is none"));
    CHECK(says(of_level("apart", 0), "address of its memory"));
    Gradient of_cells(simulation, options);
    const std::vector<FieldWeights> small{{"apart", 0, dense_view(short_rows)}};
    CHECK(says(refusal([&] { of_cells.compute(3, small); }), "cells need"));
}
