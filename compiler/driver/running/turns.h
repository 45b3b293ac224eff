// Two engines that go back in turns: one undoes the last step, the other all steps before it.
#pragma once

#include <cstdint>

#include "compiler/adjoint/turns.h"
#include "compiler/driver/running/engine.h"

namespace halo::driver {

struct Back {
    const adjoint::Adjoint& adjoint;
    Engine& engine;
};

// Lets the engine of earlier steps work in the arrays of the other, as far as that can be. Before it is given
// anything.
void share_arrays_of_turns(const Back& last, const Back& earlier);

// The engine of earlier steps goes on where the other has undone the last step: with its fields, and its rows
// of traces.
void go_on(const Back& last, const Back& earlier);

// All that was found after so many steps back is with the engine of the last step, its numbers, too. What the
// other has not stays as the last step left it.
void bring_back(const Back& earlier, const Back& last, std::int64_t steps);

}  // namespace halo::driver
