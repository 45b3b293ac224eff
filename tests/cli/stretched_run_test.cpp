#include <cmath>

#include "catch.h"
#include "npy_values.h"
#include "process.h"

using namespace halo::test;

TEST_CASE("run fills what cells that are not equally far apart are computed with") {
    Folder folder;
    folder.write("stretched.halo", R"(stencil stretched(x, z) {
    param h = 0.1, dt = 1e-4
    spacing x = dx, z = h * 1.1^idx(z)
    origin x = -1, z = h
    field dx: f64 over x
    field wind: f64 over z
    field u: f64 { boundary mirror }
    field slope, bend, place: f64
    u[t+1] = u + dt * laplacian(u)
    slope = d(u, x) + wind
    bend = d2(u, z)
    place = pos(z)
}
run stretched {
    grid 6, 9
    steps 1
    init u = 3 * x + z^2
    init wind = z
    init dx = 1 + idx(x)
    save slope to "slope.npy"
    save bend to "bend.npy"
    save place to "place.npy"
    save u to "u.npy"
}
)");
    const auto run = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"run", "--device", "interpreter"});
        return folder.haloc(arguments);
    };
    Outcome outcome = run({"stretched.halo", "--set", "h=0.2"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.err.find("zero") == std::string::npos);
    const std::vector<double> place = npy_values(folder.read("place.npy"));
    double expected = 0.2;
    for (std::size_t z = 0; z < 9; ++z) {
        CHECK(place[6 * z] == Approx(expected));
        expected += 0.2 * std::pow(1.1, static_cast<double>(z));
    }
    // Of the first and second degree they are exact.
    const std::vector<double> slope = npy_values(folder.read("slope.npy"));
    const std::vector<double> bend = npy_values(folder.read("bend.npy"));
    for (std::size_t z = 1; z < 8; ++z) {
        for (std::size_t x = 1; x < 5; ++x) {
            CHECK(slope[6 * z + x] == Approx(3 + place[6 * z]));
            CHECK(bend[6 * z + x] == Approx(2));
        }
    }
    // Distances from a file are those of the formula; a run that goes on has what it began with.
    const std::string whole = folder.read("u.npy");
    REQUIRE(run({"stretched.halo", "--set", "h=0.2", "--save", "dx=dx.npy"}).code == 0);
    std::string loading = folder.read("stretched.halo");
    loading.replace(loading.find("init dx = 1 + idx(x)"), 20, "load dx from \"dx.npy\"");
    folder.write("loading.halo", loading);
    REQUIRE(run({"loading.halo", "--set", "h=0.2"}).code == 0);
    CHECK(folder.read("u.npy") == whole);
    const std::vector<std::string> twice = {"stretched.halo", "--steps", "2", "--save", "u=two.npy"};
    REQUIRE(run(twice).code == 0);
    const std::vector<double> two = npy_values(folder.read("two.npy"));
    REQUIRE(run({"stretched.halo", "--checkpoint", "ck"}).code == 0);
    std::vector<std::string> restarted = twice;
    restarted.insert(restarted.end(), {"--restart", "ck"});
    outcome = run(restarted);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(npy_values(folder.read("two.npy")) == two);
    // With other distances, or other weights for the same points, it would be another program.
    const std::vector<std::pair<std::string, std::string>> changes = {
        {"1.1^idx(z)", "1.2^idx(z)"},
        {"bend = d2(u, z)", "bend = d(u, z)"},
        {"spacing x = dx", "spacing x = 1 + idx(x)"}};
    for (const auto& [from, to] : changes) {
        std::string changed = folder.read("stretched.halo");
        changed.replace(changed.find(from), from.size(), to);
        folder.write("changed.halo", changed);
        outcome = run({"changed.halo", "--steps", "2", "--restart", "ck"});
        INFO(from << outcome.err);
        CHECK(outcome.code == 2);
        CHECK(outcome.err.find("is of another stretched: what its statements say has changed") !=
              std::string::npos);
    }

    outcome = run({"stretched.halo", "--set", "h=-1"});
    CHECK(outcome.code != 0);
    CHECK(outcome.err.find("the spacing of `z` must be greater than 0, and is -1 in the cell z = 0") !=
          std::string::npos);
    outcome = folder.haloc({"emit", "stretched.halo", "-o", "stretched.cu"});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(folder.read("stretched.cu").find("fill_axis_z") != std::string::npos);
    folder.write(
        "weighted.halo",
        "stencil weighted(x) {\n    param coef w[0..1] = [1, 0.5]\n    spacing x = w[0] + w[1] * idx(x)\n"
        "    field u: f64 { boundary mirror }\n    u[t+1] = u + d2(u, x) / 8\n}\n");
    outcome = folder.haloc({"emit", "weighted.halo", "-o", "weighted.cu"});
    CHECK(outcome.code == 2);
    CHECK(outcome.err.find("a launcher is not built yet where a spacing is made of a `param coef`") !=
          std::string::npos);
}
