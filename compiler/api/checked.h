// From a checked spec to the program that is to be compiled. Not for users.
#pragma once

#include "compiler/api/compiled_source.h"
#include "compiler/driver/spec/spec.h"
#include "halocline/halocline.hpp"

namespace halocline::detail {

// Throws Error: spec where it has mistakes; what driver::choose_stencil() and check_asked_schedules() throw.
CheckedProgram checked_program(const halo::driver::CheckedSpec& spec, const CompileOptions& options);

}  // namespace halocline::detail
