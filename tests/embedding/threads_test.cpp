// Simulations from several threads.
#include <thread>

#include "common.h"
#include "heat.h"

using namespace halocline;

TEST_CASE("threads take turns on one device, and work beside each other on several") {
    const Device shared = Device::cpu(2);
    const Grid grid = {31, 17};
    Simulation expected(heat_program(), shared, grid);
    expected.set("dt", 0.2);
    expected.write("u", some_values(31 * 17));
    expected.step(40);
    const std::vector<float> result = read_f32(expected, "u");

    constexpr int kThreads = 4;
    std::vector<std::vector<float>> results(kThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
        threads.emplace_back([&, i] {
            Simulation heat(heat_program(), i % 2 == 0 ? shared : Device::cpu(1), grid);
            heat.set("dt", 0.2);
            heat.write("u", some_values(31 * 17));
            for (int step = 0; step < 40; ++step)
                heat.step();
            results[static_cast<std::size_t>(i)] = read_f32(heat, "u");
        });
    for (std::thread& thread : threads)
        thread.join();
    for (const auto& each : results)
        CHECK(each == result);
}
