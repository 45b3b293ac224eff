#include <nlohmann/json.hpp>

#include "compiler/bench/scaling_page.h"
#include "compiler/driver/planning/pieces_plan.h"
#include "compiler/support/json_text.h"

namespace halo::bench {

namespace {

using Json = nlohmann::ordered_json;

Json run_json(const ScalingRun& run) {
    Json json{{"devices", run.devices},
              {"first_device", run.first},
              {"grid", {run.extent[0], run.extent[1], run.extent[2]}},
              {"exchange_scheme", driver::scheme_word(run.scheme)},
              {"steps_between_exchanges", run.interval},
              {"halo_width", run.width},
              {"pieces", run.pieces},
              {"checked_on", run.checked},
              {"wrong", run.wrong},
              {"seconds_per_step", run.seconds},
              {"rate_per_s", run.rate()},
              {"spread", run.spread}};
    if (run.predicted > 0) json["predicted_seconds_per_step"] = run.predicted;
    if (run.explained > 0) json["explained_times_one_device"] = run.explained;
    return json;
}

Json runs_json(const std::vector<ScalingRun>& runs) {
    Json json = Json::array();
    for (const ScalingRun& run : runs)
        json.push_back(run_json(run));
    return json;
}

Json link_json(const LinkFigures& link) {
    Json json{{"pairs", Json::array()}, {"exchanges", Json::array()}};
    for (const DevicePair& pair : link.pairs) {
        Json one{{"from", pair.from},
                 {"to", pair.to},
                 {"peer_access", pair.peer},
                 {"least_seconds", pair.least_seconds()},
                 {"bytes_per_s", pair.bytes_per_second()},
                 {"copies", Json::array()}};
        for (const CopyTime& copy : pair.copies)
            one["copies"].push_back({{"bytes", copy.bytes}, {"seconds", copy.seconds}});
        json["pairs"].push_back(std::move(one));
    }
    for (const ExchangeTime& exchange : link.exchanges)
        json["exchanges"].push_back({{"devices", exchange.devices},
                                     {"seconds", exchange.seconds},
                                     {"meeting_seconds", exchange.barrier}});
    return json;
}

}  // namespace

std::string scaling_json(const ScalingResults& results) {
    Json json{{"machine", results.machine},     {"software", results.software}, {"commit", results.commit},
              {"command", results.command},     {"is_gpu", results.is_gpu},     {"devices", results.devices},
              {"link", link_json(results.link)}};
    json["one_device"] = runs_json(results.rates);
    json["each_device"] = runs_json(results.alone);
    json["strong"] = runs_json(results.strong);
    json["weak"] = runs_json(results.weak);
    json["lengths"] = runs_json(results.lengths);
    json["model"] = {{"devices_per_node", results.node_devices},
                     {"network_bytes_per_s", results.between_nodes.bytes_per_second},
                     {"network_longer_seconds", results.between_nodes.longer_seconds},
                     {"points", Json::array()}};
    for (const ModelPoint& point : results.beyond)
        json["model"]["points"].push_back({{"devices", point.devices},
                                           {"scaling", point.is_weak ? "weak" : "strong"},
                                           {"exchange_scheme", driver::scheme_word(point.scheme)},
                                           {"steps_between_exchanges", point.interval},
                                           {"cells", point.cells},
                                           {"pieces", point.counts},
                                           {"seconds_per_step", point.seconds},
                                           {"rate_per_s", point.rate()}});
    json["missing"] = results.missing;
    json["budget_seconds"] = results.budget;
    json["measurements"] = Json::array();
    for (const MeasuredKind& kind : results.kinds)
        json["measurements"].push_back(
            {{"kind", kind.name}, {"wanted", kind.wanted}, {"left_out", kind.left_out}});
    return json_text(json);
}

}  // namespace halo::bench
