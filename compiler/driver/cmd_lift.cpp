// haloc lift: a loop nest of C, C++ or CUDA to a spec.
#include <fmt/format.h>

#include "compiler/driver/commands.h"
#include "compiler/driver/files.h"
#include "compiler/driver/spec.h"
#include "compiler/lift/lift.h"
#include "compiler/lift/verify.h"
#include "compiler/support/error.h"

namespace halo::driver {

namespace {

// A refusal looks like any other message about a text.
void show(const lift::LiftError& error, const Console& console) {
    Diagnostic shown{
        DiagnosticKind::not_built_yet, error.refusal.where, error.what(), {}, error.refusal.notes, {}};
    for (const auto& [where, text] : error.refusal.labels)
        shown.label(where, text);
    show_diagnostics({shown}, error.source, console);
}

lift::Nests lift_or_refuse(const lift::Options& options, const Console& console) {
    lift::Nests found;
    try {
        found = lift::lift_nests(options);
    } catch (const lift::SourceError& trouble) {
        throw CommandError(trouble.missing_file ? ExitCode::file : ExitCode::usage, trouble.what());
    }
    for (const lift::LiftError& each : found.refused)
        show(each, console);
    if (found.lifted.empty()) throw CommandError(ExitCode::spec, "");
    for (const lift::Nests::Around& each : found.around) {
        const SourceFile& source = each.why.source;
        const std::uint32_t at = each.why.refusal.where.begin;
        console.message(
            fmt::format("{}:{}: this loop stays in the program, and the nests in it are lifted: {} (line {})",
                        source.name(at), each.line, each.why.what(), source.line_column(at).line));
    }
    return found;
}

// Sentences for the spec's header.
std::vector<std::string> verify(const lift::Options& options, const lift::Lifted& lifted,
                                const Console& console) {
    try {
        const lift::Verification run = lift::verify(options, lifted);
        for (const std::string& each : run.table)
            console.message(lifted.outline ? lifted.spec.name + ": " + each : each);
        if (run.passed) return run.sentences;
        console.error(fmt::format("the spec does not compute what `{}` computes: {}", options.source.function,
                                  run.sentences.front()),
                      "nothing is written; this is a mistake in haloc, please report it with the function");
        throw CommandError(ExitCode::spec, "");
    } catch (const lift::SourceError& trouble) {
        throw CommandError(ExitCode::usage, trouble.what(), "without --verify the function is only read");
    }
}

}  // namespace

ExitCode lift(const LiftOptions& options, const Console& console) {
    lift::Options wanted;
    wanted.source = {options.file, options.function, options.build_folder, options.arguments};
    wanted.form = {options.no_alias, options.equal_rims, options.strict_fp};
    wanted.name = options.name;
    const lift::Nests found = lift_or_refuse(wanted, console);
    std::string text;
    for (const lift::Lifted& each : found.lifted) {
        std::vector<std::string> verdict{
            "Not verified: haloc lift --verify runs the function and the spec on random data."};
        if (options.verify) verdict = verify(wanted, each, console);
        text += (text.empty() ? "" : "\n") + lift::file_text(each, verdict);
    }
    const CheckedSpec checked = check_text(options.output.empty() ? "lifted.halo" : options.output, text);
    if (!checked.ok)
        throw InternalError("a lifted spec has mistakes: " + checked.diagnostics.front().message);
    for (const lift::Lifted& each : found.lifted) {
        if (each.outline) console.message(fmt::format("line {}: `{}`", each.first_line, each.spec.name));
    }
    if (options.output.empty()) {
        console.result(text);
    } else {
        write_text(options.output, text);
        console.message(
            fmt::format("{} written{}", options.output, options.verify ? ", verified" : ", not verified"));
    }
    return ExitCode::ok;
}

}  // namespace halo::driver
