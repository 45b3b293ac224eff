// A loop nest inside a longer function, or several, as a function of its own: what it reads becomes
// parameters, and whole numbers and pointers that the function has made of others before (`int plane = nx *
// ny;`) are made again in front of it, where nothing has changed since.
#pragma once

#include <string>
#include <vector>

#include "compiler/lift/c_code.h"
#include "compiler/lift/clang_front.h"
#include "compiler/lift/outline_flow.h"

namespace halo::lift {

struct Outline {
    c::Unit unit;                     // whose function is the nest's
    int nest = -1;                    // statement: a loop, or a block of several
    std::vector<int> given;           // variables that are parameters, in their order
    std::vector<int> defined;         // variables that are made again, in their order
    std::vector<SourceRange> around;  // statements that the nest is in
    bool in_block = false;            // as one of the statements between braces
    SourceRange where;                // of the nest, with the semicolon that may end it
    std::uint32_t function = 0;       // where the function around it begins
    std::string scope;                // that it is in: "physics::"
};

// Throws Refusal where the nest depends on what cannot be told at its begin.
Outline outline(const c::Unit& whole, const Flow& flow, int nest);
// The same of loops that follow one after the other: statements `first` to before `past` of a block.
Outline outline_several(const c::Unit& whole, int block, std::size_t first, std::size_t past);

// The nest as a function in the source's language, `static void NAME(…) {…}`, and where it goes; of one that
// uses an object, as a function of its class. Its last parameters are pointers to where the given variables
// go, which it has changed.
std::vector<Inserted> outlined_text(const Outline& outline, const std::string& name,
                                    const std::vector<int>& results);

}  // namespace halo::lift
