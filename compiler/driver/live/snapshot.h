// What a page asks to see of a field, and what it is sent: the colours of a plane's cells, or the values
// along a line. The run's thread takes a snapshot between two steps; the rest is done in the thread that
// answers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/running/request.h"
#include "runtime/core/json_value.h"
#include "runtime/io/image.h"

namespace halo::driver::live {

struct AskedView {
    FileArgument place;  // the field, and of three axes the plane
    std::optional<std::pair<double, double>> range;
    rt::PictureMap map = rt::PictureMap::automatic;
};

// From field=u&axis=z&index=10&map=grey&low=0&high=1. Throws CommandError (usage).
AskedView read_view(const std::map<std::string, std::string>& query);

struct Snapshot {
    RunRequest request;  // as it was then: params may change
    Output output;
    rt::PictureMap map = rt::PictureMap::automatic;
    FieldValues values;
    std::int64_t steps = 0;
    rt::json::Value state;  // of the run
};

// Four bytes with the length of a JSON text, the lowest first; the text; and of a plane the 256 colours of
// its bar and those of its pixels, three bytes each. Of a line the text has the values.
std::string frame_bytes(const Snapshot& snapshot);
// The picture as a run writes it: the bytes of a .png.
std::string png_bytes(const Snapshot& snapshot);

rt::json::Value number_or_null(double value);  // JSON has no other word for what is not finite

}  // namespace halo::driver::live
