// Bundles: launch plans and the code they launch, for several devices and grids, in one file.
//
//   halocline bundle 1\n
//   <SHA-256 of all that follows, 64 digits>\n
//   <bytes of the index>\n
//   index, JSON: {"name", "variants": [{"target", "grid", "plan", "code": [bytes, …]}, …]}
//   the code of all variants, one after the other
//
// target: "sm_90", or "cpu", whose code is linked into the program. grid: cells along each axis that the
// schedules were chosen for and that alone it is used for; null for all others.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/api/program_source.h"

namespace halocline::detail {

struct Variant {
    std::string target;
    std::vector<std::int64_t> grid;  // empty: any
    halo::rt::LaunchPlan plan;
    std::vector<std::string> code;  // modules
};

std::string bundle_text(const std::string& name, const std::vector<Variant>& variants);

// Throws rt::Error: bad_argument where it is none, or is damaged. name: for messages.
std::vector<Variant> parse_bundle(std::string_view bundle, const std::string& name);

std::string read_bundle_file(const std::string& path);  // throws rt::Error (io)

// kernels: of the variant for the CPU, or null.
std::shared_ptr<ProgramSource> open_bundle(std::string_view bundle, const LinkedKernel* kernels,
                                           const std::string& name);

// Where code for one architecture runs on another: 1 and more, the larger the better; 0: it does not.
int fitness(const std::string& target, const std::string& device);

}  // namespace halocline::detail
