#include "compiler/bench/variants.h"

#include <algorithm>
#include <utility>

#include "compiler/driver/planning/compile.h"
#include "compiler/ir/analysis.h"
#include "compiler/schedule/defaults.h"
#include "compiler/schedule/legality.h"
#include "compiler/schedule/parse.h"
#include "compiler/schedule/print.h"
#include "compiler/schedule/strategies.h"

namespace halo::bench {

namespace {

// Chooses a schedule for each stage around what is pinned; none at all where a stage cannot run by it, and
// why is then said.
std::vector<schedule::Schedule> choose(const ir::Program& program, const schedule::Target& target,
                                       const Extent& extent, const schedule::Pins& pins, std::string& why) {
    std::vector<schedule::Schedule> schedules;
    for (const ir::Stage& stage : ir::form_stages(program)) {
        const schedule::Schedule chosen = schedule::choose(program, stage, target, extent, pins).schedule;
        const std::vector<schedule::Reason> reasons =
            schedule::check(program, stage, chosen, target, extent, pins);
        for (const schedule::Reason& reason : reasons) {
            if (!reason.limit) continue;
            why = reason.text;
            return {};
        }
        schedules.push_back(chosen);
    }
    return schedules;
}

std::vector<schedule::Schedule> naive(const ir::Program& program, const schedule::Target& target,
                                      const Extent& extent) {
    schedule::Pins pins;
    pins.strategy = schedule::Direct{};
    pins.threads = program.rank() == 1 ? rt::Lengths{256, 1, 1} : rt::Lengths{32, 8, 1};
    pins.cells = {1, 1, 1};
    pins.min_blocks = 0;
    std::string why;
    return choose(program, target, extent, pins, why);
}

std::string words_of(const std::vector<schedule::Schedule>& schedules, int rank) {
    std::string words;
    for (const schedule::Schedule& each : schedules)
        words += (words.empty() ? "" : "; ") + schedule::print(each, rank);
    return words;
}

}  // namespace

std::vector<std::string> variant_names(bool is_gpu) {
    if (!is_gpu) return {"cpu"};
    std::vector<std::string> names{"naive"};
    for (const schedule::StrategyKind& kind : schedule::strategy_kinds())
        names.emplace_back(kind.name);
    for (const schedule::GroupingKind& kind : schedule::grouping_kinds())
        names.emplace_back(kind.name);
    return names;
}

Variants gpu_variants(const ir::Program& program, const schedule::Target& target, const Extent& extent,
                      const std::vector<std::string>& asked) {
    Variants result;
    const int rank = program.rank();
    const auto add = [&](const std::string& name, std::vector<schedule::Schedule> stages) {
        if (stages.empty()) return;
        result.all.push_back({name, words_of(stages, rank), {std::move(stages), schedule::SingleSteps{}}});
    };
    add("naive", naive(program, target, extent));
    std::string why;
    for (const schedule::StrategyKind& kind : schedule::strategy_kinds()) {
        schedule::Pins pins;
        pins.strategy = kind.neutral;
        add(std::string(kind.name), choose(program, target, extent, pins, why));
    }
    driver::CodeOptions options;
    options.target = target;
    options.extent = extent;
    const driver::PlanChoice best = driver::choose_plan(program, options);
    const schedule::Plan chosen = best.plan();
    const auto add_grouping = [&](const std::string& name, const schedule::GroupingKind& kind,
                                  std::optional<std::string> pinned) {
        const schedule::GroupingChoice choice = kind.choose({program, target, extent, std::move(pinned), {}});
        if (!choice.grouping) return choice.reason;
        result.all.push_back(
            {name, schedule::print(*choice.grouping, rank), {chosen.stages, *choice.grouping}});
        return std::string();
    };
    for (const schedule::GroupingKind& kind : schedule::grouping_kinds())
        add_grouping(std::string(kind.name), kind, std::nullopt);
    for (const std::string& text : asked) {
        why.clear();
        const schedule::GroupingKind* const kind = schedule::find_grouping(text);
        if (const auto mistakes = schedule::mistakes_in(text, rank); !mistakes.empty())
            why = mistakes.front().message;
        else if (kind != nullptr)
            why = add_grouping(text, *kind, text);
        else
            add(text, choose(program, target, extent, schedule::parse(text, rank).pins, why));
        if (!why.empty()) result.refused.push_back(text + ": " + why);
    }
    const schedule::Plan single{chosen.stages, schedule::SingleSteps{}};
    const auto alike = std::ranges::find_if(result.all, [&](const Variant& variant) {
        return variant.plan == single && variant.name != "naive";
    });
    result.single = alike == result.all.end() ? "chosen" : alike->name;
    if (alike == result.all.end()) add("chosen", chosen.stages);
    result.chosen = best.taken() != nullptr ? std::string(best.taken()->kind->name) : result.single;
    return result;
}

void keep_choices(Variants& variants, const std::vector<std::string>& asked) {
    std::erase_if(variants.all, [&](const Variant& variant) {
        const bool kept =
            variant.name == "naive" || variant.name == variants.single || variant.name == variants.chosen;
        return !kept && std::ranges::find(asked, variant.name) == asked.end();
    });
}

lower::Lowered lower_variant(const ir::Program& program, const schedule::Target& target,
                             const Variant& variant, const Extent& extent) {
    const std::vector<ir::Stage> stages = ir::form_stages(program);
    schedule::Plan plan = variant.plan;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        schedule::Schedule& stage = plan.stages[s];
        if (schedule::is_legal(schedule::check(program, stages[s], stage, target, extent))) continue;
        schedule::Pins pins;
        pins.strategy = stage.strategy;
        stage = schedule::choose(program, stages[s], target, extent, pins).schedule;
    }
    plan.grouping = schedule::fitted(plan.grouping, extent);
    return lower::lower_cuda(program, plan);
}

}  // namespace halo::bench
