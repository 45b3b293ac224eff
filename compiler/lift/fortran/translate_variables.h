// The variables of a procedure and their types; for translate.cpp.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lift/fortran/translate_values.h"

namespace halo::lift::fortran {

class VariableTranslator : public ValueTranslator {
public:
    using ValueTranslator::ValueTranslator;

protected:
    // The memory that something else than reads is done with, by the value that stands for it.
    void find_changed(const std::vector<mlir::Block>& blocks);
    void number_arguments(const mlir::Operation& code);
    void declare(const mlir::Operation& from, std::vector<int>& into);
    const c::Variable& unit_variable(int id) const;
    bool is_changed(int id) const { return changed_variables_.count(id) > 0; }
    std::map<int, int> argument_variables_;  // by the value; -1: not declared yet

private:
    struct ArrayType;
    static ArrayType array_type(const std::string& type);
    const mlir::Operation* declaration_of(int value) const;
    bool may_change(const mlir::Operation& from, std::size_t operand) const;
    // Whether a procedure that is called may change what it is given; of those in the file it is known.
    bool call_changes(const mlir::Operation& call, std::size_t argument) const;
    const mlir::Operation* procedure_named(const std::string& symbol) const;
    // A variable that lives on from call to call: of a module, or with a first value in the procedure. One of
    // the procedure that nothing changes has its first value.
    struct Static {
        bool is_there = false, is_local = false;
        int first = -1;  // expression
        std::string trouble;
    };
    Static static_of(const mlir::Operation& declared);
    // Of a number, or of an array of one axis; -1: it is not known.
    int first_value(const std::string& symbol, SourceRange where);
    // `dense<[1.0, 2.0]> : tensor<2xf64>`
    int constant_list(const std::string& list, SourceRange where);
    // The name in the declaration, where it stands there as flang writes it.
    SourceRange place_of_name(const mlir::Operation& from, const std::string& name) const;
    static std::string without_reference(const std::string& type);
    std::string trouble_with(const mlir::Operation& from, const std::string& name) const;
    // The name of a variable that the value is made of, and that changes; empty: there is none.
    std::string changed_in(int value) const;
    // An argument is a pointer to all but its last axis, as in C.
    int shaped_type(const mlir::Operation& from, const ArrayType& array, bool is_argument, Array& shape);
    int add_length(const mlir::Operation& array, std::size_t axis);
    static bool is_target(const mlir::Operation& from);
    // An array has no fewer elements than none, which flang says by a choice: where there is one, this is it.
    int length_of(int value);

    std::set<const mlir::Operation*> changed_;  // declarations
    std::set<int> changed_variables_;
    mutable std::set<std::pair<const mlir::Operation*, std::size_t>> asked_;
};

}  // namespace halo::lift::fortran
