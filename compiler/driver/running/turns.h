// Two engines that go back in turns: one undoes the last step, the other all steps before it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/adjoint/earlier.h"
#include "compiler/driver/running/engine.h"

namespace halo::driver {

struct Back {
    const adjoint::Adjoint& adjoint;
    Engine& engine;
};

// Fields that both have, by name: those that are carried from step to step, results, and inputs that no step
// changes.
std::vector<std::string> common_fields(const adjoint::Adjoint& one, const adjoint::Adjoint& other);

// `to` goes on where `from` ended, after `steps` steps back of both: with its fields, numbers and rows of
// traces. What `from` has not stays as the step that
// `to` has done left it.
void go_on(const Back& from, const Back& to, std::int64_t steps);

}  // namespace halo::driver
