// Choosing a temporal schedule: a few candidates are shaped, checked and ranked by the model. The tuner gets
// a longer list (temporal_list.cpp).
#include <algorithm>
#include <cmath>

#include "compiler/schedule/temporal_model.h"
#include "compiler/schedule/temporal_passes.h"
#include "compiler/schedule/temporal_settler.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

constexpr int kUsualWarpsOfRows = 4;  // of a block, in two dimensions

class TemporalChooser {
public:
    TemporalChooser(const ir::Program& program, const Target& target, const Extent& extent,
                    const TemporalPins& pins, const std::vector<std::string>& watched,
                    const StepCounts& counts)
        : settler_(program, target, extent, pins, watched), program_(program), pins_(pins), counts_(counts) {}

    // Why a run that watches reductions is faster by single steps; else empty.
    const std::string& unwatched() const { return settler_.unwatched(); }

    TemporalChoice run() {
        if (!settler_.refused().empty()) return {std::nullopt, settler_.refused(), 0};
        const std::optional<Iterations>& iterations = settler_.iterations();
        if (iterations && pins_.steps && *pins_.steps > iterations->most())
            return {
                std::nullopt,
                "the repeat has " + counted(iterations->most(), "iteration") + " that can be done together",
                0};
        const int passes = pins_.passes.value_or(1);
        if (passes > 1 && (iterations || pins_.steps.value_or(1) != 1))
            return {std::nullopt, "several passes are of one step", 0};
        if (passes == 1) try_steps();
        const bool is_free =
            pins_ == TemporalPins{} && !iterations && may_be(1, pins_, counts_, settler_.iterations());
        const int most = is_free ? temporal_model::kMostPasses : passes;
        for (int more = std::max(passes, 2); more <= most; ++more)
            try_passes(more);
        if (!best_.schedule) best_.reason = why_not_;
        best_.iterations = iterations;
        return best_;
    }

private:
    void try_steps() {
        const int first = pins_.steps.value_or(1), last = pins_.steps.value_or(temporal_model::kMostSteps);
        for (int steps = first; steps <= last; ++steps) {
            if (!may_be(steps, pins_, counts_, settler_.iterations())) continue;
            const auto formed = form_pipeline(settler_.core, steps);
            if (const auto* why = std::get_if<std::string>(&formed)) {
                why_not_ = *why;
                break;
            }
            // More steps never need less.
            if (!try_shapes(std::get<Pipeline>(formed))) break;
        }
    }

    void note(const std::string& why) {
        if (why_not_.empty()) why_not_ = why;
    }

    // Calls visit(cells, warps) for the usual ones.
    template <class Visit>
    void for_each_shape(const Pipeline& pipeline, Visit&& visit) const {
        const bool has_rows = pipeline.rank == 3;
        const bool has_large_blocks = has_rows || pipeline.is_packed();
        for (const int columns : columns_of(pipeline))
            for (const int rows : has_rows ? std::vector<int>{4, 2} : std::vector<int>{1})
                for (const int warps :
                     has_large_blocks ? std::vector<int>{8, 12, 16} : std::vector<int>{4, 2})
                    visit(std::array<int, 2>{columns, rows}, warps);
    }

    // Whether any shape can be built.
    bool try_shapes(const Pipeline& pipeline) {
        bool any = false;
        for_each_shape(pipeline, [&](std::array<int, 2> cells, int warps) {
            any = try_shape(pipeline, cells, warps) || any;
        });
        return any;
    }

    void try_passes(int count) {
        const auto made = temporal_passes(program_, settler_.core, count);
        const auto* const passes = std::get_if<std::vector<TemporalPass>>(&made);
        if (passes == nullptr) return note(std::get<std::string>(made));
        const auto first = std::get<Pipeline>(form_pipeline(passes->front().program, 1));
        for_each_shape(first,
                       [&](std::array<int, 2> cells, int warps) { try_shape_of(*passes, cells, warps); });
    }

    // All passes have the settings that each can have.
    void try_shape_of(const std::vector<TemporalPass>& passes, std::array<int, 2> cells, int warps) {
        TemporalPins joint = pins_;
        for (const bool is_last : {false, true}) {
            TemporalSchedule schedule;
            double seconds = 0, more = 0;
            int registers = 0;
            for (const TemporalPass& pass : passes) {
                const auto pipeline = std::get<Pipeline>(form_pipeline(pass.program, 1));
                const TemporalSettler settler(settler_, pass.program, joint);
                std::string why;
                const auto settled = settler.settle(pipeline, cells, warps, temporal_model::kPassRoom, why);
                if (!settled) return note(why);
                const TemporalSchedule& one = settled->schedule;
                if (&pass == &passes.front()) schedule = one;
                schedule.ahead = std::min(schedule.ahead, one.ahead);
                schedule.unroll = std::min(schedule.unroll, one.unroll);
                schedule.min_blocks = std::min(schedule.min_blocks, one.min_blocks);
                seconds += settled->seconds;
                more = std::max(more, settled->shape.redundancy() - 1);
                registers = std::max(registers, settled->shape.registers);
            }
            joint.ahead = schedule.ahead;
            joint.unroll = schedule.unroll;
            joint.min_blocks = schedule.min_blocks;
            joint.blocks = schedule.blocks;
            if (!is_last || (best_.schedule && seconds >= best_.seconds_per_cell)) continue;
            schedule.passes = static_cast<int>(passes.size());
            best_.schedule = schedule;
            best_.seconds_per_cell = seconds;
            best_.reason = "1 step in " + std::to_string(passes.size()) + " passes over memory, computing " +
                           percent(more) + " more cells, in about " + counted(registers, "register");
        }
    }

    bool try_shape(const Pipeline& pipeline, std::array<int, 2> cells, int warps) {
        std::string why;
        const auto settled = settler_.settle(pipeline, cells, warps, 1, why);
        if (!settled) note(why);
        if (!settled) return false;
        // Smaller blocks are for programs of which an SM holds no two larger ones.
        const bool is_small = pipeline.rank == 2 && warps < kUsualWarpsOfRows && !pins_.warps;
        if (is_small && best_.schedule && best_.schedule->min_blocks > 1) return true;
        if (best_.schedule && settled->seconds >= best_.seconds_per_cell) return true;
        best_.schedule = settled->schedule;
        best_.seconds_per_cell = settled->seconds;
        best_.reason = counted(settled->schedule.steps, settler_.iterations() ? "iteration" : "step") +
                       " in one pass over memory, computing " + percent(settled->shape.redundancy() - 1) +
                       " more cells, in about " + std::to_string(settled->shape.registers) + " registers" +
                       invariants(pipeline) +
                       (pipeline.is_packed() ? ", which hold four cells of a row each" : "");
        return true;
    }

    // What is computed once for all steps.
    std::string invariants(const Pipeline& pipeline) const {
        std::string names;
        for (const Pipeline::Queue& queue : pipeline.queues)
            if (queue.invariant)
                names += (names.empty() ? "; what all steps compute of " : " and ") +
                         ("`" + settler_.core[queue.field].name + "`");
        return names.empty() ? "" : names + " alike is computed once";
    }

    static std::string percent(double share) {
        return std::to_string(static_cast<int>(std::lround(100 * share))) + " %";
    }

    const TemporalSettler settler_;
    const ir::Program& program_;
    const TemporalPins& pins_;
    const StepCounts& counts_;
    TemporalChoice best_;
    std::string why_not_;
};

}  // namespace

TemporalChoice choose_temporal(const ir::Program& program, const Target& target, const Extent& extent,
                               const std::optional<TemporalPins>& pins,
                               const std::vector<std::string>& watched, const StepCounts& counts) {
    const TemporalPins pinned = pins.value_or(TemporalPins{});
    TemporalChooser chooser(program, target, extent, pinned, watched, counts);
    if (!pins && !chooser.unwatched().empty()) return {std::nullopt, chooser.unwatched(), 0};
    return chooser.run();
}

}  // namespace halo::schedule
