#include "thread_ranks.h"

#include <exception>
#include <stdexcept>
#include <thread>
#include <vector>

namespace halo::test {

namespace {

struct Over {};

}  // namespace

// Even ranks are on one host, odd ones on another.
class ThreadRanks::Rank final : public rt::Ranks {
public:
    Rank(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int count() const override { return all_.count_; }
    const std::string& host(int rank) const override { return hosts_[rank % 2]; }
    void exchange(std::span<const Message> receives, std::span<const Message> sends) override {
        for (const Message& message : sends)
            if (message.count > 0)
                all_.send(rank_, message.peer,
                          {static_cast<const char*>(message.bytes), static_cast<std::size_t>(message.count)});
        for (const Message& message : receives) {
            if (message.count == 0) continue;
            const std::string bytes = all_.receive(message.peer, rank_);
            if (bytes.size() != static_cast<std::size_t>(message.count))
                throw std::logic_error("a message is not as long as its receiver says");
            bytes.copy(static_cast<char*>(message.bytes), bytes.size());
        }
    }
    void wait(const std::function<bool()>& done, std::span<const int>) override {
        if (!done()) throw std::logic_error("devices of tests have done all that they were asked for");
    }
    void end_all(const rt::Failure&, const std::function<void(const rt::Failure&)>&) override {}

private:
    ThreadRanks& all_;
    int rank_;
    std::string hosts_[2] = {"even", "odd"};
};

void ThreadRanks::send(int from, int to, std::string bytes) {
    under_way_[{from, to}].push_back(std::move(bytes));
    changed_.notify_all();
}

// This thread holds the mutex, which is another's while this one waits.
std::string ThreadRanks::receive(int from, int to) {
    std::deque<std::string>& messages = under_way_[{from, to}];
    changed_.wait(turn_, [&] { return !messages.empty() || is_over_; });
    if (messages.empty()) throw Over();
    std::string first = std::move(messages.front());
    messages.pop_front();
    return first;
}

void ThreadRanks::run(const std::function<void(rt::Ranks& ranks)>& work) {
    std::vector<std::exception_ptr> troubles(static_cast<std::size_t>(count_));
    {
        std::vector<std::jthread> threads;
        for (int number = 0; number < count_; ++number)
            threads.emplace_back([this, &work, &troubles, number] {
                const std::scoped_lock turn(turn_);
                Rank rank(*this, number);
                try {
                    work(rank);
                    is_over_ = is_over_ || number == 0;
                } catch (const Over&) {
                    // another has said why
                } catch (...) {
                    troubles[static_cast<std::size_t>(number)] = std::current_exception();
                    is_over_ = true;
                }
                changed_.notify_all();
            });
    }
    for (const std::exception_ptr& trouble : troubles)
        if (trouble) std::rethrow_exception(trouble);
}

std::vector<std::string> as_ranks(int count, const std::function<void(rt::Ranks& ranks)>& work) {
    std::vector<std::string> troubles(static_cast<std::size_t>(count));
    try {
        ThreadRanks(count).run([&](rt::Ranks& ranks) {
            try {
                work(ranks);
            } catch (const std::exception& error) {
                troubles[static_cast<std::size_t>(ranks.rank())] = error.what();
                throw;
            }
        });
    } catch (const std::exception&) {
        // it is in `troubles`
    }
    return troubles;
}

}  // namespace halo::test
