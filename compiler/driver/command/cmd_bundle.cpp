#include <fmt/format.h>

#include <filesystem>

#include "compiler/api/checked.h"
#include "compiler/api/linked_program.h"
#include "compiler/driver/command/commands.h"
#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/files.h"

namespace halo::driver {

namespace {

namespace detail = halocline::detail;
using halocline::Grid;

std::vector<Grid> parse_grids(const std::vector<std::string>& texts, const ir::Program& program) {
    std::vector<Grid> grids;
    for (const std::string& text : texts)
        grids.push_back(parse_grid(text, ir::axis_names(program)));
    return grids;
}

// The name in make's syntax, in which spaces, number signs and dollars are escaped.
std::string depfile_name(const std::string& path) {
    std::string escaped;
    for (const char c : std::filesystem::absolute(path).lexically_normal().string()) {
        if (c == ' ' || c == '#') escaped += '\\';
        if (c == '$') escaped += '$';
        escaped += c;
    }
    return escaped;
}

std::string print_depfile(const std::string& output, const SourceFile& source) {
    std::string text = depfile_name(output) + ":";
    for (const std::string& name : source.names())
        if (!name.starts_with("(library)/")) text += " \\\n  " + depfile_name(name);
    return text + "\n";
}

void write_linked(const BundleOptions& options, const detail::CheckedProgram& checked,
                  std::vector<detail::Variant> variants, const Console& console) {
    const std::filesystem::path output(options.output);
    const std::string stem = output.stem().string();
    if (!detail::is_identifier(stem))
        throw CommandError(
            ExitCode::usage,
            fmt::format("`{}` cannot be the name of functions, {}_program() and {}_open()", stem, stem, stem),
            "name the file with letters, digits and underscores");
    const detail::LinkedFiles files = detail::print_linked(
        checked, stem, std::filesystem::path(options.file).filename().string(), std::move(variants));
    const std::string header = std::filesystem::path(output).replace_extension(".h").string();
    write_texts({{options.output, files.source}, {header, files.header}});
    console.message(fmt::format("wrote {} and {}", options.output, header));
}

}  // namespace

ExitCode bundle(const BundleOptions& options, const Console& console) {
    const bool is_linked = options.output.ends_with(".cpp");
    if (options.archs.empty() && !is_linked)
        throw CommandError(
            ExitCode::usage, "a bundle is for one GPU architecture or more",
            "for example --arch sm_90; an output that ends in .cpp gets code for the CPU in any case");
    const CheckedSpec spec = read_spec(options.file, options.include, console);
    halocline::CompileOptions wanted;
    wanted.stencil = options.stencil;
    wanted.schedules = options.schedule;
    wanted.strict_fp = options.strict_fp;
    const detail::CheckedProgram checked = detail::checked_program(spec, wanted);
    const std::vector<Grid> grids = parse_grids(options.grids, checked.program);
    if (grids.empty() && options.only_grids)
        throw CommandError(ExitCode::usage, "--only-grids without a --grid leaves nothing");
    std::vector<detail::Variant> variants =
        detail::cuda_variants(checked, options.archs, grids, !options.only_grids);
    if (is_linked) {
        write_linked(options, checked, std::move(variants), console);
    } else {
        write_text(options.output, detail::bundle_text(checked.program.name, variants));
        console.message(fmt::format("wrote {}", options.output));
    }
    if (!options.depfile.empty()) write_text(options.depfile, print_depfile(options.output, spec.source));
    return ExitCode::ok;
}

}  // namespace halo::driver
