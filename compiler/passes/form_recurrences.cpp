#include "compiler/passes/form_recurrences.h"

#include "compiler/ir/recurrences.h"
#include "compiler/ir/sweeps.h"

namespace halo::passes {

void form_recurrences(ir::Program& program) {
    for (std::size_t first = 0; first < program.statements.size(); first = ir::end_of_sweep(program, first)) {
        const ir::LineSweep* const sweep = ir::sweep_of(program.statements[first]);
        if (sweep == nullptr || !sweep->in_parts) continue;
        const auto found = ir::find_recurrences(program, first);
        const auto* recurrences = std::get_if<std::vector<ir::Recurrence>>(&found);
        if (recurrences == nullptr) continue;
        for (std::size_t i = 0; i < recurrences->size(); ++i)
            std::get<ir::Assign>(program.statements[first + i]).recurrence = (*recurrences)[i];
    }
}

}  // namespace halo::passes
