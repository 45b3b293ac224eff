// haloc fmt: a spec in the usual layout.
#include <fmt/format.h>

#include "compiler/driver/command/commands.h"
#include "compiler/driver/console/files.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/support/diagnostics.h"
#include "compiler/support/source.h"
#include "compiler/syntax/format.h"
#include "compiler/syntax/parser.h"

namespace halo::driver {

namespace {

// One file; false where it has mistakes (which have been shown) or, with --check, is not in the usual layout.
bool format_file(const std::string& path, const FormatOptions& options, const Console& console) {
    SourceFile source(display_name(path), read_text(path, syntax::kMaxFileBytes));
    DiagnosticSink sink;
    std::optional<std::string> text = syntax::format(source, sink);
    if (!text) {
        show_diagnostics(sink.sorted(), source, console);
        return false;
    }
    bool is_usual = *text == source.text();
    if (options.check) {
        if (!is_usual)
            console.error(fmt::format("{} is not in the usual layout", source.name()),
                          "haloc fmt -w mends it");
        return is_usual;
    }
    if (!options.in_place) {
        console.result(*text);
    } else if (!is_usual) {
        write_text(path, *text);
        console.message(fmt::format("{} rewritten", path));
    }
    return true;
}

}  // namespace

ExitCode format(const FormatOptions& options, const Console& console) {
    for (const std::string& path : options.files) {
        if (options.in_place && path == "-") {
            throw CommandError(ExitCode::usage, "standard input cannot be rewritten",
                               "leave -w out to print the result");
        }
    }
    bool all_well = true;
    for (const std::string& path : options.files)
        all_well = format_file(path, options, console) && all_well;
    return all_well ? ExitCode::ok : ExitCode::spec;
}

}  // namespace halo::driver
