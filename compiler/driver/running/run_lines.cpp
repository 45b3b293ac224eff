#include "compiler/driver/running/run_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/console/exit_code.h"

namespace halo::driver {

namespace {

void check_inits(const RunArguments& arguments) {
    for (const std::string& init : arguments.init) {
        const std::size_t equals = init.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == init.size())
            throw CommandError(ExitCode::usage, fmt::format("--init wants FIELD=EXPR, not `{}`", init),
                               "for example --init 'u=exp(-x^2)'");
        std::string field = init.substr(0, equals);
        while (field.ends_with(' '))
            field.pop_back();
        const bool is_loaded = std::ranges::any_of(
            arguments.load, [&](const std::string& load) { return load.substr(0, load.find('=')) == field; });
        if (is_loaded)
            throw CommandError(ExitCode::usage,
                               fmt::format("--init and --load both say what {} starts with", field),
                               "leave one of them out");
    }
}

}  // namespace

CheckedSpec read_run_spec(const RunArguments& arguments, const Console& console) {
    CheckedSpec spec = read_spec(arguments.file, arguments.include, console);
    if (arguments.init.empty() && arguments.until.empty()) return spec;
    check_inits(arguments);
    const std::string stencil = choose_stencil(spec, arguments.run_name).program.name;
    const sema::RunSpec* run = spec.analysis.find_run(stencil);
    if (!arguments.until.empty() && !arguments.steps && (run == nullptr || !run->steps))
        throw CommandError(ExitCode::usage,
                           "--until needs a number of steps after which the run stops in any case",
                           "for example --steps 10000");
    CheckedSpec result = check_run_lines(spec, stencil, arguments.init, arguments.until);
    if (!result.ok) {
        show_diagnostics(result.diagnostics, result.source, console);
        throw CommandError(ExitCode::usage, "");
    }
    return result;
}

}  // namespace halo::driver
