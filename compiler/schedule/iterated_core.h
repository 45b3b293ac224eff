// The iterations of a repeat as the time steps of a program of their own, so that a kernel for several steps
// can do several iterations in one pass over memory.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::schedule {

// A level of a field of the program that has the repeat.
struct LevelOf {
    ir::FieldId field;
    int time = 0;
};

// What the repeat carries from one iteration to the next: a state of its own program.
struct Carried {
    ir::FieldId state;  // of the core
    LevelOf now;        // in whose place it stands
    ir::FieldId next;   // of the program: what an iteration computes, before it is copied to `now`
};

struct IteratedCore {
    // What comes from outside of the repeat is an input, at level 0. Fields of the program have the same
    // numbers in both; those that stand for further levels come after all others.
    ir::Program program;
    int repeat = 0;               // its number
    std::int64_t iterations = 0;  // each time that it is done
    bool is_whole = true;         // the repeat computes nothing else
    std::vector<Carried> carried;
    struct Input {
        ir::FieldId field;  // of the core
        LevelOf of;
    };
    std::vector<Input> inputs;  // those that are no inputs of the program

    // The level of the program in whose place a level of the core is read or written.
    LevelOf origin(ir::FieldId field, int time) const;
};

// Of the repeat with the most iterations that can be done so. Each of its statements gives all cells of a
// field that the next iteration reads, or of a let, at once; no condition ends it, and nothing of an
// iteration depends on the step's number or a reduction. The text says why there is none.
std::variant<IteratedCore, std::string> iterated_core(const ir::Program& program);

}  // namespace halo::schedule
