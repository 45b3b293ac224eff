// run on a GPU: with nothing in the disk cache, with everything there, and with a kernel for several steps
// that is compiled beside single ones.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "gpu_haloc.h"

using namespace halo::test;
using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kHeat = R"(stencil heat(x, y, z) {
    field u: f32 { boundary fixed 1 }
    u[t+1] = u + 0.1 * laplacian(u)
    reduce top = max(u[t+1])
}

run heat {
    grid 256, 256, 256
    steps 120000
    init u = if x < 3 then 1 else 0
}
)";

Json json_of(const Outcome& outcome) {
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return Json::parse(outcome.out);
}

}  // namespace

TEST_CASE("a run finds in the disk cache what the one before compiled, and gives the same") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    const std::vector<std::string> arguments{"run",    "heat.halo", "--steps", "40",
                                             "--json", "--save",    "u=u.npy"};
    const Json cold = json_of(gpu_haloc(folder, arguments));
    CHECK_FALSE(cold["compiled_from_cache"].get<bool>());
    const std::string first = folder.read("u.npy");
    REQUIRE_FALSE(first.empty());
    const Json cached = json_of(gpu_haloc(folder, arguments));
    CHECK(cached["compiled_from_cache"].get<bool>());
    CHECK(folder.read("u.npy") == first);
    CHECK_FALSE(cached.contains("late_kernel"));
    WARN("cold " << cold["seconds"] << "\ncached " << cached["seconds"]);
}

TEST_CASE("a long run begins by single steps, and gives what a pinned schedule gives") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    const std::vector<std::string> arguments{"run", "heat.halo", "--json", "--timings", "--save", "u=u.npy"};
    const Json run = json_of(gpu_haloc(folder, arguments));
    REQUIRE(run["schedules"].size() == 2);
    REQUIRE(run.contains("late_kernel"));
    const std::string state = run["late_kernel"]["state"];
    WARN(run["late_kernel"].dump());
    CHECK((state == "taken" || state == "awaited"));
    const std::string late = folder.read("u.npy");
    REQUIRE_FALSE(late.empty());

    const std::string schedule = run["schedules"][1];
    std::vector<std::string> pinned = arguments;
    pinned.insert(pinned.end(), {"--schedule", schedule.substr(0, schedule.find(';'))});
    const Json waiting = json_of(gpu_haloc(folder, pinned));
    CHECK_FALSE(waiting.contains("late_kernel"));
    CHECK(folder.read("u.npy") == late);

    const Json again = json_of(gpu_haloc(folder, arguments));  // the kernel is in the cache now
    CHECK_FALSE(again.contains("late_kernel"));
    CHECK(again["schedules"] == run["schedules"]);
    CHECK(folder.read("u.npy") == late);
}

TEST_CASE("a run that ends before its kernel is compiled ends well") {
    Folder folder;
    std::string spec = kHeat;
    spec.replace(spec.find("120000"), 6, "120000 until top >= 0");
    folder.write("heat.halo", spec);
    const Outcome outcome = gpu_haloc(folder, {"run", "heat.halo", "--json", "--save", "u=u.npy"});
    const Json run = json_of(outcome);
    CHECK(run["steps"] == 1);
    CHECK(run["stopped"] == "until");
    CHECK(run.contains("late_kernel"));
    CHECK_FALSE(folder.read("u.npy").empty());
}

TEST_CASE("an edited kernel runs in place of the emitted one, once it is checked") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    REQUIRE(
        gpu_haloc(folder, {"emit", "heat.halo", "-o", "heat.cu", "--schedule", "direct cells=1x1x1"}).code ==
        0);
    const std::vector<std::string> arguments{"run",    "heat.halo", "--steps", "20",
                                             "--grid", "64,48,40",  "--save",  "u=u.npy"};
    CHECK(gpu_haloc(folder, arguments).code == 0);
    const std::string expected = folder.read("u.npy");
    std::vector<std::string> with_edited = arguments;
    with_edited.insert(with_edited.end(), {"--cuda", "edited.cu"});
    const auto edited = [&](const std::string& from, const std::string& to) {
        std::string text = folder.read("heat.cu");
        const std::size_t at = text.find(from);
        REQUIRE(at != std::string::npos);
        folder.write("edited.cu", text.replace(at, from.size(), to));
        return gpu_haloc(folder, with_edited);
    };
    // The same by other words.
    const Outcome same = edited("u[at - 1]", "__ldg(u + at - 1)");
    INFO(same.err);
    CHECK(same.code == 0);
    CHECK(same.err.find("edited.cu computes what the spec says, after 3 steps on 67 x 35 x 21 cells") !=
          std::string::npos);
    CHECK(folder.read("u.npy") == expected);

    const Outcome wrong = edited("u[at - 1]", "u[at + 1]");
    CHECK(wrong.code == 1);
    CHECK(wrong.err.find("u at t+0 differs at cell (0, 0, 0): ") != std::string::npos);
    const Outcome other_name = edited(" heat_step(", " heat_stop(");
    CHECK(other_name.code == 1);
    CHECK(other_name.err.find("no kernel `heat_step`, which a step of `heat` launches; it has `heat_stop`") !=
          std::string::npos);
    const Outcome unbound = edited("extern \"C\" __global__", "__global__");
    CHECK(unbound.code == 1);
    CHECK(unbound.err.find("is not declared extern \"C\"") != std::string::npos);
    const Outcome broken = edited("blockIdx.x", "blockIndex.x");
    CHECK(broken.code == 1);
    CHECK(broken.err.find("edited.cu(") != std::string::npos);
}
