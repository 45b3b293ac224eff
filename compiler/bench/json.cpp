#include "compiler/bench/json.h"
#include "compiler/support/json_text.h"

#include <nlohmann/json.hpp>

namespace halo::bench {

namespace {

using Json = nlohmann::ordered_json;

Json case_json(const CaseResult& result, const MachineFacts& machine) {
    Json json{{"name", result.which.name()},
              {"spec", result.which.spec},
              {"type", result.which.type},
              {"grid", {result.which.extent[0], result.which.extent[1], result.which.extent[2]}},
              {"bytes_per_cell", result.bytes_per_cell},
              {"flops_per_cell", result.flops_per_cell},
              {"bound_per_s", result.bound(machine)},
              {"chosen", result.chosen}};
    if (!result.trouble.empty()) json["trouble"] = result.trouble;
    json["measurements"] = Json::array();
    for (const Measurement& each : result.measurements) {
        Json one{{"variant", each.variant}, {"schedule", each.schedule}, {"verified", each.wrong.empty()}};
        if (!each.wrong.empty()) one["wrong"] = each.wrong;
        one["seconds_per_step"] = each.seconds;
        one["rate_per_s"] = result.rate(each);
        one["spread"] = each.spread;
        one["steps"] = each.steps;
        one["repeats"] = each.repeats;
        one["registers"] = each.registers;
        one["spill_bytes"] = each.spill_bytes;
        json["measurements"].push_back(std::move(one));
    }
    return json;
}

}  // namespace

nlohmann::ordered_json machine_json(const MachineFacts& machine) {
    return {{"name", machine.name},
            {"software", machine.software},
            {"commit", machine.commit},
            {"is_gpu", machine.is_gpu},
            {"copy_kernel_bytes_per_s", machine.copy_kernel},
            {"copy_driver_bytes_per_s", machine.copy_driver},
            {"copy_bytes", machine.copy_bytes},
            {"flops_f32_per_s", machine.flops_f32},
            {"flops_f64_per_s", machine.flops_f64},
            {"core_clock_ghz", machine.core_clock_ghz},
            {"core_clock_before_ghz", machine.clock_idle_ghz},
            {"core_clock_after_ghz", machine.clock_busy_ghz},
            {"memory_clock_ghz", machine.memory_clock_ghz}};
}

std::string to_json(const Results& results) {
    Json json;
    json["machine"] = machine_json(results.machine);
    json["quick"] = results.quick;
    json["choices_alone"] = results.choices_alone;
    json["cases"] = Json::array();
    for (const CaseResult& result : results.cases)
        json["cases"].push_back(case_json(result, results.machine));
    json["grids"] = Json::array();
    for (const GridGrowth& each : results.grids)
        json["grids"].push_back({{"side", each.side},
                                 {"seconds_per_step", each.seconds},
                                 {"rate_per_s", each.rate},
                                 {"schedule", each.schedule}});
    json["compiles"] = Json::array();
    for (const CompileGrowth& each : results.compiles)
        json["compiles"].push_back({{"shape", each.shape},
                                    {"statements", each.statements},
                                    {"check", each.check},
                                    {"optimise", each.optimise},
                                    {"choose", each.choose},
                                    {"lower", each.lower},
                                    {"print", each.print},
                                    {"compile", each.compile},
                                    {"text_bytes", each.text_bytes}});
    json["missing"] = results.missing;
    return json_text(json);
}

}  // namespace halo::bench
