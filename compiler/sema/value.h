// The value of an expression of a spec while the program is built: an exact number until it meets a type, a
// truth value that is known already, an expression in the program's arena, or several of them: a vector, or a
// complex number. The program knows none of the last two: their components go into it one by one.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/sema/position.h"

namespace halo::sema {

struct Value {
    enum class Kind : std::uint8_t {
        poison,  // its mistake has been reported; what is computed from it is poison, silently
        number,
        truth,
        expr,
        row,     // of a table, while it is summed over: its columns are values
        vector,  // of any Values but truths
        complex  // parts: real, imaginary
    };
    Kind kind = Kind::poison;
    Rational number;
    bool truth = false;
    ir::TableId table;  // of row
    ir::ExprId id;
    ir::Scalar type = ir::Scalar::f64;  // of expr
    bool uniform = true;                // of expr: one value per launch (program.h); then f64 or boolean
    Position position;                  // of expr: where in the cells it has its values
    std::vector<Value> parts;           // of vector and complex; none of them poison
    std::vector<std::string> names;     // of a vector's parts; empty: they are numbered from 0
    // Of expr in a real type: made of idx, len, integer params and whole numbers alone, so that it is
    // computed in an integer's arithmetic where it meets one.
    bool whole = false;

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
    // Poison where a part is.
    static Value vector_of(std::vector<Value> parts, std::vector<std::string> names = {}) {
        for (const Value& part : parts) {
            if (part.is_poison()) return Value();
        }
        Value value;
        value.kind = Kind::vector;
        value.parts = std::move(parts);
        value.names = std::move(names);
        return value;
    }
    static Value complex_of(Value real, Value imaginary) {
        std::vector<Value> parts;
        parts.push_back(std::move(real));
        parts.push_back(std::move(imaginary));
        Value value = vector_of(std::move(parts));
        if (!value.is_poison()) value.kind = Kind::complex;
        return value;
    }

    bool is_poison() const { return kind == Kind::poison; }
    bool is_number() const { return kind == Kind::number; }
    bool is_row() const { return kind == Kind::row; }
    bool is_expr() const { return kind == Kind::expr; }
    bool is_vector() const { return kind == Kind::vector; }
    bool is_complex() const { return kind == Kind::complex; }
    bool has_parts() const { return is_vector() || is_complex(); }
    bool is_boolean() const { return kind == Kind::truth || (is_expr() && type == ir::Scalar::boolean); }
    bool is_uniform() const {
        if (!has_parts()) return !is_expr() || uniform;
        return std::all_of(parts.begin(), parts.end(), [](const Value& part) { return part.is_uniform(); });
    }
    bool is_whole() const {
        return is_number() ? number.is_integer() : is_expr() && (whole || ir::is_integer(type));
    }
};

}  // namespace halo::sema
