#include "compiler/lift/whole_process.h"

#include <alloca.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>

#include "compiler/lift/clang_front.h"

namespace halo::lift {

GuardedMemory::GuardedMemory(std::size_t bytes) : bytes_(bytes) {
    // So far that an index that is out of bounds by a plane does not reach another array.
    constexpr std::size_t kApart = 16 << 20;
    all_ = (bytes + 2 * kApart + 4095) / 4096 * 4096;
    void* found = ::mmap(nullptr, all_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) throw std::bad_alloc();
    mapped_ = static_cast<char*>(found);
    begin_ = mapped_ + kApart;
    found = ::mmap(begin_, bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (found != MAP_FAILED) return;
    ::munmap(mapped_, all_);
    throw std::bad_alloc();
}
GuardedMemory::~GuardedMemory() {
    ::munmap(mapped_, all_);
}

namespace {

// Fills the stack below this frame with bytes that the function then finds in variables that it has not set.
__attribute__((noinline)) void fill_stack(unsigned char garbage) {
    constexpr std::size_t kBytes = 32 * 1024;
    volatile char* memory = static_cast<char*>(::alloca(kBytes));
    for (std::size_t i = 0; i < kBytes; ++i)
        memory[i] = static_cast<char>(garbage);
}

// Of the processor, so that what else the machine does decides nothing; of the clock, for a function that
// waits.
void limit_time(int clock, double seconds) {
    const auto whole = static_cast<time_t>(seconds);
    const itimerval limit{{0, 0},
                          {whole, static_cast<suseconds_t>((seconds - static_cast<double>(whole)) * 1e6)}};
    ::setitimer(clock, &limit, nullptr);
}

[[noreturn]] void run_child(const ProcessRun& run, int out) {
    for (const int each : {SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGINT, SIGPROF, SIGSEGV})
        ::signal(each, SIG_DFL);
    ::dup2(out, 1);
    ::dup2(out, 2);
    limit_time(ITIMER_PROF, run.seconds);
    limit_time(ITIMER_REAL, 10 * run.seconds);
    record_run(run.record);
    std::vector<void*> places(run.globals.size() + 1);
    std::vector<long> bytes(run.globals.size() + 1);
    run.module->function<void(void**, long*)>("halo_lift_globals")(places.data(), bytes.data());
    for (std::size_t i = 0; i < run.globals.size(); ++i)
        std::memcpy(places[i], run.globals[i].first->data(), run.globals[i].first->size());
    const auto call = run.module->function<void(void**)>("halo_lift_whole");
    std::vector<void*> values = run.values;
    for (int i = 0; i < run.calls; ++i) {
        fill_stack(run.garbage);
        call(values.data());
    }
    for (std::size_t i = 0; i < run.globals.size(); ++i)
        std::memcpy(run.globals[i].last->begin(), places[i], run.globals[i].first->size());
    std::fflush(nullptr);
    ::_exit(0);
}

}  // namespace

Outcome run_process(const ProcessRun& run) {
    run.record->called[0] = 0;
    run.record->requests = 0;
    run.record->has_exited = false;
    std::fflush(nullptr);
    const int out = ::memfd_create("printed", 0);
    if (out < 0) throw SourceError("what the function prints cannot be kept");
    const pid_t child = ::fork();
    if (child < 0) {
        ::close(out);
        throw SourceError("a process to run the function in cannot be made");
    }
    if (child == 0) run_child(run, out);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    Outcome outcome;
    const off_t length = ::lseek(out, 0, SEEK_END);
    outcome.printed.resize(static_cast<std::size_t>(std::max<off_t>(0, length)));
    if (::pread(out, outcome.printed.data(), outcome.printed.size(), 0) < 0) outcome.printed.clear();
    ::close(out);
    outcome.has_failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    outcome.was_too_long =
        WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM);
    if (outcome.has_failed) {
        if (run.record->called[0] != 0)
            outcome.why =
                fmt::format("`{}` is defined elsewhere, or is no call that is made here", run.record->called);
        else if (outcome.was_too_long)
            outcome.why = fmt::format("it takes longer than {:.2g} s", run.seconds);
        else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGILL)
            outcome.why = "a whole number overflows, which has no meaning in C";
        else
            outcome.why =
                WIFSIGNALED(status) ? std::string(::strsignal(WTERMSIG(status))) : "it ends the process";
        return outcome;
    }
    outcome.has_exited = run.record->has_exited;
    outcome.exit_code = run.record->exit_code;
    for (const GlobalPlace& each : run.globals)
        outcome.globals.emplace_back(each.last->begin(), each.last->begin() + each.first->size());
    return outcome;
}

}  // namespace halo::lift
