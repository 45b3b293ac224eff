// What a `run` block asks for: the defaults of the command, each of which its options can override. Plain
// data.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::sema {

// Stops the steps early. `host` has no fields and no statements: its params are those of the stencil, in
// order and with their defaults, then one for each reduction, in order of declaration. `condition` is boolean
// and uniform.
struct Until {
    ir::Program host;
    ir::ExprId condition;
    SourceRange where;
};

struct ParamOverride {
    std::string name;
    double value = 0;
    SourceRange where;
};
struct CoefOverride {
    std::string name;
    std::vector<double> values;  // row-major, one for each element
    SourceRange where;
};

struct Load {
    std::string field;
    std::string path;  // .npy or HDF5, axes from slowest to fastest; or .png, a picture in grey for one field
                       // in a plane
    SourceRange where;
};
struct Frames {              // files that are written after some of the steps, besides that at the end
    std::int64_t every = 0;  // steps from one to the next; 0: none
    std::int64_t from = 0;   // steps after which the first is written
    std::int64_t to = std::numeric_limits<std::int64_t>::max();  // and the last, at most
    bool together = false;  // in one file, with the state at the end as the last frame

    bool is_due(std::int64_t done) const {
        return every > 0 && done >= from && done <= to && (done - from) % every == 0;
    }
    // Steps from `done` to the next file; nullopt: there is none.
    std::optional<std::int64_t> steps_to_next(std::int64_t done) const {
        if (every == 0) return std::nullopt;
        const std::int64_t next = done < from ? from : done + every - (done - from) % every;
        return next <= to ? std::optional(next - done) : std::nullopt;
    }
    friend bool operator==(const Frames&, const Frames&) = default;
};
// Frames a second of a movie: where it says nothing, and at most. A GIF counts hundredths of a second, and
// programs show one of them as ten.
inline constexpr std::int64_t kUsualRate = 25, kMostRate = 240, kMostGifRate = 50;

struct Cut {  // the plane that a plot shows, or that is saved
    int axis = 0;
    bool at_position = false;
    std::int64_t index = 0;  // cell, unless at_position
    double position = 0;     // coordinate, where at_position: the nearest cell is meant
    SourceRange where{};     // of its place
};
struct PartRange {  // cells along an axis that are saved
    int axis = 0;
    std::int64_t low = 0;  // both inclusive; negative ones count from the high face, -1 is the last
    std::int64_t high = -1;
    std::int64_t stride = 1;
    SourceRange where{};
};
struct Save {
    std::string field;
    std::string path;  // .npy; of fields also HDF5
    Frames frames;
    SourceRange where;
    std::vector<Cut> cuts = {};  // what is saved of it: of each axis once; none: all
    std::vector<PartRange> ranges = {};
};
struct PlotLayer {  // what a picture shows besides its first field
    enum class Kind : std::uint8_t { curve, contours, arrows_across, arrows_up };
    Kind kind = Kind::curve;
    std::string field;           // or a reduction, where the first one is one
    std::vector<double> levels;  // of contours; none: round numbers
};
struct Plot {
    std::string field;
    std::vector<PlotLayer> layers;
    std::optional<Cut> cut;  // none: the whole grid of one or two axes, else the middle of the slowest axis
    std::string path;        // .png; of a movie .mp4, .webm or .gif
    Frames frames;
    std::optional<std::pair<double, double>>
        range;  // the values at the ends of the colours; none: those that are found
    std::array<bool, ir::kMaxRank> flipped{};  // axes that run from high to low; of a trace: points, time
    bool logarithmic = false;                  // the scale of the values
    SourceRange where;
    std::int64_t fps = 0;   // of a movie: frames a second
    bool is_asked = false;  // by the command line, not by the file
};

// `rows atoms = 4000` and `init atoms.x = …`. The program's one axis is the rows; its outputs are the columns
// to fill, by name; its params and coefs are the stencil's. Columns that nothing fills are zero.
struct TableFill {
    std::string table;
    std::int64_t rows = 0;
    ir::Program init;
    SourceRange where;
};

// `phones at [10*i, 20] for i in 0..99`: a coordinate for each axis, point after point.
struct PointPlaces {
    std::string points;
    std::vector<double> positions;
    SourceRange where;
};

// `init shots.wavelet = …`. The program's axes are the points and, for a trace, the steps; its one output is
// what to fill; its params and coefs are the stencil's.
struct PointFill {
    std::string points;
    std::string name;
    bool is_trace = false;
    ir::Program init;
    SourceRange where;
};

struct RunSpec {
    std::string stencil;
    std::optional<rt::Extent> grid;     // cells along each axis, >= 1; 1 past the rank
    std::optional<std::int64_t> steps;  // >= 0
    std::optional<Until> until;
    std::vector<ParamOverride> params;
    std::vector<CoefOverride> coefs;
    // Its outputs are the fields to fill, by name and type those of the stencil; its params and coefs are the
    // stencil's. One step of it gives their values at the start, and those of the levels before (a field
    // starts at rest). Computed in f64 and rounded at the end. Fields that nothing fills are zero.
    std::optional<ir::Program> init;
    std::vector<Load> loads;
    std::vector<Load> table_loads;  // `field` is the table: rows × given columns, .npy or .csv
    std::vector<TableFill> tables;
    std::vector<PointPlaces> places;
    std::vector<Load>
        point_loads;  // `field` is the points: points × axes; or `shots.wavelet`: steps × points
    std::vector<PointFill> point_fills;
    std::vector<Save> reduction_saves;  // `field` is the reduction; its path is that of a table, .csv
    std::vector<Save> trace_saves;      // `field` is `phones.trace`, likewise below
    std::vector<Plot> trace_plots;
    std::vector<Plot> reduction_plots;  // `field` is the reduction; frames: the points of the curve, none:
                                        // as many as make a curve
    std::vector<Save> saves;
    std::vector<Plot> plots;
    std::vector<Plot> movies;  // of fields, with frames
    SourceRange where;
};

}  // namespace halo::sema
