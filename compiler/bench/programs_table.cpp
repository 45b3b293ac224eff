#include "compiler/bench/programs_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/support/error.h"

namespace halo::bench {

namespace {

constexpr std::int64_t kSmallSteps = 20;

Extent square(std::int64_t side) {
    return {side, side, 1};
}

Extent cells_cubed(std::int64_t side) {
    return {side, side, side};
}

// Linear equations are given noise. Where a scheme is stable for small disturbances alone they are small.
// dt is a power of two, where it has to suit the grid. Runs that stop by themselves look at their condition
// in every step, and do not get there.
std::vector<Program> full_programs() {
    const Extent flat{48, 37, 1}, deep{24, 20, 19};
    const std::string sound = "init v = if z > len(z) * 5 then 2700 else 1800\n init p = random() - 1/2\n";
    const std::string shot =
        "init v = 2000\n init p = random() - 1/2\n shots at [203.7, 341.2, 296.1]\n"
        "init shots.wavelet = 1e5 * ricker(time - 1.2 / f0)\n"
        "phones at [253.4 + 10 * i, 352.8, 311.5] for i in 0..49\n";
    const std::string solid = "init solid = if idx(y) == 0 or idx(y) == len(y) - 1";
    const std::string populations = "for i in 0..8 { init f.i = w[i] * (1 + 0.01 * (random() - 1/2)) }\n";
    return {
        {"acoustic3d", cells_cubed(512), 500, deep, {}, sound},
        {"acoustic3d", {1024, 1024, 512}, 200, deep, {}, sound},
        {"shot3d", cells_cubed(512), 500, {90, 60, 50}, {}, shot},
        {"shot3d", cells_cubed(256), 2000, {90, 60, 50}, {}, shot},
        {"acoustic3d", cells_cubed(256), 2000, deep, {}, sound},
        {"vti3d",
         cells_cubed(384),
         400,
         deep,
         {},
         "init v = if z > len(z) * 5 then 2600 else 2000\n init epsilon = if z > len(z) * 5 then 0 else "
         "0.25\n"
         "init delta = if z > len(z) * 5 then 0 else 0.1\n"
         "init p = random() - 1/2\n init r = random() - 1/2\n"},
        {"elastic3d",
         cells_cubed(384),
         200,
         deep,
         {},
         "init buoyancy = 1 / layers(z, 1900, 2200, 2500)\n"
         "init mu = layers(z, 1900, 2200, 2500) * layers(z, 700, 1200, 1800)^2\n"
         "init lambda = layers(z, 1900, 2200, 2500)\n"
         "    * (layers(z, 1600, 2300, 3200)^2 - 2 * layers(z, 700, 1200, 1800)^2)\n"
         "init vx = random() - 1/2\n init vy = random() - 1/2\n init vz = random() - 1/2\n"},
        {"maxwell3d",
         cells_cubed(512),
         200,
         deep,
         {"dt=1/1024"},
         "init e = [random() - 1/2, random() - 1/2, random() - 1/2]\n"},
        {"maxwell2d", square(8192), 600, flat, {"dt=1/16384"}, "init ez = random() - 1/2\n"},
        {"elastic2d", square(8192), 400, flat, {}, "init vx = random() - 1/2\n init vy = random() - 1/2\n"},
        {"navier_stokes3d",
         cells_cubed(256),
         150,
         {16, 15, 14},
         {"dt=1/2048"},
         "init rho = 1\n init m = [sin(x) * cos(y) * cos(z), -cos(x) * sin(y) * cos(z), 0.01 * random()]\n"
         "init e = 20/7 / 0.4 + (sin(x)^2 * cos(y)^2 + cos(x)^2 * sin(y)^2) * cos(z)^2 / 2\n"},
        {"duct3d",
         cells_cubed(256),
         500,
         deep,
         {},
         solid + " or idx(z) == 0 or idx(z) == len(z) - 1 then 1 else 0\n"
                 "for i in 0..18 { init f.i = 0.001 * (random() - 1/2) }\n"},
        {"cavity2d",
         square(4096),
         800,
         flat,
         {},
         populations + "init wall = if idx(y) == len(y) - 1 then 2 else if idx(y) == 0 or idx(x) == 0\n"
                       "or idx(x) == len(x) - 1 then 1 else 0\n"},
        {"poiseuille2d", square(4096), 500, flat, {}, populations + solid + " then 1 else 0\n"},
        {"cahn_hilliard", square(8192), 1000, flat},
        {"cahn_hilliard", square(1024), 10000, flat},
        {"cahn_hilliard_rk4", square(4096), 400, flat},
        {"cahn_hilliard_cook", square(8192), 300, flat},
        {"gray_scott", square(8192), 1000, flat, {}, "init u = 1 - random() / 2\n init v = random() / 4\n"},
        {"wave2d", square(16384), 400, flat, {}, "init u = random() - 1/2\n"},
        {"shallow_water", square(4096), 500, flat, {}, "init eta = 0.01 * (random() - 1/2)\n"},
        {"burgers2d",
         square(4096),
         200,
         flat,
         {"end=1000"},
         "steps 200 until elapsed >= end\n init u = 0.1 + random()\n"},
        {"schroedinger2d",
         square(8192),
         150,
         flat,
         {},
         "init psi = random() - 1/2 + 1i * (random() - 1/2)\n"
         "init potential = if abs(x + 2) < 0.5 and abs(abs(y) - 2) > 1 then 60 else 0\n"},
        {"poisson2d",
         square(4095),
         500,
         {47, 37, 1},
         {},
         "steps 500 until change < 1e-30\n init f = 2*pi^2 * sin(pi*x) * sin(pi*y)\n init u = random() - "
         "1/2\n"},
        {"heat_solid",
         square(8192),
         600,
         flat,
         {},
         "init solid = if cos(x / 13) * cos(y / 17 + x / 40) > 0.9 then 1 else 0\n init T = random()\n"},
        {"game_of_life", square(16384), 600, flat, {}, "init alive = random() < 2/5\n"},
        {"image_filters", square(16384), 40, flat},
        {"heat3d", cells_cubed(128), 5000, deep, {}, "init u = 10 + 5 * random()\n"},
        {"heat3d", cells_cubed(1024), 200, deep, {}, "init u = 10 + 5 * random()\n"},
        {"heat3d_capacity",
         cells_cubed(512),
         800,
         deep,
         {},
         "init Te = 10 + 50 * random()\n init Cp = if x < 48 then 1 else 4\n"},
    };
}

std::string id_of(const Program& program) {
    const auto [x, y, z] = std::tuple(program.extent[0], program.extent[1], program.extent[2]);
    std::string text = fmt::format("{}-{}", program.spec, x);
    if (x == y && (z == 1 || y == z)) return text;
    text += fmt::format("x{}", y);
    return z == 1 ? text : text + fmt::format("x{}", z);
}

void halve(Program& program) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        std::int64_t& cells = program.extent[axis];
        cells = std::min(cells, std::max(cells / 2, program.small[axis]));
    }
    program.steps = std::max<std::int64_t>(program.steps / 4, 1);
}

}  // namespace

std::vector<Program> programs_of(Scale scale) {
    std::vector<Program> all = full_programs();
    for (Program& program : all) {
        program.id = id_of(program);
        if (scale == Scale::quick) halve(program);
        if (scale != Scale::small) continue;
        program.extent = program.small;
        program.steps = std::min(program.steps, kSmallSteps);
    }
    return all;
}

std::vector<Program> chosen_programs(Scale scale, const std::vector<std::string>& names) {
    const std::vector<Program> all = programs_of(scale);
    const auto is_called = [](const Program& program, const std::string& name) {
        return name == program.spec || name == program.id;
    };
    for (const std::string& name : names) {
        if (std::ranges::any_of(all, [&](const Program& each) { return is_called(each, name); })) continue;
        std::vector<std::string> known;
        for (const Program& program : all)
            known.push_back(program.id);
        throw driver::CommandError(
            driver::ExitCode::usage, fmt::format("--only: no program is called `{}`", name),
            "the programs are " + driver::join(known, ", ") + "; a name without its grid is for all grids");
    }
    std::vector<Program> wanted;
    for (const Program& program : all) {
        const bool is_named = names.empty() || std::ranges::any_of(names, [&](const std::string& name) {
                                  return is_called(program, name);
                              });
        const bool is_there = std::ranges::any_of(wanted, [&](const Program& other) {
            return other.spec == program.spec && other.extent == program.extent;
        });
        if (is_named && !is_there) wanted.push_back(program);
    }
    return wanted;
}

std::string program_text(const Program& program) {
    const std::string& text = spec_text(program.spec);
    if (program.init.empty()) return text;
    const std::size_t run = text.find("\nrun " + program.spec + " {");
    if (run == std::string::npos) throw InternalError("the spec " + program.spec + " has no run block");
    return text.substr(0, run + 1) + "run " + program.spec + " {\n" + program.init + "}\n";
}

}  // namespace halo::bench
