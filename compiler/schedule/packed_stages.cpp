#include "compiler/schedule/packed_stages.h"

namespace halo::schedule {

std::optional<std::vector<lower::PackedWork>> packed_stages(const ir::Program& program,
                                                            const std::vector<ir::Stage>& stages) {
    if (program.rank() != 2) return std::nullopt;
    const std::vector<bool> stored = ir::stored_fields(program, stages);
    std::vector<lower::PackedWork> all;
    for (const ir::Stage& stage : stages) {
        lower::PackedStage packed{&program, {}, {}, {}};
        for (const int index : stage.statements) {
            const auto* assign =
                std::get_if<ir::Assign>(&program.statements[static_cast<std::size_t>(index)]);
            if (assign == nullptr) return std::nullopt;  // a reduction adds up what lies in memory
            packed.assigns.push_back(assign);
            if (stored[assign->target.index]) packed.stored.push_back({assign->target, assign->time});
        }
        const std::optional<lower::PackedWork> work = lower::packed_work(packed);
        if (!work) return std::nullopt;
        all.push_back(*work);
    }
    return all;
}

}  // namespace halo::schedule
