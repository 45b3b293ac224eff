#include "compiler/driver/command/gradient_explained.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/adjoint/snapshots.h"
#include "compiler/support/json_text.h"

namespace halo::driver {

namespace {

std::int64_t level_bytes(Engine& engine, const std::string& field) {
    return engine.whole_box_of(field).cells() * rt::size_of(engine.type_of(field));
}

std::string megabytes(std::int64_t bytes) {
    return fmt::format("{:.3g} MB", static_cast<double>(bytes) / 1e6);
}

std::string joined_names(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string counted(std::int64_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::size_t gpus_of(Engine& engine) {
    const std::vector<rt::Session*> sessions = engine.sessions();
    return static_cast<std::size_t>(std::ranges::count_if(
        sessions, [](const rt::Session* session) { return !session->device().is_host_memory(); }));
}

std::string snapshot_words(const rt::SnapshotPlaces& places, std::int64_t bytes, std::size_t gpus) {
    if (places.count() == 0) return "no snapshots, as steps back need no state that is gone";
    const std::string there = gpus > 1 ? "on the GPUs" : "on the GPU";
    std::string where = gpus == 0 ? "in memory" : there;
    if (gpus > 0 && places.on_device == 0) where = "in the host's memory";
    if (gpus > 0 && places.on_device > 0 && places.on_host > 0)
        where = fmt::format("{}, {} of them in the host's memory", there, places.on_host);
    return fmt::format("{} of {} {}", counted(places.count(), "snapshot"), megabytes(bytes), where);
}

namespace {

ExplainedGradient::StepBack explain_step(Engine& forward, Engine& engine, const adjoint::Adjoint& adjoint) {
    ExplainedGradient::StepBack found;
    for (const adjoint::Adjoint::Level& level : adjoint.levels) {
        const std::int64_t bytes = level_bytes(engine, level.input);
        found.read_bytes += bytes;
        if (engine.borrow_level(level.input, forward, level.state, level.time)) {
            found.in_place.push_back(level.input);
            continue;
        }
        found.copied.push_back(level.input);
        found.copied_bytes += bytes;
    }
    for (rt::Session* session : engine.sessions())
        session->give_back_levels();
    for (const ir::Field& field : adjoint.program.fields) {
        const bool is_state = field.role == ir::Role::state;
        const bool is_kept =
            std::ranges::count(adjoint.levels, field.name, &adjoint::Adjoint::Level::input) > 0;
        if (is_kept || (!is_state && field.role != ir::Role::input)) continue;
        (is_state ? found.carried : found.inputs).push_back(field.name);
        found.read_bytes += (1 + field.history) * level_bytes(engine, field.name);
        if (is_state) found.written_bytes += level_bytes(engine, field.name);
    }
    return found;
}

std::string step_words(const ExplainedGradient::StepBack& step) {
    std::string text;
    if (!step.in_place.empty())
        text += fmt::format("  reads {} where {} kept\n", joined_names(step.in_place),
                            step.in_place.size() == 1 ? "it is" : "they are");
    if (!step.copied.empty())
        text += fmt::format("  reads copies of {}: {}\n", joined_names(step.copied),
                            megabytes(step.copied_bytes));
    if (!step.inputs.empty()) text += fmt::format("  reads {}\n", joined_names(step.inputs));
    if (!step.carried.empty()) text += fmt::format("  advances {}\n", joined_names(step.carried));
    text += fmt::format("  moves {} at least: {} read, {} written\n",
                        megabytes(step.read_bytes + step.written_bytes + 2 * step.copied_bytes),
                        megabytes(step.read_bytes + step.copied_bytes),
                        megabytes(step.written_bytes + step.copied_bytes));
    if (!step.cut.empty()) text += fmt::format("  {}\n", step.cut);
    return text;
}

nlohmann::ordered_json step_json(const ExplainedGradient::StepBack& step) {
    nlohmann::ordered_json json{{"read_in_place", step.in_place},
                                {"copied", step.copied},
                                {"inputs", step.inputs},
                                {"advanced", step.carried},
                                {"bytes_copied", step.copied_bytes},
                                {"bytes_read", step.read_bytes + step.copied_bytes},
                                {"bytes_written", step.written_bytes + step.copied_bytes}};
    if (!step.cut.empty()) json["pieces"] = step.cut;
    return json;
}

}  // namespace

ExplainedGradient explain_gradient(const GradientEngines& engines, const GradientPlan& plan) {
    ExplainedGradient found;
    found.steps = plan.steps;
    found.snapshots = plan.snapshots;
    found.snapshot_bytes = snapshot_bytes(engines.forward, plan.program, plan.snapshots);
    // With the last step, which the objective is of.
    if (plan.snapshots.count() > 0)
        found.done_again =
            adjoint::steps_forward(plan.steps,
                                   snapshot_budget(plan.snapshots, snapshot_levels(engines.forward))) +
            1 - plan.steps;
    found.gpus = gpus_of(engines.forward);
    found.step_back = explain_step(engines.forward, engines.backward, plan.adjoint);
    if (engines.earlier == nullptr) return found;
    found.first = std::move(found.step_back);
    found.step_back = explain_step(engines.forward, *engines.earlier, *plan.earlier);
    return found;
}

std::string explained_words(const ExplainedGradient& explained) {
    std::string text =
        fmt::format("{} forward and back; {}; {} done again\n", counted(explained.steps, "step"),
                    snapshot_words(explained.snapshots, explained.snapshot_bytes, explained.gpus),
                    counted(explained.done_again, "step"));
    if (!explained.cut.empty()) text += fmt::format("a step forward\n  {}\n", explained.cut);
    text += "a step back\n" + step_words(explained.step_back);
    if (explained.first)
        text += "the first step back, which has the objective\n" + step_words(*explained.first);
    return text;
}

std::string explained_json(const ExplainedGradient& explained) {
    nlohmann::ordered_json json{{"steps", explained.steps},
                                {"steps_done_again", explained.done_again},
                                {"snapshots", explained.snapshots.count()},
                                {"snapshot_bytes", explained.snapshot_bytes}};
    if (explained.gpus > 0) json["snapshots_on_host"] = explained.snapshots.on_host;
    if (!explained.cut.empty()) json["step_forward"]["pieces"] = explained.cut;
    json["step_back"] = step_json(explained.step_back);
    if (explained.first) json["first_step_back"] = step_json(*explained.first);
    return json_text(json);
}

}  // namespace halo::driver
