// haloc: the process. It finds the other processes of the run, turns exceptions into messages and exit codes,
// and ends.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string_view>
#include <thread>

#include "compiler/driver/command/command_line.h"
#include "compiler/driver/command/error_exit.h"
#include "runtime/core/background.h"
#include "runtime/mpi/mpi_ranks.h"
#include "runtime/ranks/launch.h"

namespace halo::driver {
namespace {

// The processes of a run are connected before anything can fail in one of them.
std::unique_ptr<rt::Ranks> find_ranks(const rt::Launch& launch, int argc, const char* const* argv) {
    const bool shares = launch.is_several() && argc > 1 && std::string_view(argv[1]) == "run";
    return shares ? rt::open_mpi(launch) : rt::single_rank();
}

ExitCode guarded_main(int argc, const char* const* argv) {
    Console console;
    std::unique_ptr<rt::Ranks> ranks = rt::single_rank();
    const rt::Launch launch = rt::find_launch();
    try {
        ranks = find_ranks(launch, argc, argv);
    } catch (const std::exception&) {
        // These processes cannot be connected: the first one reports for all before the launcher ends it.
        if (launch.rank != 0) std::this_thread::sleep_for(std::chrono::seconds(2));
        console.set_silent(launch.rank != 0);
        return end_all(failure_of(std::current_exception()), *ranks, console);
    }
    console.set_silent(!ranks->is_first());
    try {
        const ExitCode code = run_command(argc, argv, *ranks, console);
        ranks.reset();  // where all are done
        return code;
    } catch (const std::exception&) {
        return end_all(failure_of(std::current_exception()), *ranks, console);
    }
}

}  // namespace
}  // namespace halo::driver

int main(int argc, char** argv) {
    // A file that may not grow further (ulimit -f) is an error of the write that finds it, with a message.
    std::signal(SIGXFSZ, SIG_IGN);
    std::set_terminate(halo::driver::end_without_memory);
    int code = static_cast<int>(halo::driver::ExitCode::device);
    bool is_busy = true;
    try {
        code = static_cast<int>(halo::driver::guarded_main(argc, argv));
        is_busy = halo::rt::background_is_busy();
    } catch (const std::exception&) {  // before there was anything that could say more
        if (code != 0) std::fputs(halo::driver::kNoMemory, stderr);
    }
    if (!is_busy) return code;
    // Ends without waiting for a kernel that is still being compiled and no longer needed: NVRTC cannot be
    // stopped.
    std::fflush(nullptr);
    std::_Exit(code);
}
