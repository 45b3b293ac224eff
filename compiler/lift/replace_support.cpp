#include "compiler/lift/replace.h"

namespace halo::lift {

std::string call_support() {
    return R"(/* From here to "end of haloc lift": written by haloc lift --replace. The stencils below are called in place of
 * loops, which still run where a stencil cannot: on grids that are too small for it, and where nothing can run it
 * (a message says so, once). They run on the first GPU, to which the arrays are copied and back, else on the CPU.
 * halocline/lifted.h says how arrays stay on a GPU between calls. Compile with Halocline's headers, and link
 * -lhalocline -lhalocline-runtime; in CMake, Halocline::compiler. */
#include "halocline/lifted.h"
)";
}

}  // namespace halo::lift
