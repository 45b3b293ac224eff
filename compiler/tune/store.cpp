#include "compiler/tune/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/core/file_read.h"
#include "runtime/core/json_value.h"
#include "runtime/io/atomic_file.h"

namespace halo::tune {

namespace {

using Json = rt::json::Value;

struct NotAStore {};

constexpr const char* kFormat = "halocline tuned 1";

constexpr std::array<std::pair<Outcome::Kind, const char*>, 6> kKinds{
    {{Outcome::Kind::measured, "measured"},
     {Outcome::Kind::slower, "slower"},
     {Outcome::Kind::spilled, "spilled"},
     {Outcome::Kind::refused, "refused"},
     {Outcome::Kind::wrong, "wrong"},
     {Outcome::Kind::unverified, "unverified"}}};

const char* name_of(Outcome::Kind kind) {
    const auto found =
        std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& each) { return each.first == kind; });
    return found->second;
}

std::optional<Outcome::Kind> kind_of(const std::string& name) {
    for (const auto& [kind, text] : kKinds)
        if (name == text) return kind;
    return std::nullopt;
}

void put_optional(Json& json, const char* name, const std::optional<double>& value) {
    if (value) json[name] = *value;
}

std::optional<double> get_optional(const Json& json, const char* name) {
    const Json* const found = json.find(name);
    return found == nullptr ? std::nullopt : std::optional<double>(found->get<double>());
}

double get_seconds(const Json& json) {
    const double seconds = json.at("seconds");
    if (!std::isfinite(seconds) || seconds < 0) throw NotAStore();
    return seconds;
}

Json to_json(const StoredTrial& trial) {
    Json json;
    json["schedule"] = trial.schedule;
    json["outcome"] = name_of(trial.outcome.kind);
    if (trial.outcome.timed()) json["seconds"] = trial.outcome.seconds;
    put_optional(json, "predicted", trial.predicted);
    if (trial.outcome.registers > 0) {
        json["registers"] = trial.outcome.registers;
        json["shared_bytes"] = trial.outcome.shared_bytes;
    }
    if (!trial.outcome.why.empty()) json["why"] = trial.outcome.why;
    return json;
}

StoredTrial trial_from(const Json& json) {
    StoredTrial trial;
    trial.schedule = json.at("schedule");
    const std::optional<Outcome::Kind> kind = kind_of(json.at("outcome").text());
    if (!kind) throw NotAStore();
    trial.outcome.kind = *kind;
    if (trial.outcome.timed()) trial.outcome.seconds = get_seconds(json);
    trial.predicted = get_optional(json, "predicted");
    trial.outcome.registers = json.value("registers", 0);
    trial.outcome.shared_bytes = json.value("shared_bytes", std::int64_t{0});
    trial.outcome.why = json.value("why", std::string());
    return trial;
}

Json to_json(const StoredStage& stage) {
    Json json;
    json["stencil"] = stage.stencil;
    json["stage"] = stage.stage;
    json["stages"] = stage.stages;
    json["grid"] = stage.grid;
    json["device"] = stage.device;
    json["compiler"] = stage.compiler;
    json["schedule"] = stage.schedule;
    json["finished"] = stage.finished;
    json["seconds"] = stage.seconds;
    put_optional(json, "predicted", stage.predicted);
    put_optional(json, "model_seconds", stage.model_seconds);
    json["trials"] = Json::list({});
    for (const StoredTrial& trial : stage.trials)
        json["trials"].push_back(to_json(trial));
    return json;
}

StoredStage stage_from(const Json& json) {
    StoredStage stage;
    stage.stencil = json.at("stencil");
    stage.stage = json.at("stage");
    stage.stages = json.at("stages");
    stage.grid = json.at("grid").get<std::vector<std::int64_t>>();
    stage.device = json.at("device");
    stage.compiler = json.at("compiler");
    stage.schedule = json.at("schedule");
    stage.finished = json.at("finished");
    stage.seconds = get_seconds(json);
    stage.predicted = get_optional(json, "predicted");
    stage.model_seconds = get_optional(json, "model_seconds");
    for (const Json& each : json.at("trials").items())
        stage.trials.push_back(trial_from(each));
    return stage;
}

}  // namespace

Entries Store::read() const {
    std::error_code none;
    if (!std::filesystem::exists(file_, none)) return {};
    constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;
    const std::string text = rt::FileRead(file_.string()).read_all(kMostBytes);
    const auto refuse = [&]() -> Entries {
        throw rt::Error(
            rt::ErrorCode::io,
            fmt::format("{} is no store of tuned schedules, or a damaged one; `haloc tune` writes them; "
                        "remove it, or name another with --store",
                        file_.string()));
    };
    Entries entries;
    try {
        const Json json = Json::parse(text);
        if (json.at("format").text() != kFormat) throw NotAStore();
        for (const auto& [key, each] : json.at("stages").members())
            entries.insert_or_assign(key, stage_from(each));
    } catch (const rt::json::Mistake&) {
        return refuse();
    } catch (const NotAStore&) {
        return refuse();
    }
    return entries;
}

std::optional<StoredStage> Store::find(const std::string& key) const {
    Entries entries = read();
    const auto found = entries.find(key);
    if (found == entries.end()) return std::nullopt;
    return std::move(found->second);
}

void Store::put(const std::string& key, const StoredStage& stage) const {
    Entries entries = read();
    entries.insert_or_assign(key, stage);
    Json stages = Json::object();
    for (const auto& [each, value] : entries)
        stages.append(each, to_json(value));
    const std::string text =
        Json::object({{"format", kFormat}, {"stages", std::move(stages)}}).dump(1) + '\n';
    rt::AtomicFile file(file_.string());
    file.write(text.data(), text.size());
    file.commit();
}

}  // namespace halo::tune
