// A rank that dies or hangs in the midst of a run, and Ctrl-C.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "catch.h"
#include "mpirun.h"

using namespace halo::test;
using Clock = std::chrono::steady_clock;

namespace {

// Runs for hours; writes all the time.
const std::string kEndless = R"(stencil heat(x, y) {
    field u: f32 { boundary clamp }
    u[t+1] = u + 1/8*(u[x-1] + u[x+1] + u[y-1] + u[y+1] - 4*u)
}
run heat {
    grid 200, 200
    steps 1000000000
    init u = idx(x) + 2*idx(y)
    save u to "u.npy" every 500
}
)";

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

int rank_of(int process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/environ", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string name = "OMPI_COMM_WORLD_RANK=";
    const std::size_t at = text.find(name);
    return at == std::string::npos ? -1 : std::stoi(text.substr(at + name.size()));
}

bool wait_until(const std::function<bool()>& done, double seconds) {
    for (const Clock::time_point start = Clock::now(); seconds_since(start) < seconds;) {
        if (done()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return done();
}

// The numbered files are written whole or not at all: all are as long as the first.
bool all_are_whole(const Folder& folder) {
    std::size_t length = 0;
    for (const std::string& name : folder.names()) {
        if (!name.ends_with(".npy")) continue;
        const std::size_t own = folder.read(name).size();
        if (length == 0) length = own;
        if (own != length) return false;
    }
    return true;
}

struct Struck {
    Outcome outcome;
    double seconds = 0;     // from the signal to the end
    bool is_alone = false;  // nothing of the run is left
};

// Sends a signal to a rank (or to mpirun: -1) some time after the first file.
Struck strike(const Folder& folder, int count, int rank, int signal, double after,
              std::vector<std::string> launcher_options = {}, const std::vector<std::string>& with = {}) {
    const std::string spec = folder.path() + "/endless.halo";
    folder.write("endless.halo", kEndless);
    Clock::time_point struck{};
    int launcher = 0;
    Invocation invocation;
    invocation.launcher = mpirun(count);
    invocation.launcher.insert(invocation.launcher.begin() + 1, launcher_options.begin(),
                               launcher_options.end());
    invocation.arguments = {"run", spec, "--device", "cpu", "--timeout", "3"};
    invocation.arguments.insert(invocation.arguments.end(), with.begin(), with.end());
    invocation.folder = folder.path();
    invocation.watch = [&](int process, const std::string&) { launcher = process; };
    std::jthread striker([&] {
        const auto has_begun = [&] {
            return std::ranges::any_of(folder.names(), [](const std::string& name) {
                return name.starts_with("u-") && name.ends_with(".npy");
            });
        };
        wait_until(has_begun, 30);
        std::this_thread::sleep_for(std::chrono::duration<double>(after));
        struck = Clock::now();
        if (rank < 0) {
            ::kill(launcher, signal);
            return;
        }
        for (const int process : processes_with(spec))
            if (rank_of(process) == rank) ::kill(process, signal);
    });
    Struck result;
    result.outcome = run_haloc(invocation);
    striker.join();
    result.seconds = seconds_since(struck);
    result.is_alone = wait_until([&] { return processes_with(spec).empty(); }, 5);
    return result;
}

}  // namespace

TEST_CASE("a rank that dies ends the run", "[trouble]") {
    std::mt19937 random(static_cast<unsigned>(Clock::now().time_since_epoch().count()));
    const int rank = static_cast<int>(random() % 3);
    const double after = static_cast<double>(random() % 1000) / 1000;
    Folder folder;
    const Struck struck = strike(folder, 3, rank, SIGKILL, after);
    INFO("rank " << rank << " after " << after << " s\n" << struck.outcome.err);
    CHECK(struck.outcome.code != 0);
    CHECK(struck.seconds < 10);
    CHECK(struck.is_alone);
    CHECK(all_are_whole(folder));
    CHECK(count_of(struck.outcome.err, "error:") == 1);
    CHECK(count_of(struck.outcome.err, "rank " + std::to_string(rank) + " on ") == 1);
    CHECK(count_of(struck.outcome.err, " has ended, at step ") == 1);
}

TEST_CASE("a rank that hangs ends the run", "[trouble]") {
    std::mt19937 random(static_cast<unsigned>(Clock::now().time_since_epoch().count()));
    for (const int rank : {0, 1 + static_cast<int>(random() % 3)}) {
        Folder folder;
        const double after = static_cast<double>(random() % 1000) / 1000;
        const Struck struck = strike(folder, 4, rank, SIGSTOP, after);
        INFO("rank " << rank << " after " << after << " s\n" << struck.outcome.err);
        CHECK(struck.outcome.code == 3);
        CHECK(struck.seconds > 2);
        CHECK(struck.seconds < 20);
        CHECK(struck.is_alone);
        CHECK(all_are_whole(folder));
        CHECK(count_of(struck.outcome.err, "error:") == 1);
        CHECK(count_of(struck.outcome.err, "rank " + std::to_string(rank) + " on ") == 1);
        CHECK(count_of(struck.outcome.err, " has not answered for 3 s, at step ") == 1);
    }
}

TEST_CASE("Ctrl-C ends a run after a step that all ranks have done", "[trouble]") {
    Folder folder;
    const Struck struck = strike(folder, 3, -1, SIGINT, 0.2, {"--mca", "odls_base_sigkill_timeout", "3"},
                                 {"--checkpoint", folder.path() + "/ck"});
    INFO(struck.outcome.err);
    CHECK(struck.outcome.code != 0);
    CHECK(struck.seconds < 20);
    CHECK(struck.is_alone);
    const std::string words = "interrupted after step ";
    REQUIRE(count_of(struck.outcome.err, words) == 1);
    const std::string steps =
        std::to_string(std::stoll(struck.outcome.err.substr(struck.outcome.err.find(words) + words.size())));
    const std::string written = folder.read("u.npy");
    Invocation alone;
    alone.arguments = {"run", "endless.halo", "--device",   "cpu",    "--steps",
                       steps, "--no-files",   "--no-watch", "--save", "u=one.npy"};
    alone.folder = folder.path();
    alone.set = {"HALO_NUM_THREADS=1"};
    const Outcome one = run_haloc(alone);
    REQUIRE(one.code == 0);
    CHECK((written == folder.read("one.npy")));
    CHECK((folder.read("ck/step-" + steps + "/u.npy") == written));
}
