#include "compiler/driver/running/background_writer.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <system_error>
#include <utility>

#include "compiler/driver/running/host_memory.h"

namespace halo::driver {

namespace {

// Pieces of work that wait: enough for a disk that is slow at times, and few enough that the end of a run is
// not long in coming.
constexpr std::size_t kMostWork = 8;
// Of the memory that is free the copies take at most this part.
constexpr std::int64_t kPartOfMemory = 4;

// Signals are the main thread's, which remembers them.
class NoSignals {
public:
    NoSignals() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    NoSignals(const NoSignals&) = delete;
    NoSignals& operator=(const NoSignals&) = delete;

private:
    sigset_t before_{};
};

}  // namespace

BackgroundWriter::BackgroundWriter(std::int64_t most) : most_(most), ranks_(rt::single_rank()) {}

BackgroundWriter::BackgroundWriter() : BackgroundWriter(available_memory() / kPartOfMemory) {}

BackgroundWriter::~BackgroundWriter() {
    {
        const std::lock_guard lock(lock_);
        ends_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

bool BackgroundWriter::start() {
    if (thread_.joinable()) return true;
    const NoSignals held;
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
        return false;
    }
    return true;
}

void BackgroundWriter::run() {
    std::unique_lock lock(lock_);
    while (true) {
        changed_.wait(lock, [&] { return !queue_.empty() || ends_; });
        if (queue_.empty()) return;
        std::function<void()> work = std::move(queue_.front().run);
        const bool is_good = trouble_ == nullptr;
        lock.unlock();
        std::exception_ptr trouble;
        try {
            if (is_good) work();
            work = nullptr;  // with its copies
        } catch (...) {
            trouble = std::current_exception();
        }
        lock.lock();
        if (trouble && !trouble_) trouble_ = trouble;
        bytes_ -= queue_.front().bytes;
        queue_.pop_front();
        changed_.notify_all();
    }
}

void BackgroundWriter::rethrow() {
    if (trouble_) std::rethrow_exception(trouble_);
}

void BackgroundWriter::make_room(std::int64_t bytes) {
    std::unique_lock lock(lock_);
    changed_.wait(lock, [&] {
        return trouble_ != nullptr || queue_.empty() ||
               (bytes_ + bytes <= most_ && queue_.size() < kMostWork);
    });
    rethrow();
}

void BackgroundWriter::put(std::int64_t bytes, std::function<void()> work) {
    if (!start()) return work();
    {
        const std::lock_guard lock(lock_);
        rethrow();
        queue_.push_back({bytes, std::move(work)});
        bytes_ += bytes;
    }
    changed_.notify_all();
}

void BackgroundWriter::wait() {
    std::unique_lock lock(lock_);
    changed_.wait(lock, [&] { return queue_.empty(); });
    rethrow();
}

std::vector<std::byte> BackgroundWriter::take_memory(std::int64_t bytes) {
    std::vector<std::byte> memory;
    {
        const std::lock_guard lock(lock_);
        const auto found =
            std::ranges::find_if(memory_, [&](const auto& each) { return std::ssize(each) == bytes; });
        if (found != memory_.end()) {
            memory = std::move(*found);
            memory_.erase(found);
            return memory;
        }
        memory_.clear();  // what is wanted now is of another size
    }
    memory.resize(static_cast<std::size_t>(bytes));
    return memory;
}

void BackgroundWriter::give_memory(std::vector<std::byte> memory) {
    const std::lock_guard lock(lock_);
    if (memory_.size() < kMostWork) memory_.push_back(std::move(memory));
}

}  // namespace halo::driver
