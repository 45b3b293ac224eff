// The temporal schedules that a tuner measures.
#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/schedule/space.h"
#include "compiler/schedule/temporal_model.h"
#include "compiler/schedule/temporal_settler.h"

namespace halo::schedule {

namespace {

// Lists shapes with the usual values of the other settings, then varies those settings of the best shapes.
class TemporalLister {
public:
    TemporalLister(const ir::Program& program, const Target& target, const Extent& extent,
                   const TemporalPins& pins, const std::vector<std::string>& watched,
                   const StepCounts& counts)
        : settler_(program, target, extent, pins, watched), target_(target), pins_(pins), counts_(counts) {}

    std::vector<Candidate> run() {
        if (!settler_.refused().empty() || pins_.passes.value_or(1) > 1) return {};
        const int first = pins_.steps.value_or(1), last = pins_.steps.value_or(temporal_model::kMostSteps);
        for (int steps = first; steps <= last; ++steps) {
            if (!may_be(steps, pins_, counts_, settler_.iterations())) continue;
            auto formed = form_pipeline(settler_.core, steps);
            if (std::holds_alternative<std::string>(formed)) break;
            pipelines_.push_back(std::move(std::get<Pipeline>(formed)));
        }
        list_shapes();
        for (const Usual& usual : shapes_)
            vary(usual);
        sort_by_rank(found_);
        return std::move(found_);
    }

private:
    struct Usual {
        const Pipeline* pipeline;
        TemporalSettler::Settled settled;
    };

    template <class T>
    static std::vector<T> values(const std::optional<T>& pinned, std::vector<T> others) {
        return pinned ? std::vector<T>{*pinned} : others;
    }

    void list_shapes() {
        constexpr std::size_t kMostShapes = 80;  // whose other settings are varied
        std::string why;
        for (const Pipeline& pipeline : pipelines_) {
            std::vector<std::array<int, 2>> boxes;
            for (const int columns : columns_of(pipeline)) {
                for (const int rows : {1, 2, 4, 8})
                    if (rows == 1 || settler_.core.rank() == 3) boxes.push_back({columns, rows});
            }
            for (const std::array<int, 2>& cells : values(pins_.cells, boxes)) {
                for (const int warps : values(pins_.warps, {2, 4, 8, 12, 16}))
                    if (auto settled =
                            settler_.settle(pipeline, cells, warps, temporal_model::kTunerRoom, why))
                        shapes_.push_back({&pipeline, *std::move(settled)});
            }
        }
        std::stable_sort(shapes_.begin(), shapes_.end(), [](const Usual& a, const Usual& b) {
            return a.settled.seconds < b.settled.seconds;
        });
        if (shapes_.size() > kMostShapes) shapes_.resize(kMostShapes);
    }

    // The model is imprecise in these settings, so their usual values rank first.
    void vary(const Usual& usual) {
        const auto& [chosen, shape, best] = usual.settled;
        const int least = chosen.min_blocks;
        std::set<int> counts{least, least + 1, std::max(1, least - 1)};
        if (pins_.min_blocks) counts = {*pins_.min_blocks};
        std::set<int> unrolls{1, 2, 3, chosen.unroll};
        if (pins_.unroll) unrolls = {*pins_.unroll};
        for (const int ahead : values(pins_.ahead, {2, 3, temporal_model::kUsualAhead, 6})) {
            for (const int min_blocks : counts) {
                TemporalSchedule schedule = chosen;
                schedule.ahead = ahead;
                schedule.min_blocks = min_blocks;
                const std::optional<TemporalShape> varied = shape_of(*usual.pipeline, schedule);
                if (!varied) continue;
                for (const int blocks : settler_.blocks_of(*usual.pipeline, *varied, schedule)) {
                    schedule.blocks = blocks;
                    for (const int unroll : unrolls) {
                        schedule.unroll = unroll;
                        const double seconds = settler_.seconds_of(*usual.pipeline, *varied, schedule);
                        const int unusual =
                            (ahead != chosen.ahead) + (min_blocks != least) + (unroll != chosen.unroll);
                        found_.push_back({Grouping(schedule),
                                          seconds * std::pow(temporal_model::kUnusual, unusual), seconds});
                    }
                }
            }
        }
    }

    std::optional<TemporalShape> shape_of(const Pipeline& pipeline, const TemporalSchedule& schedule) const {
        const auto shaped = temporal_shape(settler_.core, pipeline, schedule, target_);
        if (std::holds_alternative<std::string>(shaped)) return std::nullopt;
        const auto& shape = std::get<TemporalShape>(shaped);
        if (!settler_.unfit(pipeline, shape, schedule, temporal_model::kTunerRoom).empty())
            return std::nullopt;
        if (schedule.min_blocks > blocks_in_shared(target_, shape, schedule.warps) && !pins_.min_blocks)
            return std::nullopt;
        return shape;
    }

    const TemporalSettler settler_;
    const Target& target_;
    const TemporalPins& pins_;
    const StepCounts& counts_;
    std::vector<Pipeline> pipelines_;  // by steps
    std::vector<Usual> shapes_;
    std::vector<Candidate> found_;
};

}  // namespace

TemporalCandidates list_temporal_candidates(const ir::Program& program, const Target& target,
                                            const Extent& extent, const TemporalPins& pins,
                                            const std::vector<std::string>& watched, const StepCounts& counts,
                                            int most) {
    const TemporalChoice chosen = choose_temporal(program, target, extent, pins, watched, counts);
    std::vector<Candidate> others = TemporalLister(program, target, extent, pins, watched, counts).run();
    TemporalCandidates candidates;
    if (chosen.schedule) {
        double rank = chosen.seconds_per_cell;
        if (!others.empty()) rank = std::min(rank, others.front().rank);
        candidates.found.push_back({Grouping(*chosen.schedule), rank, chosen.seconds_per_cell});
    }
    for (Candidate& each : others) {
        if (std::ssize(candidates.found) > most) break;
        const bool is_first = chosen.schedule && *each.grouping() == Grouping(*chosen.schedule);
        if (!is_first) candidates.found.push_back(std::move(each));
    }
    if (candidates.found.empty()) candidates.why_none = chosen.reason;
    return candidates;
}

}  // namespace halo::schedule
