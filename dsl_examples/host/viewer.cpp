// A loop that shows how a field changes: frames frame_00.ppm … in the current folder.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "plate.h"

using namespace halocline;

int main() try {
    const int nx = 320, ny = 200, frames = 10;
    Simulation heat(plate_program(), Device::cpu(), {nx, ny});
    std::vector<float> u(nx * ny);
    for (int i = 0; i < nx * ny; ++i)
        u[i] = (i % nx / 40 + i / nx / 40) % 2 == 0 ? 1.0f : 0.0f;
    heat.write("u", u);
    for (int frame = 0; frame < frames; ++frame) {
        char name[32];
        std::snprintf(name, sizeof name, "frame_%02d.ppm", frame);
        std::FILE* const file = std::fopen(name, "wb");
        if (file == nullptr) return std::perror(name), 1;
        std::fprintf(file, "P6 %d %d 255\n", nx, ny);
        for (int y = ny - 1; y >= 0; --y)  // pictures begin at the top
            for (int x = 0; x < nx; ++x) {
                const int warm = static_cast<int>(255 * std::clamp(u[x + nx * y], 0.0f, 1.0f));
                for (const int part : {warm, warm / 3, 255 - warm})
                    std::fputc(part, file);
            }
        if (std::fclose(file) != 0) return std::perror(name), 1;
        heat.step(40);
        heat.read("u", std::span<float>(u));
    }
    std::printf("%d frames, %lld steps\n", frames, static_cast<long long>(heat.steps_done()));
} catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
