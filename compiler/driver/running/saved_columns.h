// Reductions that a run saves: a table, "log.csv" of text or "log.h5", with a column for each reduction of
// that path and a row for each step that is due, the last one in any case.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/request.h"
#include "runtime/hdf5/table.h"
#include "runtime/io/atomic_file.h"
#include "runtime/ranks/ranks.h"

namespace halo::driver {

// The reductions that `--save` names, and those of the run block which it does not name. False where the
// argument names none. Throws CommandError (usage).
bool take_column(RunRequest& request, const FileArgument& argument, const sema::Frames& frames);
void take_columns(RunRequest& request, const std::vector<sema::Save>& saves,
                  const std::set<std::string>& given);

// That columns of one table have the same rows. Throws likewise.
void check_columns(const RunRequest& request);

// One table, as a run goes on.
class SavedTable {
public:
    // provenance: what a file that has a place for it says of the run.
    SavedTable(std::vector<const Output*> columns, std::string provenance)
        : columns_(std::move(columns)), provenance_(std::move(provenance)) {}

    // Collective. A row for what is after step `done`, if it has none; the first rank writes. Rows can be
    // read in a file beside the one that is named until finish(). Throws rt::Error (io).
    void add_row(rt::Ranks& ranks, Engine& engine, const RunRequest& request, std::int64_t done);
    void finish(rt::Ranks& ranks);

private:
    void begin(const RunRequest& request);
    void write(std::int64_t done, double time, const std::vector<double>& numbers);

    std::vector<const Output*> columns_;
    std::string provenance_;
    std::optional<rt::AtomicFile> text_;  // the first rank's, as is the other
    std::unique_ptr<rt::Hdf5Table> hdf5_;
    bool is_begun_ = false;
    std::int64_t last_row_ = 0;  // the step; no row is of step 0
};

}  // namespace halo::driver
