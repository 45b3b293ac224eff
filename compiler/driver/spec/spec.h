// A .halo file, read and checked.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/console/console.h"
#include "compiler/driver/spec/modules.h"
#include "compiler/schedule/legality.h"
#include "compiler/sema/sema.h"
#include "compiler/support/diagnostics.h"
#include "compiler/support/source.h"
#include "compiler/syntax/tree.h"

namespace halo::driver {

struct CheckedSpec {
    SourceFile source;                    // with its modules
    std::string text;                     // its own
    ModulePath modules;                   // where they were looked for
    std::vector<Diagnostic> diagnostics;  // by place
    sema::Analysis analysis;              // to be run only where ok
    bool ok = false;
    double read_seconds = 0;                            // that reading the file took
    syntax::File tree{};                                // of the spec, with what its modules share
    std::map<std::string, std::string> module_texts{};  // as ModulePath::texts
};

// Throws CommandError (file) where the file cannot be read.
// include: folders to look for modules in.
CheckedSpec check_spec(const std::string& path, const std::vector<std::string>& include = {});
CheckedSpec check_text(std::string name, std::string text, const ModulePath& modules = {});

// The spec once more, whose one run is of any number of steps until `condition` holds, which is a text of its
// own. The spec has no mistakes, so those that are found are the condition's.
CheckedSpec check_until(const CheckedSpec& spec, const std::string& stencil, const std::string& condition);

// Lines of the command line, as a run block has them.
struct RunLines {
    std::vector<std::string> inits;          // u = EXPR
    std::string until;                       // a condition to stop; empty: none
    std::vector<std::string> plots, movies;  // u contours p to "u.png" range 0..1

    bool is_empty() const { return inits.empty() && until.empty() && plots.empty() && movies.empty(); }
};

// The spec once more, with such lines in the place of those of the stencil's run block. Mistakes that are
// found are theirs.
CheckedSpec check_run_lines(const CheckedSpec& spec, const std::string& stencil, const RunLines& lines);

// Diagnostics to standard error, with colours where it is a terminal that wants them.
void show_diagnostics(const std::vector<Diagnostic>& diagnostics, const SourceFile& source,
                      const Console& console);

// A spec without mistakes. Where it has some, they are shown and CommandError (spec) without a message is
// thrown.
CheckedSpec read_spec(const std::string& path, const std::vector<std::string>& include,
                      const Console& console);
void require_right(const CheckedSpec& spec, const Console& console);  // throws as read_spec()

// The stencil of that name; with an empty name the only one, or the only one that has a run block. Throws
// CommandError (usage) where there is none, or more than one to choose from.
const sema::AnalyzedStencil& choose_stencil(const CheckedSpec& spec, const std::string& name);

// What --grid says, else the run block; nullopt where neither does.
std::optional<schedule::Extent> choose_grid(const CheckedSpec& spec, const ir::Program& program,
                                            const std::string& grid);

}  // namespace halo::driver
