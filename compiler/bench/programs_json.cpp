#include <nlohmann/json.hpp>

#include "compiler/bench/json.h"
#include "compiler/bench/programs_results.h"
#include "compiler/support/json_text.h"

namespace halo::bench {

namespace {

using Json = nlohmann::ordered_json;

Json program_run_json(const ProgramResult& result, const ProgramRun& run) {
    Json json{{"plan", run.plan}, {"verified", run.seconds > 0 && run.wrong.empty()}};
    if (!run.wrong.empty()) json["wrong"] = run.wrong;
    json["seconds_per_step"] = run.seconds;
    json["rate_per_s"] = result.rate(run);
    if (run.predicted > 0) json["predicted_seconds_per_step"] = run.predicted;
    json["spread"] = run.spread;
    json["steps"] = run.steps;
    json["repeats"] = run.repeats;
    return json;
}

Json program_json(const ProgramResult& result, const MachineFacts& machine) {
    const Extent& extent = result.which.extent;
    Json json{{"id", result.which.id},
              {"spec", result.which.spec},
              {"grid", {extent[0], extent[1], extent[2]}},
              {"bytes_per_cell", result.bytes_per_cell},
              {"bound_per_s", result.bound(machine)},
              {"ready_seconds", result.ready_seconds},
              {"kind", result.kind}};
    if (!result.trouble.empty()) json["trouble"] = result.trouble;
    json["run"] = program_run_json(result, result.run);
    json["single"] = program_run_json(result, result.single);
    return json;
}

}  // namespace

std::string programs_json(const ProgramsResults& results) {
    Json json;
    json["machine"] = machine_json(results.machine);
    json["command"] = results.command;
    json["quick"] = results.quick;
    json["programs"] = Json::array();
    for (const ProgramResult& each : results.programs)
        json["programs"].push_back(program_json(each, results.machine));
    json["missing"] = results.missing;
    return json_text(json);
}

}  // namespace halo::bench
