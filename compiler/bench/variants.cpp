#include "compiler/bench/variants.h"

#include <algorithm>
#include <utility>

#include "compiler/driver/compile.h"
#include "compiler/ir/analysis.h"
#include "compiler/schedule/cost.h"
#include "compiler/schedule/defaults.h"
#include "compiler/schedule/legality.h"
#include "compiler/schedule/parse.h"
#include "compiler/schedule/print.h"

namespace halo::bench {

namespace {

// One schedule a stage, chosen around what is pinned; none at all where a stage cannot run by it, and why is
// then said.
std::vector<schedule::Schedule> choose(const ir::Program& program, const schedule::Target& target,
                                       const Extent& extent, const schedule::Pins& pins, std::string& why) {
    std::vector<schedule::Schedule> schedules;
    for (const ir::Stage& stage : ir::form_stages(program)) {
        const schedule::Schedule chosen = schedule::choose(program, stage, target, extent, pins).schedule;
        const std::vector<schedule::Reason> reasons = schedule::check(program, stage, chosen, target, extent);
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
    pins.strategy = schedule::Strategy::direct;
    pins.threads = program.rank() == 1 ? std::array<int, 3>{256, 1, 1} : std::array<int, 3>{32, 8, 1};
    pins.cells = {1, 1, 1};
    pins.min_blocks = 0;
    std::string why;
    return choose(program, target, extent, pins, why);
}

// What the model says of a cell and step.
double seconds_of(const ir::Program& program, const std::vector<schedule::Schedule>& schedules,
                  const schedule::Target& target, const Extent& extent) {
    double seconds = 0;
    const std::vector<ir::Stage> stages = ir::form_stages(program);
    for (std::size_t s = 0; s < stages.size(); ++s)
        seconds +=
            schedule::estimate_cost(schedule::footprint(program, stages[s]), schedules[s], target, extent)
                .seconds_per_cell;
    return seconds;
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
    for (const schedule::Strategy strategy : schedule::all_strategies())
        names.push_back(schedule::name_of(strategy));
    names.emplace_back("temporal");
    return names;
}

Variants gpu_variants(const ir::Program& program, const schedule::Target& target, const Extent& extent,
                      const std::vector<std::string>& asked) {
    Variants result;
    const auto add = [&](const std::string& name, std::vector<schedule::Schedule> schedules) {
        if (schedules.empty()) return;
        result.all.push_back({name, words_of(schedules, program.rank()), std::move(schedules)});
    };
    add("naive", naive(program, target, extent));
    std::string why;
    for (const schedule::Strategy strategy : schedule::all_strategies()) {
        schedule::Pins pins;
        pins.strategy = strategy;
        add(schedule::name_of(strategy), choose(program, target, extent, pins, why));
    }
    const std::vector<schedule::Schedule> chosen = choose(program, target, extent, {}, why);
    const auto add_temporal = [&](const std::string& name, const schedule::TemporalPins& pins) {
        const schedule::TemporalChoice choice = schedule::choose_temporal(program, target, extent, 0, pins);
        if (!choice.schedule) return choice.reason;
        result.all.push_back(
            {name, schedule::print(*choice.schedule, program.rank()), chosen, choice.schedule});
        return std::string();
    };
    add_temporal("temporal", {});
    const auto add_resident = [&](const std::string& name, const schedule::ResidentPins& pins) {
        const schedule::ResidentChoice choice = schedule::choose_resident(program, target, extent, pins);
        if (!choice.schedule) return choice.reason;
        Variant variant{name, schedule::print(*choice.schedule, program.rank()), chosen};
        variant.resident = choice.schedule;
        result.all.push_back(std::move(variant));
        return std::string();
    };
    add_resident("resident", {});
    const int rank = program.rank();
    for (const std::string& text : asked) {
        why.clear();
        if (const auto mistakes = driver::schedule_mistakes(text, rank); !mistakes.empty()) {
            why = mistakes.front().message;
        } else if (schedule::is_temporal(text)) {
            why = add_temporal(text, schedule::parse_temporal(text, rank).pins);
        } else if (schedule::is_resident(text)) {
            why = add_resident(text, schedule::parse_resident(text, rank).pins);
        } else {
            add(text, choose(program, target, extent, schedule::parse(text, rank).pins, why));
        }
        if (!why.empty()) result.refused.push_back(text + ": " + why);
    }
    const auto alike = std::ranges::find_if(result.all, [&](const Variant& variant) {
        return !variant.temporal && !variant.resident && variant.schedules == chosen &&
               variant.name != "naive";
    });
    result.single = alike == result.all.end() ? "chosen" : alike->name;
    if (alike == result.all.end()) add("chosen", chosen);
    const double single = seconds_of(program, chosen, target, extent);
    const schedule::TemporalChoice several = schedule::choose_temporal(program, target, extent, single);
    const schedule::ResidentChoice resident = schedule::choose_resident(program, target, extent, {});
    const double launch = static_cast<double>(chosen.size()) * target.graph_launch_seconds;
    const double other = several.schedule ? several.seconds_per_cell * schedule::cells_of(extent)
                                          : single * schedule::cells_of(extent) + launch;
    const bool stays = resident.schedule && resident.seconds_per_step < other;
    result.chosen = stays ? "resident" : several.schedule ? "temporal" : result.single;
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
    std::vector<schedule::Schedule> schedules = variant.schedules;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        if (schedule::is_legal(schedule::check(program, stages[s], schedules[s], target, extent))) continue;
        schedule::Pins pins;
        pins.strategy = schedules[s].strategy;
        schedules[s] = schedule::choose(program, stages[s], target, extent, pins).schedule;
    }
    std::optional<schedule::ResidentSchedule> resident = variant.resident;
    if (resident) resident = schedule::fitted(*resident, extent);
    return lower::lower_cuda(program, schedules, variant.temporal, resident);
}

}  // namespace halo::bench
