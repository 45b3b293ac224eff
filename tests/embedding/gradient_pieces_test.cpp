// Gradients of simulations on several devices: those of one, bit by bit.
#include <cmath>

#include "common.h"
#include "halocline/halocline.hpp"
#include "runtime/cpu/jit.h"

using namespace halocline;

namespace {

const Grid kCutGrid = {7, 17};
constexpr int kCutCells = 7 * 17;
constexpr std::int64_t kCutSteps = 9;

constexpr const char* kCutWave = R"(stencil shot(x, y) {
    param dt = 0.5, damping
    field v: f64
    field p: f64 { boundary x fixed 0, y mirror }
    field n: (a: f32, b: f32) { layout aos; boundary clamp }
    points shots, phones: linear
    n.a[t+1] = n.a / 2 + n.b[y+1] / 4
    n.b[t+1] = n.b / 2 - n.a[y-1] / 4
    p[t+1] = 2*p - p[t-1] + (v * dt)^2 * laplacian(p) - damping * p^3 + n.a[t+1] / 8
    inject p[t+1] at shots += shots.wavelet[t]
    sample p at phones into phones.seen[t]
    reduce energy = sum(p[t+1]^2)
}
)";

std::vector<double> waving_cells(double by) {
    std::vector<double> cells;
    for (int i = 0; i < kCutCells; ++i)
        cells.push_back(0.5 * std::sin(by * i));
    return cells;
}

void start_cut(Simulation& simulation, double damping) {
    simulation.set("damping", damping);
    std::vector<double> v = waving_cells(0.1);
    for (double& each : v)
        each = 0.7 + 0.2 * each;
    simulation.write("v", v);
    simulation.write("p", waving_cells(0.37));
    simulation.write("p", waving_cells(0.41), -1);
    simulation.write("n.a", waving_cells(0.7));
    simulation.write("n.b", waving_cells(0.9));
    simulation.set_points("shots", std::vector<double>{4.25, 5});
    simulation.set_point_values("shots", "wavelet", std::vector<double>(kCutSteps, 0.25));
    simulation.set_points("phones", std::vector<double>{3, 3.5, 5.75, 11});
}

std::vector<Device> cpus_for(int count) {
    return std::vector<Device>(static_cast<std::size_t>(count), Device::cpu(1));
}

}  // namespace

TEST_CASE("the gradient of a simulation in pieces is that of one device, again and again") {
    if (!halo::rt::cpu_available()) return;
    const Program program = compile(kCutWave, {.name = "shot.halo"});
    const std::vector<double> weights = waving_cells(3);
    for (const bool of_trace : {false, true}) {
        const OfTrace trace{std::span(weights).first(of_trace ? 2 * kCutSteps : 0), {}};
        const OfTrace of = of_trace ? trace : OfTrace{};
        GradientOptions options{of_trace ? "phones.seen" : "energy",
                                {"v", "p", "n", "damping", "dt", "shots.wavelet"}};
        Simulation whole(program, Device::cpu(2), kCutGrid);
        start_cut(whole, 0.01);
        Gradient expected(whole, options);
        const double objective = expected.compute(kCutSteps, of).objective;
        for (const int pieces : {2, 5}) {
            Simulation simulation(program, cpus_for(pieces), kCutGrid);
            options.snapshots = pieces == 2 ? std::nullopt : std::optional<std::int64_t>(2);
            Gradient gradient(simulation, options);
            for (const double damping : {0.02, 0.01}) {
                start_cut(simulation, damping);
                const GradientReport report = gradient.compute(kCutSteps, of);
                CHECK(report.snapshots == (pieces == 2 ? kCutSteps : 2));
                CHECK((report.objective == objective) == (damping == 0.01));
            }
            for (const char* field : {"v", "p", "n.a", "n.b"})
                CHECK(gradient.read(field) == expected.read(field));
            for (const char* number : {"damping", "dt"})
                CHECK(gradient.number(number) == expected.number(number));
            CHECK(gradient.trace("shots.wavelet") == expected.trace("shots.wavelet"));
            if (of_trace) CHECK(gradient.seen() == expected.seen());
            // What it was, and it goes on as one that had no gradient.
            CHECK(simulation.steps_done() == 0);
            CHECK(simulation.read("p", -1) == waving_cells(0.41));
            simulation.step(3);
            CHECK(says(refusal([&] { gradient.compute(kCutSteps, of); }), "this simulation has done 3"));
        }
    }
}

TEST_CASE("the gradient of fields in pieces is that of one device") {
    if (!halo::rt::cpu_available()) return;
    const Program program = compile(kCutWave, {.name = "shot.halo"});
    GradientOptions options;
    options.of_fields = {"p"};
    options.with = {"v", "p", "damping"};
    const std::vector<double> latest = waving_cells(1.1), before = waving_cells(1.3);
    const std::vector<FieldWeights> weights{{"p", 0, {}, std::as_bytes(std::span(latest))},
                                            {"p", -1, {}, std::as_bytes(std::span(before))}};
    const auto found = [&](Simulation simulation) {
        start_cut(simulation, 0.01);
        Gradient gradient(simulation, options);
        gradient.compute(kCutSteps, weights);
        std::vector<double> all{gradient.number("damping")};
        for (const Gradient::Level& level : gradient.levels()) {
            const std::vector<double> cells = gradient.adjoint().read(level.name);
            all.insert(all.end(), cells.begin(), cells.end());
        }
        CHECK(all.size() == 1 + 3 * kCutCells);
        return all;
    };
    CHECK(found(Simulation(program, cpus_for(3), kCutGrid)) ==
          found(Simulation(program, Device::cpu(2), kCutGrid)));

    Simulation simulation(program, cpus_for(3), kCutGrid);
    start_cut(simulation, 0.01);
    Gradient gradient(simulation, options);
    std::vector<double> cells = latest;
    const View dense{cells.data(), 8 * kCutCells, 0, kCutGrid[0], kCutCells};
    CHECK(says(refusal([&] { gradient.compute(kCutSteps, std::vector<FieldWeights>{{"p", 0, dense, {}}}); }),
               "give them as elements in the host's memory"));
    CHECK(
        says(refusal([&] { Gradient(Simulation(program, cpus_for(30), kCutGrid), options); }), "30 pieces"));
}
