#include "compiler/driver/spec/constant.h"

#include <fmt/format.h>

#include <cmath>

#include "compiler/driver/console/exit_code.h"
#include "compiler/sema/sema.h"
#include "compiler/support/diagnostics.h"
#include "compiler/support/source.h"
#include "compiler/syntax/parser.h"

namespace halo::driver {

// Reads it as the default of the only param of a stencil: exactly what a spec would make of it.
Constant read_constant(const std::string& text) {
    // What would end the default, and so is in no expression.
    if (text.find_first_of("\n\r;#{}=\"") != std::string::npos) return {std::nullopt, "it is no expression"};
    const SourceFile source(
        "constant", "stencil s(axis_) {\nfield field_: f64\nfield_ = 0\nparam value_ =" + text + "\n}\n");
    DiagnosticSink sink;
    const syntax::File tree = syntax::parse(source, sink);
    const sema::Analysis analysis = sema::analyze(tree, sink);
    if (sink.has_errors()) return {std::nullopt, sink.sorted().front().message};
    const std::vector<ir::Param>& params = analysis.stencils.front().program.params;
    if (params.size() != 1 || !params.front().default_value) return {std::nullopt, "it is no expression"};
    if (!std::isfinite(*params.front().default_value)) return {std::nullopt, "it is not finite"};
    return {params.front().default_value, ""};
}

double constant_value(const std::string& text, const std::string& what) {
    const Constant constant = read_constant(text);
    if (!constant.value)
        throw CommandError(ExitCode::usage,
                           fmt::format("{}: `{}` is no number: {}", what, text, constant.trouble),
                           "numbers are written 0.1, -2e-3, 1/63 or 0.1*2");
    return *constant.value;
}

}  // namespace halo::driver
