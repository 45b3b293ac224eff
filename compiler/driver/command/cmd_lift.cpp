// haloc lift: a loop nest of C, C++, CUDA or Fortran to a spec.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "compiler/driver/command/commands.h"
#include "compiler/driver/command/lift_all.h"
#include "compiler/driver/command/lift_source.h"
#include "compiler/driver/console/files.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/lift/lift.h"
#include "compiler/lift/replace.h"
#include "compiler/lift/verify.h"
#include "compiler/support/error.h"

namespace halo::driver {

namespace {

// A refusal is printed like any other message about a text.
void show_refusal(const lift::LiftError& error, const Console& console) {
    Diagnostic shown{
        DiagnosticKind::not_built_yet, error.refusal.where, error.what(), {}, error.refusal.notes, {}};
    for (const auto& [where, text] : error.refusal.labels)
        shown.label(where, text);
    show_diagnostics({shown}, error.source, console);
}

lift::Nests lift_or_refuse(const lift::Options& options, std::unique_ptr<LiftSource>& file,
                           const Console& console) {
    lift::Nests found;
    try {
        file = read_lift_source(options.source);
        found = file->lift_nests(options);
    } catch (const lift::SourceError& trouble) {
        throw CommandError(trouble.missing_file ? ExitCode::file : ExitCode::usage, trouble.what());
    }
    for (const lift::LiftError& each : found.refused)
        show_refusal(each, console);
    for (const lift::Nests::Around& each : found.around) {
        const SourceFile& source = each.why.source;
        const auto place = [&](std::uint32_t at) {
            return fmt::format("{}:{}", source.name(at), source.line_column(at).line);
        };
        console.message(fmt::format("{}: this loop stays in the program, around the nests in it: {} ({})",
                                    place(each.at), each.why.what(), place(each.why.refusal.where.begin)));
    }
    if (found.lifted.empty()) throw CommandError(ExitCode::spec, "");
    return found;
}

// Shows a line for each nest of a function that is not lifted as a whole.
void show_nests(const lift::Nests& found, const Console& console) {
    std::map<int, std::string> lines;
    for (const lift::Lifted& each : found.lifted) {
        if (each.outline) lines[each.first_line] = fmt::format("`{}`", each.spec.name);
    }
    for (const lift::LiftError& each : found.refused) {
        if (each.nest == SourceRange{}) continue;
        const int line = static_cast<int>(each.source.line_column(each.nest.begin).line);
        lines.emplace(line, fmt::format("not lifted: {}", each.what()));
    }
    for (const auto& [line, text] : lines)
        console.message(fmt::format("line {}: {}", line, text));
}

// Sentences for the header of each spec, and why nothing more can be said; empty: all is verified.
lift::Verdict verify(const lift::Options& options, const lift::Nests& found, const LiftSource& file,
                     const Console& console) {
    const lift::Verdict verdict = file.verify(options, found);
    for (const std::string& each : verdict.table)
        console.message(each);
    if (verdict.difference.empty()) return verdict;
    console.error(fmt::format("the spec does not compute what `{}` computes: {}", options.source.function,
                              verdict.difference),
                  "nothing is written; this is a mistake in haloc, please report it with the function");
    throw CommandError(ExitCode::spec, "");
}

void write_replaced(const std::string& path, const LiftOptions& options, const lift::Nests& found,
                    const std::vector<std::string>& specs, const Console& console) {
    lift::Replaced replaced;
    try {
        replaced = lift::replace_loops(found, specs);
    } catch (const lift::SourceError& trouble) {
        throw CommandError(ExitCode::usage, trouble.what(), "without --replace the spec alone is written");
    }
    for (const lift::LiftError& each : replaced.left)
        show_refusal(each, console);
    if (replaced.calls.empty())
        throw CommandError(ExitCode::spec, "no loop of " + options.file() + " can be replaced",
                           "without --replace the spec alone is written");
    write_text(path, replaced.text);
    console.message(
        fmt::format("{} written: {} with calls of {}; compile it with Halocline's headers and link "
                    "-lhalocline -lhalocline-runtime",
                    path, options.file(), fmt::join(replaced.calls, ", ")));
}

// Refuses to write over the source, whose text nothing else holds.
void check_written(const LiftOptions& options) {
    for (const auto& [option, path] : {std::pair("-o", &options.output), {"--replace", &options.replace}}) {
        std::error_code none;
        if (!path->empty() && std::filesystem::equivalent(options.file(), *path, none))
            throw CommandError(ExitCode::usage,
                               fmt::format("{} names the source itself, which is never overwritten", option),
                               "give the name of another file");
    }
    if (!options.replace.empty() && is_fortran_file(options.file()))
        throw CommandError(ExitCode::usage,
                           "--replace is for C and C++: loops of Fortran are not replaced yet",
                           "without --replace the spec alone is written");
    if (!options.replace.empty() && options.replace == options.output)
        throw CommandError(ExitCode::usage, "-o and --replace name the same file",
                           "the spec and the source are a file each");
}

// Throws CommandError for what is no NAME=VALUE.
lift::Assumptions read_assumptions(const std::vector<std::string>& given) {
    lift::Assumptions all;
    for (const std::string& each : given) {
        const std::size_t at = each.find('=');
        const char* begin = each.data() + (at == std::string::npos ? 0 : at + 1);
        const char* end = each.data() + each.size();
        std::int64_t value = 0;
        const auto [stop, error] = std::from_chars(begin, end, value);
        if (at == std::string::npos || at == 0 || begin == end || error != std::errc() || stop != end)
            throw CommandError(
                ExitCode::usage, fmt::format("--assume {} is no NAME=VALUE", each),
                "give the name of a whole number that the function is given, and its value, as "
                "in --assume halo_depth=2");
        if (!all.emplace(each.substr(0, at), value).second)
            throw CommandError(ExitCode::usage,
                               fmt::format("--assume gives `{}` two values", each.substr(0, at)),
                               "lift the function once for each of them");
    }
    return all;
}

// Refuses options that have no meaning beside --all, or without it.
void check_use(const LiftOptions& options) {
    const auto refuse = [](bool is_given, const std::string& option, const std::string& why) {
        if (is_given) throw CommandError(ExitCode::usage, option + " " + why);
    };
    if (options.all) {
        const std::string why = "is for one function, and --all looks at those of whole files";
        refuse(!options.function.empty(), "--function", why);
        refuse(!options.output.empty(), "-o", why);
        refuse(!options.replace.empty(), "--replace", why);
        refuse(!options.name.empty(), "--name", why);
        refuse(options.verify && options.no_verify, "--verify", "and --no-verify contradict each other");
        return;
    }
    refuse(options.no_verify, "--no-verify", "is for --all, which verifies without being asked");
    refuse(!options.json.empty(), "--json", "is for --all");
    if (options.files.size() != 1)
        throw CommandError(ExitCode::usage,
                           options.files.empty()
                               ? "FILE is required"
                               : "one FILE is lifted at a time: " + options.files[1] + " is another one",
                           "--all looks at several; clang's arguments come after --");
    if (options.function.empty())
        throw CommandError(ExitCode::usage, "--function is required",
                           "it names the function or kernel; --all looks at all of them");
}

}  // namespace

ExitCode lift(const LiftOptions& options, const Console& console) {
    check_use(options);
    lift::Options wanted;
    wanted.form = {options.no_alias, options.equal_rims, options.strict_fp, !options.replace.empty()};
    wanted.assume = read_assumptions(options.assume);
    if (options.all) return lift_all(options, wanted, console);
    wanted.source = {options.file(), options.function, options.build_folder, options.arguments, {}};
    wanted.name = options.name;
    wanted.keep_result = !options.replace.empty();
    check_written(options);
    std::unique_ptr<LiftSource> file;
    const lift::Nests found = lift_or_refuse(wanted, file, console);
    for (const std::string& each : found.unused_assumptions)
        console.message(
            fmt::format("--assume {0}={1} changes nothing: `{0}` is no whole number that what is "
                        "lifted is given",
                        each, wanted.assume.at(each)));
    lift::Verdict verdict;
    verdict.left = "haloc lift --verify runs the function and the spec on random data";
    verdict.sentences.assign(found.lifted.size(), {"Not verified: " + verdict.left + "."});
    if (options.verify || !options.replace.empty()) verdict = verify(wanted, found, *file, console);
    std::string text;
    std::vector<std::string> specs;
    for (std::size_t i = 0; i < found.lifted.size(); ++i) {
        specs.push_back(lift::file_text(found.lifted[i], verdict.sentences[i]));
        text += (text.empty() ? "" : "\n") + specs.back();
    }
    const CheckedSpec checked = check_text(options.output.empty() ? "lifted.halo" : options.output, text);
    if (!checked.ok)
        throw InternalError("a lifted spec has mistakes: " + checked.diagnostics.front().message);
    show_nests(found, console);
    if (!options.replace.empty()) write_replaced(options.replace, options, found, specs, console);
    if (options.output.empty()) {
        if (options.replace.empty()) console.result(text);
    } else {
        write_text(options.output, text);
        console.message(fmt::format("{} written, {}", options.output,
                                    verdict.left.empty() ? "verified" : "not verified: " + verdict.left));
    }
    return ExitCode::ok;
}

}  // namespace halo::driver
