// Conditions that cannot mean what they say, by the numbers of a run.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/sema/run_spec.h"
#include "compiler/support/source.h"

namespace halo::driver {

// What of `until` is not finite whatever the run computes, as it divides by zero; with the params' values.
// Empty: nothing.
std::string why_until_is_not_finite(const sema::Until& until, const SourceFile& source,
                                    const std::vector<std::pair<std::string, double>>& params,
                                    const rt::Extent& extent);

}  // namespace halo::driver
