// Building offline files into a small C program and running it against the interpreter.
#pragma once

#include <functional>
#include <string>

#include "compare_engines.h"
#include "offline_files.h"

namespace halo::test {

// The shell command that makes `program` of main.c and NAME.cu, NAME.h in the working directory.
using BuildCommand = std::function<std::string(const std::string& name)>;

using ChangeSource = std::function<std::string(std::string)>;  // may rewrite the .cu first

inline constexpr int kOfflineSteps = 5;

// What the program has to give: levels and sampled traces in the order that the Reference has them,
// reductions in that of the plan.
struct OfflineResults {
    std::vector<std::vector<double>> levels, sampled;
    std::vector<double> reductions;
};
OfflineResults results_of(const Reference& reference, const rt::LaunchPlan& plan);

// Those of a session, which is given what the reference began with, after as many steps.
OfflineResults results_of(const Reference& reference, rt::Session& session);

// Empty where the program gives these results, fields and traces bit for bit; else what went wrong.
std::string offline_difference(const Offline& offline, const Reference& reference,
                               const OfflineResults& results, const BuildCommand& build,
                               const ChangeSource& change_source = nullptr);

// The same with what the interpreter computes.
std::string offline_difference(const OfflineCase& offline_case, const BuildCommand& build,
                               const ChangeSource& change_source = nullptr);

}  // namespace halo::test
