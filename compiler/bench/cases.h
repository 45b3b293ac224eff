// What is measured: which specs, on which grids, in which type.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/core/grid_rules.h"

namespace halo::bench {

using rt::Extent;

// "16384²", "512 × 512 × 64"
std::string grid_words(const Extent& extent);

enum class Section : std::uint8_t {
    sweeps,       // a state that is stepped: the table of stencils
    derivatives,  // an output of an input
    runs,         // whole runs of a given number of steps
    sums          // over the rows of a table
};

// What others have published for the same computation, on a machine of theirs or built for the present one.
struct Published {
    double value = 0;  // GStencil/s; for runs seconds; for sums GFLOP/s; 0: nothing is known
    std::string words;
};

struct Case {
    std::string spec;   // of spec_texts()
    std::string title;  // "2D 5-point"
    std::string type;   // "f32" or "f64"
    Extent extent{};
    Section section = Section::sweeps;
    std::int64_t steps = 0;  // of a run; 0: as many as make a measurement
    std::int64_t rows = 0;   // of the table that is summed over
    int flops_per_term = 0;  // of a row at a cell, as it is usually counted
    int calls_per_term = 0;  // of the special function units, which bound them
    Published published{};

    std::string grid() const { return grid_words(extent); }
    std::string name() const;  // "2D 5-point f32 16384²": what --filter looks in, along with the spec's name
};

// All of them, in the order of the page. quick: smaller grids, one size each. small: such as a CPU does in
// seconds.
enum class Scale : std::uint8_t { full, quick, small };
std::vector<Case> cases(Scale scale);

// The specs that are measured, by name: "bench/star2d1", "heat3d".
const std::map<std::string, std::string>& spec_texts();

// The spec of a case with its fields in the case's type.
std::string spec_text(const Case& which);
// As it is in dsl_examples.
const std::string& spec_text(const std::string& name);

}  // namespace halo::bench
