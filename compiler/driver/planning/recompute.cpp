// Whether a GPU computes terms that neighbours read again in each reader, in place of storing them.
#include <algorithm>

#include "compiler/driver/planning/compile.h"
#include "compiler/driver/planning/pins.h"
#include "compiler/passes/recompute_terms.h"
#include "compiler/schedule/cost.h"
#include "compiler/schedule/sweep_model.h"

namespace halo::driver {

namespace {

// By the model, on a large grid and with nothing pinned: the answer is the same for each grid that the
// program is compiled for.
double seconds_of_step(const ir::Program& program, const CodeOptions& asked) {
    CodeOptions options;
    options.target = asked.target;
    options.watched = asked.watched;
    options.single_steps = asked.single_steps;
    options.extent = schedule::typical_extent(program.rank());
    return choose_plan(program, options).seconds_per_step();
}

bool hides_arithmetic(const ir::Program& program) {
    schedule::Footprints footprints(program);
    return std::ranges::all_of(ir::form_stages(program), [&](const ir::Stage& stage) {
        return footprints.of(stage).flops_per_byte() <= schedule::sweep_model::kMostFlopsPerByte;
    });
}

}  // namespace

ir::Program optimize_for_gpu(ir::Program program, const CodeOptions& options) {
    ir::Program stored = optimize(std::move(program), options);
    const bool is_of_piece = options.reductions_by_plane;
    if (options.strict_fp || options.arrays_of_host || is_of_piece) return stored;
    std::optional<ir::Program> again = passes::recompute_terms(stored);
    if (!again) return stored;
    const std::size_t pinned = stage_texts(options).size();
    if (options.whole_schedules && pinned == ir::form_stages(*again).size()) return std::move(*again);
    if ((pinned > 1 && pinned == ir::form_stages(stored).size()) || !hides_arithmetic(*again)) return stored;
    const bool is_faster =
        seconds_of_step(*again, options) * schedule::sweep_model::kTie < seconds_of_step(stored, options);
    return is_faster ? std::move(*again) : std::move(stored);
}

std::vector<std::string> computed_again(const ir::Program& checked, const ir::Program& made,
                                        const CodeOptions& options) {
    const ir::Program stored = optimize(checked, options);
    const std::vector<bool> before = ir::stored_fields(stored, ir::form_stages(stored)),
                            after = ir::stored_fields(made, ir::form_stages(made));
    std::vector<std::string> names;
    for (std::size_t i = 0; i < before.size(); ++i)  // the passes keep the order of fields
        if (before[i] && !after[i]) names.push_back(stored.fields[i].name);
    return names;
}

}  // namespace halo::driver
