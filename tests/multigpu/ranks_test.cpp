// A run of several processes, each with a GPU of its own: the bits of one GPU, however ghosts travel, and
// whoever goes on from a checkpoint.
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "mpirun.h"
#include "process.h"
#include "runtime/cuda/cuda.h"
#include "runtime/nccl/nccl_messages.h"
#include "runtime/nvrtc/nvrtc.h"
#include "skip.h"

using namespace halo::test;

namespace {

const SkipUnless several(halo::rt::cuda_status().devices.size() > 1, "there are not several GPUs");
const SkipUnless compiler(halo::rt::Nvrtc::find() != nullptr, halo::rt::Nvrtc::why_missing());

Outcome run_heat(const Folder& folder, int ranks, const std::vector<std::string>& with) {
    Invocation invocation;
    if (ranks > 1) invocation.launcher = mpirun(ranks);
    invocation.arguments = {"run",        HALO_SOURCE_DIR "/dsl_examples/heat3d.halo",
                            "--device",   "cuda",
                            "--no-files", "--no-watch",
                            "--grid",     "96,80,70",
                            "--save",     "u=u.npy"};
    invocation.arguments.insert(invocation.arguments.end(), with.begin(), with.end());
    invocation.folder = folder.path();
    invocation.set = {"HALOCLINE_CACHE=" + folder.path() + "/cache"};
    Outcome outcome = run_haloc(invocation);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return outcome;
}

// The bytes of u after a run in `ranks` processes.
std::string heat(const Folder& folder, int ranks, const std::vector<std::string>& with) {
    run_heat(folder, ranks, with);
    return folder.read("u.npy");
}

}  // namespace

TEST_CASE("two processes exchange by each transport and scheme", "[exchange]") {
    Folder folder;
    const std::string one = heat(folder, 1, {"--steps", "21"});
    std::vector<std::string> transports{"mpi"};
    if (halo::rt::why_no_nccl().empty()) transports.push_back("nccl");
    for (const std::string& transport : transports) {
        using Way = std::pair<std::string, std::string>;
        for (const auto& [scheme, interval] :
             {Way{"synchronous", "3"}, Way{"asynchronous", "3"}, Way{"asynchronous", "6"}}) {
            INFO(transport << ", " << scheme << " every " << interval << " steps");
            CHECK((heat(folder, 2,
                        {"--steps", "21", "--transport", transport, "--exchange", interval,
                         "--exchange-scheme", scheme, "--schedule", "temporal steps=3"}) == one));
        }
    }
}

TEST_CASE("two processes that are told no transport measure those that there are", "[exchange]") {
    if (!halo::rt::why_no_nccl().empty()) return;
    Folder folder;
    const std::string one = heat(folder, 1, {"--steps", "21"});
    const auto json = nlohmann::json::parse(run_heat(folder, 2, {"--steps", "21", "--json"}).out);
    CHECK((folder.read("u.npy") == one));
    REQUIRE(json.at("transports").size() == 2);
    CHECK(json.at("transport") == json.at("transports").at(0).at("name"));
    for (const auto& tried : json.at("transports"))
        CHECK(tried.at("seconds_per_exchange").get<double>() > 0);
}

TEST_CASE("GPUs of one process and of several go on from each other's checkpoints", "[checkpoints]") {
    Folder folder;
    const std::string one = heat(folder, 1, {"--steps", "21"});
    heat(folder, 1, {"--devices", "2", "--steps", "9", "--checkpoint", "ck"});
    heat(folder, 2, {"--steps", "15", "--restart", "ck", "--checkpoint", "ck"});
    CHECK((heat(folder, 1, {"--steps", "21", "--restart", "ck"}) == one));
    CHECK((heat(folder, 1, {"--devices", "0,1,0", "--steps", "21", "--restart", "ck"}) == one));
    CHECK((heat(folder, 2, {"--steps", "21", "--restart", "ck"}) == one));
}
