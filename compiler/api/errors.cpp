#include "compiler/api/errors.h"

#include "compiler/driver/console/exit_code.h"
#include "compiler/support/error.h"
#include "runtime/api/errors.h"

namespace halocline::detail {

namespace {

ErrorCode code_of(halo::driver::ExitCode code) {
    switch (code) {
        case halo::driver::ExitCode::spec:
            return ErrorCode::spec;
        case halo::driver::ExitCode::usage:
            return ErrorCode::bad_argument;
        case halo::driver::ExitCode::device:
            return ErrorCode::no_device;
        case halo::driver::ExitCode::file:
            return ErrorCode::io;
        case halo::driver::ExitCode::ok:
        case halo::driver::ExitCode::internal:
        case halo::driver::ExitCode::interrupted:
            break;
    }
    return ErrorCode::internal;
}

}  // namespace

std::vector<Diagnostic> diagnostics_of(const std::vector<halo::Diagnostic>& diagnostics,
                                       const halo::SourceFile& source) {
    std::vector<Diagnostic> all;
    for (const halo::Diagnostic& each : diagnostics) {
        const halo::LineColumn place = source.line_column(each.where.begin);
        Diagnostic diagnostic;
        diagnostic.is_error = halo::severity_of(each.kind) == halo::Severity::error;
        diagnostic.kind = halo::name_of(each.kind);
        diagnostic.message = each.message;
        diagnostic.file = source.name(each.where.begin);
        diagnostic.line = static_cast<int>(place.line);
        diagnostic.column = static_cast<int>(place.column);
        if (each.mend_text) diagnostic.mend = each.mend_text->replacement;
        all.push_back(std::move(diagnostic));
    }
    return all;
}

std::vector<Diagnostic> diagnostics_of(const halo::driver::CheckedSpec& spec) {
    return diagnostics_of(spec.diagnostics, spec.source);
}

void throw_mistakes(const halo::driver::CheckedSpec& spec) {
    throw Error(ErrorCode::spec, halo::render(spec.diagnostics, spec.source), diagnostics_of(spec));
}

void rethrow_with_mend(const std::string& mend) {
    try {
        throw;
    } catch (const halo::driver::CommandError& error) {
        throw Error(code_of(error.code()), mend.empty() ? error.what() : error.what() + ("; " + mend));
    }
}

void rethrow_of_compiler() {
    try {
        throw;
    } catch (const halo::driver::CommandError& error) {
        throw Error(code_of(error.code()),
                    error.hint().empty() ? error.what() : std::string(error.what()) + "; " + error.hint());
    } catch (const halo::UnsupportedError& error) {
        throw Error(ErrorCode::unsupported, error.what());
    } catch (...) {
        rethrow_translated();
    }
}

}  // namespace halocline::detail
