#include "compiler/driver/running/remarks.h"

#include <fmt/format.h>

#include "compiler/driver/console/arguments.h"

namespace halo::driver {

std::string zeros_note(const std::vector<std::string>& fields) {
    if (fields.empty()) return "";
    const bool one = fields.size() == 1;
    return fmt::format("note: {} start{} at 0 everywhere: nothing fills {}", join(fields, ", "),
                       one ? "s" : "", one ? "it" : "them");
}

std::string boundary_note(const sema::AnalyzedStencil& stencil) {
    if (stencil.without_boundary.empty()) return "";
    return fmt::format(
        "note: {}: no boundary is written for {}, so cells whose neighbours are past the edge keep their "
        "value; `boundary free` says that this is meant",
        stencil.program.name, join(stencil.without_boundary, ", "));
}

}  // namespace halo::driver
