// What a file of fields says about the run that wrote it: enough to repeat the run. It is JSON, in an
// attribute of HDF5 files (rt::kProvenance); .npy has no place for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/driver/running/machine.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/running/run_arguments.h"
#include "compiler/driver/spec/spec.h"
#include "runtime/core/json_value.h"
#include "runtime/ranks/ranks.h"

namespace halo::driver {

// What all files of a run have alike.
class Provenance {
public:
    // Collective: files that the run reads are read for their digests, where it writes HDF5 files; throws
    // rt::Error (io).
    Provenance(rt::Ranks& ranks, const RunArguments& arguments, const CheckedSpec& spec,
               const ir::Program& program, const RunRequest& request, const Machine& machine,
               const LoadTimings& loaded);

    // Of a file with these arrays, after step `done`.
    std::string of_file(const RunRequest& request, const std::vector<const Output*>& outputs,
                        std::int64_t done) const;

    // Of a table with these columns.
    std::string of_rows(const RunRequest& request, const std::vector<const Output*>& columns) const;

    // Of a file that takes all frames of these.
    std::string of_frames(const RunRequest& request, const std::vector<const Output*>& outputs) const;

private:
    std::string with(rt::json::Value file, const RunRequest& request,
                     const std::vector<const Output*>& outputs) const;

    rt::json::Value run_;
};

// The same, read from a file.
struct InputFile {
    std::string name;  // of what it was loaded into
    std::string path;  // as the run named it
    std::string digest;
};
struct ReadProvenance {
    rt::json::Value all;
    std::string version, commit;  // of the haloc that wrote it
    RunArguments arguments;       // that repeat the run until the file's step; they write no files
    std::vector<InputFile> inputs;
    std::vector<std::string> saves;  // what the file holds, as --save has it, without its name
    std::string ending = ".h5";      // of such a file, where its own name has another
    std::int64_t step = 0;           // the last, where the file has several
};
// Throws CommandError (file) where it says nothing of its run, or something else than a run would have
// written.
ReadProvenance read_provenance(const std::string& path);

// "dt = 0.2 after step 120": what of the run's params its page changed; empty: nothing.
std::string changes_by_hand(const ReadProvenance& read);

const char* haloc_version();

}  // namespace halo::driver
