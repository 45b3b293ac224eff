// Ctrl-C: the first asks a run to stop after the step it is in; the second ends the process at once. SIGTERM
// is as the first, however often.
#pragma once

namespace halo::driver {

// While one is alive, SIGINT and SIGTERM are remembered instead of ending the process. One at a time.
class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    static bool requested();
};

}  // namespace halo::driver
