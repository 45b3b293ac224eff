// `use "operators.halo"`: finds modules, reads them and adds what they share to the file that uses them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/diagnostics.h"
#include "compiler/support/source.h"
#include "compiler/syntax/tree.h"

namespace halo::driver {

inline constexpr std::size_t kMaxModules = 100;  // of one spec

// Where modules are looked for: beside the file that uses them, then in these folders, in order, and in the
// compiler's own library at last (library.h).
struct ModulePath {
    std::string folder;               // of the spec; empty: the current one
    std::vector<std::string> search;  // -I, then HALO_PATH
    // What an editor has of a file, which may not be saved yet; nullopt, or none given: the file is read.
    std::function<std::optional<std::string>(const std::string& path)> unsaved = {};
    // The texts of all modules, by their names in messages; given: none is read from the disk or the library.
    std::optional<std::map<std::string, std::string>> texts = {};
};

// The folder of `path` ("-": the current one), `include` and what the environment variable HALO_PATH names,
// with a colon between folders.
ModulePath module_path(const std::string& path, const std::vector<std::string>& include);

// Adds to `source` the texts of all modules that `file` uses, and those that they use, each once, and to
// `file` what they share. Reports those that are not there, that use themselves, or that are no specs. Reads
// no file that is not named by a `use`. Gives the modules' texts as ModulePath::texts has them.
std::map<std::string, std::string> add_modules(SourceFile& source, syntax::File& file, const ModulePath& path,
                                               DiagnosticSink& sink);

}  // namespace halo::driver
