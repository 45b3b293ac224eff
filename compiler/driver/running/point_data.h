// Where points lie at the start of a run, and the numbers that are injected at them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/machine.h"
#include "compiler/driver/running/request.h"

namespace halo::driver {

// What is given for a set of points.
struct PointData {
    struct Numbers {  // of a column, one for each point; or of a trace, a row of them for each step
        std::string name;
        bool is_trace = false;
        std::vector<double> values;
    };
    std::string points;
    std::vector<double> positions;
    std::vector<Numbers> numbers;
};

// Of all points of the program: places from a file (.npy, points × axes) or the run block (`run` may be
// null), numbers from files (.npy; a trace that is injected steps × points, a column one for each point) or
// computed for as many steps as are asked for. Throws rt::Error for files that are not there or of another
// shape.
std::vector<PointData> read_points(const ir::Program& program, const sema::RunSpec* run,
                                   const RunRequest& request, Machine& machine);

// Coordinates by the points' name, point after point.
using PointPlaces = std::map<std::string, std::vector<double>>;
PointPlaces places_of(const std::vector<PointData>& points);

// Sets all points of the program to that, and says where they are.
PointPlaces fill_points(Engine& engine, const ir::Program& program, const sema::RunSpec* run,
                        const RunRequest& request, Machine& machine);

}  // namespace halo::driver
