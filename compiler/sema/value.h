// What an expression of a spec is worth while the program is built: an exact number until it meets a type, a
// truth value that is known already, or an expression in the program's arena.
#pragma once

#include "compiler/ir/program.h"
#include "compiler/sema/position.h"

namespace halo::sema {

struct Value {
    enum class Kind : std::uint8_t {
        poison,  // its mistake has been reported; what is computed from it is poison, silently
        number,
        truth,
        expr,
        row  // of a table, while it is summed over: its columns are values
    };
    Kind kind = Kind::poison;
    Rational number;
    bool truth = false;
    ir::TableId table;  // of row
    ir::ExprId id;
    ir::Scalar type = ir::Scalar::f64;  // of expr
    bool uniform = true;                // of expr: one value per launch (program.h); then f64 or boolean
    Position position;                  // of expr: where in the cells it has its values

    static Value of(Rational exact) {
        Value value;
        value.kind = Kind::number;
        value.number = std::move(exact);
        return value;
    }
    static Value of(bool known) {
        Value value;
        value.kind = Kind::truth;
        value.truth = known;
        return value;
    }
    static Value of(ir::TableId row_of) {
        Value value;
        value.kind = Kind::row;
        value.table = row_of;
        return value;
    }
    static Value of(ir::ExprId id, ir::Scalar type, bool uniform, Position position = {}) {
        Value value;
        value.kind = Kind::expr;
        value.id = id;
        value.type = type;
        value.uniform = uniform;
        value.position = position;
        return value;
    }

    bool is_poison() const { return kind == Kind::poison; }
    bool is_number() const { return kind == Kind::number; }
    bool is_row() const { return kind == Kind::row; }
    bool is_expr() const { return kind == Kind::expr; }
    bool is_boolean() const { return kind == Kind::truth || (is_expr() && type == ir::Scalar::boolean); }
    bool is_uniform() const { return !is_expr() || uniform; }
};

}  // namespace halo::sema
