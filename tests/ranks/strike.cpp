#include "strike.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "mpirun.h"

namespace halo::test {

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

}  // namespace

Struck meddle(const Folder& folder, const std::vector<std::string>& launcher, double after,
              const std::function<void(const Send&)>& act, const std::vector<std::string>& with) {
    const std::string spec = folder.path() + "/endless.halo";
    folder.write("endless.halo", kEndless);
    Clock::time_point struck{};
    int process_of_launcher = 0;
    Invocation invocation;
    invocation.launcher = launcher;
    invocation.arguments = {"run", spec, "--device", "cpu", "--timeout", "3"};
    invocation.arguments.insert(invocation.arguments.end(), with.begin(), with.end());
    invocation.folder = folder.path();
    invocation.watch = [&](int process, const std::string&) { process_of_launcher = process; };
    const Send send = [&](int rank, int signal) {
        if (rank == kLauncher) ::kill(process_of_launcher, signal);
        if (rank == kLauncher) return;
        for (const int process : processes_with(spec))
            if (const int own = rank_of(process); own >= 0 && (rank == kAllRanks || rank == own))
                ::kill(process, signal);
    };
    std::jthread meddler([&] {
        const auto has_begun = [&] {
            return std::ranges::any_of(folder.names(), [](const std::string& name) {
                return name.starts_with("u-") && name.ends_with(".npy");
            });
        };
        wait_until(has_begun, 30);
        std::this_thread::sleep_for(std::chrono::duration<double>(after));
        struck = Clock::now();
        act(send);
    });
    Struck result;
    result.outcome = run_haloc(invocation);
    meddler.join();
    result.seconds = seconds_since(struck);
    result.is_alone = wait_until([&] { return processes_with(spec).empty(); }, 5);
    return result;
}

Struck strike(const Folder& folder, const std::vector<std::string>& launcher, int rank, int signal,
              double after, const std::vector<std::string>& with) {
    return meddle(folder, launcher, after, [&](const Send& send) { send(rank, signal); }, with);
}

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

}  // namespace halo::test
