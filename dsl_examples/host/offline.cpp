// C++, with code that was made when the program was built: no compiler is there, and nothing is compiled.
#include <cmath>
#include <cstdio>
#include <vector>

#include "plate.h"  // halo_add_stencil(plate plate.halo) makes it

using namespace halocline;

int main() try {
    const int n = 128;
    const double pi = std::acos(-1.0);
    Simulation heat(plate_program(), Device::cpu(), {n, n});
    std::vector<float> u(n * n);
    for (int y = 0; y < n; ++y)
        for (int x = 0; x < n; ++x)
            u[x + n * y] = static_cast<float>(std::sin(2 * pi * x / n));
    heat.write("u", u);
    heat.step(100);
    heat.read("u", std::span<float>(u));
    // A wave keeps its shape, and shrinks by the same factor in each step.
    const double factor = 1 - 2 * heat.get("dt") * (1 - std::cos(2 * pi / n));
    const double expected = std::pow(factor, 100);
    std::printf("dt = %g: after 100 steps the wave is %.6f high, and should be %.6f\n", heat.get("dt"),
                u[n / 4], expected);
    return std::abs(u[n / 4] - expected) < 1e-4 ? 0 : 1;
} catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
