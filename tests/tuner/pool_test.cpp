// Compiling in threads.
#include <atomic>
#include <future>

#include "catch.h"
#include "compiler/driver/tuning/tune_measure.h"

using namespace halo::driver;

namespace {

BuiltCode named(std::size_t number) {
    BuiltCode built;
    built.code.text = std::to_string(number);
    return built;
}

}  // namespace

TEST_CASE("what is asked for is built once, expected or not") {
    std::atomic<int> builds = 0;
    CompilePool pool(3, [&](std::size_t number) {
        ++builds;
        return named(number);
    });
    pool.prepare({4, 5, 6});
    for (const std::size_t number : {4U, 5U, 6U, 7U, 4U})
        CHECK(pool.get(number)->code.text == std::to_string(number));
    CHECK(builds == 4);
}

TEST_CASE("what is asked for comes before what is expected, and what is expected no longer is not built") {
    std::promise<void> let_go;
    std::shared_future<void> gone = let_go.get_future().share();
    std::vector<std::size_t> order;  // of one thread
    {
        CompilePool pool(1, [&, gone](std::size_t number) {
            if (number == 0) gone.wait();
            order.push_back(number);
            return named(number);
        });
        pool.prepare({0, 1, 2, 3});
        auto asked = std::async(std::launch::async, [&] { return pool.get(9)->code.text; });
        pool.prepare({8});
        let_go.set_value();
        CHECK(asked.get() == "9");
        CHECK(pool.get(8)->code.text == "8");
    }
    for (const std::size_t number : order)
        CHECK((number == 0 || number == 8 || number == 9));
}

TEST_CASE("a pool ends with work left over") {
    CompilePool pool(2, named);
    std::vector<std::size_t> many;
    for (std::size_t i = 0; i < 1000; ++i)
        many.push_back(i);
    pool.prepare(many);
}
