// The tree of a .halo file: what the user wrote, with places, before any name is looked up.
//
// Expressions live in one arena (File::exprs) and are named by ExprId; operands come before their users.
// Statements are plain structs. Every alternative is in a std::variant, so that a visitor without one does
// not build. What could not be read is left out: a Missing expression, or a statement that is absent. It has
// had its message; later rooms are silent about it (see Stencil::unread_names).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/support/source.h"
#include "compiler/syntax/expression_tree.h"

namespace halo::syntax {

// ---- statements of a stencil --------------------------------------------------------------------

struct Component;
struct TypeRef {  // f32, `f16 as f32`, f32[19], (x: f32, y: f32); any names: sema knows the types
    Name storage;
    std::optional<Name> arithmetic;
    std::optional<ExprId> count;        // f32[19]: that many components
    std::vector<Component> components;  // (x: f32, y: f32): then the others are empty
};
struct Component {
    Name name;
    TypeRef type;            // has no named components itself
    std::vector<ExprId> at;  // as of a field; empty: where the field says
};

struct Unit {          // unit "m/s"
    std::string text;  // without the quotes
    SourceRange where;
};

struct Definition {  // NAME [: type] [= value] [unit "s"]
    Name name;
    std::optional<TypeRef> type;
    std::optional<ExprId> value;
    std::optional<Unit> unit;  // of a param
};
struct ParamDecl {  // param dt = 0.1, lambda: f64
    std::vector<Definition> params;
    SourceRange where;
};
struct ConstDecl {  // const r = 4, every one has a value
    std::vector<Definition> consts;
    SourceRange where;
};

struct AxisValue {  // x = 1/63 [unit "m"]
    Name axis;
    ExprId value;
    std::optional<Unit> unit;  // of a spacing
};
struct SpacingDecl {
    std::vector<AxisValue> values;
    SourceRange where;
};
struct OriginDecl {
    std::vector<AxisValue> values;
    SourceRange where;
};

struct CoefRange {  // low..high, both inclusive
    ExprId low, high;
};
struct CoefDecl {  // [param] coef w[-1..1, -1..1] [: type] = [[…], […], […]]
    bool is_param = false;
    Name name;
    std::vector<CoefRange> ranges;  // at least one
    std::optional<TypeRef> type;
    ExprId value;  // a List (of Lists, where there are several ranges), or one expression
    SourceRange where;
};

enum class Side : std::uint8_t { low, high };
struct FaceRef {  // x, x.low, x.high
    Name axis;
    std::optional<Side> side;  // none: both
    SourceRange where;
};
struct HaloEntry {                // halo 1; halo x 4; halo x.low 1
    std::optional<FaceRef> face;  // none: all axes
    ExprId width;
    SourceRange where;
};
struct BoundaryEntry {            // boundary periodic; boundary x.low fixed 1; boundary v.x y mirror
    std::optional<ExprId> part;   // Members of the field's NameUse; none: all components
    std::optional<FaceRef> face;  // none: all faces
    Name kind;                    // as written: sema knows the kinds
    std::vector<ExprId> values;   // what follows the kind: one, or three for robin
    SourceRange where;
};
struct LayoutEntry {  // layout aos
    Name kind;        // as written: sema knows the kinds
    SourceRange where;
};
struct FieldDecl {  // field u, v: f32 at x+1/2 { unit "K"  halo 1  boundary periodic  layout aos }
    std::vector<Name> names;
    TypeRef type;
    std::vector<Name> over;        // x, y: its axes; empty: all
    std::optional<ExprId> coarse;  // `on coarse(2)`: how much coarser its grid is
    std::vector<ExprId> at;        // x+1/2, y; empty: at the cells' points
    std::vector<HaloEntry> halos;
    std::vector<BoundaryEntry> boundaries;
    std::optional<LayoutEntry> layout;
    std::optional<Unit> unit;
    SourceRange where;
};

struct ColumnDecl {               // x, y, q: f32; rmu = rphi*rd + iphi*id
    std::vector<Name> names;      // one where it has a value
    std::optional<TypeRef> type;  // none: that of the value
    std::optional<ExprId> value;  // computed once for each row
};
struct TableDecl {  // table atoms { x, y, z, q: f32 }
    Name name;
    std::vector<ColumnDecl> columns;
    SourceRange where;
};

struct SeriesDecl {  // series wind, tide
    std::vector<Name> names;
    SourceRange where;
};

struct FastDecl {  // fast sin, cos
    std::vector<Name> functions;
    SourceRange where;
};

struct DefDecl {  // def f(a, b) = expression
    Name name;
    std::vector<Name> parameters;
    ExprId value;
    SourceRange where;
};

struct GuardId {
    std::uint32_t index = 0;
    friend bool operator==(GuardId, GuardId) = default;
};

struct LetDecl {  // let mu = expression; let mu at x+1/2 { boundary clamp } = expression
    Name name;
    std::optional<ExprId> coarse;  // `on coarse(2)`
    std::vector<ExprId> at;
    std::vector<HaloEntry> halos;
    std::vector<BoundaryEntry> boundaries;
    ExprId value;
    std::vector<GuardId> guards;    // of a let in a sweep: the blocks around it, outermost first
    std::optional<GuardId> repeat;  // of a let in no sweep: the innermost around it
    SourceRange where;
};

// Which cells statements are for: `on x.low, y in 2..-3` or `where condition`.
struct RegionEntry {
    Name axis;
    std::optional<Side> side;  // x.low
    std::optional<ExprId> low,
        high;  // x in low..high, both inclusive; negative ones count from the high face
    SourceRange where;
};
// In which order they are done: `sweep y up`, `sweep y up in parts`.
struct SweepOrder {
    Name axis;
    bool upwards = true;
    bool in_parts = false;
    std::optional<GuardId> around;  // the sweep that it stands in
    bool has_inner = false;         // one stands in it
};
// How often they are done: `repeat 20`, `repeat k to 20`, `repeat k until change < 1e-6, at most 20`.
struct RepeatCount {
    std::optional<Name> level;
    ExprId count;                   // with a condition, the most
    std::optional<ExprId> until;    // tested after each iteration
    std::string until_text;         // as it is written
    std::optional<GuardId> around;  // the repeat that it stands in
};
struct Guard {
    std::vector<RegionEntry> region;
    std::optional<ExprId> condition;
    std::optional<SweepOrder> sweep;
    std::optional<RepeatCount> repeat;
    bool is_block = true;  // else behind a reduction
    SourceRange where;     // without the statements in its braces
};
struct Assignment {  // u[t+1] = expression; df = expression
    ExprId target;   // NameUse, Index or Member
    ExprId value;
    std::vector<GuardId> guards;  // the blocks around it, outermost first
    SourceRange where;
};

// solve u[t+1]: u[t+1] - a*laplacian(u[t+1]) = u using cg tol 1e-8, at most 500
struct SolveStatement {
    ExprId target;  // the unknown: NameUse, Index or Member
    ExprId left, right;
    Name method;                      // as written: sema knows cg, multigrid, bicgstab, tridiagonal
    std::optional<Name> along;        // of tridiagonal
    std::optional<ExprId> grids;      // of multigrid: how many
    std::optional<ExprId> tolerance;  // of methods that iterate, and so is `most`
    std::optional<ExprId> most;
    std::optional<GuardId> repeat;  // the innermost around it
    SourceRange where;
};

struct ReduceDecl {  // reduce change = max(expression) start 1 unit "K"
    Name name;
    Name operation;  // as written: sema knows sum, min, max, mean, norm1, norm2
    ExprId value;
    std::optional<ExprId> start;   // before the first step
    std::optional<ExprId> coarse;  // `on coarse(2)`: the grid whose cells it is over
    std::vector<GuardId> guards;   // the blocks around it, outermost first, then its own
    std::optional<Unit> unit;
    SourceRange where;
};

struct AccuracyDecl {  // accuracy 8
    ExprId order;
    SourceRange where;
};

struct ScheduleBlock {  // schedule { stream tile=64x4 }
    std::string text;   // between the braces, comments out, one space between words: as for --schedule
    SourceRange where;
};

struct LoopBody;
struct ForStatement {                 // for i in 0..8, j in 0..2 { … }; written out when the spec is compiled
    std::vector<RangeIndex> indices;  // at least one; the last runs fastest
    std::vector<LoopBody> body;       // assignments, lets and loops
    SourceRange where;
};

struct PointsDecl {  // points shots, phones: sinc 4
    std::vector<Name> names;
    std::optional<Name> interpolation;  // as written: sema knows linear and sinc
    std::optional<ExprId> radius;
    SourceRange where;
};

struct InjectStatement {  // inject p[t+1] at shots += expression
    ExprId target;        // NameUse, Index or Member
    Name points;
    ExprId value;
    SourceRange where;
};

struct SampleStatement {  // sample expression at phones into phones.trace[t] [unit "Pa"]
    ExprId value;
    Name points;
    ExprId trace;
    std::optional<Unit> unit;
    SourceRange where;
};

using StencilStatement =
    std::variant<ParamDecl, ConstDecl, SpacingDecl, OriginDecl, CoefDecl, FieldDecl, TableDecl, SeriesDecl,
                 FastDecl, DefDecl, LetDecl, Assignment, ReduceDecl, AccuracyDecl, ScheduleBlock,
                 ForStatement, PointsDecl, InjectStatement, SampleStatement, SolveStatement>;

struct LoopBody {
    StencilStatement statement;
};

struct Stencil {
    Name name;
    std::vector<Name> axes;
    std::vector<StencilStatement> statements;  // in order
    // Every name in a statement that could not be read. Its declaration or assignment may be what is missing,
    // so no further message about such a name helps.
    std::vector<std::string> unread_names;
    SourceRange where;
};

// ---- statements of a run ------------------------------------------------------------------------

struct GridStatement {  // grid 128, 128, 128
    std::vector<ExprId> extents;
    SourceRange where;
};
struct StepsStatement {  // steps 5000 [until change < 1e-6]
    ExprId count;
    std::optional<ExprId> until;
    SourceRange where;
};
struct RowsStatement {  // rows atoms = 4000
    Name table;
    ExprId count;
    SourceRange where;
};
struct PlaceStatement {  // phones at [10*i, 20] for i in 0..99
    Name points;
    std::vector<ExprId> positions;    // Lists, of a coordinate for each axis
    std::vector<RangeIndex> indices;  // none: each position once
    SourceRange where;
};
struct InitStatement {  // init u = expression; init v.x = expression; init atoms.x = expression
    ExprId field;       // or a table's column, or a number of points: NameUse, or Members; likewise below
    ExprId value;
    SourceRange where;
};
struct FilePath {  // a string, without its quotes
    std::string text;
    SourceRange where;
};
struct InitLoop {  // for i in 0..8 { init f.i = … }
    std::vector<RangeIndex> indices;
    std::vector<InitStatement> body;
    SourceRange where;
};
struct LoadStatement {  // load u from "start.npy"
    ExprId field;       // or table or points
    FilePath path;
    SourceRange where;
};
struct Every {  // every 100 [from 0 [to 1000]]: in steps
    ExprId steps;
    std::optional<ExprId> from, to;
    SourceRange where;
};
enum class CutKind : std::uint8_t { index, position };
struct Cut {  // at z = 64, at idx(z) = 64: a cell's index; at pos(z) = 0.5: the cell nearest to a coordinate
    Name axis;
    CutKind kind = CutKind::index;
    ExprId value;
};
struct PartRange {  // x in 10..-1 every 2; y every 2
    Name axis;
    std::optional<ExprId> low, high;  // both inclusive; negative ones count from the high face; none: all
    std::optional<ExprId> stride;
    SourceRange where;
};
// save u [at z = 64] [on x in 10..50, y every 2] to "u.npy" [every 100 [together]]
struct SaveStatement {
    ExprId field;
    std::vector<Cut> cuts;
    std::vector<PartRange> ranges;
    FilePath path;
    std::optional<Every> every;
    std::optional<SourceRange> together;  // all frames in one file
    SourceRange where;
};
struct ValueRange {  // range -1..1
    ExprId low, high;
    SourceRange where;
};
struct ContourClause {  // contours p [= 0, 0.5]
    ExprId field;
    std::vector<ExprId> levels;
};
// plot u [, w] [at z = 64] [contours p] [arrows v] to "u.png" [range -1..1] [log] [flip y] [every 100]
struct PlotStatement {
    ExprId field;                // or a trace or reduction
    std::vector<ExprId> beside;  // curves in the same picture
    std::optional<Cut> cut;
    std::optional<ContourClause> contours;
    std::vector<ExprId> arrows;  // a vector, or two numbers
    FilePath path;
    std::optional<ValueRange> range;
    std::optional<SourceRange> logarithmic;
    std::vector<Name> flipped;  // axes
    std::optional<Every> every;
    SourceRange where;
    bool is_asked = false;  // by the command line, not by the file
};
// movie u [at z = 64] every 50 [from 0 [to 1000]] to "u.mp4" [range -1..1] [flip y] [fps 25]: frames that
// look as pictures of `plot` do. `every` may also come last, as it does there.
struct MovieStatement : PlotStatement {
    std::optional<ExprId> fps;  // frames a second
};
struct OverrideStatement {  // dt = 0.1; c = [1, 2]
    Name name;
    ExprId value;
    SourceRange where;
};

// every 10 do smooth; then settle for 200: another stencil on the same fields.
struct ChainStatement {
    Name stencil;
    std::optional<Every> every;   // after these steps of the phase; none: a phase of its own
    std::optional<ExprId> count;  // its steps, where it is one
    SourceRange where;
};

using RunStatement =
    std::variant<GridStatement, StepsStatement, ChainStatement, RowsStatement, PlaceStatement, InitStatement,
                 InitLoop, LoadStatement, SaveStatement, PlotStatement, MovieStatement, OverrideStatement>;

struct Run {
    Name name;  // of the stencil
    std::vector<RunStatement> statements;
    std::vector<std::string> unread_names;  // as in Stencil
    SourceRange where;
};

// ---- the file -----------------------------------------------------------------------------------

struct Use {  // use "operators.halo"
    FilePath path;
    SourceRange where;
};

struct Comment {  // from # to the end of the line
    SourceRange where;
};

// One file, or one with the modules that it uses, which add to the arena and to what is shared.
struct File {
    std::vector<Expr> exprs;
    std::vector<Use> uses;
    std::vector<StencilStatement> shared;  // def, const and coef outside of stencils: all stencils see them
    std::vector<Guard> guards;
    std::vector<Stencil> stencils;
    std::vector<Run> runs;
    std::vector<Comment> comments;          // in order
    std::vector<std::string> unread_names;  // as in Stencil, of `shared`
    // Of loops over names, which are written out: what each index stands for, "here `a` is `x`". The first is
    // empty: no loop.
    std::vector<std::string> iterations;
    std::vector<SourceRange> name_loops;  // where they are
    std::vector<Name> listed_names;       // the names in their lists
    bool lacks_module = false;            // one was not found: any name may be its
    bool is_complete = true;              // false where something at file level could not be read

    const Expr& operator[](ExprId id) const { return exprs[id.index]; }
    const Guard& operator[](GuardId id) const { return guards[id.index]; }
    // That repeat and those around it, outermost first.
    std::vector<GuardId> repeats_to(std::optional<GuardId> repeat) const {
        std::vector<GuardId> path;
        for (; repeat; repeat = (*this)[*repeat].repeat->around)
            path.insert(path.begin(), *repeat);
        return path;
    }
};

}  // namespace halo::syntax
