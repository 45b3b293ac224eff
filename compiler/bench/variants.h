// The ways to run a program that are measured against each other.
#pragma once

#include <string>
#include <vector>

#include "compiler/bench/cases.h"
#include "compiler/ir/program.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/plan.h"

namespace halo::bench {

// A way to run a program.
struct Variant {
    std::string name;     // "naive", "direct", …
    std::string words;    // its schedules as text
    schedule::Plan plan;  // no stages on a CPU, which has no choice
};

struct Variants {
    std::vector<Variant> all;
    std::string chosen;                // the one that the compiler chooses without pins
    std::string single;                // and for single steps
    std::vector<std::string> refused;  // of `asked`: why it cannot be had
};

// "naive", then every strategy that the compiler has; of a CPU "cpu" alone.
std::vector<std::string> variant_names(bool is_gpu);

// Those that are legal on this grid: one cell a thread in blocks of 32 x 8; within each strategy the schedule
// that is chosen there; what is asked for. The compiler's own choice, too, where it is none of these.
Variants gpu_variants(const ir::Program& program, const schedule::Target& target, const Extent& extent,
                      const std::vector<std::string>& asked);

// What the compiler chooses, "naive" and what is asked for stay.
void keep_choices(Variants& variants, const std::vector<std::string>& asked);

// By the variant's schedules; where one of them cannot run on this grid (another than it was chosen for), by
// what is chosen here within its strategy.
lower::Lowered lower_variant(const ir::Program& program, const schedule::Target& target,
                             const Variant& variant, const Extent& extent);

}  // namespace halo::bench
