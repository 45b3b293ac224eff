// The files that a run writes: fields as .npy, pictures as .png, at the end, and where asked also every so
// many steps. The latter have the step in their names, before the extension: heat-000500.png.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/driver/request.h"

namespace halo::driver {

struct WrittenFile {
    std::string field;
    std::string path;
    std::int64_t step = 0;
};

class Outputs {
public:
    Outputs(const RunRequest& request, rt::Ranks& ranks) : request_(request), ranks_(ranks) {}

    // Steps from `done` until the next file is due; nullopt where none is due before the end.
    std::optional<std::int64_t> steps_to_next(std::int64_t done) const;

    // Writes what is due after step `done`; `last`: also what is written at the end. Throws rt::Error (io).
    // Where several ranks share the run: collective, and the first writes.
    void write(Engine& engine, std::int64_t done, bool last);

    const std::vector<WrittenFile>& written() const { return written_; }

    // Where a written field holds a value that is not finite: a sentence with the field, the place and the
    // step.
    const std::optional<std::string>& trouble() const { return trouble_; }

private:
    void write_file(const Output& output, const std::string& path, const FieldValues& values,
                    std::int64_t done);
    void write_trace(const Output& output, const std::string& path, const std::vector<double>& values,
                     std::int64_t done);
    void look_for_trouble(const std::string& field, const FieldValues& values, std::int64_t done);

    const RunRequest& request_;
    rt::Ranks& ranks_;
    std::set<std::string> done_;  // paths
    std::vector<WrittenFile> written_;
    std::optional<std::string> trouble_;
};

// Where a field holds values that are not finite, as a part of a sentence: "u is infinite at x = 1, y = 2,
// and in 3 more of 4096 cells".
std::optional<std::string> find_trouble(const RunRequest& request, const std::string& field,
                                        const FieldValues& values);

// "heat.png", 500, 100000 → "heat-000500.png"
std::string frame_path(const std::string& path, std::int64_t step, std::int64_t steps);

}  // namespace halo::driver
