// LaunchPlan: all that the runtime must know to run compiled kernels. Plain data, made by the compiler,
// written to JSON for offline use, understood by every back end. Nothing here knows of the compiler.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/core/axis_points.h"
#include "runtime/core/field_grid.h"
#include "runtime/core/grid_rules.h"
#include "runtime/core/hidden_name.h"
#include "runtime/core/image_map.h"
#include "runtime/core/step_range.h"

namespace halo::rt {

enum class ElementType : std::uint8_t {
    f32,
    f64,
    f16,
    bf16,
    u8,
    i32,
    i64,
    boolean
};  // boolean: a byte, 0 or 1
constexpr std::int64_t size_of(ElementType type) {
    switch (type) {
        case ElementType::f64:
        case ElementType::i64:
            return 8;
        case ElementType::f32:
        case ElementType::i32:
            return 4;
        case ElementType::f16:
        case ElementType::bf16:
            return 2;
        case ElementType::u8:
        case ElementType::boolean:
            break;
    }
    return 1;
}

// A scalar computed on the host in double from params and grid: a postfix program.
struct HostScalar {
    enum class Op : std::uint8_t {
        constant,
        param,
        extent,     // push: value; params[index]; cells along axis `index`
        step,       // push: steps done before this one, or the step of the level that a halo kernel fills,
                    // or the cell along a stretched axis
        reduction,  // push: the latest value of reduction `index`
        series,     // replace the top: what table `index`, a series, gives at it (series.h)
        negate,
        logical_not,
        sqrt,
        rsqrt,
        cbrt,
        exp,
        log,
        sin,
        cos,
        tan,
        asin,
        acos,
        atan,
        sinh,
        cosh,
        tanh,
        abs,
        floor,
        ceil,
        round,
        trunc,
        erf,
        wrap_i32,  // replace the top; the last gives a whole number modulo 2^32, as an i32
        add,
        sub,
        mul,
        div,
        min,
        max,
        pow,
        atan2,
        mul_i32,    // of two i32, modulo 2^32
        floor_div,  // of whole numbers, rounded down; by 0 it is 0
        floor_mod,  // what it leaves
        less,
        less_equal,
        greater,
        greater_equal,
        equal,
        not_equal,
        logical_and,
        logical_or,  // replace the top two (the deeper is the left operand); truth is 0 or 1
        fma,
        select,    // replace the top three: a*b+c; condition, then, otherwise
        round_f32  // round the top to float
    };
    struct Step {
        Op op = Op::constant;
        double value = 0;
        int index = 0;
    };
    std::vector<Step> steps;
};

struct FacePlan {
    BoundaryKind kind = BoundaryKind::free;
    HostScalar value;  // of fixed
    int reach = 0;     // of formula: the least extent of the axis
};

enum class Role : std::uint8_t { input, state, output, intermediate };

struct FieldPlan {
    std::string name;
    ElementType type = ElementType::f32;
    Role role = Role::input;
    int history = 0;                         // past levels kept besides t (and besides t+1 for a state)
    std::array<bool, kMaxRank> staggered{};  // its points lie half a cell further along the axis
    FieldGrid grid{};                        // the axes that it lies over, and how coarse it is
    std::array<std::array<FacePlan, 2>, kMaxRank> boundary;
    std::array<std::array<int, 2>, kMaxRank> halo{};  // cells past the domain that kernels read, [axis][side]
    // Fields that share one array, `interleave` of them, stand one after the other and have equal types,
    // roles and histories: of each cell, this one has element `component`, and the array is that of component
    // 0.
    int interleave = 1;
    int component = 0;
    int spare_levels = 0;  // of a state, for kernels that do several steps and write levels past t+1

    ImageMap image(int axis, int side) const {
        const auto& faces = boundary[static_cast<std::size_t>(axis)];
        return image_map(faces[static_cast<std::size_t>(side)].kind, side);
    }
};

struct ParamPlan {
    std::string name;
    std::optional<double> default_value;
};

struct CoefPlan {  // launch-time weights; in constant memory on a GPU
    std::string name;
    std::string symbol;  // of the __constant__ array in the kernel text
    ElementType type = ElementType::f32;
    std::vector<int> low, high;
    std::vector<double> defaults;
};

// Fields that the user sees as one: components of a vector, of an array, of complex numbers.
struct GroupPlan {
    enum class Kind : std::uint8_t { components, array, complex };
    Kind kind = Kind::components;
    std::string name;
    std::vector<std::string> members;
    std::vector<int> fields;  // indices into LaunchPlan::fields, parallel to members
};

struct TablePlan {  // rows lie one after the other, each with all columns, in one element type
    std::string name;
    ElementType type = ElementType::f32;
    std::vector<std::string> columns;  // given ones first, then computed ones
    int given = 0;                     // columns that the run gives
    int width = 0;                     // elements from one row to the next, >= columns (aligned loads)
    int rows_multiple = 1;             // rows are padded with zeros to a multiple of this
    bool is_series = false;            // read by HostScalars alone; one f64 column
};

struct PointsPlan {
    enum class Interpolation : std::uint8_t { linear, sinc };
    std::string name;
    std::vector<std::string> columns;
    struct Trace {
        std::string name;
        bool sampled = false;
    };
    std::vector<Trace> traces;
    Interpolation interpolation = Interpolation::linear;
    int radius = 1;
};

// How a cell of a kernel uses an array.
struct ArrayUse {
    bool read = false, written = false;  // written: the cell itself alone
    std::array<int, kMaxRank> reach{};   // cells along each axis that it reads past itself, either way
};

// Of a launch that gives planes of a piece of a grid (TimeBlock): the first, the end, the end of those that
// go to the piece below, too, and the first of those that go to the one above.
enum class PlanesPart : std::uint8_t { begin, end, below_end, above_begin };

// What one kernel argument is, in the order of the kernel's parameters.
struct Argument {
    enum class Kind : std::uint8_t {
        field,          // pointer to cell (0,0,0) of `field` at level `time`
        scalar,         // `scalar` rounded to `type`
        extent,         // int32: cells along axis `index`
        pitch,          // int32: elements from one row (y) to the next
        slice,          // int64: elements from one plane (z) to the next
        volume,         // int64: elements from one volume (the fourth axis) to the next
        partials,       // double*: one partial result per block of reduction `index`
        step_partials,  // the same of a time block, for each of its steps: [step][block]
        coefs,       // const pointer to coefficient `index` (CPU only; on a GPU it is a __constant__ symbol)
        table,       // pointer to table `index`
        rows,        // int32: rows of table `index`
        points,      // pointer to array `part` of points `index` (points.h)
        count,       // int32: number `part` of points `index` (points.h)
        exchange,    // of exchange `index` of a resident block: part 0 int64*, the first half's words; part 1
                     // int64, how many they are
        steps,       // int32: steps that this launch of a resident block does
        sent,        // int32: steps that its launches have done since the exchanges were cleared
        iterations,  // int64*: the words of repeat `index` (RepeatWord), from word `part` on
        partial_count,   // int32: partial results of reduction `index`
        device_scalars,  // double*: scalars that a kernel of the step computes (LaunchPlan::device_scalars)
        planes,          // int32: of the launch of a block of a piece: `part` is a PlanesPart
        neighbour        // as `field`, of the piece beside this one along the last axis, below it (part 0) or
                         // above (1): a plane that it has as a ghost is where this piece has the plane
    };
    Kind kind = Kind::field;
    int field = 0;  // index into LaunchPlan::fields
    int time = 0;   // +1 the level being written, 0 now, -1 the past
    int index = 0;
    int part = 0;
    int factor = 1;  // of extent, pitch, slice and volume: the grid that they are of (FieldGrid::factor)
    HostScalar scalar;
    ElementType type = ElementType::f32;
    std::optional<ArrayUse> use;  // of a field's array; where it is not told, the kernel may do anything
};

// What a kernel's blocks are laid over.
struct Domain {
    enum class Kind : std::uint8_t {
        grid,    // the cells of `ranges`, clipped to the grid; block 0 begins at the first of them
        shell,   // the halo of a level: what `ranges` of the kernel itself make of it (compiler/lower)
        faces,   // the halo of a level, of which `ranges` are the cells, along `index` axes at once: so many
                 // layers of blocks along the last axis, each as large as the largest face
        rows,    // rows of table `index`
        cells,   // the cells that points `index` touch
        samples  // the points of points `index`
    };
    Kind kind = Kind::grid;
    std::array<Range, kMaxRank> ranges;
    int index = 0;
    int factor = 1;  // of grid, shell and faces: the grid whose cells they are (FieldGrid::factor)
};

// Of the steps that are asked for at once, the results of the last alone can be read: outputs, reductions
// and the like. So kernels that give nothing else run in that step, in steps with results; others may have
// one that does less in their place in all steps before it, those without. What each step finds for the one
// after it, kernels find for the first of them.
enum class Steps : std::uint8_t { all, with_results, without_results, first, first_or_with_results };

struct KernelPlan {
    std::string name;          // the symbol in the text
    Steps steps = Steps::all;  // that it runs in
    StepRange within;          // and of these, counted from the beginning of the run
    Lengths threads{};         // a block's threads (1s on the CPU)
    Lengths tile{};            // a block's cells, and one along a fourth axis: blocks_of()
    Domain domain;             // whose extents those are
    std::int64_t blocks = 0;   // along x, whatever the grid; 0: by tile and domain
    // Kernels that this one stands for, as its one block does in turn what they would: about as long as so
    // many launches.
    std::int64_t stands_for = 1;
    std::int64_t dynamic_shared_bytes = 0;
    std::vector<Argument> arguments;
    // Levels whose halo images this kernel does NOT write itself and the runtime must fill after it (CPU).
    struct Written {
        int field = 0;
        int time = 0;
    };
    std::vector<Written> refresh_halos;
    // A halo kernel: fills the halo of that field, whichever level its array argument is. Runs where the list
    // has it, for level `time`, and for every level after an upload; `step` is then that of the level.
    std::optional<Written> fills_halo;
    bool fills_after_uploads = false;  // and no more: in steps those that write the level store its images

    bool runs(bool with_results, bool is_first = false) const {
        switch (steps) {
            case Steps::with_results:
                return with_results;
            case Steps::without_results:
                return !with_results;
            case Steps::first:
                return is_first;
            case Steps::first_or_with_results:
                return is_first || with_results;
            case Steps::all:
                break;
        }
        return true;
    }
};

struct FixedGrid {
    Extent extent{};
    std::int64_t pitch = 0, slice = 0, volume = 0;  // of all arrays, in elements
};

// A kernel that does several time steps at once, in place of that many times the plan's list, or several
// iterations of a repeat. It reads levels
// of the states at t and before, writes level `levels` (which is then t) and those before it down to 1, and
// leaves their halo images alone.
struct TimeBlock {
    static constexpr std::int64_t kAnyExtent = std::numeric_limits<std::int64_t>::max();
    // A launch does all of the grid.
    struct WholeGrid {};
    // A launch does the planes along the last axis that it asks for, and stores those that the pieces beside
    // its own have as ghosts into their arrays, too.
    struct OfPieces {
        // All blocks, in two dimensions their warps, traverse equal parts of columns, so many of each: a
        // launch of a multiple of blocks / traversals, rounded up, does as well. 0: they share the planes out
        // otherwise, or few traversals all begin together.
        int traversals = 0;
    };
    // A launch does as many steps as it asks for, `steps` at least. Its blocks wait for each other, so it may
    // only run where all are on the device at once. They hand cells to each other through exchanges: two
    // arrays, taken in turn, of 64-bit words that start as 0.
    struct Resident {
        std::vector<int> exchanges;  // words of a block of threads, of each
        Extent most_extent{kAnyExtent, kAnyExtent, kAnyExtent};
        // Only for grids whose extents, divided by these, leave these.
        Extent divisors{};
        std::array<std::int64_t, kMaxRank> remainders{};
    };

    // Its steps are iterations of that repeat of the plan, whose arrays are exchanged after a launch as after
    // an iteration. It is at the beginning of the repeat, each time that this is done.
    struct OfRepeat {
        int repeat = 0;
    };

    int steps = 1;
    int levels = 1;
    bool is_whole = true;  // false: it leaves out what states do not need, so the last step is done by itself
    std::vector<int> reductions;          // that it gives, at each of its steps; indices into the plan's
    Extent least_extent{};                // of grids that it works on
    std::optional<FixedGrid> fixed_grid;  // the only one that it works on; none: all of these
    std::vector<KernelPlan> earlier;      // of a step in several passes: those before the last, in order
    KernelPlan kernel;
    std::variant<WholeGrid, OfPieces, Resident, OfRepeat> kind;

    std::vector<const KernelPlan*> kernels() const {
        std::vector<const KernelPlan*> all;
        for (const KernelPlan& each : earlier)
            all.push_back(&each);
        all.push_back(&kernel);
        return all;
    }
    std::vector<std::string> kernel_names() const {
        std::vector<std::string> names;
        for (const KernelPlan* each : kernels())
            names.push_back(each->name);
        return names;
    }
    const OfPieces* of_pieces() const { return std::get_if<OfPieces>(&kind); }  // null: it is another
    const Resident* resident() const { return std::get_if<Resident>(&kind); }
    const OfRepeat* of_repeat() const { return std::get_if<OfRepeat>(&kind); }
};

// Kernels of the step, from `first` to before `past`, that are done `count` times, in order, each time that
// the repeat around them is. Arrays are exchanged by repeats with none within them.
inline constexpr std::int64_t kMostIterations = 1'000'000;
inline constexpr std::int64_t kMostTimesInStep = 1'000'000'000;  // repeats within each other multiplied out
inline constexpr int kMostNestedRepeats = 8;
struct RepeatPlan {
    int first = 0, past = 0;
    std::int64_t count = 1;
    // Kernels that end an iteration by copying all of `other` to a level of `field`. In their place the two
    // arrays are exchanged, of which halos are alike; after an odd number of iterations the last copies.
    struct Exchange {
        int kernel = 0;
        int field = 0, time = 0;
        int other = 0;
    };
    std::vector<Exchange> exchanges;
    // It ends after the first iteration after which `condition` holds.
    struct Until {
        HostScalar condition;         // reads reductions, the repeat's own as of the latest iteration
        std::string text;             // of the condition, for people
        std::vector<int> reductions;  // of the repeat, that it reads
        // One block that finds these reductions' values and the condition on the device after each iteration,
        // and tells the kernels of iterations that were launched ahead to do nothing; the last of the repeat.
        // -1: the host does, after each iteration.
        int kernel = -1;
    };
    std::optional<Until> until{};
    // Of a piece of a grid: the levels whose ghosts are due after each iteration.
    std::vector<KernelPlan::Written> ghosts_due{};
};
// What the device keeps of a repeat with such a kernel, int64 each. The first three are 0 when its first
// iteration begins. Where one around it is over, the first two are not: then it does nothing.
enum class RepeatWord : std::uint8_t {
    done,        // not 0: the kernels of the repeat do nothing
    even,        // not 0: no copy is due in place of an exchange, as the number of iterations is even
    iterations,  // of this time that it is done
    total,       // iterations of all times
    most,        // of one time
    unfinished,  // times that ended after `count` iterations, without the condition
    words
};

struct ReductionPlan {  // the blocks' partials of `kernel`, combined in block order
    enum class Op : std::uint8_t { sum, min, max };
    std::string name;
    Op op = Op::sum;
    bool square_root = false;
    double initial = 0;  // before the first step
    int kernel = 0;
    // That reduction's value in the next step, found by this one; it has no value of its own for users. -1:
    // none.
    int ahead_of = -1;
};

// An axis whose cells are not equally far apart. Before steps the host computes what inputs hold of it that
// users do not see (axis_points.h).
struct StretchedAxisPlan {
    struct Table {
        int field = 0;
        AxisTable holds;
    };
    int axis = 0;
    // The distance of each cell to the next: an input over the axis, or -1, and a scalar whose step is the
    // number of the cell.
    int field = -1;
    HostScalar distance;
    bool is_periodic = false;
    std::vector<Table> tables;
};

// Where the arrays have a part of a larger grid along an axis: which, by params. Places of points are those
// of the larger grid.
struct WindowPlan {
    int first = 0;   // param: the index, on the larger grid, of cell 0; below 0 where that wraps
    int length = 0;  // param: its cells
    bool wraps = false;
};

// Of kernels that have them as constants.
struct LaunchPlan {
    std::string name;
    int rank = 1;
    std::vector<std::string> axes;
    std::array<std::optional<WindowPlan>, kMaxRank> window;  // by axis; none: the arrays have all of it
    std::vector<HostScalar> spacing, origin;                 // by axis, for coordinates in output
    // Of these, whose spacing differs by cell; but for those of which no scalar gives the distances.
    std::vector<StretchedAxisPlan> stretched;
    std::vector<ParamPlan> params;
    std::vector<CoefPlan> coefs;
    std::vector<FieldPlan> fields;  // those with an array
    std::vector<GroupPlan> groups;
    std::vector<TablePlan> tables;
    std::vector<PointsPlan> points;
    std::vector<KernelPlan> kernels;  // one time step, in order
    std::vector<RepeatPlan> repeats;  // one after the other; before those within it
    std::optional<TimeBlock> time_block;
    std::vector<ReductionPlan> reductions;
    // How many numbers kernels of one block compute for those that follow in the step, from the partial
    // results of reductions: those of the step so far, or of the last one, or the reductions' initial values.
    int device_scalars = 0;
    // Conditions of params, extents and the step's number: a step for which one is not 0 is done with
    // results, whoever reads these, as it does what others leave out.
    std::vector<HostScalar> full_steps;
    std::optional<FixedGrid> fixed_grid;              // the only grid that it is for; none: any
    std::array<std::array<int, 2>, kMaxRank> halo{};  // the widest of all fields: the layout all arrays share
};

// Whether the compiler has added the field (hidden_name.h).
bool is_hidden(const LaunchPlan& plan, int field);

int operand_count(HostScalar::Op op);  // that it takes from the stack

// Whether it has to be computed anew for each step.
bool changes_with_step(const HostScalar& scalar);  // reads `step`, a reduction or a series

// Evaluates with the params' values and the grid's extents, and what else it may read; `series` by table,
// those that are no series being empty.
double evaluate(const HostScalar& scalar, const std::vector<double>& params, const Extent& extent,
                double step = 0, const std::vector<double>& reductions = {},
                const std::vector<std::vector<double>>& series = {});

}  // namespace halo::rt
