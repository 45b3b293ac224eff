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

lift::Lifted lift_or_refuse(const lift::Options& options, const Console& console) {
    try {
        return lift::lift(options);
    } catch (const lift::LiftError& refused) {
        show(refused, console);
        throw CommandError(ExitCode::spec, "");
    } catch (const lift::SourceError& trouble) {
        throw CommandError(trouble.missing_file ? ExitCode::file : ExitCode::usage, trouble.what());
    }
}

}  // namespace

ExitCode lift(const LiftOptions& options, const Console& console) {
    lift::Options wanted;
    wanted.source = {options.file, options.function, options.build_folder, options.arguments};
    wanted.form = {options.no_alias, options.equal_rims};
    wanted.name = options.name;
    const lift::Lifted lifted = lift_or_refuse(wanted, console);
    std::vector<std::string> verdict{
        "Not verified: haloc lift --verify runs the function and the spec on random data."};
    if (options.verify) {
        try {
            const lift::Verification run = lift::verify(wanted, lifted);
            verdict = run.sentences;
            for (const std::string& each : run.table)
                console.message(each);
            if (!run.passed) {
                console.error(
                    fmt::format("the spec does not compute what `{}` computes: {}", options.function,
                                run.sentences.front()),
                    "nothing is written; this is a mistake in haloc, please report it with the function");
                return ExitCode::spec;
            }
        } catch (const lift::SourceError& trouble) {
            throw CommandError(ExitCode::usage, trouble.what(), "without --verify the function is only read");
        }
    }
    const std::string text = lift::file_text(lifted, verdict);
    const CheckedSpec checked = check_text(options.output.empty() ? "lifted.halo" : options.output, text);
    if (!checked.ok)
        throw InternalError("a lifted spec has mistakes: " + checked.diagnostics.front().message);
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
