// Host programs on a GPU: compiled there or before, in the caller's stream and on the caller's memory,
// against the same programs on the CPU, bit by bit.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <thread>

#include "common.h"
#include "halocline/halocline.hpp"
#include "heat.h"
#include "heat_back.h"
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/driver.h"
#include "runtime/nvrtc/nvrtc.h"
#include "skip.h"
#include "smooth.h"
#include "wave.h"

using namespace halocline;

namespace {

const SkipUnless gpu(halo::rt::cuda_status().why.empty(), halo::rt::cuda_status().why);
const SkipUnless nvrtc(halo::rt::Nvrtc::find() != nullptr, halo::rt::Nvrtc::why_missing());

const Grid kGrid = {301, 97};
constexpr std::int64_t kCells = 301 * 97;

Program compiled(const std::string& spec, bool wait = true) {
    CompileOptions options;
    options.wait_for_all_kernels = wait;
    return compile_file(HALO_SOURCE_DIR "/tests/embedding/specs/" + spec + ".halo", options);
}

Simulation heat_on(const Program& program, const Device& device, const SimulationOptions& options = {}) {
    Simulation heat(program, device, kGrid, options);
    heat.set("dt", 0.2);
    return heat;
}

std::vector<float> expected_heat(int steps) {
    Simulation heat = heat_on(heat_program(), Device::cpu(1));
    heat.write("u", some_values(kCells));
    heat.step(steps);
    return read_f32(heat, "u");
}

}  // namespace

TEST_CASE("a GPU computes what the CPU does, compiled with and without waiting") {
    const Device device = Device::cuda();
    for (const bool wait : {true, false}) {
        Simulation heat = heat_on(compiled("heat", wait), device);
        heat.write("u", some_values(kCells));
        heat.step(157);
        CHECK(read_f32(heat, "u") == expected_heat(157));
        heat.step(1);
        CHECK(read_f32(heat, "u") == expected_heat(158));
    }
    Simulation wave(compiled("wave"), device, {40, 30, 20}),
        on_cpu(wave_program(), Device::cpu(1), {40, 30, 20});
    for (Simulation* each : {&wave, &on_cpu}) {
        each->write("p", some_values(40 * 30 * 20));
        each->write("p", some_values(40 * 30 * 20, 7), -1);
        each->step(33);
    }
    CHECK(wave.read("p") == on_cpu.read("p"));
    CHECK(wave.read("p", -1) == on_cpu.read("p", -1));
}

TEST_CASE("a bundle runs as what it was made of") {
    const Device device = Device::cuda();
    const auto path =
        (std::filesystem::temp_directory_path() / ("gpu_test_" + std::to_string(::getpid()))).string();
    for (const bool any_grid : {true, false}) {
        BundleOptions options;
        options.archs = {device.arch()};
        options.any_grid = any_grid;
        if (!any_grid) options.grids = {kGrid};
        write_bundle(compiled("heat"), path, options);
        Simulation heat = heat_on(Program::load(path), device);
        heat.write("u", some_values(kCells));
        heat.step(157);
        CHECK(read_f32(heat, "u") == expected_heat(157));
    }
    std::filesystem::remove(path);
}

TEST_CASE("work goes into the caller's stream, also the default one") {
    const auto& driver = halo::rt::cuda::Driver::get();
    const Device own = Device::cuda();  // keeps the primary context
    const halo::rt::CurrentCudaContext keep;
    int gpu_number = 0;
    halo::rt::cuda::Context context = nullptr;
    REQUIRE(driver.DeviceGet(&gpu_number, 0) == 0);
    REQUIRE(driver.DevicePrimaryCtxRetain(&context, gpu_number) == 0);
    REQUIRE(driver.CtxSetCurrent(context) == 0);
    halo::rt::cuda::Stream stream = nullptr;
    REQUIRE(driver.StreamCreateWithPriority(&stream, 0, 0) == 0);
    for (void* const each : {static_cast<void*>(stream), static_cast<void*>(nullptr)}) {
        CudaHandles handles;
        handles.context = context;
        handles.stream = each;
        const Device device = Device::cuda(handles);
        Simulation heat = heat_on(compiled("heat"), device);
        heat.write("u", some_values(kCells));
        heat.step(300);
        CHECK(read_f32(heat, "u") == expected_heat(300));
    }
    CHECK(driver.StreamDestroy(stream) == 0);
    CHECK(driver.DevicePrimaryCtxRelease(gpu_number) == 0);
}

TEST_CASE("arrays with more room than is needed, and those that do not fit") {
    const Device device = Device::cuda();
    const Program program = compiled("heat");
    const Layout least = common_layout({program}, device, kGrid);
    Layout roomy = least;
    roomy.pitch += 96;
    roomy.first_cell = least.first_cell + 3 * roomy.pitch;
    roomy.elements = roomy.pitch * (kGrid[1] + 12);
    const Field one(device, Type::f32, roomy), other(device, Type::f32, roomy);
    const Field field = Field::of_views(device, Type::f32, kGrid, {one.view(), other.view()});
    Simulation heat = heat_on(program, device);
    heat.bind("u", field);
    heat.write("u", some_values(kCells));
    heat.step(64);
    CHECK(read_f32(heat, "u") == expected_heat(64));
    CHECK(heat.layout().pitch == roomy.pitch);

    View view = one.view(), second = other.view();
    view.pitch = second.pitch = roomy.pitch + 4;
    Simulation third = heat_on(program, device);
    CHECK(says(refusal([&] { third.bind("u", Field::of_views(device, Type::f32, kGrid, {view, second})); }),
               "a multiple of 32"));
}

TEST_CASE("programs share a field on the GPU as they do on the CPU") {
    const auto run = [](const Device& device, const std::vector<Program>& programs) {
        SimulationOptions options;
        options.layout = common_layout(programs, device, kGrid);
        Simulation heat = heat_on(programs[0], device, options);
        Simulation back(programs[1], device, kGrid, options), smooth(programs[2], device, kGrid, options);
        const Field field(device, Type::f32, *options.layout);
        for (Simulation* each : {&heat, &back, &smooth})
            each->bind("u", field);
        heat.write("u", some_values(kCells));
        std::vector<float> all;
        for (int round = 0; round < 4; ++round) {
            heat.step(1 + 9 * round);
            back.step(2);
            smooth.step();
            for (const float value : read_f32(smooth, "v"))
                all.push_back(value);
        }
        for (const float value : read_f32(heat, "u"))
            all.push_back(value);
        return all;
    };
    CHECK(run(Device::cuda(), {compiled("heat"), compiled("heat_back"), compiled("smooth")}) ==
          run(Device::cpu(1), {heat_program(), heat_back_program(), smooth_program()}));
}

TEST_CASE("pieces on GPUs compute what one CPU does") {
    const auto gpus = static_cast<int>(halo::rt::cuda_status().devices.size());
    for (const int count : {2, 3}) {
        std::vector<Device> devices;
        for (int i = 0; i < count; ++i)
            devices.push_back(Device::cuda(i % gpus));
        Simulation heat(compiled("heat"), devices, kGrid), whole = heat_on(heat_program(), Device::cpu(1));
        heat.set("dt", 0.2);
        for (Simulation* const each : {&heat, &whole}) {
            each->write("u", some_values(kCells));
            each->step(157);
        }
        CHECK(read_f32(heat, "u") == read_f32(whole, "u"));
        CHECK(heat.reduce("change") == whole.reduce("change"));
        for (Simulation* const each : {&heat, &whole})
            each->step(1);
        CHECK(read_f32(heat, "u") == read_f32(whole, "u"));
    }
}

TEST_CASE("threads on one GPU take turns") {
    const Device device = Device::cuda();
    const Program program = compiled("heat");
    const std::shared_future<void> ready = precompile(program, device, {kGrid});
    std::vector<std::vector<float>> results(3);
    std::vector<std::thread> threads;
    for (std::vector<float>& result : results)
        threads.emplace_back([&] {
            Simulation heat = heat_on(program, device);
            heat.write("u", some_values(kCells));
            for (int step = 0; step < 50; ++step)
                heat.step();
            result = read_f32(heat, "u");
        });
    for (std::thread& thread : threads)
        thread.join();
    ready.get();
    for (const auto& result : results)
        CHECK(result == expected_heat(50));
}

TEST_CASE("a gradient on a GPU is the slope of the misfit, and the same bits each time") {
    const Program program = compile(R"(stencil shot(x, y) {
        param dt = 0.4
        field v: f64
        field p: f64 { boundary fixed 0 }
        points shots, phones: linear
        p[t+1] = 2*p - p[t-1] + (v * dt)^2 * laplacian(p) - 0.01 * p^3
        inject p[t+1] at shots += shots.wavelet[t]
        sample p at phones into phones.seen[t]
    }
)");
    constexpr std::int64_t kSteps = 40;
    std::vector<double> v, wavelet, measured;
    for (std::int64_t i = 0; i < kCells; ++i)
        v.push_back(0.6 + 0.01 * static_cast<double>(i % 13));
    for (int step = 0; step < kSteps; ++step) {
        wavelet.push_back(0.1 * (step % 7));
        measured.insert(measured.end(), {0.1 * (step % 3), 0.0});
    }
    const auto started = [&](const std::vector<double>& medium) {
        Simulation simulation(program, Device::cuda(), kGrid);
        simulation.write("v", medium);
        simulation.set_points("shots", std::vector<double>{150.25, 40});
        simulation.set_point_values("shots", "wavelet", wavelet);
        simulation.set_points("phones", std::vector<double>{160, 43.5, 140.75, 50});
        return simulation;
    };
    Simulation shot = started(v);
    Gradient all(shot, {"phones.seen", {"v", "shots.wavelet"}}),
        few(shot, {"phones.seen", {"v", "shots.wavelet"}, false, 5});
    const GradientReport report = all.compute(kSteps, {{}, measured});
    CHECK(report.snapshots == kSteps);
    CHECK(report.snapshots_on_host == 0);
    const std::vector<double> found = all.read("v");
    const auto misfit = [&](std::size_t cell, double change) {
        std::vector<double> medium = v;
        medium[cell] += change;
        Simulation forward = started(medium);
        forward.step(kSteps);
        const std::vector<double> seen = forward.trace("phones", "seen");
        double sum = 0;
        for (std::size_t i = 0; i < seen.size(); ++i)
            sum += (seen[i] - measured[i]) * (seen[i] - measured[i]) / 2;
        return sum;
    };
    CHECK(report.objective == Approx(misfit(0, 0)).epsilon(1e-12));
    const auto steepest = static_cast<std::size_t>(
        std::ranges::max_element(found, {}, [](double slope) { return std::abs(slope); }) - found.begin());
    REQUIRE(found[steepest] != 0);
    constexpr double kChange = 1e-5;
    CHECK(found[steepest] ==
          Approx((misfit(steepest, kChange) - misfit(steepest, -kChange)) / (2 * kChange)).epsilon(1e-5));
    for (int time = 0; time < 2; ++time) {
        CHECK(few.compute(kSteps, {{}, measured}).steps_done_again > 0);
        CHECK(few.read("v") == found);
        CHECK(few.trace("shots.wavelet") == all.trace("shots.wavelet"));
    }
    CHECK(shot.steps_done() == 0);
}
