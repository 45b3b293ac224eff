// The adjoint of a program: a program whose steps go backwards through those of the given one.
#pragma once

#include <cstdint>
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

    // What a name stands for: a field; a number, which is a param that is given or a reduction that is found;
    // a trace of points (phones.seen), whose rows go backwards: the first is of the forward program's last
    // step.
    enum class Kind : std::uint8_t { field, number, trace };

    struct Gradient {
        std::string with;
        Kind kind = Kind::field;
        std::string name;
        int time = 0;  // of a request as a function: the level of the state
    };
    std::vector<Gradient> gradients;  // components one by one; several of one `with` are added

    struct Seed {  // the derivative of the objective with respect to what is named in `of`
        std::string of;
        Kind kind = Kind::field;
        std::string name;  // a number is 1 by itself
    };
    std::vector<Seed> seeds;  // of reductions, outputs and traces; a state's adjoint is given at the start

    std::optional<std::string> steps;  // the param that is to be given the number of steps

    // Of programs that undo steps in turns (turns.h): the adjoint of a past level follows from what `now` was
    // a step before, and the program of earlier steps carries `now` alone, with its past. That of the last
    // step carries `level`, too, and gives `before`: what the other is to find as the past of `now`.
    struct Past {
        std::string now, level;  // states, the second one an output of the program of earlier steps
        std::string before;      // an output of the program of the last step
    };
    std::vector<Past> pasts;
};

// Components `v.x` are fields `v_x`. Throws RefusedError.
Adjoint make_adjoint(const ir::Program& program, const Request& request);

// What make_turns() is made of. Of a step that adds nothing to the reductions and outputs that are asked for,
// as earlier ones do; what depends on them alone is not there. And of the last one.
Adjoint make_adjoint_of_earlier(const ir::Program& program, const Request& request);
Adjoint make_adjoint_of_last(const ir::Program& program, const Request& request,
                             const std::vector<Adjoint::Past>& pasts);

}  // namespace halo::adjoint
