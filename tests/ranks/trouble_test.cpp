// A rank that dies or hangs in the midst of a run, and Ctrl-C.
#include <signal.h>

#include <chrono>
#include <random>
#include <thread>

#include "catch.h"
#include "mpirun.h"
#include "strike.h"

using namespace halo::test;
using Clock = std::chrono::steady_clock;

namespace {

// Seconds pass between the signals that it sends, and before it kills: ranks of a machine that has other
// things to do, too, must come to write what they have.
std::vector<std::string> patient_mpirun(int count) {
    std::vector<std::string> launcher = mpirun(count);
    const std::vector<std::string> patience{"--mca", "odls_base_sigkill_timeout", "6"};
    launcher.insert(launcher.begin() + 1, patience.begin(), patience.end());
    return launcher;
}

}  // namespace

TEST_CASE("a rank that dies ends the run", "[trouble]") {
    std::mt19937 random(static_cast<unsigned>(Clock::now().time_since_epoch().count()));
    const int rank = static_cast<int>(random() % 3);
    const double after = static_cast<double>(random() % 1000) / 1000;
    Folder folder;
    const Struck struck = strike(folder, mpirun(3), rank, SIGKILL, after);
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
        const Struck struck = strike(folder, mpirun(4), rank, SIGSTOP, after);
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

TEST_CASE("ranks that were all stopped for longer than the time-out go on", "[trouble]") {
    Folder folder;
    std::size_t files = 0, files_later = 0;
    const Struck struck = meddle(folder, patient_mpirun(3), 0.2, [&](const Send& send) {
        send(kAllRanks, SIGSTOP);
        std::this_thread::sleep_for(std::chrono::milliseconds(4500));
        files = folder.names().size();
        send(kAllRanks, SIGCONT);
        std::this_thread::sleep_for(std::chrono::seconds(2));
        files_later = folder.names().size();
        send(kLauncher, SIGINT);
    });
    INFO(struck.outcome.err);
    CHECK(count_of(struck.outcome.err, "error:") == 0);
    CHECK(count_of(struck.outcome.err, "interrupted after step ") == 1);
    CHECK(files_later > files);
    CHECK(struck.is_alone);
}

TEST_CASE("Ctrl-C ends a run after a step that all ranks have done", "[trouble]") {
    Folder folder;
    const Struck struck =
        strike(folder, patient_mpirun(3), kLauncher, SIGINT, 0.2, {"--checkpoint", folder.path() + "/ck"});
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
