#include "compiler/schedule/temporal_passes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/rewrite.h"
#include "compiler/schedule/pipeline.h"

namespace halo::schedule {

namespace {

std::set<ir::Level> levels_read(const ir::Program& core, const std::vector<ir::Statement>& statements) {
    std::set<ir::Level> levels;
    for (const ir::Statement& statement : statements)
        levels.merge(ir::levels_read(core, ir::roots_of(statement)));
    return levels;
}

// What the pass writes that later ones or the next step read, by states of its own.
void keep(TemporalPass& pass, const std::set<ir::Level>& read_later) {
    ir::Program& core = pass.program;
    ir::ExprBuilder builder(core);
    const std::vector<ir::Statement> statements = core.statements;
    for (std::size_t index = 0; index < statements.size(); ++index) {
        const auto& assign = std::get<ir::Assign>(statements[index]);
        const bool is_let = core[assign.target].role == ir::Role::intermediate;
        if (is_let && !read_later.contains({assign.target, 0})) continue;
        const ir::FieldId own = ir::add_let_like(core, assign.target, "_kept");
        core.fields[own.index].role = ir::Role::state;
        pass.kept.push_back({{own, 1}, {assign.target, is_let ? 0 : 1}});
        if (is_let) {
            ir::Assign store;
            store.target = own;
            store.time = 1;
            store.value = builder.access(assign.target, 0, {});
            core.statements.emplace_back(store);
        } else {
            std::get<ir::Assign>(core.statements[index]).target = own;
        }
    }
}

// What it does not write comes from memory.
void read_others(TemporalPass& pass) {
    std::set<std::uint32_t> written;
    for (const ir::Statement& statement : pass.program.statements)
        written.insert(std::get<ir::Assign>(statement).target.index);
    for (std::uint32_t field = 0; field < pass.program.fields.size(); ++field)
        if (!written.contains(field)) pass.program.fields[field].role = ir::Role::input;
}

// Why the step cannot be in several passes; else empty.
std::string passes_refusal(const ir::Program& core, const std::vector<std::vector<ir::Statement>>& parts) {
    std::set<std::uint32_t> written;  // states, by passes before
    for (const std::vector<ir::Statement>& part : parts) {
        for (const auto& [field, time] : levels_read(core, part))
            if (core[field].role == ir::Role::state && time != 0)
                return "`" + core[field].name + "` is read at another level than the step's first";
        std::set<std::uint32_t> here;
        for (const ir::Statement& statement : part) {
            const auto* assign = std::get_if<ir::Assign>(&statement);
            if (assign == nullptr) return "reductions at every step are found by a step in one pass";
            const ir::Field& target = core[assign->target];
            if (target.storage != ir::natural_storage(target.type) || ir::is_partial(*assign))
                return "`" + target.name + "` is not stored as it is computed, in every cell";
            if (!here.insert(assign->target.index).second || written.contains(assign->target.index))
                return "`" + target.name + "` is written by several statements";
        }
        written.merge(here);
    }
    return "";
}

}  // namespace

std::variant<std::vector<TemporalPass>, std::string> temporal_passes(const ir::Program& program,
                                                                     const ir::Program& core, int count) {
    const auto whole = form_pipeline(core, 1);
    if (const auto* pipeline = std::get_if<Pipeline>(&whole); pipeline != nullptr && pipeline->is_packed())
        return "words of single bytes are computed in one pass";
    const std::vector<ir::Stage> stages = ir::form_stages(core);
    const auto all = static_cast<int>(stages.size());
    if (count > all)
        return "a step of " + std::to_string(all) + (all == 1 ? " stage" : " stages") + " has no " +
               std::to_string(count) + " passes";
    std::vector<std::vector<ir::Statement>> parts(static_cast<std::size_t>(count));
    for (int stage = 0; stage < all; ++stage)
        for (const int statement : stages[static_cast<std::size_t>(stage)].statements)
            parts[static_cast<std::size_t>(stage * count / all)].push_back(
                core.statements[static_cast<std::size_t>(statement)]);
    if (std::string why = passes_refusal(core, parts); !why.empty()) return why;

    const std::vector<bool> stored = ir::stored_fields(program, ir::form_stages(program));
    std::vector<TemporalPass> passes(parts.size());
    std::set<ir::Level> read_later;
    for (std::size_t index = parts.size(); index-- > 0;) {
        TemporalPass& pass = passes[index];
        pass.program = core;
        pass.program.statements = parts[index];
        const std::set<ir::Level> read = levels_read(core, parts[index]);
        keep(pass, read_later);
        read_others(pass);
        for (const StandIn& kept : pass.kept)
            if (const ir::FieldId field = kept.of.field; field.index >= stored.size() || !stored[field.index])
                return "`" + core[field].name + "` has no array of its own";
        read_later.insert(read.begin(), read.end());
        const auto formed = form_pipeline(pass.program, 1);
        if (const auto* why = std::get_if<std::string>(&formed)) return *why;
    }
    return passes;
}

}  // namespace halo::schedule
