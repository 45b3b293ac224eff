#include "compiler/driver/running/run_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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

CheckedSpec spec_of(const RunArguments& arguments, const Console& console) {
    if (!arguments.texts) return read_spec(arguments.file, arguments.include, console);
    const SpecTexts& texts = *arguments.texts;
    CheckedSpec spec = check_text(texts.name, texts.text, ModulePath{"", texts.folders, {}, texts.modules});
    require_right(spec, console);
    return spec;
}

}  // namespace

bool is_run_line(const std::string& picture) {
    return picture.find('"') != std::string::npos;
}

CheckedSpec read_run_spec(const RunArguments& arguments, const Console& console) {
    CheckedSpec spec = spec_of(arguments, console);
    RunLines lines{arguments.init, arguments.until, {}, {}};
    std::ranges::copy_if(arguments.plot, std::back_inserter(lines.plots), is_run_line);
    std::ranges::copy_if(arguments.movie, std::back_inserter(lines.movies), is_run_line);
    if (lines.is_empty()) return spec;
    check_inits(arguments);
    const std::string stencil = choose_stencil(spec, arguments.run_name).program.name;
    const sema::RunSpec* run = spec.analysis.find_run(stencil);
    const bool may_be_endless = arguments.live && arguments.live->stays;
    if (!arguments.until.empty() && !may_be_endless && !arguments.steps && (run == nullptr || !run->steps))
        throw CommandError(ExitCode::usage,
                           "--until needs a number of steps after which the run stops in any case",
                           "for example --steps 10000");
    CheckedSpec result = check_run_lines(spec, stencil, lines);
    if (!result.ok) {
        show_diagnostics(result.diagnostics, result.source, console);
        throw CommandError(ExitCode::usage, "");
    }
    return result;
}

}  // namespace halo::driver
