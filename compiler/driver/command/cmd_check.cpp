// haloc check: is a spec right, and if not, where and why; and how stable its schemes are.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/driver/command/commands.h"
#include "compiler/driver/console/arguments.h"
#include "compiler/driver/running/remarks.h"
#include "compiler/driver/running/stability.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/support/json_text.h"

namespace halo::driver {

namespace {

using Json = nlohmann::ordered_json;

std::size_t count_warnings(const CheckedSpec& checked) {
    return static_cast<std::size_t>(std::count_if(
        checked.diagnostics.begin(), checked.diagnostics.end(),
        [](const Diagnostic& diagnostic) { return severity_of(diagnostic.kind) == Severity::warning; }));
}

std::vector<Stability> examine_all(const CheckedSpec& checked, const std::string& param) {
    std::vector<Stability> all;
    if (!checked.ok || param.empty()) return all;
    std::vector<std::string> known;
    bool found = param == "dt";
    for (const sema::AnalyzedStencil& stencil : checked.analysis.stencils) {
        for (const ir::Param& each : stencil.program.params) {
            known.push_back(each.name);
            found = found || each.name == param;
        }
    }
    if (!found) throw_unknown(checked.source.name(), "param", param, known);
    for (const sema::AnalyzedStencil& stencil : checked.analysis.stencils)
        all.push_back(stability_of_spec(checked, stencil, param));
    return all;
}

const char* kind_name(analysis::StabilityAnswer::Kind kind) {
    using Kind = analysis::StabilityAnswer::Kind;
    switch (kind) {
        case Kind::bounded:
            return "bounded";
        case Kind::always:
            return "always";
        case Kind::never:
            return "never";
        case Kind::as_it_is:
            return "as-it-is";
    }
    return "";
}

Json stability_json(const Stability& stability, const SourceFile& source) {
    Json json{{"file", source.name()}, {"stencil", stability.stencil}};
    if (stability.param) json.update({{"param", *stability.param}, {"value", stability.value}});
    if (const auto* refusal = std::get_if<analysis::Refusal>(&stability.result)) {
        json.update({{"kind", "none"}, {"reason", refusal->reason}});
        if (refusal->where.begin != refusal->where.end) {
            const LineColumn at = source.line_column(refusal->where.begin);
            json.update({{"line", at.line}, {"column", at.column}});
        }
        return json;
    }
    const analysis::StabilityAnswer& answer = *stability.answer();
    json["kind"] = kind_name(answer.kind);
    if (answer.kind == analysis::StabilityAnswer::Kind::bounded) json["bound"] = answer.bound;
    json.update({{"growth", answer.growth}, {"wave", answer.wave}, {"taken", stability.taken}});
    return json;
}

// A default with which waves grow, where that is known after little work.
std::vector<std::string> unstable_defaults(const CheckedSpec& checked) {
    std::vector<std::string> warnings;
    if (!checked.ok) return warnings;
    for (const sema::AnalyzedStencil& stencil : checked.analysis.stencils) {
        const std::optional<Stability> stability = quick_stability_of_spec(checked, stencil);
        std::string warning = stability ? stability_warning(*stability) : "";
        if (!warning.empty()) warnings.push_back(std::move(warning));
    }
    return warnings;
}

// As render_json() has them; it has no place in the text.
Json warning_json(const std::string& warning, const SourceFile& source) {
    return {{"kind", "unstable-step"}, {"severity", "warning"}, {"file", source.name()},
            {"message", warning},      {"range", nullptr},      {"labels", Json::array()},
            {"notes", Json::array()},  {"mend", nullptr}};
}

std::string summary(const CheckedSpec& checked, std::size_t warnings) {
    if (warnings == 0) return fmt::format("{}: no mistakes", checked.source.name());
    return fmt::format("{}: no mistakes, {} warning{}", checked.source.name(), warnings,
                       warnings == 1 ? "" : "s");
}

void say_what_is_left(const CheckedSpec& checked, const Console& console) {
    for (const sema::AnalyzedStencil& stencil : checked.analysis.stencils)
        if (const std::string note = boundary_note(stencil); !note.empty()) console.message(note);
}

}  // namespace

ExitCode check(const CheckOptions& options, const Console& console) {
    bool all_well = true;
    Json messages = Json::array(), stabilities = Json::array();
    for (const std::string& path : options.files) {
        CheckedSpec checked = check_spec(path, options.include);
        const std::vector<Stability> stability = examine_all(checked, options.stability);
        const std::vector<std::string> unstable =
            options.stability.empty() ? unstable_defaults(checked) : std::vector<std::string>();
        const std::size_t warnings = count_warnings(checked) + unstable.size();
        all_well = all_well && checked.ok && !(options.strict && warnings > 0);
        for (const Stability& each : stability)
            all_well = all_well && !(options.strict && each.is_exceeded());
        if (options.json) {
            for (auto& diagnostic : Json::parse(render_json(checked.diagnostics, checked.source)))
                messages.push_back(std::move(diagnostic));
            for (const std::string& warning : unstable)
                messages.push_back(warning_json(warning, checked.source));
            for (const Stability& each : stability)
                stabilities.push_back(stability_json(each, checked.source));
            continue;
        }
        show_diagnostics(checked.diagnostics, checked.source, console);
        for (const std::string& warning : unstable)
            console.warning(fmt::format("{}: {}", checked.source.name(), warning));
        if (checked.ok) {
            say_what_is_left(checked, console);
            console.message(summary(checked, warnings));
        }
        for (const Stability& each : stability)
            console.result(stability_text(each, checked.source) + '\n');
    }
    if (options.json) {
        const Json both{{"messages", messages}, {"stability", stabilities}};
        console.result(json_text(options.stability.empty() ? messages : both));
    }
    return all_well ? ExitCode::ok : ExitCode::spec;
}

}  // namespace halo::driver
