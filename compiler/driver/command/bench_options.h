// The options of haloc bench.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/bench/bench.h"
#include "compiler/bench/programs.h"
#include "compiler/bench/scaling.h"
#include "compiler/driver/console/console.h"
#include "compiler/driver/console/exit_code.h"

namespace halo::driver {

struct BenchArguments {
    bench::BenchOptions bench;
    bench::ScalingOptions scaling;
    bool is_scaling = false, is_programs = false;
    // Of both --scaling and --programs.
    std::vector<std::string> only;
    std::optional<double> budget;
};
void add_bench_options(CLI::App& command, BenchArguments& arguments);
ExitCode bench(const BenchArguments& arguments, const Console& console);

}  // namespace halo::driver
