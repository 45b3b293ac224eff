// tune, doctor --measure, and what explain makes of them: without a GPU, and on one of host memory
// that loads any code and has none of its kernels (tests/cuda_room).
#include <signal.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "contains.h"
#include "process.h"
#include "specs.h"

using namespace halo::test;
using Json = nlohmann::ordered_json;

namespace {

// haloc in a folder that is its cache, too, with a driver that is not there or the fake one.
Invocation invocation(const Folder& folder, std::vector<std::string> arguments, bool gpu) {
    Invocation invocation;
    invocation.arguments = std::move(arguments);
    invocation.folder = folder.path();
    invocation.set = {
        "HALOCLINE_CACHE=" + folder.path() + "/cache",
        std::string("HALOCLINE_LIBCUDA=") + (gpu ? HALO_FAKE_LIBCUDA : "/nonexistent/libcuda.so.1")};
    return invocation;
}

Outcome without_gpu(const Folder& folder, std::vector<std::string> arguments) {
    return run_haloc(invocation(folder, std::move(arguments), false));
}

Outcome on_fake(const Folder& folder, std::vector<std::string> arguments) {
    return run_haloc(invocation(folder, std::move(arguments), true));
}

// What needs a compiler of CUDA is not tested where there is none.
bool has_nvrtc(const Folder& folder) {
    const bool found = Json::parse(without_gpu(folder, {"doctor", "--json"}).out)["nvrtc"]["found"];
    if (!found) WARN("there is no NVRTC: this is tested in part");
    return found;
}

constexpr const char* kTuned = R"(stencil heat(x, y) {
    field u: f32 { boundary clamp }
    u[t+1] = u + 0.1 * laplacian(u)
}
)";

}  // namespace

TEST_CASE("without a GPU nothing is measured or tuned, and that is said") {
    Folder folder;
    folder.write("heat.halo", kTuned);
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"doctor", "--measure"}, {"tune", "heat.halo", "--grid", "64,64"}}) {
        const Outcome outcome = without_gpu(folder, arguments);
        CHECK(outcome.code == 3);
        CHECK(contains(outcome.err, "no NVIDIA driver was found"));
    }
    const Outcome doctor = without_gpu(folder, {"doctor"});
    CHECK(doctor.code == 0);
    CHECK(contains(doctor.out, "figures built in, of an H200, as there is no CUDA device"));
    CHECK(Json::parse(without_gpu(folder, {"doctor", "--json"}).out)["figures"]["measured"] == false);
    CHECK(contains(without_gpu(folder, {"explain", "heat.halo", "--grid", "64,64"}).out,
                   "by figures of an H200, built in"));
}

TEST_CASE("wrong uses of tune are said before anything is measured") {
    Folder folder;
    folder.write("heat.halo", kTuned);
    folder.write("notes.json", "shopping");
    const Outcome cpu = on_fake(folder, {"tune", "heat.halo", "--grid", "64,64", "--device", "cpu"});
    CHECK(cpu.code == 2);
    CHECK(contains(cpu.err, "nothing to tune on `cpu`"));
    CHECK(on_fake(folder, {"tune", "heat.halo"}).code == 2);  // on which grid?
    CHECK(on_fake(folder, {"tune", "heat.halo", "--grid", "64,64", "--budget", "-1"}).code == 2);
    CHECK(on_fake(folder, {"run", "heat.halo", "--no-tuned", "--store", "notes.json"}).code == 2);
    CHECK(on_fake(folder, {"doctor", "--device", "cuda:1"}).code == 2);
    const Outcome other = on_fake(folder, {"tune", "heat.halo", "--grid", "64,64", "--store", "notes.json"});
    CHECK(other.code == 4);
    CHECK(contains(other.err, "no store of tuned schedules"));
    CHECK(folder.read("notes.json") == "shopping");
    CHECK(on_fake(folder, {"explain", "heat.halo", "--grid", "64,64", "--store", "none.json"}).code == 4);
    Invocation off = invocation(folder, {"tune", "heat.halo", "--grid", "64,64"}, true);
    off.set.front() = "HALOCLINE_CACHE=off";
    const Outcome nowhere = run_haloc(off);
    CHECK(nowhere.code == 4);
    CHECK(contains(nowhere.err, "--store names a file"));
}

TEST_CASE("a damaged store is no reason not to run") {
    Folder folder;
    folder.write("heat.halo", kTuned);
    REQUIRE(on_fake(folder, {"doctor"}).code == 0);  // makes the folder
    folder.write("cache/tuned.json", "shopping");
    const Outcome explained = on_fake(folder, {"explain", "heat.halo", "--grid", "64,64"});
    CHECK(explained.code == 0);
    CHECK(contains(explained.err, "tuned schedules are not used"));
    CHECK(on_fake(folder, {"tune", "heat.halo", "--grid", "64,64"}).code == 4);
}

TEST_CASE("what doctor measures is kept, and schedules are chosen by it") {
    Folder folder;
    if (!has_nvrtc(folder)) return;
    folder.write("heat.halo", kTuned);
    CHECK(contains(on_fake(folder, {"doctor"}).out, "haloc doctor --measure"));
    const Outcome measured = on_fake(folder, {"doctor", "--measure"});
    INFO(measured.err);
    REQUIRE(measured.code == 0);
    CHECK(contains(measured.err, "measuring Fake GPU"));
    CHECK(contains(measured.out, "figures measured on this Fake GPU"));
    const Json figures = Json::parse(on_fake(folder, {"doctor", "--json"}).out)["figures"];
    CHECK(figures["measured"] == true);
    CHECK(figures["launch_s"] == 1.5e-6);  // its clock says 1.5 ms for a thousand launches
    const Outcome explained = on_fake(folder, {"explain", "heat.halo", "--grid", "64,64"});
    CHECK(contains(explained.out, "by figures measured on Fake GPU"));
    CHECK(contains(explained.out, "at 0.36 TB/s"));
    Invocation off = invocation(folder, {"doctor", "--measure"}, true);
    off.set.front() = "HALOCLINE_CACHE=off";
    CHECK(run_haloc(off).code == 4);
}

TEST_CASE("a search is stopped by Ctrl-C, goes on, and explain knows what it found") {
    Folder folder;
    if (!has_nvrtc(folder)) return;
    folder.write("heat.halo", kTuned);
    Invocation stopped = invocation(
        folder, {"tune", "heat.halo", "--grid", "512,512", "--store", "mine.json", "--jobs", "1"}, true);
    stopped.watch = [sent = false](int pid, const std::string& err) mutable {
        if (sent || !contains(err, "tuned for")) return;
        sent = true;
        ::kill(pid, SIGINT);
    };
    const Outcome interrupted = run_haloc(stopped);
    INFO(interrupted.err);
    CHECK(interrupted.code == 130);
    CHECK(contains(interrupted.err, "the same command goes on"));
    Json store = Json::parse(folder.read("mine.json"));
    REQUIRE(store["stages"].size() == 1);
    Json& stage = store["stages"].begin().value();
    CHECK(stage["finished"] == false);
    const std::size_t tried = stage["trials"].size();
    CHECK(tried >= 1);

    // This GPU has none of the kernels: nothing can win.
    const std::vector<std::string> again{"tune",      "heat.halo", "--grid", "512,512", "--store",
                                         "mine.json", "--budget",  "0",      "--json"};
    const Outcome second = on_fake(folder, again);
    CHECK(second.code == 3);
    const Json report = Json::parse(second.out);
    CHECK(report["stages"][0]["result"] == "failed");
    CHECK(report["stages"][0]["known_trials"] == tried);
    CHECK(contains(report["stages"][0]["left_out"][0], "not in the compiled code"));

    // As if some had been measured.
    const std::vector<std::string> explain{"explain", "heat.halo", "--grid",
                                           "512,512", "--store",   "mine.json"};
    CHECK_FALSE(contains(on_fake(folder, explain).out, "(tuned)"));
    stage["schedule"] = "direct threads=64x2 cells=4x2 min_blocks=3";
    stage["seconds"] = 2e-5;
    stage["finished"] = true;
    stage["trials"] = {{{"schedule", stage["schedule"]}, {"outcome", "measured"}, {"seconds", 2e-5}},
                       {{"schedule", "direct threads=32x8 cells=4x2 min_blocks=3"},
                        {"outcome", "measured"},
                        {"seconds", 3e-5},
                        {"predicted", 2.5e-5}}};
    folder.write("mine.json", store.dump());
    const Outcome explained = on_fake(folder, explain);
    INFO(explained.out);
    CHECK(contains(explained.out, "direct threads=64x2 cells=4x2 min_blocks=3 (tuned)"));
    CHECK(contains(explained.out, "measured    20.0 µs ("));
    CHECK(contains(explained.out, "runners-up  30.0 µs (25.0 µs predicted): direct threads=32x8 cells=4x2"));
    std::vector<std::string> none = explain;
    none.resize(none.size() - 2);
    none.emplace_back("--no-tuned");
    CHECK(contains(on_fake(folder, none).out, "not measured: `haloc tune` does"));
    const Outcome known = on_fake(folder, again);
    CHECK(known.code == 0);
    CHECK(Json::parse(known.out)["stages"][0]["result"] == "known");
    CHECK(Json::parse(known.out)["temporal"]["result"] == "failed");  // kernels for several steps neither

    // Several steps at once, as if they had been measured.
    Json both = Json::parse(folder.read("mine.json"));
    REQUIRE(both["stages"].size() == 2);
    Json& several =
        *std::ranges::find_if(both["stages"], [](const Json& each) { return each["stage"] == -1; });
    CHECK(several["trials"][0]["schedule"] == "single steps");
    several["seconds"] = 1e-5;
    several["trials"] = {
        {{"schedule", "single steps"}, {"outcome", "measured"}, {"seconds", 2e-5}},
        {{"schedule", "temporal steps=3 warps=2 cells=4 ahead=3 unroll=1 min_blocks=1 blocks=264"},
         {"outcome", "measured"},
         {"seconds", 1e-5}}};
    std::vector<std::string> as_json = explain;
    as_json.emplace_back("--json");
    for (const Json& trial : several["trials"]) {
        several["schedule"] = trial["schedule"];
        folder.write("mine.json", both.dump());
        const Json temporal = Json::parse(on_fake(folder, as_json).out)["temporal"];
        const bool single = trial["schedule"] == "single steps";
        CHECK(contains(temporal["reason"], "of 2 schedules that `haloc tune` measured"));
        CHECK(contains(temporal["reason"],
                       single ? "single steps, 10.0 µs each, are" : "tuned: 10.0 µs a step"));
        CHECK(temporal.value("schedule", "single steps") == trial["schedule"].get<std::string>());
    }
    several["schedule"] = "resident threads=32x8 cells=4x4";
    folder.write("mine.json", both.dump());
    const Json on_chip = Json::parse(on_fake(folder, as_json).out);
    CHECK(on_chip["resident"].value("schedule", "none") == several["schedule"].get<std::string>());
    CHECK(contains(on_chip["resident"]["reason"], "tuned: 10.0 µs a step"));
    CHECK_FALSE(on_chip["temporal"].contains("schedule"));
    several["schedule"] = "temporal steps=60 cells=1";
    folder.write("mine.json", both.dump());
    CHECK(contains(Json::parse(on_fake(folder, as_json).out)["temporal"]["reason"], "is not used"));
    std::vector<std::string> pinned = again;
    pinned.insert(pinned.end(), {"--schedule", "temporal steps=3"});
    const Outcome alone = on_fake(folder, pinned);
    CHECK(alone.code == 3);
    CHECK(Json::parse(alone.out)["stages"].empty());
    CHECK(contains(Json::parse(alone.out)["temporal"]["schedule"], "temporal steps=3"));

    // Not legal, and of another compiler: left alone, and said.
    stage["schedule"] = "direct threads=64x64 cells=4x2";
    folder.write("mine.json", store.dump());
    CHECK(contains(on_fake(folder, explain).out, "is not used"));
    stage["compiler"] = "NVRTC 9.0";
    folder.write("mine.json", store.dump());
    CHECK(contains(on_fake(folder, explain).out, "a schedule tuned with NVRTC 9.0 is not"));
}
