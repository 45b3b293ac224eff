// StencilProgram: what a spec means, with nothing about any machine in it.
//
// A program is a list of statements over fields on one grid. A statement gives one field's value at every
// cell of its region, at once; expressions are a directed acyclic graph in an arena (operands come before
// their users). Names, `def`s, derivatives and compile-time sums are gone: what is left is reads at constant
// offsets and arithmetic. interpreter.h is the definition of its meaning; verify.h says what a well-formed
// program is; print.h shows one.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/axis_map.h"
#include "compiler/ir/ids.h"
#include "compiler/ir/line_sweep.h"
#include "compiler/ir/recurrence.h"
#include "compiler/ir/stretched_axis.h"
#include "compiler/ir/window.h"
#include "compiler/support/rational.h"
#include "compiler/support/source.h"
#include "runtime/core/field_grid.h"
#include "runtime/core/grid_rules.h"
#include "runtime/core/image_map.h"
#include "runtime/core/step_range.h"

namespace halo::ir {

using rt::kMaxRank;

// Offsets and widths along the axes in declaration order; entries past the program's rank are 0.
using Offset = std::array<int, kMaxRank>;

// What arithmetic is done in.
enum class Scalar : std::uint8_t { boolean, i32, i64, f32, f64 };
constexpr bool is_real(Scalar type) {
    return type == Scalar::f32 || type == Scalar::f64;
}
constexpr bool is_integer(Scalar type) {
    return type == Scalar::i32 || type == Scalar::i64;
}

// How a field's values lie in memory. A read gives the field's arithmetic type: f16 and bf16 are read as f32,
// u8 as i32, boolean (a byte, 0 or 1) as boolean. A write rounds to the storage: to nearest even for reals;
// integers saturate.
enum class Storage : std::uint8_t { boolean, u8, i32, i64, f16, bf16, f32, f64 };
Storage natural_storage(Scalar type);  // that loses nothing

// ---- expressions

struct Constant {  // rounded to the node's type when it is used; exact until then
    Rational value;
};
struct ParamRef {  // a launch-time scalar; always f64
    ParamId param;
};
struct CoefElement {  // one weight of a launch-time coefficient; type of the Coef. Folded coefs are Constants
    CoefId coef;
    int element = 0;  // row-major over the coef's ranges
};
struct Access {  // a field's value at cell + offset, at time t + time; past an edge what its boundary says
    FieldId field;
    int time = 0;  // +1: written earlier in this step; 0: now, or the value within the step; < 0: past
    Offset offset{};
    GridMap map{};  // to the cells of another grid
    bool is_mapped() const { return map != GridMap{}; }
    bool is_at_cell() const { return offset == Offset{} && !is_mapped(); }  // reads the cell itself
};
struct Level {  // of a field: `time` as an Access has it
    FieldId field;
    int time = 0;
    friend auto operator<=>(const Level&, const Level&) = default;
};
enum class CoordinateKind : std::uint8_t {
    index,     // idx(x)
    position,  // pos(x): origin + spacing * index; sema adds the half cell of a staggered target
    extent,    // len(x)
    step       // steps done before this one, f64 and uniform; in a ghost's expression, the step of the level
               // that is filled: level t+1 of the first step has step 1. `axis` is 0
};
struct Coordinate {
    CoordinateKind kind = CoordinateKind::index;
    int axis = 0;
};
enum class UnaryOp : std::uint8_t {
    negate,
    logical_not,
    convert  // round the operand to the node's type: reals to nearest even; a real to an integer to nearest
             // even, saturated, NaN to 0; boolean to 0 or 1; a number to boolean: whether it is not 0
};
struct Unary {
    UnaryOp op;
    ExprId operand;
};
enum class BinaryOp : std::uint8_t {
    add,
    sub,
    mul,
    div,
    min,
    max,  // operands and result of one type; integers wrap around
    floor_div,
    floor_mod,  // integers: rounded down; by 0 gives 0. `div` is of reals alone
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,  // operands of one type, boolean result
    logical_and,
    logical_or  // boolean
};
struct Binary {
    BinaryOp op;
    ExprId left, right;
};
struct Fma {  // a * b + c, rounded once
    ExprId a, b, c;
};
struct Select {
    ExprId condition, then, otherwise;
};
enum class Function : std::uint8_t {
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
    pow,
    atan2,
    round,  // to nearest even
    trunc,
    erf
};
struct Call {
    Function function;
    std::vector<ExprId> arguments;  // one, or two for pow and atan2
    bool fast = false;              // the hardware's approximation of sin, cos, exp, log, rsqrt, div of f32
};
struct ReductionRef {  // f64 and uniform: of this step where its statement is before, else of the step before
    ReductionId reduction;
};
// Sums `value` over the rows of a table, in order, in the node's type, from 0. `value` may hold TableColumns
// of that table, and no further TableSum. With a factor each row adds value * factor, rounded once with the
// sum.
struct TableSum {
    TableId table;
    ExprId value;
    std::optional<ExprId> factor;
};
struct TableColumn {  // of the row that the sum around it is at; type of the column
    TableId table;
    int column = 0;
};
struct SeriesValue {  // at a number, f64 and uniform like the number: runtime/core/series.h
    TableId series;   // a table whose rows are the values
    ExprId at;
};
// Noise: Philox4x32-10 with the key (seed, stream) and the counter (cell, step), so that it depends on
// neither schedule nor machine. noise.h is its definition.
enum class NoiseKind : std::uint8_t { uniform, normal };  // [0, 1); mean 0 and variance 1
struct Noise {
    NoiseKind kind = NoiseKind::uniform;
    int stream = 0;  // one for each place in the spec
};
struct PointColumn {  // of the point that an Inject is at: a column, or a trace's value at this step
    PointsId points;
    int column = 0;  // columns first, then traces
};

struct Expr {
    Scalar type = Scalar::f64;
    std::variant<Constant, ParamRef, CoefElement, Access, Coordinate, Unary, Binary, Fma, Select, Call,
                 ReductionRef, TableSum, TableColumn, SeriesValue, Noise, PointColumn>
        node;
    SourceRange where;  // for messages; empty where a pass made the node
};

// An expression is *uniform* when it reads no field, no launch-time weight, no table, points or noise and no
// idx or pos: it has one value per launch. Uniform arithmetic is f64 and is done once on the host; a convert
// rounds it where it meets a field's type.

// ---- declarations

struct Axis {
    std::string name;
    ExprId spacing, origin;  // uniform; 1 where it is stretched
    std::string unit = {};   // of both; empty: not said
};

struct Param {
    std::string name;
    std::optional<double> default_value;
    SourceRange where;
    // `param n: i32`, `i64`: only whole numbers are given to it, from `least` to `largest`. As doubles hold
    // them, those of i64 end at 2^53. 0: any number.
    std::int64_t least = 0, largest = 0;
    bool is_integer() const { return largest > 0; }
    std::string unit = {};  // empty: not said
};

inline constexpr std::int64_t kLargestExact = std::int64_t{1} << 53;

struct Coef {  // launch-time coefficients only (`param coef`)
    std::string name;
    Scalar type = Scalar::f32;
    std::vector<int> low, high;    // inclusive range of each dimension
    std::vector<double> defaults;  // row-major; one for each element
    SourceRange where;
};

using BoundaryKind = rt::BoundaryKind;
struct Face {
    BoundaryKind kind = BoundaryKind::free;
    ExprId value;  // of fixed, uniform; unused otherwise
    // Of formula: ghosts[k - 1] is the value k cells past the face, of the field's type, seen from the ghost
    // cell itself: its accesses are of this field at time 0 (the level that is filled, whichever it is), at
    // offsets along this axis alone that end inside the domain; coordinates are the ghost cell's. As many as
    // the halo is wide.
    std::vector<ExprId> ghosts;
    int reach = 0;  // the least extent of the axis with which all that is shown lies inside, with a value
};

enum class Role : std::uint8_t {
    input,        // never assigned
    state,        // assigned at t+1
    output,       // assigned within the step, kept for the user
    intermediate  // a `let`
};

struct Field {
    std::string name;
    Scalar type = Scalar::f32;       // of what is read and assigned
    Storage storage = Storage::f32;  // may be narrower
    Role role = Role::input;
    int history = 0;                         // past levels that are read: 1 where u[t-1] is
    std::array<bool, kMaxRank> staggered{};  // its points lie half a cell further along the axis
    rt::FieldGrid grid{};  // the axes that it lies over: all, but of an input; and how coarse it is
    std::array<std::array<Face, 2>, kMaxRank> boundary;  // [axis][0 low, 1 high]
    std::array<std::array<int, 2>, kMaxRank> halo{};     // [axis][side], >= 0: read past the domain, inferred
    std::string unit;                                    // "K": for files and pictures; empty: not said
    SourceRange where;

    rt::ImageMap image(int axis, int side) const {
        const auto& faces = boundary[static_cast<std::size_t>(axis)];
        return rt::image_map(faces[static_cast<std::size_t>(side)].kind, side);
    }
};

// Fields that the user sees as one: `field v: (x: f32, y: f32)`, `field f: f32[19]`, `field psi: c64`. For
// files and pictures; statements know the fields alone.
struct Group {
    enum class Kind : std::uint8_t { components, array, complex };
    Kind kind = Kind::components;
    std::string name;                  // v; its fields are called v.x, f.3, psi.re
    std::vector<std::string> members;  // x, y; 0, 1, …; re, im
    std::vector<FieldId> fields;       // parallel to members, one after the other in Program::fields
    // `layout aos`: in memory the components of a cell lie side by side. Of groups of whole fields alone, all
    // of one storage.
    bool interleaved = false;
};

struct Table {  // rows of numbers, as many as the run gives
    struct Column {
        std::string name;
        Scalar type = Scalar::f32;
        std::optional<ExprId> value;  // computed once for each row, from params and the columns before it
    };
    std::string name;
    std::vector<Column> columns;
    SourceRange where;
    bool is_series = false;  // read by SeriesValues alone, which the host computes: one f64 column, given
};

enum class Interpolation : std::uint8_t { linear, sinc };
struct Points {  // places off the grid: sources and receivers
    std::string name;
    std::vector<std::string> columns;  // a number for each point, f64, besides its coordinates
    struct Trace {                     // a number for each step and point
        std::string name;
        bool sampled = false;  // written by a Sample; else given by the run
        std::string unit = {};
    };
    std::vector<Trace> traces;
    Interpolation interpolation = Interpolation::linear;
    int radius =
        1;  // cells on each side that a point touches along each axis: 1 of linear, 4 and more of sinc
    SourceRange where;
};

// ---- the step

// Cells at each face where a statement has no value, because it would read past a free face: the field keeps
// its old value there (state: its value at t; output: what it held). Found by margins() in analysis.h, stored
// here by sema.
using Margins = std::array<std::array<int, 2>, kMaxRank>;  // [axis][side]

// The cells a statement is for: a box whose bounds count from a face. The whole domain by default.
struct Region {
    using Bound = rt::Bound;
    using Range = rt::Range;  // clipped to the domain
    std::array<Range, kMaxRank> ranges;
    bool is_whole() const { return *this == Region{}; }
    friend bool operator==(const Region&, const Region&) = default;
};

// Statements of the same number stand one after the other and are done in order `count` times, each time that
// the repeat around them does its statements: in each step where there is none.
struct Repeat {
    int number = 0;
    std::int64_t count = 1;
    friend bool operator==(const Repeat&, const Repeat&) = default;
};
// Ends a repeat, each time that it is done, after the first iteration after which `until` holds;
// Repeat::count is then how many are done at most.
struct RepeatEnd {
    int repeat = 0;    // its number
    ExprId until;      // boolean and uniform; reads reductions of the repeat, those of the latest iteration
    std::string text;  // of the condition, as the spec has it: for people
    SourceRange where;
};
// Of pieces of a grid: the levels of which they take their neighbours' cells for their ghosts after each
// iteration of a repeat, which may be there for that alone and have one.
struct GhostsDue {
    int repeat = 0;  // its number
    std::vector<Level> levels;
};

// A level may be written by several statements. The first gives every cell a value: where it says nothing
// (outside its region, where its condition is false, in its margins) the old one, of t for a state, what it
// held for an output. Later ones change the cells that they are for, in place, after all that was written
// before; such a statement reads its own target at the cell itself alone, or where verify.h can tell that
// it writes none of the cells that it reads.
struct Assign {
    FieldId target;
    int time = 0;  // 1 for a state, 0 for outputs and lets
    ExprId value;  // of the target's type
    Margins margins{};
    Region region{};
    std::optional<ExprId> condition;  // boolean: cells where it is false are left out. Not of lets
    std::optional<LineSweep> sweep;   // none: all cells at once. Not of lets
    // Of sweeps in parts: another form of `value`, once passes::form_recurrences() has found it.
    std::optional<Recurrence> recurrence;
    std::vector<Repeat> repeats;  // outermost first; empty: once in each step
    rt::StepRange within{};       // in others it is not done (step_choice.h)
    SourceRange where;
};
enum class ReduceOp : std::uint8_t { sum, min, max };  // sum accumulates in f64
struct Reduce {                                        // over the cells inside its margins
    std::string name;
    ReduceOp op = ReduceOp::sum;
    bool square_root = false;  // norm2: the square root of the sum of squares
    ExprId value;
    int factor = 1;  // of the grid whose cells they are (rt::FieldGrid::factor)
    Margins margins{};
    Region region{};
    std::optional<ExprId> condition;  // cells where it is false are left out
    double initial = 0;               // what a ReductionRef gives before the first step
    std::vector<Repeat> repeats;      // outermost first; its value is that of the last time
    rt::StepRange within{};           // in others its value is no number (NaN)
    SourceRange where;
    std::string unit = {};  // empty: not said
};
// Adds weight × value to the cells around each point: `value` is evaluated at each cell, for each point; what
// comes of several points is added in their order. After all that was written before, in place.
struct Inject {
    FieldId target;
    int time = 0;
    PointsId points;
    ExprId value;  // of the target's type; may hold PointColumns
    SourceRange where;
};
// Stores the sum of weight × value over the cells around each point into a trace, at this step.
struct Sample {
    PointsId points;
    int trace = 0;  // index into Points::traces
    ExprId value;   // real
    SourceRange where;
};
using Statement = std::variant<Assign, Reduce, Inject, Sample>;

struct Program {
    std::string name;
    std::vector<Axis> axes;                // the first is contiguous in memory
    std::vector<StretchedAxis> stretched;  // of these, those whose cells are not equally far apart
    Window window;
    std::vector<GhostsDue> ghosts_due;  // by repeat; none where nothing is exchanged within a step
    std::vector<Param> params;
    std::vector<Coef> coefs;
    std::vector<Field> fields;  // lets, too
    std::vector<Group> groups;
    std::vector<Table> tables;
    std::vector<Points> points;
    std::int64_t noise_seed = 0;
    std::vector<Expr> exprs;  // the arena: operands have smaller indices than their users
    std::vector<Statement> statements;
    std::vector<RepeatEnd> repeat_ends;  // of repeats that a condition ends, by their numbers

    int rank() const { return static_cast<int>(axes.size()); }
    const Expr& operator[](ExprId id) const { return exprs[id.index]; }
    const Field& operator[](FieldId id) const { return fields[id.index]; }
    const Param& operator[](ParamId id) const { return params[id.index]; }
    const Coef& operator[](CoefId id) const { return coefs[id.index]; }
    const Table& operator[](TableId id) const { return tables[id.index]; }
    const Points& operator[](PointsId id) const { return points[id.index]; }
};

// The interleaved group that a field belongs to, and its place there; none: it has an array of its own.
struct Interleave {
    const Group* group = nullptr;
    int component = 0;
    int count() const { return group == nullptr ? 1 : static_cast<int>(group->fields.size()); }
};
Interleave interleave(const Program& program, FieldId field);

// The type of idx and pos, and of what is computed from integers by what is no integer's operation: the
// widest of the real fields; where there is none, f32 if it holds all that the fields do, else f64.
Scalar compute_type(const Program& program);

// ---- building

// Appends to a program's arena and returns the same id for the same node (hash-consing), so equal
// subexpressions are one. Does no folding: passes do.
class ExprBuilder {
public:
    explicit ExprBuilder(Program& program);
    ~ExprBuilder();
    ExprBuilder(const ExprBuilder&) = delete;
    ExprBuilder& operator=(const ExprBuilder&) = delete;

    ExprId add(Expr expr);
    ExprId constant(Rational value, Scalar type);
    ExprId param(ParamId param);
    ExprId access(FieldId field, int time, const Offset& offset,
                  const GridMap& map = {});       // the field's type
    ExprId unary(UnaryOp op, ExprId operand);     // negate, logical_not
    ExprId convert(ExprId operand, Scalar type);  // the operand itself where it has the type
    ExprId binary(BinaryOp op, ExprId left, ExprId right);
    ExprId fma(ExprId a, ExprId b, ExprId c);
    ExprId select(ExprId condition, ExprId then, ExprId otherwise);
    ExprId call(Function function, std::vector<ExprId> arguments);

private:
    struct Index;
    Program& program_;
    std::unique_ptr<Index> index_;
};

// Calls visit(operand) for each operand of a node, in order.
template <class Visit>
void for_each_operand(const Expr& expr, Visit&& visit) {
    std::visit(
        [&](const auto& node) {
            using Node = std::decay_t<decltype(node)>;
            if constexpr (std::is_same_v<Node, Unary>) {
                visit(node.operand);
            } else if constexpr (std::is_same_v<Node, Binary>) {
                visit(node.left);
                visit(node.right);
            } else if constexpr (std::is_same_v<Node, Fma>) {
                visit(node.a);
                visit(node.b);
                visit(node.c);
            } else if constexpr (std::is_same_v<Node, Select>) {
                visit(node.condition);
                visit(node.then);
                visit(node.otherwise);
            } else if constexpr (std::is_same_v<Node, TableSum>) {
                visit(node.value);
                if (node.factor) visit(*node.factor);
            } else if constexpr (std::is_same_v<Node, SeriesValue>) {
                visit(node.at);
            } else if constexpr (std::is_same_v<Node, Call>) {
                for (ExprId argument : node.arguments)
                    visit(argument);
            }
        },
        expr.node);
}

std::vector<std::string> axis_names(const Program& program);

}  // namespace halo::ir
