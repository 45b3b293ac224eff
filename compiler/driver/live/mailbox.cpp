#include "compiler/driver/live/mailbox.h"

#include <algorithm>
#include <utility>

namespace halo::driver::live {

Mailbox::Answer Mailbox::ask(Task task, std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    if (is_closed_) return Answer::over;
    const auto entry = std::make_shared<Entry>();
    entry->task = std::move(task);
    waiting_.push_back(entry);
    arrived_.notify_one();
    answered_.wait_for(lock, patience, [&] { return entry->is_begun || is_closed_; });
    if (entry->is_begun) {  // not for long: it takes no step
        answered_.wait(lock, [&] { return entry->is_done; });
        if (entry->trouble) std::rethrow_exception(entry->trouble);
        return Answer::done;
    }
    std::erase(waiting_, entry);
    return is_closed_ ? Answer::over : Answer::late;
}

void Mailbox::serve() {
    std::unique_lock lock(mutex_);
    while (!waiting_.empty()) {
        const std::shared_ptr<Entry> entry = waiting_.front();
        waiting_.pop_front();
        entry->is_begun = true;
        lock.unlock();
        try {
            entry->task();
        } catch (...) {
            entry->trouble = std::current_exception();
        }
        lock.lock();
        entry->is_done = true;
        answered_.notify_all();
    }
}

void Mailbox::wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, time, [&] { return !waiting_.empty(); });
}

void Mailbox::close() {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    answered_.notify_all();
}

}  // namespace halo::driver::live
