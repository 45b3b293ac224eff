#include "compiler/driver/running/remarks.h"

#include <fmt/format.h>

#include "compiler/driver/console/arguments.h"

namespace halo::driver {

void announce(const RunRequest& request, const Machine& machine, const Console& console) {
    const std::string steps = request.is_endless()
                                  ? "no end"
                                  : fmt::format("{} step{}", request.steps, request.steps == 1 ? "" : "s");
    console.message(fmt::format("{}: {} cells, {}, on {} ({})", request.name,
                                describe_grid(request, console.utf8()), steps, machine.kind(),
                                machine.description()));
}

std::string zeros_note(const std::vector<std::string>& fields) {
    if (fields.empty()) return "";
    constexpr std::size_t kMostNamed = 4;
    const std::size_t named = fields.size() <= kMostNamed ? fields.size() : kMostNamed - 1;
    std::string names = join({fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(named)}, ", ");
    if (named < fields.size()) names += fmt::format(" and {} more", fields.size() - named);
    return fmt::format("note: {} start{} at 0 everywhere; `init {} = 0` says that this is meant", names,
                       fields.size() == 1 ? "s" : "", fields.front());
}

std::string boundary_note(const sema::AnalyzedStencil& stencil) {
    if (stencil.without_boundary.empty()) return "";
    return fmt::format(
        "note: {}: no boundary is written for {}, so cells whose neighbours are past the edge keep their "
        "value; `boundary free` says that this is meant",
        stencil.program.name, join(stencil.without_boundary, ", "));
}

}  // namespace halo::driver
