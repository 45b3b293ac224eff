// What is not written and holds all the same: orders of accuracy, and where lets lie. And what a stencil
// becomes, as text.
#include <algorithm>
#include <set>

#include "compiler/driver/planning/emission.h"
#include "compiler/driver/planning/explanation.h"
#include "compiler/lsp/features.h"
#include "compiler/lsp/field_facts.h"

namespace halo::lsp {

namespace {

constexpr int kParameterHint = 2, kTypeHint = 1;
constexpr int kExplanationWidth = 100;

Json hint(const View& view, std::uint32_t offset, const std::string& label, int kind) {
    return {{"position", view.lines.position(offset)}, {"label", label}, {"kind", kind}};
}

// Behind the arguments of `d(u, x)`: its order, where none is written.
void add_orders(const View& view, const sema::AnalyzedStencil& stencil, SourceRange shown, Json& hints) {
    std::set<std::uint32_t> told;
    for (const sema::Difference& difference : stencil.differences) {
        const SourceRange call = difference.where;
        const bool is_shown =
            view.checked.in_spec(call) && call.begin < shown.end && shown.begin < call.end && call.end > 0;
        if (!is_shown || !told.insert(call.end).second) continue;
        const std::string_view text = view.checked.spec().source.text(call);
        const bool is_written = text.find("order") != std::string_view::npos ||
                                text.find("accuracy") != std::string_view::npos || !text.ends_with(")");
        if (!is_written)
            hints.push_back(
                hint(view, call.end - 1, ", order=" + std::to_string(difference.accuracy), kParameterHint));
    }
}

// Behind the name of a let that lies off the cells' points, where it is not written.
void add_places(const View& view, const sema::AnalyzedStencil& stencil, SourceRange shown, Json& hints) {
    std::set<std::uint32_t> told;
    for (const NameDefinition& each : view.checked.names().definitions) {
        const bool is_shown = each.kind == NameKind::let && each.stencil == stencil.program.name &&
                              view.checked.in_spec(each.where) && each.where.begin < shown.end &&
                              shown.begin < each.where.end;
        if (!is_shown) continue;
        const std::string_view text = view.checked.spec().source.text({each.where.end, each.whole.end});
        if (text.starts_with(" at ")) continue;
        for (const ir::Field& field : stencil.program.fields) {
            const std::string place = field.name == each.name ? place_of(stencil.program, field) : "";
            if (!place.empty() && told.insert(each.where.end).second)
                hints.push_back(hint(view, each.where.end, " at " + place, kTypeHint));
        }
    }
}

driver::CodeOptions code_options_of(const driver::CheckedSpec& spec, const sema::AnalyzedStencil& stencil) {
    driver::CodeOptions options;
    if (stencil.schedule) options.file_schedule = stencil.schedule->text;
    options.extent = driver::choose_grid(spec, stencil.program, "");
    return options;
}

}  // namespace

Json inlay_hints(const View& view, SourceRange shown) {
    Json hints = Json::array();
    for (const sema::AnalyzedStencil& stencil : view.checked.spec().analysis.stencils) {
        add_orders(view, stencil, shown, hints);
        if (view.checked.spec().ok) add_places(view, stencil, shown, hints);
    }
    return hints;
}

Json code_lenses(const View& view) {
    Json lenses = Json::array();
    if (!view.checked.spec().ok) return lenses;
    for (const syntax::Stencil& stencil : view.checked.spec().tree.stencils) {
        const auto add = [&](const char* title, const char* command) {
            lenses.push_back({{"range", view.lines.range(stencil.name.where)},
                              {"command",
                               {{"title", title},
                                {"command", command},
                                {"arguments", Json::array({view.document.uri, stencil.name.text})}}}});
        };
        add("CUDA", kShowCuda);
        add("plan", kShowPlan);
    }
    return lenses;
}

Json execute(const View& view, const std::string& command, const std::string& name) {
    const driver::CheckedSpec& spec = view.checked.spec();
    const sema::AnalyzedStencil* const stencil = spec.analysis.find_stencil(name);
    if (!spec.ok || stencil == nullptr)
        throw RequestError(kRequestFailed, "there is no stencil `" + name + "` without mistakes");
    driver::CodeOptions options = code_options_of(spec, *stencil);
    if (command == kShowPlan)
        return driver::explanation(stencil->program, std::move(options), driver::TargetHere{}, std::nullopt,
                                   driver::ExplanationForm::text, kExplanationWidth);
    options.single_steps = true;  // as `haloc emit`
    return driver::emitted_files(stencil->program, driver::Emission{}, options, {}).front().text;
}

}  // namespace halo::lsp
