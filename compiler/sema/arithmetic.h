// Arithmetic on Values: numbers exactly, expressions by appending to a program.
//
// Types: a number takes the type of what it meets and is rounded there, once. What is uniform is computed in
// f64 and converted where it meets a field's type; f32 with f64 widens. Integers stay integers among whole
// values; with anything else they take its type, or the compute type where that says none. Of identities
// those are used that keep each bit: 1*a = a, a/1 = a, a-0 = a, -1*a = -a. All that is written stays, also
// where it is multiplied by zero: what is read decides in which cells there is a value (ir::infer_margins).
//
// Positions: operands that meet lie at one place in the cells, and so does what is made of them; others are
// refused.
#pragma once

#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "compiler/sema/value.h"
#include "compiler/support/diagnostics.h"

namespace halo::sema {

// Integer powers up to this are expanded into multiplications (and a division): x^2n = x^n * x^n, x^(n+1) =
// x^n * x.
inline constexpr int kMaxExpandedPower = 16;

// Bounds on what one program may make of the spec's text; past them it is refused, so no text hangs the
// compiler.
inline constexpr std::size_t kMaxExprs = 200'000;
inline constexpr std::size_t kMaxWork = 2'000'000;
inline constexpr std::uint32_t kMaxExprDepth = 8'000;
inline constexpr std::size_t kMaxNumberBits = 8'192;

class Arithmetic {
public:
    // compute_type: of values that vary from cell to cell but come of no field (ir::compute_type).
    Arithmetic(ir::Program& program, ir::Scalar compute_type, DiagnosticSink& sink);

    ir::Scalar compute_type() const { return compute_type_; }
    const ir::Program& program() const { return program_; }

    // Operands are poison or of the right sort (number or truth): callers have checked.
    Value binary(ir::BinaryOp op, const Value& left, const Value& right, SourceRange where);
    // Of expressions that the compiler generates, such as a derivative's: also simplifies 0*a to 0 and a+0 to
    // a, so that weights of zero read nothing.
    Value generated(ir::BinaryOp op, const Value& left, const Value& right, SourceRange where);
    Value negate(const Value& operand, SourceRange where);
    Value logical_not(const Value& operand, SourceRange where);
    Value power(const Value& base, const Value& exponent, SourceRange where);
    Value select(const Value& condition, const Value& then, const Value& otherwise, SourceRange where);
    // fast: an approximation will do, where the values are f32 and vary.
    Value call(ir::Function function, const std::vector<Value>& arguments, SourceRange where,
               bool fast = false);
    Value table_sum(ir::TableId table, const Value& term, SourceRange where);
    // Rounded down; of integers where both are whole.
    Value floor_div(const Value& left, const Value& right, SourceRange where);
    Value floor_mod(const Value& left, const Value& right, SourceRange where);
    // Whole numbers that a condition chooses between are integers, where no field is real.
    void count_in_integers() { count_type_ = ir::Scalar::i32; }

    Value leaf(ir::Scalar type, decltype(ir::Expr::node) node, bool uniform, SourceRange where,
               Position position = {});
    // A node of the program, which this has made, as a value that lies anywhere.
    Value value_of(ir::ExprId id) const;
    Value convert(const Value& value, ir::Scalar type, SourceRange where);
    // The nearest number of f32 or f64.
    Value rounded(const Value& value, ir::Scalar type, SourceRange where);

    // The value as a node of the type. A number that the type cannot hold is reported.
    ir::ExprId as(const Value& value, ir::Scalar type, SourceRange where);
    // Of integers, too, computed in its own type and rounded at the end.
    ir::ExprId as_rounded(Value value, ir::Scalar type, SourceRange where) {
        value.whole = false;
        return as(value, type, where);
    }
    ir::ExprId as_uniform(const Value& value, SourceRange where) { return as(value, ir::Scalar::f64, where); }

    // The value at cell + offset. `accept` is asked about each access that this makes; where it says no (it
    // has reported why), the result is poison.
    using Accept = std::function<bool(const ir::Access&, SourceRange)>;
    Value shift(const Value& value, const ir::Offset& offset, SourceRange where, const Accept& accept,
                const ir::GridMap& map = {});

    // Where an access reads a table along an axis: the number of the cell at that offset, in place of it.
    using MoveTable =
        std::function<std::optional<ir::ExprId>(const ir::Access&, const ir::Offset&, SourceRange)>;
    void set_move_table(MoveTable move) { move_table_ = std::move(move); }

    // nullopt where the value depends on params or the grid.
    std::optional<double> known(const Value& value) const;

    // Counts one step of work. False, and one message, once the program is too large.
    bool spend(std::size_t work, SourceRange where);
    bool is_exhausted() const { return exhausted_; }

private:
    // Where all of them lie; nullopt, and a message, where they lie apart.
    std::optional<Position> join(const std::vector<const Value*>& values, SourceRange where);
    Value fold(ir::BinaryOp op, const Rational& left, const Rational& right, SourceRange where);
    std::optional<Value> identity(ir::BinaryOp op, const Value& left, const Value& right, SourceRange where);
    Value integer_power(const Value& base, int exponent, SourceRange where);
    Value exact_power(const Rational& base, std::int64_t exponent, SourceRange where);
    std::optional<Value> fold_call(ir::Function function, const Value& argument);
    ir::Scalar common_type(const std::vector<Value>& values) const;
    ir::Scalar real_type(const std::vector<Value>& values) const;
    ir::Scalar whole_type(const std::vector<Value>& values) const;
    Value marked(Value value, bool is_whole) const;
    bool check_fit(const Rational& number, ir::Scalar type, SourceRange where);
    bool is_whole(ir::ExprId id);
    const ir::Binary* floored_quotient(const ir::Expr& expr);
    const ir::Binary* remainder(const ir::Binary& node);
    ir::ExprId in_integers(ir::ExprId id, ir::Scalar type, SourceRange where);
    ir::ExprId make_in_integers(ir::ExprId id, ir::Scalar type, SourceRange where);
    ir::ExprId add(ir::Scalar type, decltype(ir::Expr::node) node, SourceRange where);
    bool check_size(const Rational& number, SourceRange where);
    std::optional<ir::ExprId> shift_leaf(const ir::Expr& expr, const ir::Offset& offset,
                                         const ir::GridMap& map, SourceRange where, const Accept& accept);
    std::optional<ir::ExprId> shift_access(const ir::Access& access, ir::Scalar type,
                                           const ir::Offset& offset, const ir::GridMap& map,
                                           SourceRange where, const Accept& accept);

    ir::Program& program_;
    ir::ExprBuilder builder_;
    ir::Scalar compute_type_;
    ir::Scalar count_type_;
    DiagnosticSink& sink_;
    std::vector<std::uint32_t> depth_;  // by expression
    std::vector<bool> is_uniform_;      // by expression
    std::map<std::pair<ir::Offset, ir::GridMap>, std::unordered_map<std::uint32_t, ir::ExprId>> shifted_;
    MoveTable move_table_;
    std::map<std::pair<std::uint32_t, ir::Scalar>, ir::ExprId> in_integers_;
    std::unordered_map<std::uint32_t, bool> is_whole_;
    std::size_t work_ = 0;
    bool exhausted_ = false;
};

// The operands of `expr` through `map`, in place.
void map_operands(ir::Expr& expr, const std::function<ir::ExprId(ir::ExprId)>& map);

}  // namespace halo::sema
