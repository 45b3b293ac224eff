// `haloc emit --annotate`: comments that lead from the CUDA back to the lines of the spec.
#pragma once

#include "compiler/lower/shared/notes.h"
#include "compiler/support/source.h"

namespace halo::driver {

// "heat.halo:5: u[t+1] = u + dt * laplacian(u)": the name of the file without its folder, the line that a
// place begins in, and the text that it spans, on one line. `source` must outlive what is returned.
lower::Notes notes_of(const SourceFile& source);

}  // namespace halo::driver
