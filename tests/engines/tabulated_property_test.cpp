// Random programs with functions of small whole numbers, which kernels look up in tables.
#include <fmt/format.h>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "emulated_device.h"
#include "emulator.h"
#include "random_program.h"

using namespace halo;
using namespace halo::test;

namespace {

std::string small_number(Random& random) {
    return random.pick<std::string>({"(a[x+1] - a)", "(a - a[x-1, y+1])", "(a[y-1] - b)", "(a + b[x-2])", "a",
                                     "(2*a - 7)", "abs(a - b[y+1])", "div(a, 4)", "(if on then a else b)"});
}

std::string function(Random& random) {
    const std::string number = small_number(random);
    return fmt::format(
        fmt::runtime(random.pick<std::string>({"exp(-({0}/p)^2 / 8)", "sqrt({0} + 512)", "1/({0} + 1024)",
                                               "({0} + p)/(1 + {0}^2)", "cbrt({0}/8)",
                                               "pow({0}/64 + 10, 1/3)", "exp({0}/300) * sqrt(p)"})),
        number);
}

std::string random_text(Random& random) {
    const std::string real = random.chance(30) ? "f64" : "f32";
    const std::string kind = random.pick<std::string>({"periodic", "clamp", "mirror", "fixed 7"});
    std::string sum = function(random);
    for (int term = random.between(0, 3); term > 0; --term)
        sum += fmt::format(" {} {}*{}", random.pick<std::string>({"+", "-"}),
                           random.pick<std::string>({"v", "1/4", "p"}), function(random));
    std::string text = "stencil looked_up(x, y) {\n    param p = 30\n";
    text += fmt::format("    field a, b: u8 {{ boundary {} }}\n", kind);
    text += fmt::format("    field on: bool\n    field v: {} {{ boundary clamp }}\n", real);
    text += fmt::format("    v[t+1] = 1/8*v + 1/16*({})\n", sum);
    text += fmt::format("    a[t+1] = a/2 + 20*{}\n", function(random));
    text += fmt::format("    b[t+1] = {} * sqrt((a[x+2] - {})^2 + b^2)\n",
                        random.pick<std::string>({"1/2", "v", "1/v"}),
                        random.pick<std::string>({"b[x-1]", "a[x-2, y-1]", "100*b"}));
    if (random.chance(40)) text += fmt::format("    reduce most = max(abs({}))\n", function(random));
    return text + "}\n";
}

}  // namespace

TEST_CASE("functions of small whole numbers on emulated CUDA, by tables") {
    const Seeds seeds = seeds_from_environment(1, 40);
    int looked_up = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        Random random(seed);
        const std::string text = random_text(random);
        INFO("seed " << seed << "\n" << text);
        const ir::Program program = load_program(text, false);
        const Extent extent{random.pick(std::vector<int>{1, 5, 37, 130}), random.between(1, 9), 1};
        std::vector<schedule::Schedule> schedules;
        for (std::size_t stage = ir::form_stages(program).size(); stage > 0; --stage) {
            schedule::Schedule drawn;
            drawn.strategy = schedule::Direct{};
            drawn.threads = {32, random.pick(std::vector<int>{4, 8}), 1};
            drawn.cells = {random.pick(std::vector<int>{1, 4, 4}), random.pick(std::vector<int>{1, 4, 4}), 1};
            schedules.push_back(drawn);
        }
        const lower::Lowered lowered = lower::lower_cuda(program, {schedules});
        if (emit::print_cuda(lowered.kernels).find("Functions of small whole numbers") != std::string::npos)
            ++looked_up;
        const Reference reference(program, extent, 3, seed);
        emulator::EmulatedDevice device;
        CHECK(difference(reference, lowered, device, load_cuda) == "");
    }
    CHECK(looked_up * 3 >= static_cast<int>(seeds.count));
}
