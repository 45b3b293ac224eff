// Files of a simulation, and what this machine has.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "common.h"
#include "halocline/halocline.h"
#include "halocline/halocline.hpp"
#include "runtime/cpu/jit.h"

using namespace halocline;
namespace fs = std::filesystem;

namespace {

constexpr const char* kWave = R"(stencil wave(x, y) {
    spacing x = 0.5
    origin x = -1
    param dt = 0.1
    table kicks { size: f64 }
    series tide
    field c: f32
    field p: f64 { boundary fixed 0 }
    points ears
    p[t+1] = 2 * p - p[t-1] + dt^2 * c * (p[x-1] + p[x+1] - 2 * p) + sum(k in kicks) k.size + tide[step]
    reduce top = max(p[t+1])
    sample p at ears into ears.heard[t]
})";

class FilesFolder {
public:
    FilesFolder() : path_(fs::temp_directory_path() / ("files_test_" + std::to_string(::getpid()))) {
        fs::create_directory(path_);
    }
    ~FilesFolder() { fs::remove_all(path_); }
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }

private:
    fs::path path_;
};

Simulation started_wave(const Program& program, const std::vector<Device>& devices) {
    Simulation wave(program, devices, {12, 10});
    wave.write("p", some_values(120));
    wave.write("p", some_values(120, 5), -1);
    wave.write("c", some_values(120, 9));
    wave.set("dt", 0.05);
    wave.set_table("kicks", std::vector<double>{0.25, 0.5});
    wave.set_series("tide", std::vector<double>{0.5, -0.25, 0.125, 1, 2, -1, 0.75, 3});
    wave.set_points("ears", std::vector<double>{1.5, 3.0, 2.0, 7.0});
    return wave;
}

void check_same(Simulation& one, Simulation& other) {
    CHECK(one.steps_done() == other.steps_done());
    for (const int level : {0, -1})
        CHECK(one.read("p", level) == other.read("p", level));
    CHECK(one.read("c") == other.read("c"));
    CHECK(one.get("dt") == other.get("dt"));
    CHECK(one.reduce("top") == other.reduce("top"));
    CHECK(one.trace("ears", "heard") == other.trace("ears", "heard"));
}

}  // namespace

TEST_CASE("a simulation goes on from a checkpoint, on one device and in pieces") {
    if (!halo::rt::cpu_available()) return;
    const Program program = compile(kWave);
    const std::vector<Device> one = {Device::cpu(1)}, two = {Device::cpu(1), Device::cpu(1)};
    for (const std::vector<Device>& devices : {one, two}) {
        const FilesFolder folder;
        Simulation wave = started_wave(program, devices);
        wave.step(4);
        CHECK(save_checkpoint(wave, folder / "ck") == folder / "ck" + "/step-4");
        wave.step(2);
        save_checkpoint(wave, folder / "ck");
        CHECK_FALSE(fs::exists(folder / "ck/step-4"));

        const Checkpoint found = Checkpoint::find(folder / "ck");
        CHECK(found.program() == "wave");
        CHECK(found.grid() == Grid{12, 10});
        CHECK(found.steps() == 6);
        CHECK(found.holds_data());
        Simulation restored(program, two, found.grid());
        found.restore(restored);
        check_same(restored, wave);
        wave.step(5), restored.step(5);
        check_same(restored, wave);
        save_checkpoint(restored, folder / "ck");  // its own: it went on from there
        CHECK(says(refusal([&] { found.restore(restored); }), "has done no step"));
        Simulation other = started_wave(program, one);
        CHECK(says(refusal([&] { save_checkpoint(other, folder / "ck"); }), "another run, after step 11"));
        Simulation small(program, one, {8, 8});
        CHECK(says(refusal([&] { found.restore(small); }), "another grid: 12 x 10"));
    }
}

TEST_CASE("checkpoints that are not there, or damaged") {
    if (!halo::rt::cpu_available()) return;
    const FilesFolder folder;
    CHECK(says(refusal([&] { Checkpoint::find(folder / "none"); }, ErrorCode::io), "no checkpoint"));
    const Program program = compile(kWave);
    Simulation wave = started_wave(program, {Device::cpu(1)});
    save_checkpoint(wave, folder / "ck");
    std::ofstream(folder / "ck/step-0/c.npy", std::ios::app) << "more";
    CHECK(says(refusal([&] { Checkpoint::find(folder / "ck"); }, ErrorCode::io), "damaged"));
    std::ofstream(folder / "file") << "";
    refusal([&] { save_checkpoint(wave, folder / "file"); }, ErrorCode::io);
}

TEST_CASE("fields are saved, and lie where the spec says") {
    if (!halo::rt::cpu_available()) return;
    const FilesFolder folder;
    Simulation wave = started_wave(compile(kWave), {Device::cpu(1)});
    save_fields(wave, folder / "p.npy", {"p"});
    save_fields(wave, folder / "state.npy");
    CHECK(fs::file_size(folder / "p.npy") == 128 + 120 * 8);
    CHECK(fs::file_size(folder / "state.npy") == fs::file_size(folder / "p.npy"));
    CHECK(says(refusal([&] { save_fields(wave, folder / "p.txt"); }), "files are written as .npy"));
    CHECK(says(refusal([&] { save_fields(wave, folder / "p.npy", {"c", "p"}); }), "one field"));
    CHECK(says(refusal([&] { save_fields(wave, folder / "p.npy", {"q"}); }), "'c', 'p'"));
    refusal([&] { save_fields(wave, folder / "none/p.npy"); }, ErrorCode::io);
    const Coordinates where = coordinates(wave, "p");
    CHECK(where.spacing == std::vector<double>{0.5, 1});
    CHECK(where.origin == std::vector<double>{-1, 0});
    CHECK(where.first == where.origin);
    CHECK(where.time_step == 0.05);
    refusal([&] { coordinates(wave, "q"); });
}

TEST_CASE("a box of cells is read alone, on one device and in pieces") {
    if (!halo::rt::cpu_available()) return;
    const Program program = compile(kWave);
    const std::vector<Device> one = {Device::cpu(1)}, two = {Device::cpu(1), Device::cpu(1)};
    for (const std::vector<Device>& devices : {one, two}) {
        Simulation wave = started_wave(program, devices);
        wave.step(2);
        const std::vector<double> all = wave.read("p", -1);
        std::vector<double> part(3 * 7);
        const auto bytes = static_cast<std::int64_t>(part.size() * sizeof(double));
        wave.read_box("p", {{4, 2}, {7, 9}}, part.data(), bytes, -1);
        for (std::size_t y = 0; y < 7; ++y)
            for (std::size_t x = 0; x < 3; ++x)
                CHECK(part[x + 3 * y] == all[x + 4 + 12 * (y + 2)]);
        for (const Piece& bad : {Piece{{0, 0}, {13, 1}}, Piece{{-1, 0}, {1, 1}}, Piece{{3, 3}, {3, 4}},
                                 Piece{{0}, {1}}, Piece{{}, {}}})
            CHECK(says(refusal([&] { wave.read_box("p", bad, part.data(), bytes); }), "lies in the grid"));
        CHECK(says(refusal([&] { wave.read_box("p", {{0, 0}, {1, 1}}, part.data(), bytes); }), "8 bytes"));
        refusal([&] { wave.read_box("q", {{0, 0}, {1, 1}}, part.data(), 8); });
    }
}

TEST_CASE("checkpoints and files by the C interface") {
    if (!halo::rt::cpu_available()) return;
    const FilesFolder folder;
    const std::string ck = folder / "ck", file = folder / "u.npy";
    halo_device* device = nullptr;
    halo_program* program = nullptr;
    halo_simulation *simulation = nullptr, *restored = nullptr;
    halo_checkpoint* checkpoint = nullptr;
    const std::int64_t grid[] = {8};
    REQUIRE(halo_device_cpu(1, &device) == HALO_OK);
    REQUIRE(halo_compile("stencil s(x) {\n field u: f64\n u[t+1] = u + 1\n}\n", "s", nullptr, &program) ==
            HALO_OK);
    REQUIRE(halo_simulation_create(program, device, grid, 1, &simulation) == HALO_OK);
    REQUIRE(halo_simulation_create(program, device, grid, 1, &restored) == HALO_OK);
    REQUIRE(halo_step(simulation, 3) == HALO_OK);
    REQUIRE(halo_save_checkpoint(simulation, ck.c_str()) == HALO_OK);
    REQUIRE(halo_checkpoint_find(ck.c_str(), &checkpoint) == HALO_OK);
    halo_checkpoint_info info{};
    REQUIRE(halo_checkpoint_describe(checkpoint, &info) == HALO_OK);
    CHECK(info.steps == 3);
    CHECK(info.axes == 1);
    CHECK(info.grid[0] == 8);
    CHECK(info.program == std::string("s"));
    REQUIRE(halo_checkpoint_restore(checkpoint, restored) == HALO_OK);
    std::vector<double> values(8);
    REQUIRE(halo_read_f64(restored, "u", values.data(), values.size(), 0) == HALO_OK);
    CHECK(values == std::vector<double>(8, 3.0));
    const char* const fields[] = {"u", nullptr};
    CHECK(halo_save_fields(restored, file.c_str(), fields) == HALO_OK);
    CHECK(halo_save_fields(restored, file.c_str(), nullptr) == HALO_OK);
    halo_checkpoint_release(checkpoint);
    halo_simulation_release(simulation);
    halo_simulation_release(restored);
    halo_program_release(program);
    halo_device_release(device);
}

TEST_CASE("what this machine has, and nothing to tune on a CPU") {
    const MachineReport report = examine_machine();
    CHECK(report.findings.size() == 8);
    for (const Finding& each : report.findings)
        CHECK_FALSE(each.detail.empty());
    CHECK(says(report.figures, "schedules are chosen by figures"));
    const Program program = compile(kWave);
    CHECK(says(refusal([&] { tune(program, Device::cpu(1), {64, 64}); }), "only a GPU runs by schedules"));
}
