#include "compiler/driver/spec/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/console/files.h"
#include "compiler/driver/console/stopwatch.h"
#include "compiler/lint/lint.h"
#include "compiler/schedule/groupings.h"
#include "compiler/syntax/parser.h"

namespace halo::driver {

namespace {

// Finds the place of a word of a schedule block. The block's text comes without comments and with single
// spaces, so the word is searched for in the file; where it stands more than once, the whole block is meant.
SourceRange find_word(const SourceFile& source, const sema::ScheduleText& block, SourceRange in_block) {
    std::string_view text = source.text(block.where);
    std::string word = block.text.substr(in_block.begin, in_block.end - in_block.begin);
    std::size_t at = word.empty() ? std::string_view::npos : text.find(word);
    if (at == std::string_view::npos || text.find(word, at + 1) != std::string_view::npos) return block.where;
    auto begin = static_cast<std::uint32_t>(block.where.begin + at);
    return {begin, static_cast<std::uint32_t>(begin + word.size())};
}

// Checks the words of schedule blocks, which needs no target. Limits are checked where code is made.
void check_schedules(const sema::Analysis& analysis, const SourceFile& source, DiagnosticSink& sink) {
    for (const sema::AnalyzedStencil& stencil : analysis.stencils) {
        if (!stencil.schedule || stencil.program.rank() < 1 || stencil.program.rank() > ir::kMaxRank)
            continue;
        const std::string& text = stencil.schedule->text;
        const int rank = stencil.program.rank();
        for (const schedule::Mistake& mistake : schedule::mistakes_in(text, rank)) {
            SourceRange where = find_word(source, *stencil.schedule, mistake.range);
            Diagnostic& diagnostic = sink.report(DiagnosticKind::invalid_schedule, where, mistake.message);
            if (!mistake.mend.empty() && !(where == stencil.schedule->where))
                diagnostic.mend(where, mistake.mend);
        }
    }
}

}  // namespace

CheckedSpec check_text(std::string name, std::string text, const ModulePath& modules) {
    CheckedSpec spec{SourceFile(std::move(name), text), std::move(text), modules, {}, {}};
    DiagnosticSink sink;
    syntax::File tree = syntax::parse(spec.source, sink);
    if (tree.stencils.empty() && tree.runs.empty() && tree.shared.empty() && tree.uses.empty() &&
        !sink.has_errors())
        sink.report(DiagnosticKind::nothing_to_compute, {0, 0}, "this file has no stencil")
            .note("a spec starts with, for example, `stencil heat(x, y) { … }`");
    spec.module_texts = add_modules(spec.source, tree, modules, sink);
    spec.analysis = sema::analyze(tree, sink);
    check_schedules(spec.analysis, spec.source, sink);
    if (!sink.has_errors()) lint::lint(spec.source, tree, spec.analysis, sink);
    spec.diagnostics = sink.sorted();
    spec.ok = !sink.has_errors();
    spec.tree = std::move(tree);
    return spec;
}

CheckedSpec check_until(const CheckedSpec& spec, const std::string& stencil, const std::string& condition) {
    CheckedSpec result{SourceFile(spec.source.name(), spec.text), spec.text, spec.modules, {}, {}};
    DiagnosticSink sink;
    syntax::File tree = syntax::parse(result.source, sink);
    result.module_texts = add_modules(result.source, tree, result.modules, sink);
    syntax::parse_until(result.source, result.source.add("until", condition), stencil, sink, tree);
    result.analysis = sema::analyze(tree, sink);
    result.diagnostics = sink.sorted();
    result.ok = !sink.has_errors();
    return result;
}

CheckedSpec check_run_lines(const CheckedSpec& spec, const std::string& stencil, const RunLines& lines) {
    CheckedSpec result{SourceFile(spec.source.name(), spec.text), spec.text, spec.modules, {}, {}};
    DiagnosticSink sink;
    syntax::File tree = syntax::parse(result.source, sink);
    result.module_texts = add_modules(result.source, tree, result.modules, sink);
    std::optional<std::uint32_t> first;
    for (const std::string& line : lines.inits) {
        const std::uint32_t begin = result.source.add("--init", "init " + line);
        if (!first) first = begin;
        syntax::parse_run_init(result.source, begin, *first, stencil, sink, tree);
    }
    if (!lines.until.empty())
        syntax::parse_run_until(result.source, result.source.add("--until", lines.until), stencil, sink,
                                tree);
    const auto add_pictures = [&](const std::string& word, const std::vector<std::string>& pictures) {
        for (const std::string& line : pictures)
            syntax::parse_run_picture(result.source, result.source.add("--" + word, word + " " + line),
                                      stencil, sink, tree);
    };
    add_pictures("plot", lines.plots);
    add_pictures("movie", lines.movies);
    result.analysis = sema::analyze(tree, sink);
    result.diagnostics = sink.sorted();
    result.ok = !sink.has_errors();
    result.read_seconds = spec.read_seconds;
    return result;
}

CheckedSpec check_spec(const std::string& path, const std::vector<std::string>& include) {
    // Reads more than the parser takes, so that it is the parser that refuses a long file, with its own
    // message.
    Stopwatch watch;
    std::string text = read_text(path, 4 * syntax::kMaxFileBytes);
    const double seconds = watch.lap();
    CheckedSpec spec = check_text(display_name(path), std::move(text), module_path(path, include));
    spec.read_seconds = seconds;
    return spec;
}

void show_diagnostics(const std::vector<Diagnostic>& diagnostics, const SourceFile& source,
                      const Console& console) {
    if (diagnostics.empty() || console.silent()) return;
    std::string text = render(diagnostics, source, RenderOptions{console.error_has_colour()});
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

CheckedSpec read_spec(const std::string& path, const std::vector<std::string>& include,
                      const Console& console) {
    CheckedSpec spec = check_spec(path, include);
    require_right(spec, console);
    return spec;
}

void require_right(const CheckedSpec& spec, const Console& console) {
    if (!spec.ok) show_diagnostics(spec.diagnostics, spec.source, console);  // warnings are for `check`
    if (!spec.ok) throw CommandError(ExitCode::spec, "");
    if (spec.analysis.stencils.empty()) {
        throw CommandError(ExitCode::spec, fmt::format("{} has no stencil", spec.source.name()),
                           "a spec starts with, for example, stencil heat(x, y) { … }");
    }
}

const sema::AnalyzedStencil& choose_stencil(const CheckedSpec& spec, const std::string& name) {
    const std::vector<sema::AnalyzedStencil>& stencils = spec.analysis.stencils;
    std::vector<std::string> names;
    for (const sema::AnalyzedStencil& stencil : stencils)
        names.push_back(stencil.program.name);
    if (!name.empty()) {
        if (const sema::AnalyzedStencil* found = spec.analysis.find_stencil(name)) return *found;
        throw_unknown(spec.source.name(), "stencil", name, names);
    }
    if (stencils.size() == 1) return *spec.analysis.find_stencil(stencils.front().program.name);
    if (spec.analysis.runs.size() == 1) {
        if (const auto* found = spec.analysis.find_stencil(spec.analysis.runs.front().stencil)) return *found;
    }
    throw CommandError(ExitCode::usage,
                       fmt::format("{} has several stencils: {}", spec.source.name(), join(names, ", ")),
                       "say which one is meant");
}

std::optional<schedule::Extent> choose_grid(const CheckedSpec& spec, const ir::Program& program,
                                            const std::string& grid) {
    if (!grid.empty()) {
        schedule::Extent extent{};
        std::vector<std::int64_t> cells = parse_grid(grid, ir::axis_names(program));
        std::copy(cells.begin(), cells.end(), extent.begin());
        return extent;
    }
    const sema::RunSpec* run = spec.analysis.find_run(program.name);
    return run != nullptr ? run->grid : std::nullopt;
}

}  // namespace halo::driver
