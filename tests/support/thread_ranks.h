// The ranks of a run as threads of a test. One of them works at a time, the others wait for its messages or
// for their turn: so they may share what is made for one thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/ranks/ranks.h"

namespace halo::test {

class ThreadRanks {
public:
    explicit ThreadRanks(int count) : count_(count) {}
    // Calls work(ranks) for each rank, and throws what the first of them that fails has thrown. When rank 0
    // is done nobody waits any more.
    void run(const std::function<void(rt::Ranks& ranks)>& work);

private:
    class Rank;
    void send(int from, int to, std::string bytes);
    std::string receive(int from, int to);

    int count_;
    std::mutex turn_;
    std::condition_variable_any changed_;
    std::map<std::pair<int, int>, std::deque<std::string>> under_way_;  // by sender and receiver
    bool is_over_ = false;
};

// Runs work(ranks) as so many ranks. What each has thrown, by rank; empty where it has not.
std::vector<std::string> as_ranks(int count, const std::function<void(rt::Ranks& ranks)>& work);

}  // namespace halo::test
