// Regions of OpenMP that several threads run, made into parallel loops of which each is a region of its own;
// for replace.cpp.
//
//     #pragma omp parallel private(j)           /* #pragma omp parallel private(j): … */
//     {                                         {
//     #pragma omp for                           #pragma omp parallel for private(j)
//         for (k = …) …                             for (k = …) …
//
// What stands between the loops is run by one thread then, which may call stencils. A closed list: loops that
// share the work, and between them conditions, loops and assignments to variables that all threads see.
#pragma once

#include <string>
#include <vector>

#include "compiler/lift/c_code.h"

namespace halo::lift {

struct Insertion {
    std::size_t at = 0;
    std::string text;
};

struct SplitRegion {
    std::string why_not;  // empty: the insertions split it
    std::vector<Insertion> insertions;
};

// block: the statement that the pragma is in front of. text: the main file.
SplitRegion split_region(const c::Unit& unit, const std::string& text, const SourceRange& block);

}  // namespace halo::lift
