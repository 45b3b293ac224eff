#include <nlohmann/json.hpp>

#include "catch.h"
#include "process.h"
#include "specs.h"

using namespace halo::test;

namespace {

constexpr const char* kWave =
    "stencil wave(x, y) {\n"
    "    param dt = 0.1\n"
    "    field v, u: f32 { boundary periodic }\n"
    "    u[t+1] = 2*u - u[t-1] + (v * dt)^2 * laplacian(u)\n"
    "}\n"
    "run wave {\n"
    "    grid 40, 30\n"
    "    steps 200\n"
    "    init v = if x < 20 then 1 else 2\n"
    "    init u = exp(-((x - 20)^2 + (y - 15)^2) / 8)\n"
    "}\n";

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("check --stability prints the largest stable step and the wave that breaks first") {
    Folder folder;
    folder.write("wave.halo", kWave);
    Outcome outcome = folder.haloc({"check", "--stability", "wave.halo"});
    CHECK(outcome.code == 0);
    INFO(outcome.out);
    CHECK(holds(outcome.out, "wave: stable for dt up to 0.353553; dt = 0.1 is within"));
    CHECK(holds(outcome.out, "the wave that alternates from cell to cell along x, y"));
    CHECK(holds(outcome.out, "with v from 1 to 2"));
    // Another param: the spacing is none here, and an unknown name is a mistake of the command.
    CHECK(folder.haloc({"check", "--stability=tau", "wave.halo"}).code == 2);

    outcome = folder.haloc({"check", "--stability", "--json", "wave.halo"});
    const nlohmann::json json = nlohmann::json::parse(outcome.out);
    CHECK(json["messages"].empty());
    REQUIRE(json["stability"].size() == 1);
    CHECK(json["stability"][0]["kind"] == "bounded");
    CHECK(json["stability"][0]["bound"].get<double>() == Approx(0.3535533).epsilon(1e-6));
}

TEST_CASE("a run whose step is too long is warned of before it starts, and its end says so") {
    Folder folder;
    folder.write("wave.halo", kWave);
    const std::string warning = "warning: dt = 0.36 is above 0.353553";
    CHECK_FALSE(holds(folder.haloc({"run", "--device", "interpreter", "wave.halo"}).err, "warning"));
    Outcome outcome =
        folder.haloc({"run", "--device", "interpreter", "--set", "dt=0.36", "--steps", "3", "wave.halo"});
    CHECK(outcome.code == 0);
    INFO(outcome.err);
    CHECK(holds(outcome.err, warning));
    folder.write("strict.halo",
                 std::string(kWave).replace(std::string(kWave).find("dt = 0.1"), 8, "dt = 0.36"));
    CHECK(folder.haloc({"check", "--stability", "strict.halo"}).code == 0);
    CHECK(folder.haloc({"check", "--stability", "--strict", "strict.halo"}).code == 1);
}

TEST_CASE("what has no bound is named with its place, and runs without a word") {
    Folder folder;
    folder.write(
        "logistic.halo",
        "stencil logistic(x) {\n    param dt = 0.1\n    field u: f64\n    u[t+1] = u + dt * u * (1 - u)\n}\n"
        "run logistic {\n    grid 4\n    steps 2\n    init u = 0.5\n}\n");
    Outcome outcome = folder.haloc({"check", "--stability", "logistic.halo"});
    CHECK(outcome.code == 0);
    CHECK(
        holds(outcome.out, "logistic: no bound: this multiplies values that both change from step to step"));
    CHECK(holds(outcome.out, "logistic.halo:4:18: dt * u * (1 - u)"));
    CHECK_FALSE(holds(folder.haloc({"run", "--device", "interpreter", "logistic.halo"}).err, "warning"));
}
