// Ranks that are threads of one process, for tests of what ranks do together.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/ranks/ranks.h"

namespace halo::test {

class Meeting {
public:
    explicit Meeting(int count) : parts_(static_cast<std::size_t>(count)) {}

    std::vector<std::string> meet(int rank, const std::string& part) {
        std::unique_lock lock(mutex_);
        parts_[static_cast<std::size_t>(rank)] = part;
        const int round = round_;
        if (++arrived_ == static_cast<int>(parts_.size())) {
            results_ = parts_;
            arrived_ = 0;
            ++round_;
            changed_.notify_all();
        } else {
            changed_.wait(lock, [&] { return round_ != round; });
        }
        return results_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> parts_, results_;
    int arrived_ = 0, round_ = 0;
};

class ThreadRank final : public rt::Ranks {
public:
    ThreadRank(Meeting& meeting, int rank, int count) : meeting_(meeting), rank_(rank), count_(count) {}
    int rank() const override { return rank_; }
    int count() const override { return count_; }
    const std::string& host(int) const override { return host_; }
    std::vector<std::string> all_gather(const std::string& part) override {
        return meeting_.meet(rank_, part);
    }
    std::vector<std::string> gather(const std::string& part) override {
        std::vector<std::string> all = all_gather(part);
        return is_first() ? all : std::vector<std::string>();
    }
    std::string broadcast(const std::string& bytes) override { return all_gather(bytes).front(); }

private:
    Meeting& meeting_;
    int rank_, count_;
    std::string host_ = "this machine";
};

// Runs work(ranks) as so many ranks. What each threw, by rank; empty where it did not.
inline std::vector<std::string> as_ranks(int count, const std::function<void(rt::Ranks&)>& work) {
    Meeting meeting(count);
    std::vector<std::string> troubles(static_cast<std::size_t>(count));
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < count; ++rank)
        threads.emplace_back([&, rank] {
            ThreadRank ranks(meeting, rank, count);
            try {
                work(ranks);
            } catch (const std::exception& error) {
                troubles[static_cast<std::size_t>(rank)] = error.what();
            }
        });
    threads.clear();
    return troubles;
}

}  // namespace halo::test
