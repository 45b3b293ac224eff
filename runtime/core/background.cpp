#include "runtime/core/background.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace halo::rt {

namespace {

struct Worker {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> done;
};

struct Workers {
    std::mutex mutex;
    std::vector<Worker> all;
    pid_t process = getpid();
};

// The workers are never destroyed: threads may run until the process ends.
Workers& workers() {
    static auto* const all = new Workers;
    return *all;
}

void join_finished(Workers& here) {
    const auto running = std::partition(here.all.begin(), here.all.end(),
                                        [](const Worker& worker) { return !worker.done->load(); });
    for (auto worker = running; worker != here.all.end(); ++worker)
        worker->thread.join();
    here.all.erase(running, here.all.end());
}

// Handlers of exit() and destructors of static objects run in the order opposite to that in which they came
// to be, so libraries that were opened before the first work are still there.
void join_all() {
    Workers& here = workers();
    if (here.process != getpid()) return;  // after a fork the threads belong to the other process
    std::vector<Worker> all;
    {
        const std::lock_guard lock(here.mutex);
        all.swap(here.all);
    }
    for (Worker& worker : all)
        worker.thread.join();
}

}  // namespace

void start_in_background(std::function<void()> work) {
    Workers& here = workers();
    const std::lock_guard lock(here.mutex);
    [[maybe_unused]] static const int registered = std::atexit(join_all);
    join_finished(here);
    here.all.reserve(here.all.size() + 1);  // a thread that is not recorded could not be joined
    auto done = std::make_shared<std::atomic<bool>>(false);
    std::thread thread([work = std::move(work), done]() mutable {
        work();
        work = nullptr;
        done->store(true);
    });
    here.all.push_back({std::move(thread), std::move(done)});
}

bool background_is_busy() {
    Workers& here = workers();
    const std::lock_guard lock(here.mutex);
    join_finished(here);
    return !here.all.empty();
}

}  // namespace halo::rt
