// The adjoint of a program: a program whose steps go backwards through those of the given one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/adjoint/request.h"
#include "compiler/ir/program.h"

namespace halo::adjoint {

// A step of the adjoint undoes one of the forward program: it takes the derivatives of the objective with
// respect to what the step has left, and gives those with respect to what it began with.
struct Adjoint {
    ir::Program program;

    struct Level {  // an input that holds a level of a forward state as the step that is undone began with it
        std::string state;
        int time = 0;
        std::string input;
    };
    std::vector<Level> levels;

    struct Input {  // an input of the given program that the adjoint reads, too
        std::string given, input;
    };
    std::vector<Input> inputs;

    struct Part {  // the adjoint of a level of a state: what `state` at `time` adds to the objective
        std::string state;
        int time = 0;
        std::string field;  // a state of the program
    };
    std::vector<Part> parts;

    struct Gradient {
        std::string with;
        bool is_number = false;  // of a param: the name of a reduction; else of a field
        std::string name;
    };
    std::vector<Gradient> gradients;  // in the order of the request; components one by one

    struct Seed {  // the derivative of the objective with respect to what is named in `of`
        std::string of;
        bool is_number = false;  // a param, 1 by itself; else an input
        std::string name;
    };
    std::vector<Seed> seeds;  // of reductions and outputs; a state's adjoint is given at the start

    std::optional<std::string> steps;  // the param that is to be given the number of steps
};

// Components `v.x` are fields `v_x`. Throws RefusedError.
Adjoint make_adjoint(const ir::Program& program, const Request& request);

}  // namespace halo::adjoint
