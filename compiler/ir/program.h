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

#include "compiler/support/rational.h"
#include "compiler/support/source.h"

namespace halo::ir {

inline constexpr int kMaxRank = 3;

// Offsets and widths along the axes in declaration order; entries past the program's rank are 0.
using Offset = std::array<int, kMaxRank>;

enum class Scalar : std::uint8_t { boolean, f32, f64 };

// Handles into the vectors of a Program.
template <class Tag>
struct Id {
    std::uint32_t index = 0;
    friend auto operator<=>(const Id&, const Id&) = default;
};
using ExprId = Id<struct ExprTag>;
using FieldId = Id<struct FieldTag>;
using ParamId = Id<struct ParamTag>;
using CoefId = Id<struct CoefTag>;

// ---- expressions
// -----------------------------------------------------------------------------------------------

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
struct Access {  // a field's value at cell + offset, at time t + time. Past an edge: what the field's
                 // boundary says
    FieldId field;
    int time = 0;  // +1: written earlier in this step; 0: now, or the value within the step; < 0: past
    Offset offset{};
};
enum class CoordinateKind : std::uint8_t { index, position, extent };  // idx(x), pos(x), len(x)
struct Coordinate {
    CoordinateKind kind = CoordinateKind::index;
    int axis = 0;
};
enum class UnaryOp : std::uint8_t {
    negate,
    logical_not,
    convert
};  // convert: round the operand to the node's type
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
    max,  // operands and result of one floating type
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,  // operands of one floating type, boolean result
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
    atan2
};
struct Call {
    Function function;
    std::vector<ExprId> arguments;  // one, or two for pow and atan2
};

struct Expr {
    Scalar type = Scalar::f64;
    std::variant<Constant, ParamRef, CoefElement, Access, Coordinate, Unary, Binary, Fma, Select, Call> node;
    SourceRange where;  // for messages; empty where a pass made the node
};

// An expression is *uniform* when it reads no field, no launch-time weight and no idx or pos: it has one
// value per launch. Uniform arithmetic is f64 and is done once on the host; a convert rounds it where it
// meets a field's type.

// ---- declarations
// ----------------------------------------------------------------------------------------------

struct Axis {
    std::string name;
    ExprId spacing;  // uniform
    ExprId origin;   // uniform
};

struct Param {
    std::string name;
    std::optional<double> default_value;
    SourceRange where;
};

struct Coef {  // launch-time coefficients only (`param coef`)
    std::string name;
    Scalar type = Scalar::f32;
    std::vector<int> low, high;    // inclusive range of each dimension
    std::vector<double> defaults;  // row-major; one for each element
    SourceRange where;
};

enum class BoundaryKind : std::uint8_t {
    periodic,  // u[-1] = u[n-1]
    fixed,     // a given value
    clamp,     // u[-1] = u[0]: zero gradient across the face
    mirror,    // u[-1] = u[1]: reflected about the edge cell's centre
    free       // not defined: cells that would read past it are left as they are
};
struct Face {
    BoundaryKind kind = BoundaryKind::free;
    ExprId value;  // of fixed, uniform; unused otherwise
};

enum class Role : std::uint8_t {
    input,        // never assigned
    state,        // assigned at t+1
    output,       // assigned within the step, kept for the user
    intermediate  // a `let`
};

struct Field {
    std::string name;
    Scalar type = Scalar::f32;
    Role role = Role::input;
    int history = 0;                                     // past levels that are read: 1 where u[t-1] is
    std::array<std::array<Face, 2>, kMaxRank> boundary;  // [axis][0 low, 1 high]
    std::array<std::array<int, 2>, kMaxRank>
        halo{};  // [axis][side], cells read past the domain, inferred, >= 0
    SourceRange where;
};

// ---- the step
// --------------------------------------------------------------------------------------------------

// Cells at each face where a statement has no value, because it would read past a free face: the field keeps
// its old value there (state: its value at t; output: what it held). Found by margins() in analysis.h, stored
// here by sema.
using Margins = std::array<std::array<int, 2>, kMaxRank>;  // [axis][side]

struct Assign {
    FieldId target;
    int time = 0;  // 1 for a state, 0 for outputs and lets
    ExprId value;  // of the target's type
    Margins margins{};
    SourceRange where;
};
enum class ReduceOp : std::uint8_t { sum, min, max };  // sum accumulates in f64
struct Reduce {                                        // over the cells inside its margins
    std::string name;
    ReduceOp op = ReduceOp::sum;
    bool square_root = false;  // norm2: the square root of the sum of squares
    ExprId value;
    Margins margins{};
    SourceRange where;
};
using Statement = std::variant<Assign, Reduce>;

struct Program {
    std::string name;
    std::vector<Axis> axes;  // the first is contiguous in memory
    std::vector<Param> params;
    std::vector<Coef> coefs;
    std::vector<Field> fields;  // lets, too
    std::vector<Expr> exprs;    // the arena: operands have smaller indices than their users
    std::vector<Statement> statements;

    int rank() const { return static_cast<int>(axes.size()); }
    const Expr& operator[](ExprId id) const { return exprs[id.index]; }
    const Field& operator[](FieldId id) const { return fields[id.index]; }
    const Param& operator[](ParamId id) const { return params[id.index]; }
    const Coef& operator[](CoefId id) const { return coefs[id.index]; }
};

// The type of idx, pos and len, and of everything computed from them: f32 where all fields are, else f64.
Scalar compute_type(const Program& program);

// ---- building
// --------------------------------------------------------------------------------------------------

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
    ExprId access(FieldId field, int time, const Offset& offset);  // the field's type
    ExprId unary(UnaryOp op, ExprId operand);                      // negate, logical_not
    ExprId convert(ExprId operand, Scalar type);                   // the operand itself where it has the type
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
            } else if constexpr (std::is_same_v<Node, Call>) {
                for (ExprId argument : node.arguments)
                    visit(argument);
            }
        },
        expr.node);
}

}  // namespace halo::ir
