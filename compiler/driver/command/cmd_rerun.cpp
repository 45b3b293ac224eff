// haloc rerun: the run that a file says it comes from, once more.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compiler/driver/command/commands.h"
#include "compiler/driver/command/compare_files.h"
#include "compiler/driver/console/commit.h"
#include "compiler/driver/running/checkpoint_files.h"
#include "compiler/driver/running/provenance.h"
#include "compiler/support/json_text.h"
#include "runtime/core/error.h"

namespace halo::driver {

namespace {

namespace fs = std::filesystem;

// A folder for what the run writes, which goes with it.
class ScratchFolder {
public:
    ScratchFolder() {
        std::error_code error;
        const fs::path place = fs::temp_directory_path(error);
        path_ = (error ? fs::path("/tmp") : place) / "haloc-rerun-XXXXXX";
        if (::mkdtemp(path_.data()) == nullptr)
            throw rt::Error(rt::ErrorCode::io,
                            fmt::format("cannot make a folder {} for what is computed; TMPDIR "
                                        "names another place",
                                        path_));
    }
    ~ScratchFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    std::string file(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

// Of all inputs one message, so that one look is enough.
void check_inputs(const ReadProvenance& provenance, rt::Ranks& ranks) {
    std::string trouble;
    for (const InputFile& input : provenance.inputs) {
        std::string found;
        std::error_code ignored;
        if (!fs::exists(input.path, ignored))
            found = fmt::format("{} (of {}) is not there", input.path, input.name);
        else if (file_digest(ranks, input.path) != input.digest)
            found = fmt::format("{} (of {}) has changed", input.path, input.name);
        if (!found.empty()) trouble += (trouble.empty() ? "" : "; ") + found;
    }
    if (trouble.empty()) return;
    throw CommandError(ExitCode::file, "the run cannot be repeated: " + trouble,
                       "paths are relative to the current directory, as they were for the run");
}

void warn_of_version(const ReadProvenance& provenance, const Console& console) {
    if (provenance.version == haloc_version() && provenance.commit == commit()) return;
    console.warning(
        fmt::format("the file is of haloc {} (commit {}), and this is haloc {} (commit {}), which may "
                    "compute other bits",
                    provenance.version, provenance.commit, haloc_version(), commit()));
}

bool all_agree(const std::vector<FieldComparison>& comparisons) {
    for (const FieldComparison& each : comparisons)
        if (!each.trouble.empty() || each.different > 0) return false;
    return true;
}

std::string rerun_json(const std::vector<FieldComparison>& comparisons, std::int64_t step) {
    nlohmann::ordered_json json;
    json["step"] = step;
    json["agrees"] = all_agree(comparisons);
    json["fields"] = nlohmann::ordered_json::array();
    for (const FieldComparison& each : comparisons) {
        nlohmann::ordered_json field{{"name", each.name}};
        if (!each.trouble.empty()) {
            field["trouble"] = each.trouble;
        } else {
            field["numbers"] = each.elements;
            field["different"] = each.different;
            if (each.different > 0) field["largest_difference"] = each.largest;
            if (each.ulps) field["largest_ulps"] = *each.ulps;
        }
        json["fields"].push_back(field);
    }
    return json_text(json);
}

}  // namespace

ExitCode rerun(const RerunOptions& options, rt::Ranks& ranks, const Console& console) {
    if (ranks.count() > 1)
        throw CommandError(ExitCode::usage, "haloc rerun is one process; --devices of the run are used again",
                           "start it without mpirun");
    const ReadProvenance provenance = read_provenance(options.file);
    if (const std::string changes = changes_by_hand(provenance); !changes.empty())
        throw CommandError(
            ExitCode::file,
            fmt::format("{} cannot be repeated: its run was changed by hand ({})", options.file, changes),
            "haloc info shows what it says of its run");
    warn_of_version(provenance, console);
    check_inputs(provenance, ranks);
    const ScratchFolder scratch;
    RunArguments arguments = provenance.arguments;
    const std::string written = scratch.file("again" + provenance.ending);
    for (const std::string& save : provenance.saves)
        arguments.save.push_back(save + "=" + written);
    if (!options.device.empty()) {
        arguments.device = options.device;
        arguments.devices.clear();
        arguments.exchange = {};
    }
    Console silent = console;
    silent.set_quiet(true);
    if (const ExitCode code = run(arguments, ranks, silent); code != ExitCode::ok) return code;
    const std::vector<FieldComparison> comparisons =
        compare_files(rt::Hdf5Contents(options.file), rt::Hdf5Contents(written));
    if (options.json) {
        console.result(rerun_json(comparisons, provenance.step));
    } else {
        std::string text = fmt::format("after step {}:\n", provenance.step);
        for (const FieldComparison& each : comparisons)
            text += "  " + comparison_text(each) + '\n';
        console.result(text);
    }
    return all_agree(comparisons) ? ExitCode::ok : ExitCode::spec;
}

}  // namespace halo::driver
