// What was measured: plain data, made by measure.h and growth.h, written by page.h, pictures.h and json.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/bench/cases.h"

namespace halo::bench {

// Where it was measured.
struct MachineFacts {
    bool is_gpu = false;
    std::string name;      // "NVIDIA H200, sm_90, 132 SMs"
    std::string software;  // "driver 580.65.06 (CUDA 13.0), NVRTC 13.0"
    std::string commit;
    int multiprocessors = 0;    // of a GPU
    double core_clock_ghz = 0;  // the highest that it may run at; 0: not known
    double memory_clock_ghz = 0;
    int memory_bus_bits = 0;
    double copy_kernel = 0;       // bytes a second, read and written, of large arrays; 0: not measured
    double copy_driver = 0;       // by the device's own copy
    std::int64_t copy_bytes = 0;  // of the array that was copied
    double flops_f32 = 0;         // that fused multiply-adds reach, a second; 0: not measured
    double flops_f64 = 0;
    double clock_idle_ghz = 0;  // measured before the first and after the last measurement; 0: not measured
    double clock_busy_ghz = 0;

    double copy() const { return copy_kernel > copy_driver ? copy_kernel : copy_driver; }
};

// One schedule of one case.
struct Measurement {
    std::string variant;   // "naive", "direct", …, "chosen"; of --schedule its text
    std::string schedule;  // what ran, in full; stages separated by "; "
    std::string wrong;     // how its results differ; empty: they are right
    double seconds = 0;    // a step, the median of the repeated runs
    double spread = 0;     // of the runs: (longest - shortest) / median
    std::int64_t steps = 0;
    int repeats = 0;
    int registers = -1;  // of the stage's kernel that takes most; -1: not known
    std::int64_t spill_bytes = -1;
};

struct CaseResult {
    Case which;
    double bytes_per_cell = 0;  // that one sweep cannot avoid: each level that it reads or writes, once
    double flops_per_cell = 0;
    std::vector<Measurement> measurements;
    std::string chosen;   // the variant that is the compiler's own choice
    std::string trouble;  // why it could not be measured at all

    const Measurement* find(const std::string& variant) const;
    const Measurement* choice() const { return find(chosen); }
    double cells() const;
    double rate(const Measurement& measurement) const;  // cells a second, or terms of sums
    double bound(const MachineFacts& machine) const;    // cells a second of one sweep at the copy's speed
    bool is_right() const;
};

// Time against the number of cells.
struct GridGrowth {
    std::int64_t side = 0;
    double seconds = 0;  // a step
    double rate = 0;     // cells a second
    std::string schedule;
};

// Time to compile against the number of statements, in seconds.
struct CompileGrowth {
    std::string shape;  // of growth_programs.h
    int statements = 0;
    double check = 0, optimise = 0, choose = 0, lower = 0, print = 0;
    double compile = 0;  // text to machine code; 0: not done
    std::int64_t text_bytes = 0;
    double to_text() const { return check + optimise + choose + lower + print; }
};

struct Results {
    MachineFacts machine;
    bool quick = false;
    bool choices_alone = false;
    std::vector<std::string> variants;  // in the order of the table's columns
    std::vector<CaseResult> cases;
    std::vector<GridGrowth> grids;
    std::vector<CompileGrowth> compiles;
    std::vector<std::string> missing;  // what could not be measured here, and why
};

}  // namespace halo::bench
