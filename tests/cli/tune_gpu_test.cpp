// tune, and run and explain after it, on a GPU: as a user types them.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "gpu_haloc.h"

using namespace halo::test;
using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kTunedHeat = R"(stencil heat(x, y, z) {
    param k = 0.1
    field u: f32 { boundary fixed 1 }
    u[t+1] = u + k * laplacian(u)
}

run heat {
    grid 192, 160, 128
    steps 50
    init u = if x < 3 then 1 else 0
}
)";

}  // namespace

TEST_CASE("a spec that was tuned runs by what was found, with the same result") {
    Folder folder;
    folder.write("heat.halo", kTunedHeat);
    const Outcome measured = gpu_haloc(folder, {"doctor", "--measure"});
    INFO(measured.err);
    REQUIRE(measured.code == 0);
    WARN(measured.out);
    const Outcome before = gpu_haloc(folder, {"run", "heat.halo", "--json", "--save", "u=before.npy"});
    INFO(before.err);
    REQUIRE(before.code == 0);
    CHECK(Json::parse(before.out)["schedules"][0].get<std::string>().find("chosen by the model") !=
          std::string::npos);

    const Outcome tuned = gpu_haloc(folder, {"tune", "heat.halo", "--budget", "8", "--json"});
    INFO(tuned.err);
    REQUIRE(tuned.code == 0);
    WARN(tuned.out);
    const Json stage = Json::parse(tuned.out)["stages"][0];
    CHECK(stage["wrong"] == 0);
    CHECK(stage["trials"] >= 2);

    const Outcome after = gpu_haloc(folder, {"run", "heat.halo", "--json", "-v", "--save", "u=after.npy"});
    INFO(after.err);
    REQUIRE(after.code == 0);
    const std::string schedule = Json::parse(after.out)["schedules"][0];
    CHECK(schedule.find(stage["schedule"].get<std::string>()) == 0);
    CHECK(schedule.find("tuned") != std::string::npos);
    CHECK(after.err.find("stage 1: " + schedule) != std::string::npos);
    CHECK(folder.read("after.npy") == folder.read("before.npy"));
    const Json several = Json::parse(tuned.out)["temporal"];
    CHECK(several["result"] == "tuned");
    CHECK(several["wrong"] == 0);
    const bool single = several["schedule"] == "single steps";
    const Json schedules = Json::parse(after.out)["schedules"];
    REQUIRE(schedules.size() == (single ? 1 : 2));
    if (!single) CHECK(schedules[1].get<std::string>().find(several["schedule"].get<std::string>()) == 0);

    const Outcome without = gpu_haloc(folder, {"run", "heat.halo", "--json", "--no-tuned"});
    CHECK(Json::parse(without.out)["schedules"][0].get<std::string>().find("chosen by the model") !=
          std::string::npos);
    const Outcome explained = gpu_haloc(folder, {"explain", "heat.halo"});
    WARN(explained.out);
    CHECK(explained.out.find("(tuned)") != std::string::npos);
    CHECK(explained.out.find("measured") != std::string::npos);
}
