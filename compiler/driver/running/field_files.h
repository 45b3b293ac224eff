// Fields to and from files, by parts: each process writes the cells that it has, and reads those that it
// needs. Only a part at a time lies in the host's memory. The ending of a name says the kind of its file: in
// one of HDF5 each field is a dataset; any other is a .npy file, of one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/running/background_writer.h"
#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/groups.h"
#include "compiler/driver/running/request.h"
#include "runtime/hdf5/frames.h"
#include "runtime/io/field_file.h"
#include "runtime/ranks/ranks.h"

namespace halo::driver {

// Boxes that are read one at a time, each of at most about 64 MB: all cells of `boxes`.
std::vector<rt::Box> in_parts(const std::vector<rt::Box>& boxes, std::int64_t bytes_per_cell);

// A set as one array of a file, and in which type its values are kept together.
rt::FieldShape shape_of(const Engine& engine, const FieldSet& set, int rank);
rt::ElementType type_of(const Engine& engine, const FieldSet& set);

// Sees each part of each field of each set that is written, but where all of them are known to be finite.
using PartSeen = std::function<void(const FieldSet& set, const std::string& field, const rt::Lattice& cells,
                                    const FieldValues& values)>;

struct FileOfFields {
    std::string path;
    std::vector<const Output*> outputs;  // what of the run it holds
    std::string provenance = {};         // of an HDF5 file: what it says of the run; empty: nothing
    rt::Hdf5Frames* frames = nullptr;    // the file, begun, of which this is a frame; null: it is made here
};

// How files of a step are written while the run goes on.
struct WriteLater {
    BackgroundWriter& writer;
    rt::FieldsAside* aside = nullptr;  // what they hold is set aside there, and fetched later; null: at once
};

struct SavedOutputs {
    std::vector<const Output*> outputs;  // each once
    // Fetches what was set aside, and hands it to the writer: to be called once, before anything else is set
    // aside there. Null where nothing was.
    std::function<void()> fetch;
};

// Collective. The fields after step `done`. What several of the files hold is fetched once. later: where it
// is given and the writer has memory for copies, what is written is written by it, from copies; of one rank
// alone, and the frames are on its ranks(). Throws rt::Error (io) on all ranks.
SavedOutputs save_outputs(rt::Ranks& ranks, const std::vector<FileOfFields>& files, Engine& engine,
                          const RunRequest& request, std::int64_t done, const PartSeen& seen,
                          const std::optional<WriteLater>& later = std::nullopt);

// Collective. A file for frames of the outputs.
std::unique_ptr<rt::Hdf5Frames> begin_frames(rt::Ranks& ranks, const FileOfFields& file, const Engine& engine,
                                             const RunRequest& request);

// Collective. One level of one field as .npy.
void save_level(rt::Ranks& ranks, const std::string& path, Engine& engine, const std::string& field, int rank,
                int time);

// Reads the set's cells that this process needs, for the levels `times` of each field. Throws rt::Error (io).
void load_fields(const std::string& path, const std::string& what, Engine& engine, const FieldSet& set,
                 int rank, const std::vector<std::vector<int>>& times);

// Collective. The cells of a box that lies in the grid, at the first rank; elsewhere nothing.
FieldValues gather_cells(rt::Ranks& ranks, Engine& engine, const std::string& field, const rt::Box& box);

}  // namespace halo::driver
