#include "compiler/driver/console/interrupt.h"

#include <unistd.h>
#include <csignal>

#include <array>

namespace halo::driver {

namespace {

constexpr std::array kSignals{SIGINT, SIGTERM};
volatile std::sig_atomic_t interrupted = 0;
std::array<struct sigaction, kSignals.size()> previous;

// Does only what is safe in a signal handler: sets a flag, or exits without destructors. A second Ctrl-C ends
// the process. A repeated SIGTERM does not: launchers may send it several times, and have SIGKILL for what
// does not end.
void remember(int signal) {
    if (interrupted != 0 && signal == SIGINT) _exit(128 + signal);
    interrupted = 1;
}

}  // namespace

InterruptGuard::InterruptGuard() {
    interrupted = 0;
    struct sigaction action{};
    action.sa_handler = remember;
    action.sa_flags = SA_RESTART;  // a write that is under way is not cut short
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        sigaction(kSignals[i], &action, &previous[i]);
}

InterruptGuard::~InterruptGuard() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        sigaction(kSignals[i], &previous[i], nullptr);
}

bool InterruptGuard::requested() {
    return interrupted != 0;
}

}  // namespace halo::driver
