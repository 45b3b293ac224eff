// RunRequest: one run, decided: the spec's run block with the command line's changes, checked against the
// program.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/groups.h"
#include "compiler/driver/running/run_arguments.h"
#include "compiler/driver/spec/spec.h"
#include "runtime/core/lattice.h"

namespace halo::driver {

struct Cut {  // the cells of a slice: index `index` along `axis`
    int axis = 0;
    std::int64_t index = 0;
};

struct TraceName {  // phones.trace
    std::string points, trace;
};

struct Output {
    enum class Kind : std::uint8_t { save, plot, movie, column, curve };
    Kind kind = Kind::save;
    FieldSet field;
    std::string path;
    std::vector<Cut> cuts;  // of pictures of fields over more than two axes; what is asked for comes first
    sema::Frames frames{};  // besides the file at the end; of a movie all that is in it
    std::optional<TraceName> trace{};                  // instead of a field; its name is field.name, as it
                                                       // is that of a reduction, of a column
    rt::FieldGrid grid{};                              // the axes that the field lies over
    std::string unit = {};                             // of the field; empty: not said
    std::array<bool, rt::kMaxRank> staggered{};        // the field lies half a cell further along the axis
    std::optional<std::pair<double, double>> range{};  // of a picture: the values at the ends of its colours
    std::array<bool, rt::kMaxRank>
        flipped{};  // of a picture: axes that run from high to low; of a trace: points, time
    std::optional<rt::Lattice> part{};         // of a field that is saved: these cells of it
    std::array<bool, rt::kMaxRank> dropped{};  // of a part: axes with one cell, which the array does not have
    bool lies_apart = false;   // its components lie at other places than the first, whose `staggered` is
    std::int64_t fps = 0;      // of a movie: frames a second
    bool logarithmic = false;  // of a picture: the scale of its values
    // Of a picture: what else it shows, and as what.
    std::vector<Output> layers{};
    sema::PlotLayer::Kind layer = sema::PlotLayer::Kind::curve;
    std::vector<double> levels{};

    void look_as(const sema::Plot& plot) {
        range = plot.range;
        flipped = plot.flipped;
        fps = plot.fps;
        logarithmic = plot.logarithmic;
    }
    bool is_array() const { return kind == Kind::save && !trace; }  // a field, saved
    bool is_column() const { return kind == Kind::column; }         // a reduction, saved in a table
    bool is_curve() const { return kind == Kind::curve; }           // reductions, drawn over the time
    bool is_of_field() const { return !trace && !is_column() && !is_curve(); }
};

struct Load {
    std::string field;
    std::string path;
};

// Of a run that is shown live: a param that its page changed.
struct ParamChange {
    std::string param;
    double value = 0;
    std::int64_t after_step = 0;
};

struct RunRequest {
    static constexpr std::int64_t kEndless = 1'000'000'000'000'000;  // steps, until somebody stops them

    std::string name;
    std::vector<std::string> axes;
    Extent extent{};
    std::array<double, rt::kMaxRank> spacing{1, 1, 1, 1}, origin{};  // coordinates, by axis
    std::array<bool, rt::kMaxRank>
        is_stretched{};  // coordinates are the cells' numbers where the spacing differs
    std::array<std::string, rt::kMaxRank> axis_units;  // of these; empty: not said
    std::string time_unit;                             // that of `dt`, likewise
    std::string source;                                // the points that are injected, where they are of
                                                       // one name
    std::int64_t steps = 0;
    std::optional<std::int64_t> stop_after;  // fewer of them; the rest is as with all
    std::optional<rt::HostScalar> until;     // as rt::RunOptions::until
    std::string until_words;                 // as the user wrote it
    std::vector<std::pair<std::string, double>> params;
    std::vector<std::pair<std::string, std::vector<double>>> coefs;
    std::vector<Load> loads;
    std::vector<Load> table_loads;    // `field` is the table
    std::vector<Load> point_loads;    // `field` is the points, or a number of theirs: shots, shots.wavelet
    std::optional<double> time_step;  // `dt`, where the stencil has it
    std::vector<Output> outputs;
    std::vector<std::string> reductions;
    std::vector<std::string> watched;  // of these, what `until` reads
    std::vector<std::string> chained;  // and those that are a number in some of the steps alone
    std::vector<std::string> states;   // of real numbers
    bool watch = true;                 // stop where numbers are no longer finite
    bool strict_fp = false;
    std::vector<ParamChange> changes;  // by hand, while it ran

    bool is_endless() const { return steps >= kEndless; }
    std::int64_t last_step() const { return stop_after ? std::min(*stop_after, steps) : steps; }
    int rank() const { return static_cast<int>(axes.size()); }
    // The time of what is there after so many steps; without `dt` their number.
    double time_after(std::int64_t done) const { return static_cast<double>(done) * time_step.value_or(1); }
    // The cells of a field that are saved, as a box that has them and others between them.
    rt::Box saved_box(const Output& output) const;
    // Coordinates of the first value of what is saved or drawn.
    std::array<double, rt::kMaxRank> first_point(const Output& output) const;
    // The coordinates of the first and the last cell of an output's field along an axis.
    std::pair<double, double> ends(const Output& output, int axis) const;
};

// The reductions that the `until` of a stencil's run block reads; none where there is none.
std::vector<std::string> watched_reductions(const CheckedSpec& spec, const ir::Program& program);

// Throws CommandError (usage; file for folders that are not there) for what cannot be run; warns about what
// is changed.
RunRequest make_request(const RunArguments& arguments, const CheckedSpec& spec,
                        const sema::AnalyzedStencil& stencil, const Console& console);

// Fills in where the cells lie, and the time step, with the request's extent and params.
void take_coordinates(RunRequest& request, const ir::Program& program);
// The coordinate of a field's first cell along an axis, in cells of the grid and from its origin.
double place_of_first_cell(bool is_staggered, const rt::FieldGrid& grid);

// "u [K]", or "u" where no unit is said.
std::string with_unit(const std::string& name, const std::string& unit);
// A field, one for users, as a picture shows it: of three axes and more the plane that is cut out.
Output shown_field(const ir::Program& program, const std::string& name);
// A field or group that is saved at the end.
Output saved_array(const ir::Program& program, const RunRequest& request, const std::string& name,
                   const std::string& path);

// Arrays, or columns, that are written to one file: their paths are the same.
bool shares_file(const Output& one, const Output& other);

// "heat.png", 500, 100000 → "heat-000500.png"
std::string frame_path(const std::string& path, std::int64_t step, std::int64_t steps);

// "128 × 128 × 64" (or with x where the terminal has no UTF-8)
std::string describe_grid(const RunRequest& request, bool utf8);

}  // namespace halo::driver
