#include "compiler/lift/fortran/fortran_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/lift/fortran/programs.h"
#include "compiler/lift/fortran/reading.h"

namespace halo::lift::fortran {

namespace {

std::string read_text(const std::string& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) throw SourceError("cannot read " + path, true);
    return text.str();
}

// The operations that flang makes of the file.
std::string operations_of(const SourceRequest& request) {
    const std::string flang = find_flang();
    if (flang.empty())
        throw SourceError(
            "Fortran is read by flang 19, and there is no flang-new-19: apt-get install flang-19 (in "
            "Debian 12), or name it in HALO_FLANG");
    const ScratchFolder scratch;
    const auto run_flang = [&](std::vector<std::string> words, const std::string& file) {
        words.insert(words.begin(), {flang, "-fc1"});
        words.insert(words.end(), {"-module-dir", scratch.path()});
        words.insert(words.end(), request.arguments.begin(), request.arguments.end());
        words.push_back(file);
        return run_program(words, scratch, ".");
    };
    for (const std::string& each : module_files(request.file))
        run_flang({"-fsyntax-only"}, each);
    const ProgramRun run = run_flang({"-emit-hlfir", "-mmlir", "--mlir-print-debuginfo", "-mmlir",
                                      "--mlir-print-op-generic", "-o", scratch.file("operations")},
                                     request.file);
    if (run.status != 0)
        throw SourceError(request.file + " does not compile; give flang's arguments after --\n" + run.said);
    return read_text(scratch.file("operations"));
}

}  // namespace

FortranFile::FortranFile(SourceRequest request) : request_(std::move(request)) {
    SourceText text(request_.file, read_text(request_.file));
    try {
        reading_ = std::make_unique<Reading>(Reading{text, mlir::read_module(operations_of(request_)), {}});
    } catch (const mlir::TextError& trouble) {
        throw SourceError("what flang says of " + request_.file + " is not understood: " + trouble.what());
    }
    reading_->procedures = procedures(reading_->module, reading_->text, request_.file);
}
FortranFile::~FortranFile() = default;

const Procedure& FortranFile::Reading::procedure(const std::string& name, const std::string& file) const {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::string others;
    for (const Procedure& each : procedures) {
        if (each.name == lower) return each;
        others += (others.empty() ? "; it has " : ", ") + each.name;
    }
    throw SourceError("there is no procedure `" + name + "` with a body in " + file + others);
}

c::Unit FortranFile::function(const std::string& name) const {
    return translate(reading_->module, reading_->procedure(name, request_.file), reading_->text,
                     request_.file);
}

std::vector<std::string> FortranFile::functions() const {
    std::vector<std::string> all;
    for (const Procedure& each : reading_->procedures)
        all.push_back(each.name);
    return all;
}

Nests lift_nests(const Options& options, const FortranFile& file) {
    return lift::lift_nests(options, file.function(options.source.function));
}

}  // namespace halo::lift::fortran
