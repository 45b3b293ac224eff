// Layers that waves enter without an echo: the field in a small domain beside that of one so large that
// nothing has come back from its faces.
#include <algorithm>
#include <cmath>
#include <string>

#include "catch.h"
#include "example.h"

using namespace halo::test;

namespace {

constexpr int kSmall = 40, kLarge = 100, kLayer = 10, kAround = (kLarge - kSmall) / 2;
constexpr double kSpacing = 10;

// The steps at which fields are compared: while waves enter the layers, and when what came back would be
// there.
constexpr int kFirst = 25, kLast = 75, kBetween = 10;
const std::string kCompared[] = {"-000025", "-000045", ""};  // of the files

// Runs a pulse in the middle of so many cells.
void run_pulse(const Example& example, const std::string& field, int cells) {
    const std::string middle = std::to_string(cells / 2 * kSpacing);
    const std::string grid =
        std::to_string(cells) + "," + std::to_string(cells) + "," + std::to_string(cells);
    const std::string pulse =
        "exp(-((x - " + middle + ")^2 + (y - " + middle + ")^2 + (z - " + middle + ")^2) / 40^2)";
    const std::string file = field + "-" + std::to_string(cells);
    example.run({"--grid", grid, "--steps", std::to_string(kLast), "--no-files", "--init",
                 field + " = " + pulse, "--save", field + "=" + file + ".npy", "--save-every",
                 std::to_string(kBetween) + " from " + std::to_string(kFirst)});
}

// The largest that comes back into the domain between the layers, in decibels of what goes into them.
double reflection(const std::string& name, const std::string& field) {
    Example example(name);
    example.use_one_thread();
    run_pulse(example, field, kSmall);
    run_pulse(example, field, kLarge);
    double entering = 0, returned = 0;
    for (const std::string& step : kCompared) {
        const std::vector<double> small = example.saved(field + "-" + std::to_string(kSmall) + step);
        const std::vector<double> large = example.saved(field + "-" + std::to_string(kLarge) + step);
        for (int k = kLayer; k < kSmall - kLayer; ++k) {
            for (int j = kLayer; j < kSmall - kLayer; ++j) {
                for (int i = kLayer; i < kSmall - kLayer; ++i) {
                    const double mine = small[static_cast<std::size_t>((k * kSmall + j) * kSmall + i)];
                    const double open = large[static_cast<std::size_t>(
                        ((k + kAround) * kLarge + j + kAround) * kLarge + i + kAround)];
                    if (step == kCompared[0] && i == kLayer) entering = std::max(entering, std::abs(open));
                    returned = std::max(returned, std::abs(mine - open));
                }
            }
        }
    }
    CHECK(entering > 0.05);  // of a pulse of height 1
    return 20 * std::log10(returned / entering);
}

}  // namespace

TEST_CASE("sound that enters a perfectly matched layer does not come back") {
    const double decibels = reflection("cpml_acoustic3d", "p");
    INFO("reflected: " << decibels << " dB");
    CHECK(decibels < -64);
}

TEST_CASE("waves in a solid that enter a perfectly matched layer do not come back") {
    const double decibels = reflection("cpml_elastic3d", "v_x");
    INFO("reflected: " << decibels << " dB");
    CHECK(decibels < -63);
}
