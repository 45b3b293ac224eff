// SEG-Y, the files of seismic traces: those of points are written, a model of the ground is read as a field.
// libsegyio, which is opened at run time, knows where the headers have their numbers, and converts samples.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/io/field_file.h"

namespace halo::rt {

struct SegyLibrary {
    bool found = false;
    std::string detail;  // the library's file, or why it is missing and how to get it
};
SegyLibrary find_segy();

// What the headers have room for.
inline constexpr std::int64_t kMostSegySamples = 65535, kMostSegyMicroseconds = 32767;

// X, Y, and the depth below the datum.
using SegyPlace = std::array<double, 3>;

struct SegyTraces {
    std::vector<std::string> words;    // lines of the text header, of 76 letters at most
    std::int64_t samples = 0;          // of each trace
    std::int64_t microseconds = 0;     // from one to the next
    std::vector<SegyPlace> receivers;  // one a trace
    std::optional<SegyPlace> source;   // none: not said
    std::vector<double> values;        // [sample][trace]
};
// Whole or not at all. Throws Error (io).
void write_segy(const std::string& path, const SegyTraces& traces);

// Samples along the last axis, traces along the one or two before: of two axes in the order of the file, of
// three with crosslines along the first and inlines along the second. `what` names its destination ("field
// v"). Throws Error (io): no such file, no SEG-Y file, no library, another shape, no regular geometry.
std::unique_ptr<FieldReader> open_segy_field(const std::string& path, const FieldShape& shape,
                                             const std::string& what);

}  // namespace halo::rt
