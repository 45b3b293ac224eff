#include <fmt/format.h>

#include <filesystem>

#include "compiler/api/bundle_command.h"
#include "compiler/api/checked.h"
#include "compiler/api/linked_program.h"
#include "compiler/driver/arguments.h"
#include "compiler/driver/files.h"

namespace halocline {

namespace driver = halo::driver;
using driver::CommandError;
using driver::ExitCode;

namespace {

std::vector<Grid> parse_grids(const std::vector<std::string>& texts, const halo::ir::Program& program) {
    std::vector<Grid> grids;
    for (const std::string& text : texts)
        grids.push_back(driver::parse_grid(text, driver::axis_names(program)));
    return grids;
}

// As make reads it: spaces and dollars of names escaped.
std::string depfile_name(const std::string& path) {
    std::string escaped;
    for (const char c : std::filesystem::absolute(path).lexically_normal().string()) {
        if (c == ' ' || c == '#') escaped += '\\';
        if (c == '$') escaped += '$';
        escaped += c;
    }
    return escaped;
}

std::string print_depfile(const std::string& output, const halo::SourceFile& source) {
    std::string text = depfile_name(output) + ":";
    for (const std::string& name : source.names())
        if (!name.starts_with("(library)/")) text += " \\\n  " + depfile_name(name);
    return text + "\n";
}

void write_linked(const BundleArguments& arguments, const detail::CheckedProgram& checked,
                  std::vector<detail::Variant> variants, const driver::Console& console) {
    const std::filesystem::path output(arguments.output);
    const std::string stem = output.stem().string();
    if (!detail::is_identifier(stem))
        throw CommandError(
            ExitCode::usage,
            fmt::format("`{}` cannot be the name of functions, {}_program() and {}_open()", stem, stem, stem),
            "name the file with letters, digits and underscores");
    const detail::LinkedFiles files = detail::print_linked(
        checked, stem, std::filesystem::path(arguments.file).filename().string(), std::move(variants));
    const std::string header = std::filesystem::path(output).replace_extension(".h").string();
    driver::write_texts({{arguments.output, files.source}, {header, files.header}});
    console.message(fmt::format("wrote {} and {}", arguments.output, header));
}

}  // namespace

ExitCode bundle(const BundleArguments& arguments, const driver::Console& console) {
    const bool is_linked = arguments.output.ends_with(".cpp");
    if (arguments.archs.empty() && !is_linked)
        throw CommandError(
            ExitCode::usage, "a bundle is for one GPU architecture or more",
            "for example --arch sm_90; an output that ends in .cpp gets code for the CPU in any case");
    const driver::CheckedSpec spec = driver::read_spec(arguments.file, arguments.include, console);
    CompileOptions options;
    options.stencil = arguments.stencil;
    options.schedules = arguments.schedule;
    options.strict_fp = arguments.strict_fp;
    const detail::CheckedProgram checked = detail::checked_program(spec, options);
    const std::vector<Grid> grids = parse_grids(arguments.grids, checked.program);
    if (grids.empty() && arguments.only_grids)
        throw CommandError(ExitCode::usage, "--only-grids without a --grid leaves nothing");
    std::vector<detail::Variant> variants =
        detail::cuda_variants(checked, arguments.archs, grids, !arguments.only_grids);
    if (is_linked) {
        write_linked(arguments, checked, std::move(variants), console);
    } else {
        driver::write_text(arguments.output, detail::bundle_text(checked.program.name, variants));
        console.message(fmt::format("wrote {}", arguments.output));
    }
    if (!arguments.depfile.empty())
        driver::write_text(arguments.depfile, print_depfile(arguments.output, spec.source));
    return ExitCode::ok;
}

}  // namespace halocline
