#include "runtime/core/background.h"

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"

using namespace halo::rt;

namespace {

void finish() {
    while (background_is_busy())
        std::this_thread::yield();
}

}  // namespace

TEST_CASE("work in the background gives its result, or throws what it threw") {
    const std::shared_future<std::string> good = run_in_background([] { return std::string("made"); });
    CHECK(good.get() == "made");
    const std::shared_future<int> bad =
        run_in_background([]() -> int { throw std::runtime_error("it went wrong"); });
    CHECK_THROWS_WITH(bad.get(), "it went wrong");
    finish();
}

TEST_CASE("work whose result nobody wants any more goes on, and is known to be busy") {
    std::promise<void> gate;
    std::atomic<int> done = 0;
    run_in_background([&done, wait = gate.get_future().share()] {
        wait.get();
        return ++done;
    });
    CHECK(background_is_busy());
    CHECK(done == 0);
    gate.set_value();
    finish();
    CHECK(done == 1);
}

TEST_CASE("much work is done at once") {
    std::promise<void> gate;
    const std::shared_future<void> open = gate.get_future().share();
    std::vector<std::shared_future<int>> results;
    for (int i = 0; i < 8; ++i) {
        results.push_back(run_in_background([open, i] {
            open.get();
            return i;
        }));
    }
    gate.set_value();
    for (int i = 0; i < 8; ++i)
        CHECK(results[static_cast<std::size_t>(i)].get() == i);
    finish();
}
