// Where kernels for several steps are from: what a run leaves for the next one, and what is compiled ahead.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "process.h"
#include "runtime/nvrtc/nvrtc.h"
#include "skip.h"

using namespace halo::test;
using Json = nlohmann::ordered_json;

namespace {

const SkipUnless compiler(halo::rt::Nvrtc::find() != nullptr, halo::rt::Nvrtc::why_missing());

// Single steps take it a tenth of a second by the model: long enough to ask, too short to wait.
constexpr const char* kHeat = R"(stencil heat(x, y) {
    param k = 0.1
    field u: f32 { boundary fixed 1 }
    u[t+1] = u + k * laplacian(u)
}

run heat {
    grid 2048, 2048
    steps 8000
    init u = if x < 3 then 1 else 0
}
)";
const std::vector<std::string> kRun{"run", "heat.halo", "--device", "cuda", "--json"};

class Cache {
public:
    // set: besides what makes the fake driver's GPU this machine's.
    explicit Cache(const std::vector<std::string>& set = {})
        : set_{"HALOCLINE_BACKGROUND=on", std::string("HALOCLINE_LIBCUDA=") + HALO_FAKE_LIBCUDA} {
        set_.insert(set_.end(), set.begin(), set.end());
        folder_.write("heat.halo", kHeat);
        set_.emplace_back("HALO_FAKE_ALL_KERNELS=1");
        set_.push_back("HALOCLINE_CACHE=" + folder_.path() + "/cache");
    }
    Outcome haloc(std::vector<std::string> arguments) const {
        Invocation invocation;
        invocation.arguments = std::move(arguments);
        invocation.folder = folder_.path();
        invocation.set = set_;
        return run_haloc(invocation);
    }
    Json run(std::vector<std::string> more = {}) const {
        std::vector<std::string> arguments = kRun;
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = haloc(arguments);
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        CHECK(outcome.err.find("warning") == std::string::npos);
        return Json::parse(outcome.out);
    }
    int count(const std::string& prefix, const std::string& suffix) const {
        int count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path() + "/cache")) {
            const std::string name = entry.path().filename().string();
            count += name.starts_with(prefix) && name.ends_with(suffix) ? 1 : 0;
        }
        return count;
    }
    // Until nobody writes into it any more.
    bool is_quiet(int seconds) const {
        for (int i = 0; i < 10 * seconds && count("writing-", "") > 0; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        return count("writing-", "") == 0;
    }

private:
    Folder folder_;
    std::vector<std::string> set_;
};

}  // namespace

TEST_CASE("a run that is too short for the kernel for several steps leaves it for the next one") {
    const Cache cache;
    const Json first = cache.run({"--set", "k=0.2", "--strict-fp"});
    CHECK(first["several_steps_kernel"] == "none");
    CHECK(first["schedules"].size() == 1);
    CHECK_FALSE(first.contains("late_kernel"));
    Json next;
    for (int i = 0; i < 600 && (next.is_null() || next["several_steps_kernel"] == "none"); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        next = cache.run({"--set", "k=0.2", "--strict-fp", "--no-background"});
    }
    CHECK(next["several_steps_kernel"] == "from the cache");
    CHECK(next["compiled_from_cache"].get<bool>());
    CHECK(next["schedules"].size() == 2);
    CHECK_FALSE(next.contains("late_kernel"));  // it was there from the first step
    CHECK(cache.is_quiet(60));
    const int entries = cache.count("", ".bin");

    const Outcome timings = cache.haloc({"run", "heat.halo", "--device", "cuda", "--timings", "--strict-fp"});
    CHECK(timings.out.find("the kernel for several steps came from the disk cache") != std::string::npos);
    const Outcome why = cache.haloc({"explain", "heat.halo", "--strict-fp"});
    CHECK(why.out.find("kernel is in the disk cache") != std::string::npos);
    CHECK(cache.is_quiet(60));
    CHECK(cache.count("", ".bin") == entries);  // nothing was left to compile
}

TEST_CASE("nothing is left behind where that is not wanted") {
    const bool by_option = GENERATE(true, false);
    const Cache cache(by_option ? std::vector<std::string>{}
                                : std::vector<std::string>{"HALOCLINE_BACKGROUND=off"});
    const std::vector<std::string> more =
        by_option ? std::vector<std::string>{"--no-background"} : std::vector<std::string>{};
    CHECK(cache.run(more)["several_steps_kernel"] == "none");
    const int entries = cache.count("", ".bin");
    std::this_thread::sleep_for(std::chrono::seconds(4));
    CHECK(cache.count("", "") == entries);
    CHECK(cache.run(more)["several_steps_kernel"] == "none");
}

TEST_CASE("what is compiled ahead the first run takes, the kernel for several steps with it") {
    const Cache cache;
    const Outcome ahead = cache.haloc({"compile", "heat.halo", "--device", "cuda"});
    INFO(ahead.err);
    REQUIRE(ahead.code == 0);
    CHECK(ahead.out.find("heat_step ") != std::string::npos);
    CHECK(ahead.out.find("was there") == std::string::npos);
    const int entries = cache.count("", ".bin");
    const Json run = cache.run();
    CHECK(run["several_steps_kernel"] == "from the cache");
    CHECK(run["compiled_from_cache"].get<bool>());
    cache.run({"--steps", "5"});  // which does single steps: those were compiled, too
    CHECK(cache.is_quiet(60));
    CHECK(cache.count("", ".bin") == entries);
    const Outcome again = cache.haloc({"compile", "heat.halo", "--device", "cuda"});
    CHECK(again.code == 0);
    std::size_t lines = 0;
    for (std::size_t at = 0; (at = again.out.find("was there\n", at)) != std::string::npos; ++at)
        ++lines;
    CHECK(lines >= 3);
    CHECK(static_cast<std::size_t>(std::count(again.out.begin(), again.out.end(), '\n')) == lines);
}

TEST_CASE("kernels are compiled for a GPU that is not here") {
    const Cache cache({"HALOCLINE_LIBCUDA=/nonexistent/libcuda.so.1"});
    const Outcome outcome = cache.haloc({"compile", "heat.halo", "--arch", "sm_80"});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.out.find("heat_step ") != std::string::npos);
    CHECK(cache.count("", ".bin") >= 3);
}
