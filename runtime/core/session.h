// Session: one LaunchPlan on one grid on one device, from initial values to results.
//
// All levels of all fields live on the device in one Geometry; they start at zero (or NaN, see
// SessionOptions). Time levels are named as in a spec: 0 is t, -1 is t-1. After each step t+1 has become t by
// exchange of pointers. Host arrays are dense, x fastest: element x + nx * (y + ny * z). Names, sizes and
// values are checked; mistakes throw Error with code bad_argument. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/box.h"
#include "runtime/core/device.h"
#include "runtime/core/error.h"
#include "runtime/core/geometry.h"
#include "runtime/core/lattice.h"
#include "runtime/core/launch_plan.h"
#include "runtime/core/points.h"

namespace halo::rt {

// Code that is compiled while steps are done.
struct AsyncCode {
    std::string bytes;   // as for Device::load
    double seconds = 0;  // that the compiler took
};

struct SessionOptions {
    // Start all cells and halos as NaN, so that a value never set is seen; in integer and boolean fields the
    // halos alone, as a value that stands out.
    bool poison = false;
    bool record = true;  // replay recorded steps where the device can
    // Sums over many blocks are added up by the device where it can, in rows. Without it the host adds what
    // the blocks have found one after the other: the same bits on each device that has these blocks.
    bool sums_in_rows = false;
    // On grids of so many cells and more, kernels that sample points run beside the next step's sweep, where
    // that changes nothing that they read. With fewer, ordering the two costs the host more than it spares.
    std::int64_t least_cells_beside_samples = std::int64_t{1} << 22;
    // Steps that are done at once on pieces of the grid, where the device and the plan can (time_tiles.h).
    TimeTileOptions time_tiles{};
    // The code of the plan's time block, where the modules lack it as it is still being compiled. Each call
    // that does steps checks whether it is ready; until then, and always where it holds an error, steps are
    // done singly. Without it the time block is in the modules and used from the first step on, as
    // measurements need it.
    std::shared_future<AsyncCode> time_block_code{};
    // How all arrays lie, where they are not all the session's own: with make_geometry() or view_geometry().
    std::optional<Geometry> geometry{};
    // The arrays of those fields are the caller's, as of bind_levels(); nothing is put into their cells here.
    std::map<std::string, std::vector<void*>> arrays{};
};

struct RunOptions {
    std::int64_t steps = 0;  // at most
    // Stop once it is not 0. In it, param index p + r (p = number of the plan's params) is the value of
    // reduction r.
    std::optional<HostScalar> until;
    std::int64_t check_every = 1;  // steps between checks of `until`; each waits for the device
    std::int64_t batch = 0;        // steps between calls of keep_going; 0 for one call at the end
    // Called with the steps done so far, with the device idle; false stops after the finished step.
    std::function<bool(std::int64_t done)> keep_going;
    // Called when all steps are submitted, before they are waited for. It may fetch what was set aside
    // (fields_aside.h).
    std::function<void()> meanwhile;
};

struct RunResult {
    enum class Stop : std::uint8_t { steps, until, asked };
    std::int64_t steps = 0;
    Stop stop = Stop::steps;
};

// What the blocks of a reduction's kernel found, each in its cells, x fastest.
struct PartialResults {
    ReductionPlan::Op op = ReductionPlan::Op::sum;
    bool square_root = false;  // of what they come to
    std::vector<double> values;
    double combined() const;  // in their order
};

// Planes of a launch, begin to end - 1, and the number of parts in which each column of cells is traversed
// (TimeBlock::OfPieces::traversals); 0: in the plan's.
struct PlaneRange {
    std::int64_t begin = 0, end = 0;
    int traversals = 0;
    std::int64_t planes() const { return end - begin; }
};

// Planes along the last axis that the piece of a grid beside this one has as ghosts.
struct GhostPlanes {
    std::int64_t begin = 0, end = 0;  // of this grid
    std::int64_t shift = 0;           // from the place of such a plane here to its place there
};

// How often a repeat that a condition ends has been done (RepeatPlan::Until).
struct RepeatCounts {
    std::string condition;                // as it is written
    std::int64_t at_most = 0;             // iterations of each time that it is done
    std::int64_t total = 0;               // iterations of all times
    std::int64_t most = 0;                // of one time
    std::int64_t unfinished = 0;          // times that ended without the condition
    std::vector<std::string> reductions;  // of the repeat, that the condition reads
    bool is_within = false;               // another repeat: it may be done several times in a step
};

// The state of SessionOptions::time_block_code.
struct AsyncBlock {
    enum class State : std::uint8_t {
        none,     // there was none
        pending,  // not compiled yet at the last check
        active,   // steps are done by it
        unfit,    // the grid is too small for it, or of other sizes, or its blocks do not fit on the device
        failed    // it could not be compiled or loaded: `trouble` says why
    };
    State state = State::none;
    std::int64_t after_steps = 0;  // steps done when it was there
    double compile_seconds = 0;    // beside those
    double load_seconds = 0;       // between those
    std::string trouble;
};

// What steps that others did have left beside the fields.
struct StepsBefore {
    struct Trace {
        std::string points, name;
        std::vector<double> rows;  // [step][point]
    };
    std::int64_t steps = 0;
    std::map<std::string, double> reductions;  // of the last of them
    std::vector<Trace> traces;                 // that were sampled
};

class Session {
public:
    // `modules` hold the plan's kernels and constants between them. The device must outlive the session.
    // Throws out_of_memory with the bytes that the grid needs and those free.
    Session(LaunchPlan plan, const Extent& extent, Device& device,
            std::vector<std::unique_ptr<Module>> modules, const SessionOptions& options = {});
    ~Session();
    Session(Session&&) noexcept;
    Session& operator=(Session&&) noexcept;

    const LaunchPlan& plan() const;
    const Geometry& geometry() const;
    Device& device() const;
    std::int64_t cells() const;        // of the grid
    std::int64_t array_bytes() const;  // all levels of all fields, on the device
    std::int64_t steps_done() const;

    void set_param(const std::string& name, double value);
    double param(const std::string& name) const;  // throws where it has neither a value nor a default
    void set_coef(const std::string& name, std::span<const double> values);  // row-major over its ranges

    // The rows of a table, the given columns of one after the other; none are legal, and another number than
    // before. Values are rounded to the table's type. Every table must have been given before the first step.
    void set_table(const std::string& name, std::span<const double> values);

    // Where points lie: a coordinate for each axis, point after point; none are legal. Throws where these are
    // no whole points. Places are checked before the next step, with the params of that time: one off the
    // grid throws bad_argument with its number and place. After the first step their number stays the same.
    void set_points(const std::string& points, std::span<const double> positions);
    // A number for each point (a column), or rows of them, one for each step (a trace that is injected): as
    // many rows as there are; past the last the values are 0. Everything that is injected must be given
    // before the first step.
    void set_point_values(const std::string& points, const std::string& name, std::span<const double> values);
    // A sampled trace: [step][point], of all steps done. Waits for the device.
    std::vector<double> trace(const std::string& points, const std::string& name);

    // One level of a field. time: 0, or -1 … -history. Values convert to and from the field's type. Uploaded
    // levels get their halos before the next step.
    void upload(const std::string& field, int time, std::span<const double> values);
    void upload(const std::string& field, int time, std::span<const float> values);
    void download(const std::string& field, int time, std::span<double> values);
    void download(const std::string& field, int time, std::span<float> values);
    std::vector<double> download(const std::string& field, int time = 0);
    // The same as it lies in memory, in the field's element type.
    void upload_elements(const std::string& field, int time, const void* elements, std::int64_t bytes);
    void download_elements(const std::string& field, int time, void* elements, std::int64_t bytes);
    // A part of it: `elements` are the cells of the box or the lattice alone, which lies in the grid.
    void upload_box(const std::string& field, int time, const Box& box, const void* elements);
    void download_box(const std::string& field, int time, const Box& box, void* elements);
    void download_lattice(const std::string& field, int time, const Lattice& lattice, void* elements);
    // Copies the cells of a level of a session on the same grid and device, in the order of its work; the
    // host does not see them. False, and nothing is done, where that cannot be: they are of another type, or
    // lie beside other components.
    bool copy_level(const std::string& field, int time, const Session& from, const std::string& from_field,
                    int from_time);
    // Reads an input where a level of such a session lies, in place of copying it, until another one is
    // borrowed or all are given back: what is there when steps are done here counts, and must stay until they
    // are. False, and nothing is done, where that cannot be; also where the two lie or show cells past their
    // faces in other ways.
    bool borrow_level(const std::string& field, const Session& from, const std::string& from_field,
                      int from_time);
    void give_back_levels();
    // Lets all arrays lie so, with what was in them lost. False, and nothing is done, where they cannot: they
    // need more room past the cells, are the caller's, or steps were done.
    bool lie_as(const Geometry& geometry);
    // The cells here, and how they differ from another session's; nothing where these cannot be compared on
    // the device. Waits for it.
    std::optional<CellComparison> compare_level(const std::string& field, int time,
                                                const Session& other) const;
    // Whether all cells are finite; nothing where the device cannot tell. Waits for it.
    std::optional<bool> is_finite(const std::string& field, int time) const;

    // The arrays of a field's levels: t, then t-1 … as far as the field keeps them, then those that steps
    // write next (of a state: one, and one more for each spare level of the plan). Each is the address of the
    // array's first element; cell (0,0,0) is geometry().origin elements on.
    std::vector<void*> level_arrays(const std::string& field) const;
    // One of them, of the field that stands there in the plan; needs no memory.
    void* level_array(int field, int place) const noexcept;
    // Puts the caller's arrays in their place, in the same order and as many. They lie as geometry() says,
    // and must stay until others are bound or the session ends. What is in their cells is taken as given:
    // halos are filled before the next step. To bind the same arrays in another order costs little. Arrays of
    // the session's own that are not among them are released. Not for fields whose components lie side by
    // side.
    void bind_levels(const std::string& field, std::span<void* const> arrays);
    // Whether the arrays of a field of another session can be bound here: they are on the same device, of the
    // same type, and lie in the same way.
    bool has_like_arrays(const std::string& field, const Session& other,
                         const std::string& other_field) const;
    // Hands over the memory of those arrays of a field that are the session's own; it goes on with them.
    std::vector<DeviceMemory> release_levels(const std::string& field);
    // The caller has changed cells in the field's arrays: their halos are filled before the next step.
    void mark_written(const std::string& field);

    // Steps are counted from there on, and reductions and traces begin with those values; fields are uploaded
    // as usual. After steps, the rows of all traces that are sampled must be given.
    void continue_from(const StepsBefore& before);
    // As it was at first: states and outputs are 0, and no step is done. What else was given stays.
    void start_again();
    // Steps are counted from `step` again, which is one of those done: states are the caller's to put back
    // (snapshots.h), and from there on rows of traces are sampled anew. Waits for nothing.
    void go_back_to(std::int64_t step);
    // Throws bad_argument before the first step where a param has no value yet. with_results: whether
    // outputs, reductions and traces must be those of the last step; without, only states need be.
    void step(std::int64_t count = 1, bool with_results = true);
    // Of so many steps, those up to the next that does more than others, it included
    // (LaunchPlan::full_steps), or that before other kernels run; all where there is none.
    std::int64_t steps_to_full(std::int64_t count) const;
    RunResult run(const RunOptions& options);
    // From now on step() is called with about so many steps: recordings are no longer than that. Results stay
    // the same.
    void expect_steps(std::int64_t at_a_time);
    int steps_at_once()
        const;  // at most, in time tiles (time_tiles.h); 1 where there are none, or no step yet
    // About as many steps, of which a time block leaves none to be done singly but the last, where that is;
    // more, where time tiles need more, as long as they take no more than about a second.
    std::int64_t whole_steps(std::int64_t steps) const;
    void synchronize();

    double reduction(const std::string& name);  // of the last step; throws before the first
    // Notes what the last step, done with results, gave; without waiting for the device, but for each few
    // megabytes. Later: what reduction() would have been each time, in order. They are forgotten then.
    void note_reduction(const std::string& name);
    std::vector<double> noted_reductions(const std::string& name);
    PartialResults partial_results(const std::string& name);  // the same, in parts, also within a step
    // What a reduction comes to where a step reads it, in place of what this session's parts do: for sessions
    // that have parts of one grid. Called within step(), by its thread.
    void combine_with(std::function<double(const std::string& name)> combine);
    // For sessions of pieces of a grid: exchanges the ghosts that are due within a step (RepeatPlan::
    // ghosts_due). Called as the above, after each iteration. fills_halos: what lies past faces is made of
    // ghosts, too, and is made anew then.
    void exchange_with(std::function<void(const std::vector<LevelArray>& levels)> exchange, bool fills_halos);
    // Of the repeats that a condition ends, in order: what this session has done of them. Waits for the
    // device.
    std::vector<RepeatCounts> repeat_counts() const;
    bool reads_reductions() const;   // whether a step does
    bool exchanges_in_step() const;  // whether ghosts are due within one

    // Of pieces of a grid that is cut along its last axis, one by one: how the plan's time block
    // (TimeBlock::OfPieces) does its steps. Whether there is such a kernel here, and it fits:
    bool gives_planes() const;
    bool stores_ghosts() const;  // and whether it can at the neighbours
    // The piece below (side 0) or above: its arrays lie as these do, this device's kernels can write to them,
    // and the two do the same steps from now on.
    void set_neighbour(int side, Session& other, const GhostPlanes& given);
    // Does the steps of a block for some planes along the last axis; all have to be launched before
    // finish_block(). to_neighbours: stores what is given to them there, too.
    void launch_planes(const PlaneRange& planes, bool to_neighbours);
    void finish_block();
    // Where points are placed, with the params' present values.
    PointGrid point_grid() const;
    double evaluate(const HostScalar& scalar) const;            // with the params' present values
    double evaluate_with_reductions(const HostScalar& scalar);  // as RunOptions::until

    // What the back end made of kernel `index` of the plan.
    KernelInfo kernel_info(int index) const;
    // The same of the kernel that does several steps; none where the plan has none, or the grid is too small
    // for it.
    std::optional<KernelInfo> time_block_info() const;
    const AsyncBlock& async_block() const;

private:
    friend class FieldsAside;
    friend class LevelCopies;
    friend class Snapshots;
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace halo::rt
