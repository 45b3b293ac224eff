// What ParaView opens beside HDF5 files. The page of XDMF: out.xdmf says where out.h5 and its frames,
// out-000100.h5 and so on, have which fields. Images of VTK say that themselves, and their frames' times are
// in a list of ParaView's, out.vtkhdf.series.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/request.h"
#include "runtime/ranks/ranks.h"

namespace halo::driver {

// "out.h5" → "out.xdmf", "out.vtkhdf" → "out.vtkhdf.series"; nothing where a file has no such page.
std::optional<std::string> page_path(const Output& output);

// Collective, after the file is written: the page of a file that has all frames, those after `steps`. Its
// path; nothing where no field is such as XDMF knows. Throws rt::Error (io).
std::optional<std::string> write_frames_page(rt::Ranks& ranks, const Engine& engine,
                                             const RunRequest& request, const Output& first,
                                             const std::vector<std::int64_t>& steps);

// The arrays of one path, as a run goes on.
class FieldSeries {
public:
    // Collective, after the files of step `done` are written: those of the outputs that share the file of
    // `first`. The page lists all frames that are there, also those of a run that this one goes on from;
    // where they are many it is not made anew after each. Its path, with `last`; nothing where there is no
    // page, as for fields that XDMF does not know. Throws rt::Error (io).
    std::optional<std::string> write(rt::Ranks& ranks, const Engine& engine, const RunRequest& request,
                                     const Output& first, std::int64_t done, bool last);

private:
    std::int64_t frames_ = 0;     // so far
    std::int64_t next_page_ = 1;  // with so many
};

}  // namespace halo::driver
