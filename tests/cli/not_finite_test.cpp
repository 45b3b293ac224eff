// Runs whose numbers leave the finite.
#include <cmath>
#include <string>
#include <vector>

#include "catch.h"
#include "npy_values.h"
#include "process.h"

using namespace halo::test;

namespace {

std::vector<const char*> devices_here() {
#ifdef HALO_HAS_LLVM
    return {"interpreter", "cpu"};
#else
    return {"interpreter"};
#endif
}

}  // namespace

TEST_CASE("a run whose numbers leave the finite is stopped, and its last good state kept") {
    Folder folder;
    folder.write("grow.halo",
                 "stencil grow(x) {\n    field u, e: f64\n    u[t+1] = if idx(x) == 3 then 16 * u else u\n"
                 "    e = u / 2\n}\n"
                 "run grow {\n    grid 8\n    steps 100000\n    init u = 1\n    save e to \"e.npy\"\n}\n");
    for (const char* device : devices_here()) {
        const Outcome run = folder.haloc({"run", "--device", device, "grow.halo"});
        INFO(run.err);
        CHECK(run.code == 3);
        CHECK(run.err.find("u is infinite at x = 3") != std::string::npos);
        const std::size_t good = run.err.find("grow-u-good-0000");
        REQUIRE(good != std::string::npos);
        const std::string path = run.err.substr(good, std::string("grow-u-good-000012.npy").size());
        // 16^256 is infinite in f64: what is kept is of a step before.
        const int step = std::stoi(path.substr(12, 6));
        CHECK(step < 256);
        std::vector<double> kept(8, 1);
        kept[3] = std::pow(16, step);
        CHECK(npy_values(folder.read(path)) == kept);
    }

    CHECK(
        folder.haloc({"run", "--device", "interpreter", "--no-watch", "--steps", "300", "grow.halo"}).code ==
        0);
    const Outcome outcome =
        folder.haloc({"run", "--device", "interpreter", "--no-files", "--steps", "300", "grow.halo"});
    CHECK(outcome.code == 3);
    CHECK(outcome.err.find("all was finite after step") != std::string::npos);
    CHECK(outcome.err.find(".npy") == std::string::npos);
}

TEST_CASE("states that are finite at the end are kept where an output is not") {
    Folder folder;
    folder.write("late.halo",
                 "stencil late(x) {\n    field u, e: f64\n    u[t+1] = u + 1\n    e = 1 / (u - idx(x))\n}\n"
                 "run late {\n    grid 8\n    steps 6\n    save e to \"e.npy\"\n}\n");
    for (const char* device : devices_here()) {
        const Outcome outcome = folder.haloc({"run", "--device", device, "late.halo"});
        INFO(outcome.err);
        CHECK(outcome.code == 3);
        CHECK(outcome.err.find("e is infinite at x = 5") != std::string::npos);
        CHECK(npy_values(folder.read("late-u-good-000006.npy")) == std::vector<double>(8, 6));
    }
}

TEST_CASE("numbers that are not finite from the start are meant so") {
    Folder folder;
    folder.write("mask.halo",
                 "stencil mask(x) {\n    field u: f32\n    u[t+1] = u + 1\n}\n"
                 "run mask {\n    grid 8\n    steps 20\n    init u = if x < 2 then 1 / (x - x) else 0\n}\n");
    CHECK(folder.haloc({"run", "--device", "interpreter", "mask.halo"}).code == 0);
}

TEST_CASE("numbers that are no longer finite end the run with their place") {
    Folder folder;
    folder.write("s.halo",
                 "stencil s(x) {\n    field u: f64 { boundary periodic }\n    u[t+1] = u * u\n}\n"
                 "run s {\n    grid 3\n    steps 2000\n    init u = if idx(x) == 1 then 2 else 1\n"
                 "    save u to \"u.npy\"\n}\n");
    Outcome outcome = folder.haloc({"run", "s.halo", "--device", "interpreter"});
    CHECK(outcome.code == 3);
    CHECK(outcome.err.find("u is infinite at x = 1") != std::string::npos);
}
