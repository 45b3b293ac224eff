// The inside of a Session. Not for other rooms.
//
// Rotation without moving pointers about: a field with L levels keeps them in slots 0 … L-1, and in phase p
// its level k steps before the latest is in slot (k - p) mod L. A step is a phase; a time block, which writes
// several levels at once, is as many. So everything repeats after a cycle of lcm(L) phases, and the launches
// of each are prepared once, until a scalar changes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/points.h"
#include "runtime/core/session.h"
#include "runtime/core/time_tiles.h"

namespace halo::rt {

struct Level {
    void* array = nullptr;    // that it lies in
    bool images_due = false;  // uploaded since its halo was filled
};

struct FieldState {
    std::vector<Level> slots;
    std::vector<DeviceMemory> memory;  // of arrays that are the session's own, in any order
    std::vector<HaloPass> images;      // after each write
    std::vector<HaloPass> fixed;       // once, and when a param changed
    std::vector<int> fillers;          // kernels that fill a level's halo instead, in order
};

struct TableState {
    DeviceMemory memory;    // rows × TablePlan::width elements, at least one row
    std::int64_t rows = 0;  // as given
    bool given = false;
};

struct PointsState {
    std::vector<double> positions;
    bool placed = false;
    std::int64_t count = 0, touched = 0;
    std::vector<DeviceMemory> arrays;  // by PointsPart, before first_column
    struct Values {                    // of a column, or of a trace that is injected
        std::vector<double> host;
        bool given = false;
        DeviceMemory memory;
    };
    std::vector<Values> columns, traces;  // by PointsPlan
    DeviceMemory zeros;                   // a row, for steps past a trace's end
    struct Sampled {
        std::vector<double> host;  // rows of the steps before `first`
        std::int64_t first = 0;    // step of the first row in `memory`
        std::int64_t rows = 0;     // that `memory` has room for
        DeviceMemory memory;
    };
    std::vector<Sampled> sampled;  // by trace
};

// A kernel with its arguments in one phase. `pointers` point into `values`: move it, do not copy.
struct PreparedLaunch {
    union Value {
        void* address;
        double f64;
        float f32;
        std::int32_t i32;
        std::int64_t i64;
    };
    PreparedLaunch() = default;
    PreparedLaunch(PreparedLaunch&&) = default;
    PreparedLaunch& operator=(PreparedLaunch&&) = default;
    PreparedLaunch(const PreparedLaunch&) = delete;
    PreparedLaunch& operator=(const PreparedLaunch&) = delete;

    std::vector<Value> values;
    std::vector<void*> pointers;
    std::vector<int> changing;  // those of `values` that are computed anew for each step
    struct Refresh {
        int field = 0;
        void* array = nullptr;
    };
    std::vector<Refresh> refresh;
};

// index mod n, from 0 on.
constexpr std::int64_t modulo(std::int64_t index, std::int64_t n) {
    const std::int64_t rest = index % n;
    return rest < 0 ? rest + n : rest;
}

// The cells, or lines of cells, that a kernel's blocks are laid over, along each axis.

struct Session::State {
    LaunchPlan plan;
    SessionOptions options;
    Device* device = nullptr;
    Geometry geometry;
    std::vector<std::unique_ptr<Module>> modules;
    std::vector<Kernel*> kernels;                     // by KernelPlan
    std::vector<std::array<std::int64_t, 3>> blocks;  // by KernelPlan
    std::vector<FieldState> fields;
    std::vector<DeviceMemory> partials;         // by ReductionPlan
    std::vector<bool> reduced;                  // by ReductionPlan: its kernel has run, if only once
    std::vector<std::optional<double>> latest;  // by ReductionPlan: what its partials come to, once asked for
    std::function<double(const std::string&)> combine_reduction;  // where it is not this session alone
    std::vector<std::optional<double>> params;
    std::vector<std::vector<double>> coefs;
    std::vector<DeviceMemory> coef_arrays;  // by CoefPlan; empty where no kernel takes a pointer
    std::vector<TableState> tables;         // by TablePlan
    bool columns_due = false;               // tables or params changed since columns were computed
    std::vector<PointsState> points;        // by PointsPlan
    std::int64_t cycle = 1;
    std::int64_t steps_done = 0;
    std::int64_t phase_shift = 0;     // phases less steps: a time block does several in fewer
    std::int64_t continued_from = 0;  // steps that others did: `latest` is what they left
    std::int64_t phase() const { return steps_done + phase_shift; }
    bool changing = false;                              // changes_with_step()
    bool scalars_due = true;                            // params changed since the launches were prepared
    bool launches_due = false;                          // the same of the levels' arrays
    std::vector<std::vector<PreparedLaunch>> launches;  // [phase][kernel]
    std::int64_t recorded_steps = 0;                    // of a recording, from phase 0
    std::unique_ptr<Recording> recording;
    std::unique_ptr<Recording> watched_recording;  // one that also keeps each step's reductions
    DeviceMemory watched_results;                  // its results: [step][reduction]
    std::vector<DeviceMemory> snapshot;            // of the levels in saved_levels()
    std::vector<bool> snapshot_due;                // Level::images_due of these
    Kernel* block_kernel = nullptr;                // of the time block, where the grid is large enough
    std::vector<PreparedLaunch> block_launches;    // by phase
    LateBlock late;
    bool block_ran = false;            // once, outside of a recording
    std::int64_t recorded_blocks = 0;  // of a recording of time blocks, from phase 0
    std::unique_ptr<Recording> block_recording;
    std::unique_ptr<Recording> watched_block_recording;  // the same, with the steps' reductions combined
    std::vector<DeviceMemory> block_partials;            // by TimeBlock::reductions: [launch][step][block]
    DeviceMemory block_results;                          // what they come to: [reduction][launch][step]
    bool block_watched = false;                          // combined once, outside of a recording
    std::int64_t block_row = -1;  // of block_partials: the last step's, where a block did it; else -1
    struct Neighbour {
        State* state = nullptr;
        GivenPlanes given;
    };
    std::array<Neighbour, 2> neighbours;                   // of a piece, below and above
    std::array<std::int64_t, 3> resident_blocks{1, 1, 1};  // of a resident time block
    std::vector<DeviceMemory> exchanges;                   // by TimeBlock::exchanges
    std::int64_t resident_steps = 0;                       // done by it since the exchanges were cleared
    struct ChosenTiles {
        TileShape shape;
        Lags lags;  // of the sweeps of the most steps done at once
    };
    std::optional<ChosenTiles> time_tiles;  // once looked at

    State(LaunchPlan plan, const std::array<std::int64_t, kMaxRank>& extent, Device& device,
          std::vector<std::unique_ptr<Module>> modules, const SessionOptions& options);

    // session_state.cpp
    Kernel* find_kernel(const KernelPlan& kernel_plan);  // throws where no module has it
    void find_kernels();
    void check_interleaved() const;  // that kernels can index arrays of several components
    void allocate_fields();
    std::int64_t level_bytes(const FieldPlan& field) const;
    void allocate_partials();
    void allocate_coefs();
    void check_memory() const;
    void send_coef(int index);
    std::int64_t block_count(int kernel) const;
    std::int64_t array_bytes() const;          // all levels of all fields
    std::vector<double> param_values() const;  // throws where one has none
    Level& level(int field, int time, std::int64_t phase);
    void* first_cell(int field, const Level& level) const;  // element of its array, as kernels take it
    void prepare();
    void prepare_launches(const std::vector<double>& values);
    PreparedLaunch prepare_launch(const KernelPlan& kernel, std::int64_t phase,
                                  const std::vector<double>& values);
    static PreparedLaunch::Value scalar_value(ElementType type, double number);
    PreparedLaunch::Value argument_value(const Argument& argument, std::int64_t phase,
                                         const std::vector<double>& values);
    bool changes_with_step() const;  // some launch does, so that none can be replayed
    void update(PreparedLaunch& launch, const KernelPlan& kernel, std::int64_t step,
                const std::vector<double>& values);
    void run_step(std::int64_t step, std::int64_t phase);
    void step(std::int64_t count, bool with_results = true);
    void expect_steps(std::int64_t at_a_time);
    void step_singly(std::int64_t count);
    std::unique_ptr<Recording> record(std::int64_t count,
                                      const std::function<void(std::int64_t number)>& each);

    // session_blocks.cpp: several steps at once
    void find_time_block();
    void prepare_blocks(const std::vector<double>& values);
    void launch_block(std::int64_t phase,
                      std::int64_t number = 0);           // `number`: of its place in block_partials
    void count_blocks(std::int64_t rounds);               // once they are launched
    int place_in_block(int reduction) const;              // -1: the block does not give it
    const void* block_partials_of_step(int place) const;  // of the last one
    // As many as it can; returns how many are left.
    std::int64_t step_in_blocks(std::int64_t count, bool with_results);
    bool make_resident(
        const TimeBlock::Resident& block);  // false where its blocks are not all on the device at once
    PreparedLaunch::Value exchange_value(int index, int part) const;
    std::int64_t step_resident(std::int64_t count, bool with_results);
    void leave_images_due();

    // session_pieces.cpp
    void launch_planes(std::int64_t phase, const PlaneRange& planes, bool to_neighbours);
    void* neighbour_cell(const Argument& argument, std::int64_t phase) const;

    // session_late_block.cpp
    void look_for_late_block();  // after prepare()

    // session_time_tiles.cpp
    bool can_tile_time() const;
    std::array<bool, kMaxRank> periodic_axes() const;
    void choose_time_tiles();
    Sweep sweep_of(int kernel, PreparedLaunch& launch) const;
    std::vector<Sweep> sweeps_of(std::int64_t count, std::vector<PreparedLaunch>& own);
    std::int64_t step_time_tiles(std::int64_t count);  // steps done, of `count` at most; 0 where it cannot

    // session_arrays.cpp: the arrays of a field's levels
    std::int64_t age_of(const FieldPlan& field,
                        int place) const;  // of a level, by its place in the caller's list
    void* level_array(int field, int place) const noexcept;
    std::vector<void*> level_arrays(int field) const;
    void bind_levels(int field, std::span<void* const> arrays);
    void check_bindable(const FieldPlan& field, std::span<void* const> arrays) const;
    void mark_written(int field);
    bool is_external(const FieldPlan& field) const { return options.arrays.contains(field.name); }
    void check_geometry() const;  // of SessionOptions
    void check_fixed_grid() const;

    // session_cells.cpp: the cells of a field from and to dense arrays of its element type
    std::int64_t cell_count() const { return geometry.extent[0] * geometry.extent[1] * geometry.extent[2]; }
    template <class Element>
    void upload_values(const std::string& name, int time, std::span<const Element> values);
    template <class Element>
    void download_values(const std::string& name, int time, std::span<Element> values);
    void upload_cells(int field, const Level& level, const void* dense);
    void download_cells(int field, const Level& level, void* dense) const;
    void upload_box(int field, const Level& level, const Box& box, const void* dense);
    void download_box(int field, const Level& level, const Box& box, void* dense) const;
    void check_box(const std::string& field, const Box& box) const;
    void check_bytes(int field, std::int64_t bytes) const;
    void* array_like(const State& like, const std::string& field, int time);

    // session_halos.cpp
    void check_reaches() const;
    void find_fillers();
    void fill_due_halos();
    void fill_by_kernels(int field, int time);
    void refill_formulas();  // those of the levels that steps read, when a param changed
    bool runs_in_step(const KernelPlan& kernel) const;

    // session_tables.cpp
    void set_table(int index, std::span<const double> values);
    void check_tables() const;  // throws where one was given no rows
    void compute_columns();     // runs the kernels over rows

    // session_points.cpp
    void allocate_points();
    void set_points(int index, std::span<const double> positions);
    void set_point_values(int index, const std::string& name, std::span<const double> values);
    std::vector<double> trace(int index, const std::string& name);
    void continue_trace(int index, const std::string& name, const std::vector<double>& rows);
    PointGrid point_grid(const std::vector<double>& values) const;
    void place_points(const std::vector<double>& values);  // throws where something was not given
    void check_point_values(int index) const;
    PreparedLaunch::Value point_argument(const Argument& argument, std::int64_t step);
    bool is_trace(const Argument& argument) const;  // another row in each step
    void fetch_samples(PointsState::Sampled& sampled, std::int64_t points, std::int64_t before);

    // session_until.cpp
    struct Watch {
        const HostScalar& until;
        std::int64_t check_every = 1;
        std::int64_t steps_before = 0;  // of this run: checks count from its start
        std::int64_t last_step = 0;     // of this run: always checked
        bool due(std::int64_t step) const { return step % check_every == 0 || step == last_step; }
    };
    struct Watched {
        std::int64_t steps = 0;
        bool holds = false;
    };
    Watched step_until(std::int64_t count, Watch watch);
    Watched step_until_known(std::int64_t count, const Watch& watch);  // of a condition without reductions
    void finish_reductions(std::int64_t step);
    Watched step_until_recorded(const Watch& watch);
    bool can_look_back(const HostScalar& until);
    bool has_snapshot();  // room for one, made where there is
    struct SavedLevel {
        Level* level = nullptr;
        std::int64_t bytes = 0;
    };
    std::vector<SavedLevel> saved_levels();
    void save_levels();
    void restore_levels();
    bool holds(const HostScalar& until, std::vector<double> reduction_values, std::int64_t steps) const;

    // session_watch.cpp: the same in time blocks
    bool can_watch_blocks(const HostScalar& until) const;
    Watched watch_blocks(std::int64_t count, const Watch& watch);  // some; none where too few are left
    // Launches done, `most` steps at most. saved: the levels before them are in the snapshot.
    std::int64_t do_watched_blocks(std::int64_t most, bool& saved);
    void finish_block_reductions(std::int64_t rounds);
    std::vector<std::vector<double>> block_values(std::int64_t rounds);  // [step][reduction]

    // session.cpp
    int find_field(const std::string& name, int time) const;
    bool reads_reduction(const HostScalar& scalar, std::size_t reduction) const;
    double reduce(int index);  // of the last step; throws before the first
    void continue_from(const StepsBefore& before);
    double combine(int index) const;
    // Of partial results on the device.
    PartialResults results_of(int index, const void* on_device, std::int64_t count) const;
    // For scalars that read reductions: the latest values, the initial ones where there are none yet. 0 for
    // those that it does not read.
    std::vector<double> latest_reductions(const HostScalar& scalar);
    std::vector<double> reduce_for(const HostScalar& scalar);  // those that it reads
};

}  // namespace halo::rt
