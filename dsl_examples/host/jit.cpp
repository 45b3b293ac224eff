// C++, with a spec that is compiled while the program runs: on the first GPU, else on the CPU.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "halocline/halocline.hpp"

using namespace halocline;

int main(int argc, char** argv) try {
    const std::string spec = argc > 1 ? argv[1] : "plate.halo";
    const int nx = 300, ny = 200;
    const Device device = Device::best();
    std::printf("on %s\n", device.description().c_str());

    // The compiler works in the background while the start values are made.
    const Program program = compile_file(spec);
    const auto ready = precompile(program, device, {{nx, ny}});
    std::vector<float> u(nx * ny, 10.0f);
    for (int y = 80; y < 120; ++y)
        for (int x = 130; x < 170; ++x)
            u[x + nx * y] = 50.0f;
    ready.get();

    Simulation heat(program, device, {nx, ny});
    heat.set("dt", 0.15);
    heat.write("u", u);
    double total = 0;
    for (const float value : u)
        total += value;
    for (int round = 0; round < 5; ++round) {
        heat.step(200);
        std::printf("step %4lld: hottest %.3f, total %.1f\n", static_cast<long long>(heat.steps_done()),
                    heat.reduce("hottest"), heat.reduce("total"));
    }
    heat.read("u", std::span<float>(u));
    const bool kept = std::abs(heat.reduce("total") - total) < 1e-3 * total;
    std::printf("the middle is at %.3f; the heat is %s\n", u[150 + nx * 100],
                kept ? "all there" : "NOT all there");
    return kept ? 0 : 1;
} catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
