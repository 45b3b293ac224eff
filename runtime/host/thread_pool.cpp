#include "runtime/host/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/host/processors.h"

namespace halo::rt {

namespace {

// Steps of a time loop follow each other within microseconds; a sleeping thread takes tens of them to wake.
// Who has waited as long as that had better sleep: other programs may want the processor, and a thread that
// is waited for may be without one.
constexpr std::chrono::microseconds kSpinning{50};
constexpr int kSpinsBetweenLooks = 64;  // at the clock

void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Waits until `value` is no longer `old`.
template <class T>
T wait_while(const std::atomic<T>& value, T old, std::chrono::microseconds spinning) {
    const auto began = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - began < spinning) {
        for (int spin = 0; spin < kSpinsBetweenLooks; ++spin) {
            const T now = value.load(std::memory_order_acquire);
            if (now != old) return now;
            pause_briefly();
        }
    }
    value.wait(old, std::memory_order_acquire);
    return value.load(std::memory_order_acquire);
}

void pin(std::thread& thread, int processor) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(processor) + 1);
    if (set == nullptr) return;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(processor) + 1);
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(static_cast<std::size_t>(processor), bytes, set);
    // Not allowed in some containers; then the kernel places the thread.
    ::pthread_setaffinity_np(thread.native_handle(), bytes, set);
    CPU_FREE(set);
}

}  // namespace

struct ThreadPool::State {
    int threads = 1;
    std::chrono::microseconds spinning = kSpinning;
    std::vector<std::thread> workers;  // threads 1, 2, …

    // The present loop; written before `round` is raised, read after.
    const Part* part = nullptr;
    std::int64_t count = 0;
    bool stop = false;

    alignas(64) std::atomic<std::uint32_t> round{0};
    alignas(64) std::atomic<int> busy{0};
    std::mutex failure_mutex;
    std::exception_ptr failure;

    void run_part(int thread) {
        // The first parts are one longer where the count is no multiple.
        const std::int64_t length = count / threads, rest = count % threads;
        const auto bound = [&](int index) { return length * index + std::min<std::int64_t>(index, rest); };
        const std::int64_t begin = bound(thread), end = bound(thread + 1);
        if (begin == end) return;
        try {
            (*part)(begin, end);
        } catch (...) {
            const std::lock_guard lock(failure_mutex);
            failure = std::current_exception();
        }
    }

    void work(int thread) {
        std::uint32_t seen = 0;
        while (true) {
            seen = wait_while(round, seen, spinning);
            if (stop) return;
            run_part(thread);
            if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1) busy.notify_one();
        }
    }

    void begin_round() {
        busy.store(threads - 1, std::memory_order_relaxed);
        round.fetch_add(1, std::memory_order_release);
        round.notify_all();
    }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
    State& state = *state_;
    state.threads = threads < 1 ? 1 : threads;
    const std::vector<int> processors = usable_processors();
    const bool enough = processors.size() >= static_cast<std::size_t>(state.threads);
    // On an oversubscribed processor a thread that spins is worse than one that sleeps.
    if (!enough) state.spinning = {};
    state.workers.reserve(static_cast<std::size_t>(state.threads));
    for (int thread = 1; thread < state.threads; ++thread) {
        try {
            state.workers.emplace_back([&state, thread] { state.work(thread); });
        } catch (const std::exception&) {  // no more threads can be started: the existing ones share the work
            state.threads = thread;
            break;
        }
        if (enough) pin(state.workers.back(), processors[static_cast<std::size_t>(thread)]);
    }
}

ThreadPool::~ThreadPool() {
    state_->stop = true;
    state_->begin_round();
    for (std::thread& worker : state_->workers)
        worker.join();
}

int ThreadPool::threads() const {
    return state_->threads;
}

void ThreadPool::run(std::int64_t count, const Part& part) {
    if (count <= 0) return;
    State& state = *state_;
    if (state.threads == 1 || count == 1) {
        part(0, count);
        return;
    }
    state.part = &part;
    state.count = count;
    state.begin_round();
    state.run_part(0);
    for (int left = state.busy.load(std::memory_order_acquire); left != 0;)
        left = wait_while(state.busy, left, state.spinning);
    if (state.failure) std::rethrow_exception(std::exchange(state.failure, nullptr));
}

}  // namespace halo::rt
