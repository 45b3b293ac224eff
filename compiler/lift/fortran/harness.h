// The Fortran text that runs what was lifted: a loop nest as a procedure of its own, in the words of the
// file, and `halo_lift_call`, which C can call.
#pragma once

#include <string>

#include "compiler/lift/fortran/translate.h"
#include "compiler/lift/verify.h"

namespace halo::lift::fortran {

struct FortranHarness {
    Harness values;                     // of which texts are empty
    std::string text;                   // the file's, with both behind the procedure
    int first_line = 0, last_line = 0;  // in it, of what is run
    int line_shift = 0;                 // what those are further down than in the file
};

// whole: the unit of the procedure that `lifted` is of. Throws SourceError.
FortranHarness write_harness(const c::Unit& whole, const Lifted& lifted, const Procedure& procedure,
                             const SourceText& text);

}  // namespace halo::lift::fortran
