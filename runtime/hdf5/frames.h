// An HDF5 file with the frames of a run: a dataset for each field, whose first axis is the frames, and the
// lists `step` and `time`. It grows by a frame at a time, and holds after each all frames so far.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/hdf5/hdf5.h"
#include "runtime/io/field_file.h"
#include "runtime/ranks/ranks.h"

namespace halo::rt {

class Hdf5Frames {
public:
    // Collective, as all but write() is. The ranks must outlive it. It is written under another name in the
    // same folder, as FieldFile has it. Throws Error (io) on all ranks: also where the library is not there
    // or older than 1.10.5, and where a field of a frame takes 4 GB or more.
    Hdf5Frames(Ranks& ranks, const std::string& path, const std::vector<Hdf5Field>& fields,
               const std::string& provenance, Hdf5Form form = Hdf5Form::plain);
    ~Hdf5Frames();

    void begin_frame(std::int64_t step, double time);
    FieldFile& file() { return file_; }  // its arrays are those of the frame
    // The elements are on the disk before the file says that they are there.
    void finish_frame();
    void commit();  // the last frame is finished

private:
    class Layout;  // of the first rank
    static std::unique_ptr<Layout> lay_out(Ranks& ranks, const std::string& path, Hdf5Form form,
                                           const std::vector<Hdf5Field>& fields,
                                           const std::string& provenance);

    Ranks& ranks_;
    std::unique_ptr<Layout> layout_;
    FieldFile file_;
};

}  // namespace halo::rt
