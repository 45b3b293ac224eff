// The examples, and how each is compiled: by the schedules that are chosen for its run block's grid on sm_90.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/legality.h"

namespace halo::test {

struct Example {
    std::string name;     // of the file, without its ending
    ir::Program program;  // optimised
    schedule::Extent extent{};
};

// All of dsl_examples, those that are measured (bench/) too, by name.
std::vector<Example> examples();

// One schedule a stage. With a strategy, its defaults, or none at all where a stage cannot run by it.
std::vector<schedule::Schedule> chosen(const Example& example,
                                       std::optional<schedule::Strategy> strategy = std::nullopt);

}  // namespace halo::test
