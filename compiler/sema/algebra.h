// Arithmetic on vectors and complex numbers, written out in that of their components (arithmetic.h).
//
// Vectors of equal components are added and subtracted one by one; a number, real or complex, scales a
// vector. A complex number meets reals and complex numbers in + - * / and integer powers:
//
//   (a + bi) * (c + di)   (a*c - b*d) + (a*d + b*c)i
//   (a + bi) / (c + di)   ((a*c + b*d) / m) + ((b*c - a*d) / m)i with m = c*c + d*d
//   x * (a + bi)          (x*a) + (x*b)i, and likewise for /; a real exponent of 16 at most is
//   multiplications
//
// What is zero in the parts of a complex number drops out, so that 1i * z costs no more than (-z.im, z.re).
#pragma once

#include <vector>

#include "compiler/sema/arithmetic.h"
#include "compiler/sema/value.h"

namespace halo::sema {

class Algebra {
public:
    Algebra(Arithmetic& arithmetic, DiagnosticSink& sink) : arithmetic_(arithmetic), sink_(sink) {}

    // Operands are poison, numbers, vectors or complex; what does not go together is reported.
    Value binary(ir::BinaryOp op, const Value& left, const Value& right, SourceRange where);
    Value generated(ir::BinaryOp op, const Value& left, const Value& right, SourceRange where);  // of numbers
    Value negate(const Value& operand, SourceRange where);
    Value power(const Value& base, const Value& exponent, SourceRange where);
    // Branches of the same components.
    Value select(const Value& condition, const Value& then, const Value& otherwise, SourceRange where);
    Value shift(const Value& value, const ir::Offset& offset, SourceRange where,
                const Arithmetic::Accept& accept);

    Value dot(const Value& left, const Value& right, SourceRange where);    // sum of products, no conjugate
    Value cross(const Value& left, const Value& right, SourceRange where);  // of two or three components
    Value norm_squared(const Value& value, SourceRange where);              // real, of vectors and complex
    Value norm(const Value& value, SourceRange where);
    Value conjugate(const Value& value, SourceRange where);
    Value argument(const Value& value, SourceRange where);
    Value exponential(const Value& value, SourceRange where);

private:
    Value combine(ir::BinaryOp op, const Value& left, const Value& right, SourceRange where);
    Value complex_binary(ir::BinaryOp op, const Value& left, const Value& right, SourceRange where);
    Value complex_product(const Value& left, const Value& right, SourceRange where);
    Value complex_quotient(const Value& left, const Value& right, SourceRange where);
    Value complex_power(const Value& base, int exponent, SourceRange where);
    Value scale(ir::BinaryOp op, const Value& vector, const Value& factor, bool is_left, SourceRange where);
    Value mismatch(const Value& left, const Value& right, SourceRange where, const char* expected);

    Arithmetic& arithmetic_;
    DiagnosticSink& sink_;
};

// What every part becomes, with the names kept. Map takes and gives a Value.
template <class Map>
Value map_parts(const Value& value, Map&& map) {
    std::vector<Value> parts;
    for (const Value& part : value.parts)
        parts.push_back(map(part));
    Value result = Value::vector_of(std::move(parts), value.names);
    if (!result.is_poison()) result.kind = value.kind;
    return result;
}

}  // namespace halo::sema
