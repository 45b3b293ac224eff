#include "compiler/lower/shared/packed_stage.h"

namespace halo::lower {

namespace {

PackedStage packed_stage(const StageView& view) {
    PackedStage stage{view.program, view.assigns, view.reductions, {}};
    for (const Write& write : view.writes)
        stage.stored.push_back(write.level);
    return stage;
}

}  // namespace

std::optional<PackedValues> lower_packed(Context& context, const PackedSources& sources,
                                         kernel::Block& body) {
    Names names = context.names();  // a scope inside the kernel's
    const PackedText text{[&](const std::string& wanted) { return names.take(wanted); }, word_for,
                          [&](SourceRange where, kernel::Block& block) { context.note(where, block); }};
    return lower_packed(packed_stage(context.stage()), sources, text, body);
}

bool can_pack(const Context& context) {
    return context.stage().factor == 1 && packed_work(packed_stage(context.stage()));
}

}  // namespace halo::lower
