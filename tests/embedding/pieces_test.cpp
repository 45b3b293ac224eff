// Simulations in pieces on several devices, against the same on one: bit by bit.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

#include "c_pieces.h"
#include "common.h"
#include "halocline/halocline.h"
#include "halocline/halocline.hpp"
#include "runtime/cpu/jit.h"

using namespace halocline;

namespace {

// Something of everything that a host program gives and takes.
constexpr const char* kShot = R"(stencil shot(x, y) {
    param dt = 0.1, wall = 2, keep
    spacing y = 0.5
    param coef w[-1..1] = [0.25, 0.5, 0.25]
    table springs { at, strength: f32 }
    series gusts
    field p: f64 { boundary x fixed wall, y clamp }
    field rock: f32
    field smooth: f16
    points shots, phones
    let pull = sum(s in springs) s.strength * (pos(y) - s.at)
    p[t+1] = keep * (2 * p - p[t-1] + dt * rock * (p[x-1] + p[x+1] + p[y-1] + p[y+1] - 4 * p)) + 1e-4 * pull * gusts[step/2]
    inject p[t+1] at shots += dt * shots.wavelet[t]
    sample p at phones into phones.trace[t]
    smooth = sum(i in -1..1) w[i] * p[y+i]
    reduce loudest = max(abs(p[t+1]))
    reduce total = sum(p[t+1])
})";

// Each step reads what all pieces together came to in the one before.
constexpr const char* kNormed = R"(stencil normed(x, y, z) {
    field u: f32 { boundary periodic }
    reduce most = max(abs(u))
    u[t+1] = (u + 0.1 * (u[x-1] + u[y+1] + u[z-1] + u[z+2])) / (1 + most)
})";

constexpr const char* kSmoothed = R"(stencil smoothed(x, y, z) {
    param k
    field u: f32 { boundary clamp }
    u[t+1] = u + k * (u[x-1] + u[x+1] + u[y-1] + u[y+1] + u[z-1] + u[z+1] - 6 * u) + random() * idx(z)
})";

bool cannot_compile() {
    return !halo::rt::cpu_available();
}

std::vector<Device> cpus(int count) {
    std::vector<Device> devices;
    for (int i = 0; i < count; ++i)
        devices.push_back(Device::cpu(1));
    return devices;
}

const Grid kGrid = {19, 41};
constexpr std::int64_t kCells = 19 * 41;

void start_shot(Simulation& shot) {
    const std::vector<float> floats = some_values(kCells), rock = some_values(kCells, 11);
    const std::vector<double> values(floats.begin(), floats.end());
    std::vector<double> before = values;
    std::reverse(before.begin(), before.end());
    shot.set("keep", 0.99);
    shot.set("wall", 1.5);
    shot.write("p", values);
    shot.write("p", before, -1);
    shot.write("rock", rock);
    shot.set_weights("w", std::vector<double>{0.125, 0.5, 0.375});
    shot.set_table("springs", std::vector<double>{3, 0.5, 9, 0.25});
    shot.set_series("gusts", std::vector<double>{1, 3, -2});
    shot.set_points("shots", std::vector<double>{4.5, 10.2, 9.25, 0.1});
    shot.set_points("phones", std::vector<double>{2.5, 6.7, 11, 19.9, 7.1, 13.35, 0, 0});
    std::vector<double> wavelet(2 * 12);
    for (std::size_t i = 0; i < wavelet.size(); ++i)
        wavelet[i] = 0.5 * static_cast<double>(i % 7);
    shot.set_point_values("shots", "wavelet", wavelet);
}

void check_equal(Simulation& cut, Simulation& whole) {
    CHECK(cut.steps_done() == whole.steps_done());
    CHECK(cut.read("p") == whole.read("p"));
    CHECK(cut.read("p", -1) == whole.read("p", -1));
    CHECK(cut.read("smooth") == whole.read("smooth"));
    CHECK(cut.reduce("loudest") == whole.reduce("loudest"));
    CHECK(cut.reduce("total") == whole.reduce("total"));
    CHECK(cut.trace("phones", "trace") == whole.trace("phones", "trace"));
}

// The elements that a piece has of a field of doubles.
std::vector<double> cells_of(Simulation& simulation, const std::string& field, int number) {
    const View view = simulation.view(field, number);
    const Piece piece = simulation.pieces()[static_cast<std::size_t>(number)];
    const auto* const first = static_cast<const double*>(view.memory) + view.first_cell;
    std::vector<double> cells;
    for (std::int64_t y = 0; y < piece.end[1] - piece.begin[1]; ++y)
        cells.insert(cells.end(), first + y * view.pitch,
                     first + y * view.pitch + piece.end[0] - piece.begin[0]);
    return cells;
}

}  // namespace

TEST_CASE("fields over fewer axes have arrays of their own cells, on one device and in pieces") {
    if (cannot_compile()) return;
    const Program program = compile(R"(stencil s(x, y, z) {
        field profile: f64 over z { boundary clamp }
        field ground: f32 over x, y { boundary x periodic }
        field side: f64 over y, z
        field u: f64
        u[t+1] = u + profile[z+1] * ground[x-1] + side
    })");
    CHECK(program.info().fields[0].over == std::vector<bool>{false, false, true});
    const Grid grid = {6, 5, 8};
    const std::vector<float> ground = some_values(6 * 5);
    const std::vector<double> profile = {1, 2, 3, 5, 8, 13, 21, 34};
    std::vector<double> side(5 * 8);
    for (std::size_t i = 0; i < side.size(); ++i)
        side[i] = 0.25 * static_cast<double>(i);
    for (const int count : {1, 3}) {
        Simulation simulation(program, cpus(count), grid);
        simulation.write("profile", profile);
        simulation.write("ground", ground);
        simulation.write("side", side);
        simulation.step(1);
        const std::vector<double> u = simulation.read("u");
        int wrong = 0;
        for (std::size_t n = 0; n < u.size(); ++n) {
            const std::size_t x = n % 6, y = n / 6 % 5, z = n / 30;
            const double expected =
                profile[std::min<std::size_t>(z + 1, 7)] * static_cast<double>(ground[(x + 5) % 6 + 6 * y]) +
                side[y + 5 * z];
            wrong += u[n] == expected ? 0 : 1;
        }
        CHECK(wrong == 0);
        CHECK(simulation.read("side") == side);
        std::vector<double> part(2);
        simulation.read_box("profile", {{0, 0, 3}, {1, 1, 5}}, part.data(), 16);
        CHECK(part == std::vector<double>{5, 8});
        CHECK(says(refusal([&] { simulation.read_box("profile", {{0, 0, 3}, {2, 1, 4}}, part.data(), 16); }),
                   "1 x 1 x 8"));
        CHECK(says(refusal([&] { simulation.write("profile", side); }), "1 x 1 x 8 = 8 values"));
    }
    Simulation whole(program, Device::cpu(1), grid);
    whole.write("profile", profile);
    const View view = whole.view("profile");
    CHECK(static_cast<const double*>(view.memory)[view.first_cell + 3 * view.slice] == 5);
    CHECK(says(refusal([&] { whole.field("profile"); }), "lies over fewer axes"));
}

TEST_CASE("pieces give what one device does") {
    if (cannot_compile()) return;
    const Program program = compile(kShot);
    for (const int count : {2, 3}) {
        for (const int every : {0, 1, 2}) {
            INFO(count << " pieces, exchange_every " << every);
            SimulationOptions options;
            if (every > 0) options.exchange_every = every;
            Simulation cut(program, cpus(count), kGrid, options), whole(program, Device::cpu(1), kGrid);
            start_shot(cut);
            start_shot(whole);
            for (const int steps : {1, 4, 9}) {
                cut.step(steps);
                whole.step(steps);
                check_equal(cut, whole);
            }
            cut.wait();
            // Values that are given between steps, and params.
            std::vector<double> again = whole.read("p");
            std::reverse(again.begin(), again.end());
            for (Simulation* const each : {&cut, &whole}) {
                each->write("p", again);
                each->set("dt", 0.05);
                each->step(3);
            }
            check_equal(cut, whole);
            CHECK(cut.get("dt") == 0.05);
        }
    }
}

TEST_CASE("pieces wait for each other where a step reads a reduction") {
    if (cannot_compile()) return;
    const Program program = compile(kNormed);
    const Grid grid = {6, 5, 17};
    const std::vector<float> start = some_values(6 * 5 * 17);
    Simulation whole(program, Device::cpu(1), grid);
    whole.write("u", start);
    whole.step(7);
    for (const int count : {2, 3}) {
        Simulation cut(program, cpus(count), grid);
        cut.write("u", start);
        cut.step(7);
        CHECK(read_f32(cut, "u") == read_f32(whole, "u"));
        CHECK(cut.reduce("most") == whole.reduce("most"));
    }
}

TEST_CASE("pieces iterate as one device does, and are asked how often") {
    if (cannot_compile()) return;
    const Program program = compile(R"(stencil implicit(x, y) {
    param tol = 1e-3
    field u, w: f64 { boundary fixed 0.5 }
    solve u[t+1]: u[t+1] - laplacian(u[t+1]) = u using cg tol 1e-6, at most 40
    repeat k until change < tol, at most 30 {
        w[k+1] = (w[k, x-1] + w[k, x+1] + w[k, y-1] + w[k, y+1] + u[t+1]) / 5
        reduce change = max(abs(w[k+1] - w[k]))
    }
})");
    const Grid grid = {17, 23};
    Simulation whole(program, Device::cpu(1), grid), pieces(program, cpus(3), grid);
    std::vector<double> start(17 * 23);
    for (std::size_t i = 0; i < start.size(); ++i)
        start[i] = std::sin(static_cast<double>(i));
    for (Simulation* each : {&whole, &pieces}) {
        each->write("u", start);
        each->step(3);
    }
    CHECK(pieces.read("u") == whole.read("u"));
    CHECK(pieces.read("w") == whole.read("w"));
    REQUIRE(pieces.iterations().size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(pieces.iterations()[i].condition == whole.iterations()[i].condition);
        CHECK(pieces.iterations()[i].total == whole.iterations()[i].total);
        CHECK(pieces.iterations()[i].most_in_step == whole.iterations()[i].most_in_step);
    }
}

TEST_CASE("a device may have several pieces, and a list of one is one device") {
    if (cannot_compile()) return;
    const Program program = compile(kSmoothed);
    const Grid grid = {9, 8, 20};
    const std::vector<float> start = some_values(9 * 8 * 20);
    const Device device = Device::cpu(2);
    std::vector<std::vector<float>> results;
    for (const int count : {1, 2, 3}) {
        Simulation simulation(program, std::vector<Device>(static_cast<std::size_t>(count), device), grid);
        CHECK(simulation.pieces().size() == static_cast<std::size_t>(count));
        simulation.set("k", 0.1);
        simulation.write("u", start);
        simulation.step(10);
        results.push_back(read_f32(simulation, "u"));
        std::vector<float> elements(start.size());
        simulation.read_elements("u", elements.data(),
                                 static_cast<std::int64_t>(elements.size() * sizeof(float)));
        CHECK(elements == results.back());
    }
    CHECK(results[1] == results[0]);
    CHECK(results[2] == results[0]);
    Simulation one(program, std::vector<Device>{device}, grid);
    CHECK(one.layout().grid == grid);
    CHECK(one.field("u").grid() == grid);
}

TEST_CASE("a piece says which cells it has, and where they lie") {
    if (cannot_compile()) return;
    const Program program = compile(kShot);
    Simulation shot(program, cpus(3), kGrid);
    start_shot(shot);
    shot.step(5);
    const std::vector<Piece> pieces = shot.pieces();
    REQUIRE(pieces.size() == 3);
    CHECK(pieces.front().begin == Grid{0, 0});
    CHECK(pieces.back().end == kGrid);
    std::vector<double> cells;
    for (int i = 0; i < 3; ++i) {  // along y: one after the other in the whole, too
        const std::vector<double> own = cells_of(shot, "p", i);
        cells.insert(cells.end(), own.begin(), own.end());
    }
    CHECK(cells == shot.read("p"));
    CHECK(says(refusal([&] { shot.view("p", 3); }), "3 pieces, 0 to 2, and no piece 3"));
    CHECK(says(refusal([&] { shot.view("p", 0, -2); }), "levels -1 to 0; there is no level -2"));
    CHECK(says(refusal([&] { shot.view("q"); }), "has no field 'q'"));
    Simulation whole(program, Device::cpu(1), kGrid);
    start_shot(whole);
    whole.step(5);
    CHECK(cells_of(whole, "p", 0) == cells);
}

TEST_CASE("what pieces cannot do is refused, and nothing has happened") {
    if (cannot_compile()) return;
    const Program program = compile(kShot);
    CHECK(says(refusal([&] { Simulation(program, std::vector<Device>{}, kGrid); }), "the list has none"));
    CHECK(says(refusal([&] { Simulation(program, cpus(2), {8, 8, 8}); }), "2 numbers"));
    CHECK(says(refusal([&] { Simulation(program, cpus(4), {19, 3}); }),
               "cannot be cut into 4 pieces: 4 pieces along y would have 0 of its 3 cells each"));
    CHECK(
        says(refusal([&] { Simulation(program, cpus(2), kGrid, {.exchange_every = 0}); }), "1 is the least"));
    CHECK(says(refusal([&] { Simulation(program, cpus(2), kGrid, {.exchange_every = 100}); }),
               "exchange every 20 steps, or more often"));
    SimulationOptions placed;
    placed.layout = common_layout({program}, Device::cpu(1), kGrid);
    CHECK(says(refusal([&] { Simulation(program, cpus(2), kGrid, placed); }),
               "each piece of a grid has its own"));
    CHECK(says(refusal(
                   [&] {
                       const Program line =
                           compile("stencil s(x) {\n field u: f32\n u[t+1] = u\n reduce m = max(u)\n}");
                       Simulation(line, cpus(2), {50});
                   },
                   ErrorCode::unsupported),
               "runs on one device alone"));

    Simulation shot(program, cpus(2), kGrid);
    Simulation whole(program, Device::cpu(1), kGrid);
    const Field arrays = whole.field("p");
    CHECK(says(refusal([&] { shot.bind("p", arrays); }), "'p' can be bound to arrays on one device"));
    CHECK(says(refusal([&] { shot.field("p"); }), "'p' can be shared on one device"));
    CHECK(says(refusal([&] { shot.layout(); }), "in pieces on several"));
    CHECK(says(refusal([&] { shot.set("dtt", 1); }), "has no parameter 'dtt'; it has 'dt', 'wall', 'keep'"));
    CHECK(says(refusal([&] { shot.set("y_first", 1); }), "has no parameter 'y_first'"));
    CHECK(says(refusal([&] { shot.get("keep"); }), "'keep' has no default"));
    CHECK(says(refusal([&] { shot.read("q"); }), "has no field 'q'"));
    CHECK(says(refusal([&] { shot.write("p", some_values(63)); }),
               "19 x 41 = 779 values, but the array holds 63"));
    CHECK(says(refusal([&] { shot.write("p", some_values(kCells), -2); }), "no level -2"));
    CHECK(says(refusal([&] { shot.write_elements("p", some_values(4).data(), 16); }), "16 were given"));
    CHECK(says(refusal([&] { shot.step(-1); }), "-1 steps"));
    CHECK(says(refusal([&] { shot.reduce("total"); }), "no value before the first step"));
    CHECK(says(refusal([&] { shot.reduce("most"); }), "has no reduction 'most'"));
    start_shot(shot);
    CHECK(says(refusal([&] { shot.set_points("phones", std::vector<double>{1, 2, 3}); }), "3"));
    shot.set_points("phones", std::vector<double>{2.5, 6.7, 11, 190, 7.1, 13.35, 0, 0});
    CHECK(says(refusal([&] { shot.step(); }), "190"));
    CHECK(shot.steps_done() == 0);
    CHECK(says(refusal([&] {
                   Simulation bare(compile(kSmoothed), cpus(2), {9, 8, 20});
                   bare.step();
               }),
               "'k' of 'smoothed' has no default"));
    start_shot(shot);
    start_shot(whole);
    shot.step(6);
    whole.step(6);
    check_equal(shot, whole);
}

TEST_CASE("code for pieces is compiled beforehand, and devices are taken in any order") {
    if (cannot_compile()) return;
    const Program program = compile(kSmoothed);
    const Grid grid = {9, 8, 20};
    const std::vector<Device> devices = cpus(2), turned = {devices[1], devices[0]};
    precompile(program, devices, {grid}).get();
    CHECK_THROWS_AS(precompile(program, devices, {{1, 1, 1}}).get(), Error);
    CHECK_THROWS_AS(precompile(program, std::vector<Device>{}, {grid}).get(), Error);
    // Two simulations on the same devices, in turn from two threads.
    std::vector<std::vector<float>> results(2);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 2; ++i)
        threads.emplace_back([&, i] {
            Simulation simulation(program, i == 0 ? devices : turned, grid);
            simulation.set("k", 0.1);
            simulation.write("u", some_values(9 * 8 * 20));
            for (int round = 0; round < 50; ++round)
                simulation.step();
            results[i] = read_f32(simulation, "u");
        });
    for (std::thread& thread : threads)
        thread.join();
    CHECK(results[0] == results[1]);
}

TEST_CASE("pieces from C") {
    if (cannot_compile()) return;
    Simulation whole(compile(kSmoothed), Device::cpu(1), {9, 8, 20});
    std::vector<float> values = some_values(9 * 8 * 20);
    whole.set("k", 0.1);
    whole.write("u", values);
    whole.step(10);
    const char* const trouble = run_pieces_in_c(kSmoothed, values.data(), 3, 10);
    CHECK(std::string(trouble == nullptr ? "" : trouble).empty());
    CHECK(values == read_f32(whole, "u"));

    halo_program* program = nullptr;
    halo_device* devices[2] = {nullptr, nullptr};
    halo_simulation* simulation = nullptr;
    REQUIRE(halo_compile(kShot, "shot.halo", nullptr, &program) == HALO_OK);
    REQUIRE(halo_device_cpu(1, &devices[0]) == HALO_OK);
    const int64_t grid[] = {19, 41};
    CHECK(halo_simulation_create_on(program, devices, 2, grid, 2, 0, &simulation) == HALO_BAD_ARGUMENT);
    CHECK(says(halo_message(), "a device is NULL"));
    REQUIRE(halo_device_cpu(1, &devices[1]) == HALO_OK);
    CHECK(halo_simulation_create_on(program, nullptr, 2, grid, 2, 0, &simulation) == HALO_BAD_ARGUMENT);
    CHECK(halo_simulation_create_on(program, devices, 0, grid, 2, 0, &simulation) == HALO_BAD_ARGUMENT);
    CHECK(halo_simulation_create_on(program, devices, 2, grid, 2, -1, &simulation) == HALO_BAD_ARGUMENT);
    CHECK(says(halo_message(), "exchange_every"));
    CHECK(simulation == nullptr);
    REQUIRE(halo_simulation_create_on(program, devices, 2, grid, 2, 2, &simulation) == HALO_OK);
    halo_layout layout;
    CHECK(halo_simulation_layout(simulation, &layout) == HALO_BAD_ARGUMENT);
    halo_field* field = nullptr;
    CHECK(halo_share(simulation, "p", &field) == HALO_BAD_ARGUMENT);
    halo_piece cells;
    CHECK(halo_simulation_piece(simulation, 2, &cells) == HALO_BAD_ARGUMENT);
    CHECK(says(halo_message(), "2 pieces"));
    halo_view view;
    CHECK(halo_simulation_view(simulation, "p", 2, 0, &view) == HALO_BAD_ARGUMENT);
    halo_simulation_release(simulation);
    halo_program_release(program);
    for (halo_device* const device : devices)
        halo_device_release(device);
}
