// Makes the types and nodes of a Unit; for translate.cpp and translate_values.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lift/c_code.h"

namespace halo::lift::fortran {

inline constexpr char kLogical[] = "logical";  // the text of such a type

class UnitBuilder {
public:
    c::Unit unit;

    int number_type(c::Number number);
    int logical_type(c::Number number);  // a whole number that kLogical says to be a truth value
    int pointer_to(int element, bool is_restrict = false);
    int reference_to(int element);
    // count: an expression; -1: its length is not said
    int array_of(int element, int count);
    int other_type(const std::string& text);

    int add(c::Expr::Kind kind, int type, SourceRange where, std::vector<int> operands = {},
            std::string text = {});
    int whole(std::int64_t value, c::Number type, SourceRange where);
    int variable(int id, SourceRange where);  // by its name
    int copy(int expr, SourceRange where);
    int read(int place);  // what is there
    int convert(int expr, int type);
    int unknown(const std::string& what, SourceRange where);
    int binary(const std::string& op, c::Number type, int left, int right);

    int add(c::Statement made);

    c::Expr& expr(int id) { return unit.exprs[static_cast<std::size_t>(id)]; }
    const c::Type& type(int id) const { return unit.types[static_cast<std::size_t>(id)]; }
    c::Number number_of(int expr_id) { return type(expr(expr_id).type).number; }

private:
    int add_type(const c::Type& made);
    std::map<c::Number, int> numbers_;
};

// Of MLIR's and FIR's names for types; none: it is no number. Truth values of Fortran are whole numbers.
c::Number number_named(const std::string& type);

}  // namespace halo::lift::fortran
