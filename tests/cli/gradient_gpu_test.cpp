// haloc gradient on a GPU: snapshots in its memory and in the host's, and what a step back takes beside a
// step forward.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "gpu_haloc.h"

using namespace halo::test;
using Json = nlohmann::ordered_json;

namespace {

std::string example_of_page() {
    std::ifstream file(HALO_SOURCE_DIR "/docs/gradients.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    const std::string fence = "```halo\n";
    const std::size_t begin = page.find(fence) + fence.size();
    return page.substr(begin, page.find("```\n", begin) - begin);
}

Json gradient_of(const Folder& folder, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "gradient");
    arguments.insert(arguments.end(), {"--json", "-q"});
    const Outcome outcome = gpu_haloc(folder, arguments);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return Json::parse(outcome.out);
}

}  // namespace

TEST_CASE("a gradient on a GPU has the same bits for any number of snapshots, and the CPU's up to rounding") {
    const Folder folder;
    folder.write("control.halo", example_of_page());
    for (const bool every_step : {false, true}) {
        const auto gradient = [&](const std::string& device, const std::string& snapshots) {
            std::vector<std::string> arguments{
                "control.halo", "--of",    "misfit", "--with",  "q,T,kappa",   "--device", device,
                "--save",       "q=q.npy", "--save", "T=T.npy", "--snapshots", snapshots};
            if (every_step) arguments.emplace_back("--every-step");
            return gradient_of(folder, arguments);
        };
        const Json all = gradient("cuda", "50");
        CHECK(all["snapshots_on_host"] == 0);
        CHECK(all["steps_done_again"] == 0);
        const std::string q = folder.read("q.npy"), T = folder.read("T.npy");
        for (const char* snapshots : {"1", "7"}) {
            const Json fewer = gradient("cuda", snapshots);
            CHECK(fewer["objective"] == all["objective"]);
            CHECK(fewer["numbers"] == all["numbers"]);
            CHECK(folder.read("q.npy") == q);
            CHECK(folder.read("T.npy") == T);
        }
        // In pieces on this one GPU: sums may be added up in another order without --devices.
        const auto in_pieces = [&](const std::string& devices, const std::string& snapshots) {
            std::vector<std::string> arguments{"control.halo", "--of",        "misfit",  "--with",
                                               "q,T,kappa",    "--device",    "cuda",    "--devices",
                                               devices,        "--save",      "q=q.npy", "--save",
                                               "T=T.npy",      "--snapshots", snapshots};
            if (every_step) arguments.emplace_back("--every-step");
            const Json found = gradient_of(folder, arguments);
            CHECK(folder.read("q.npy") == q);
            CHECK(folder.read("T.npy") == T);
            return found;
        };
        const Json whole = in_pieces("0,0", "50"), cut = in_pieces("0,0,0", "7");
        CHECK(cut["objective"] == whole["objective"]);
        CHECK(cut["numbers"] == whole["numbers"]);
        const Json meant = gradient("interpreter", "50");
        CHECK(all["objective"].get<double>() == Approx(meant["objective"].get<double>()).epsilon(1e-12));
        CHECK(all["numbers"]["kappa"].get<double>() ==
              Approx(meant["numbers"]["kappa"].get<double>()).epsilon(1e-11));
    }
}

TEST_CASE("steps back of a wave on a GPU are the same for fewer snapshots; how long they take is printed") {
    const Folder folder;
    folder.write("wave.halo", R"(stencil wave(x, y, z) {
    param dt = 0.3
    field v: f32
    field p: f32 { boundary fixed 0 }
    p[t+1] = 2*p - p[t-1] + (v * dt)^2 * laplacian(p, order=4)
    reduce energy = sum(p[t+1]^2)
}

run wave {
    grid 256, 256, 256
    steps 200
    init v = 1 + z / 1000
    init p = exp(-((x - 128)^2 + (y - 128)^2 + (z - 128)^2) / 40)
}
)");
    const std::vector<std::string> arguments{"wave.halo", "--of",     "energy", "--with",
                                             "v",         "--device", "cuda"};
    gradient_of(folder, arguments);  // compiles
    const Json found = gradient_of(folder, arguments);
    const Outcome run = gpu_haloc(folder, {"run", "wave.halo", "--device", "cuda", "--json", "-q"});
    REQUIRE(run.code == 0);
    const double forward = Json::parse(run.out)["seconds"]["steps"];
    WARN(found.dump() << "\n200 steps forward alone: " << forward << " s");
    CHECK(found["snapshots_on_host"] == 0);
    std::vector<std::string> few = arguments;
    few.insert(few.end(), {"--snapshots", "20"});
    const Json again = gradient_of(folder, few);
    WARN(again.dump());
    CHECK(again["fields"] == found["fields"]);
}
