#include "compiler/driver/command/iterations.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace halo::driver {

std::string iterations_text(const std::vector<rt::RepeatCounts>& repeats, std::int64_t steps,
                            const Reductions& reductions) {
    std::string text;
    for (const rt::RepeatCounts& repeat : repeats) {
        if (repeat.total == 0) continue;
        text += fmt::format("until {}: {} iteration{}, {} {} at most\n", repeat.condition, repeat.total,
                            repeat.total == 1 ? "" : "s", repeat.most,
                            repeat.is_within ? "at a time" : "in a step");
        if (repeat.unfinished == 0) continue;
        std::string values;
        for (const auto& [name, value] : reductions)
            if (std::ranges::find(repeat.reductions, name) != repeat.reductions.end())
                values += fmt::format("{}{} = {:.6g}", values.empty() ? "" : ", ", name, value);
        const std::string times =
            repeat.is_within
                ? fmt::format("{} time{} it", repeat.unfinished, repeat.unfinished == 1 ? "" : "s")
                : fmt::format("{} of {} step{}", repeat.unfinished, steps, steps == 1 ? "" : "s");
        text +=
            fmt::format("  {} ended after {} iteration{} without it{}{}\n", times, repeat.at_most,
                        repeat.at_most == 1 ? "" : "s", values.empty() ? "" : "; in the last step ", values);
    }
    return text;
}

void add_iterations(const std::vector<rt::RepeatCounts>& repeats, nlohmann::ordered_json& json) {
    for (const rt::RepeatCounts& each : repeats)
        json["repeats"].push_back({{"until", each.condition},
                                   {"at_most", each.at_most},
                                   {"iterations", each.total},
                                   {"most_in_a_step", each.most},
                                   {"steps_without_it", each.unfinished}});
}

}  // namespace halo::driver
