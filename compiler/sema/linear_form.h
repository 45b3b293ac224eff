// An expression that is linear in a field: the sum of the field's values around the cell, each with a factor
// that does not read it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "compiler/sema/arithmetic.h"

namespace halo::sema {

struct LinearForm {
    std::map<ir::Offset, Value> factors;  // of the field's values, at time 0; none of them the number 0
    // Why the expression is no such form: the place, and what is wrong there.
    struct Fault {
        SourceRange where;
        bool is_constant = false;  // a term without the field; else one that is not linear in it
    };
    std::optional<Fault> fault;

    // The factor of the field at an offset: 0 where the expression does not read it there.
    Value factor(const ir::Offset& offset) const {
        const auto found = factors.find(offset);
        return found == factors.end() ? Value::of(Rational()) : found->second;
    }
    Value diagonal() const { return factor({}); }
};

LinearForm linear_form(Arithmetic& arithmetic, ir::ExprId expr, ir::FieldId field);

}  // namespace halo::sema
