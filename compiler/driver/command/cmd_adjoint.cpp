// haloc tangent, haloc adjoint: the derivative of a spec, as a spec.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/adjoint/spec_text.h"
#include "compiler/adjoint/tangent.h"
#include "compiler/adjoint/turns.h"
#include "compiler/driver/command/commands.h"
#include "compiler/driver/console/files.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/syntax/format.h"

namespace halo::driver {

namespace {

std::string listed(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string tangent_comment(const std::string& name, const adjoint::Request& request) {
    return fmt::format(
        "# The tangent of {}: how {} {} with {}.\n"
        "# q_dot is the change of q, to first order; what is differentiated is given its direction.\n",
        name, listed(request.of), request.of.size() == 1 ? "changes" : "change", listed(request.with));
}

std::string adjoint_comment(const std::string& name, const adjoint::Request& request,
                            const adjoint::Adjoint& made, bool is_earlier) {
    std::string text = fmt::format("# The adjoint of {}: the derivative of {} with respect to {}.\n", name,
                                   listed(request.of), listed(request.with));
    text += is_earlier ? "# A step undoes one of the forward program that has another after it.\n"
                       : "# A step undoes one of the forward program, the last one first.\n";
    for (const adjoint::Adjoint::Past& past : made.pasts)
        text += fmt::format("# {}[t-1] is at first what the last step of the forward program made of it.\n",
                            past.now);
    for (const adjoint::Adjoint::Level& level : made.levels)
        text += fmt::format("# {} is {}{} as that step began with it.\n", level.input, level.state,
                            level.time == 0 ? "" : fmt::format("[t{}]", level.time));
    for (const adjoint::Adjoint::Gradient& gradient : made.gradients)
        text += fmt::format("# {} is the derivative with respect to {}, after the last step.\n",
                            gradient.name, gradient.with);
    return text;
}

// What spec_text() writes, in the usual layout.
std::string laid_out(const std::string& text) {
    DiagnosticSink sink;
    const std::optional<std::string> usual = syntax::format(SourceFile("derived.halo", text), sink);
    return usual.value_or(text);
}

adjoint::Adjoint earlier_steps(const ir::Program& program, const adjoint::Request& request) {
    adjoint::Turns turns = adjoint::make_turns(program, request);
    if (!turns.earlier)
        throw CommandError(
            ExitCode::usage,
            fmt::format("--earlier: all steps back from {} are alike, and one program does them",
                        listed(request.of)),
            "leave it out");
    return std::move(*turns.earlier);
}

ExitCode derive(const DeriveOptions& options, bool is_adjoint, const Console& console) {
    const CheckedSpec spec = read_spec(options.file, options.include, console);
    const ir::Program& program = choose_stencil(spec, options.stencil).program;
    const adjoint::Request request{options.of, options.with, options.every_step};
    try {
        std::string text;
        if (is_adjoint) {
            const adjoint::Adjoint made =
                options.earlier ? earlier_steps(program, request) : adjoint::make_adjoint(program, request);
            text = adjoint::spec_text(made.program,
                                      adjoint_comment(program.name, request, made, options.earlier));
        } else {
            text = adjoint::spec_text(adjoint::make_tangent(program, request),
                                      tangent_comment(program.name, request));
        }
        text = laid_out(text);
        if (options.output.empty()) {
            console.result(text);
        } else {
            write_text(options.output, text);
        }
        return ExitCode::ok;
    } catch (const adjoint::RefusedError& refused) {
        show_no_derivative(refused, spec.source, console);
        return ExitCode::spec;
    }
}

}  // namespace

void show_no_derivative(const adjoint::RefusedError& refused, const SourceFile& source,
                        const Console& console) {
    if (refused.where() == SourceRange{}) throw CommandError(ExitCode::usage, refused.what(), refused.mend());
    Diagnostic shown{
        DiagnosticKind::not_built_yet, refused.where(), refused.what(), {}, {refused.mend()}, {}};
    show_diagnostics({shown}, source, console);
}

ExitCode tangent(const DeriveOptions& options, const Console& console) {
    return derive(options, false, console);
}

ExitCode adjoint(const DeriveOptions& options, const Console& console) {
    return derive(options, true, console);
}

}  // namespace halo::driver
