// Programs whose cells are not equally far apart, against `haloc run`: bit by bit.
#include <algorithm>

#include "common.h"
#include "halocline/halocline.hpp"
#include "npy_values.h"
#include "process.h"
#include "runtime/cpu/jit.h"

using namespace halocline;

namespace {

constexpr const char* kStretched = R"(stencil stretched(x, z) {
    param h = 0.25, dt = 1e-3, pull = 1
    spacing x = dx, z = h * 1.1^idx(z)
    origin z = h
    field dx: f64 over x
    field u: f64 { boundary mirror }
    field place: f64
    u[t+1] = u + dt * (laplacian(u) + pull * d(u, x)) / pos(z)
    place = pos(x) + pos(z)
})";
constexpr const char* kStretchedRun = R"(
run stretched {
    grid 6, 9
    steps 3
    init u = idx(x)^2 + 3 * idx(z)
    init dx = 1 + idx(x) / 4
    save u to "u.npy"
    save place to "place.npy"
}
)";

std::vector<double> distances(double first) {
    std::vector<double> values;
    for (int x = 0; x < 6; ++x)
        values.push_back(first + x / 4.0);
    return values;
}

void give_start(Simulation& simulation) {
    std::vector<double> values;
    for (int z = 0; z < 9; ++z)
        for (int x = 0; x < 6; ++x)
            values.push_back(x * x + 3 * z);
    simulation.write("u", values);
}

}  // namespace

TEST_CASE("what unequal spacing is computed with follows from what a program gives") {
    if (!halo::rt::cpu_available()) return;
    const halo::test::Folder folder;
    folder.write("stretched.halo", kStretched + std::string(kStretchedRun));
    const auto check_same = [&](Simulation& simulation, const std::vector<std::string>& arguments) {
        std::vector<std::string> command = {"run", "stretched.halo", "--device", "cpu"};
        command.insert(command.end(), arguments.begin(), arguments.end());
        const halo::test::Outcome outcome = folder.haloc(command);
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        give_start(simulation);
        simulation.step(3);
        CHECK(simulation.read("u") == npy_values(folder.read("u.npy")));
        CHECK(simulation.read("place") == npy_values(folder.read("place.npy")));
    };
    const Program program = compile(kStretched);
    REQUIRE(program.info().fields.size() == 3);
    const std::vector<Device> one = {Device::cpu(1)}, two = {Device::cpu(1), Device::cpu(1)};
    for (const std::vector<Device>& devices : {one, two}) {
        Simulation simulation(program, devices, {6, 9});
        CHECK(says(refusal([&] { simulation.step(1); }),
                   "the spacing of `x` must be greater than 0, and is 0 in the cell x = 0"));
        simulation.write("dx", distances(1));
        check_same(simulation, {});
        simulation.set("pull", 2);
        check_same(simulation, {"--set", "pull=2"});
        simulation.set("h", 0.5);
        check_same(simulation, {"--set", "pull=2", "--set", "h=0.5"});

        const std::string checkpoint =
            save_checkpoint(simulation, folder.path() + "/ck" + std::to_string(devices.size()));
        Simulation other(program, devices, {6, 9});
        Checkpoint::find(checkpoint).restore(other);
        simulation.step(2);
        other.step(2);
        CHECK(other.read("u") == simulation.read("u"));
        // So does the command, to which a checkpoint brings the distances.
        folder.write("bare.halo", kStretched);
        const halo::test::Outcome outcome =
            folder.haloc({"run", "bare.halo", "--device", "cpu", "--grid", "6,9", "--steps",
                          std::to_string(simulation.steps_done()), "--set", "h=0.5", "--set", "pull=2",
                          "--restart", checkpoint, "--save", "u=u.npy"});
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        CHECK(npy_values(folder.read("u.npy")) == simulation.read("u"));

        simulation.set("h", -1);
        CHECK(says(refusal([&] { simulation.step(1); }),
                   "the spacing of `z` must be greater than 0, and is -1 in the cell z = 0"));
        simulation.set("h", 0.25);
        simulation.set("pull", 1);
        simulation.write("dx", distances(2));
        simulation.step(1);
        simulation.write("dx", distances(1));
        check_same(simulation, {});
        CHECK(says(refusal([&] { simulation.read("dy"); }), "it has 'dx', 'u', 'place'"));
    }

    // Memory of the program's own can be written at any time.
    Simulation viewed(program, Device::cpu(1), {6, 9});
    const View view = viewed.view("dx");
    double* const cells = static_cast<double*>(view.memory) + view.first_cell;
    std::ranges::copy(distances(2), cells);
    viewed.step(1);
    std::ranges::copy(distances(1), cells);
    check_same(viewed, {});

    // Which scalars cannot say.
    const Program weighted = compile(
        "stencil weighted(x) {\n    param coef w[0..1] = [1, 0.5]\n    spacing x = w[0] + w[1] * idx(x)\n"
        "    field u: f64 { boundary mirror }\n    u[t+1] = u + d2(u, x) / 8\n}\n");
    CHECK(says(refusal([&] { write_bundle(weighted, folder.path() + "/s.halobundle", {.archs = {"sm_90"}}); },
                       ErrorCode::spec),
               "a bundle is not built yet where a spacing is made of a `param coef`"));
}
