#include "sample_results.h"

namespace halo::test {

using namespace bench;

namespace {

CaseResult one_case(Case which, double bytes, double flops) {
    CaseResult result;
    result.which = std::move(which);
    result.bytes_per_cell = bytes;
    result.flops_per_cell = flops;
    return result;
}

Measurement timed(const char* variant, const char* schedule, double seconds) {
    Measurement measurement;
    measurement.variant = variant;
    measurement.schedule = schedule;
    measurement.seconds = seconds;
    measurement.spread = 0.02;
    measurement.steps = 24;
    measurement.repeats = 5;
    measurement.registers = 96;
    measurement.spill_bytes = 0;
    return measurement;
}

}  // namespace

Results gpu_results() {
    Results results;
    MachineFacts& machine = results.machine;
    machine.is_gpu = true;
    machine.name = "Made-up GPU, sm_90, 100 SMs";
    machine.software = "driver 1.2, CUDA 13.0, NVRTC 13.0";
    machine.commit = "abc1234";
    machine.multiprocessors = 100;
    machine.core_clock_ghz = 2;
    machine.copy_kernel = 4e12;
    machine.copy_driver = 3.9e12;
    machine.copy_bytes = std::int64_t{4} << 30;
    machine.flops_f32 = 50e12;
    machine.flops_f64 = 25e12;
    machine.clock_idle_ghz = 1.98;
    machine.clock_busy_ghz = 1.75;
    results.variants = {"naive", "direct", "tile", "stream"};

    // A billion cells at 8 bytes: the bound is 500 GStencil/s.
    CaseResult star = one_case({"bench/star3d1", "3D 7-point", "f32", {1000, 1000, 1000}}, 8, 13);
    star.measurements = {timed("naive", "direct threads=32x8x1 cells=1x1x1", 1.0 / 250),
                         timed("direct", "direct threads=32x4x1 cells=4x2x4", 1.0 / 450),
                         timed("stream", "stream threads=32x4 cells=4x2", 1.0 / 200)};
    star.chosen = "direct";
    CaseResult box = one_case({"bench/box2d1", "2D 9-point box", "f64", {1000, 1000, 1}}, 16, 17);
    box.measurements = {timed("naive", "direct threads=32x8 cells=1x1", 1e-5),
                        timed("direct", "direct threads=128x2 cells=2x4", 5e-6)};
    box.measurements.back().wrong = "u differs from the naive schedule's at cell 17";
    box.measurements.back().seconds = 0;
    box.chosen = "direct";
    Case heat{"heat3d", "heat", "f32", {128, 128, 128}, Section::runs, 5000};
    heat.published = {0.37, "370 ms: somebody else"};
    CaseResult run = one_case(heat, 8, 9);
    run.measurements = {timed("naive", "direct threads=32x8x1 cells=1x1x1", 8e-6),
                        timed("direct", "direct threads=32x4x4 cells=4x2x4", 4e-6)};
    run.chosen = "direct";
    CaseResult sum = one_case(
        {"coulomb", "Coulomb potential", "f32", {100, 100, 100}, Section::sums, 1, 1000, 9, 1}, 4, 9);
    // 10^9 terms in 1 ms; the bound is 16 * 2 GHz * 100 = 3200 * 10^9 a second.
    sum.measurements = {timed("direct", "direct threads=32x4x1 cells=4x1x1", 1e-3)};
    sum.chosen = "direct";
    results.cases = {star, box, run, sum};
    results.grids = {{32, 1e-6, 32e9, "direct"}, {64, 2e-6, 131e9, "direct"}, {512, 3e-4, 447e9, "direct"}};
    results.compiles = {{"chain", 1, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 0.08, 1000},
                        {"chain", 100, 1e-2, 1e-2, 1e-2, 1e-2, 1e-2, 0, 100000},
                        {"wide", 1, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 0.07, 1000},
                        {"lets", 1, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 0.06, 1000}};
    return results;
}

Results cpu_results() {
    Results results;
    results.machine.name = "A processor, 2 threads";
    results.machine.software = "clang";
    results.machine.commit = "abc1234";
    results.machine.copy_driver = 40e9;
    results.machine.copy_bytes = 128000000;
    results.variants = {"cpu"};
    CaseResult star = one_case({"bench/star2d1", "2D 5-point", "f32", {1000, 1000, 1}}, 8, 9);
    star.measurements = {timed("cpu", "cpu", 1e-3)};
    star.chosen = "cpu";
    results.cases = {star};
    results.missing = {"no GPU was measured: there is none"};
    return results;
}

}  // namespace halo::test
