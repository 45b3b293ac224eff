// The source with loops replaced by calls of the stencils that they were lifted to, through the C interface
// (halocline/halocline.h). The loops stay in the text: they run where a stencil cannot.
#pragma once

#include <string>
#include <vector>

#include "compiler/lift/lift.h"

namespace halo::lift {

// C for one stencil; for replace.cpp. Throws Refusal where the call cannot be written.
struct StencilCall {
    std::string definition;  // static int halo_NAME(…) {…}
    std::string call;        // halo_NAME(…, 1), as it stands in the function; 0: another call follows
};
StencilCall write_call(const Lifted& lifted, const std::string& spec);

// What all of them need, from #include on.
std::string call_support();

struct Replaced {
    std::string text;
    std::vector<std::string> calls;  // names of stencils that are called
    std::vector<LiftError> left;     // why others are not: their loops stay as they were
};
// specs: the file_text() of each. support: what all calls need; empty: call_support(). Text that is run by
// one thread, to be compared, may have calls where several threads would run. Throws SourceError where the
// function is not in the file itself.
Replaced replace_loops(const Nests& found, const std::vector<std::string>& specs,
                       const std::string& support = "");

}  // namespace halo::lift
