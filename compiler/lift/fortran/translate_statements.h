// The statements of a procedure; for translate.cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/lift/fortran/constructs.h"
#include "compiler/lift/fortran/translate_variables.h"
#include "compiler/lift/polynomial.h"

namespace halo::lift::fortran {

// Why an operation is refused.
std::string words_for_operation(const mlir::Operation& from);

class StatementTranslator : public VariableTranslator {
public:
    using VariableTranslator::VariableTranslator;

protected:
    void translate_blocks(const std::vector<mlir::Block>& blocks, const mlir::Operation& around,
                          std::vector<int>& into);
    // Gives lengths that are the same one name.
    void name_lengths();

private:
    void translate_list(const std::vector<std::unique_ptr<mlir::Operation>>& list, std::size_t first,
                        std::vector<int>& into);
    void translate_operation(const mlir::Operation& from, std::vector<int>& into);
    // What is not understood may change what it is given, and nothing else.
    void add_unknown(const mlir::Operation& from, const std::string& what, std::vector<int>& into) {
        add_unknown(from, what, into, place_of(from));
    }
    void add_unknown(const mlir::Operation& from, const std::string& what, std::vector<int>& into,
                     SourceRange where);
    // Why a variable that it is given is not understood.
    std::optional<std::string> trouble_of(const mlir::Operation& from);
    // The variables that an operation is given, or what is in it.
    void mention(const mlir::Operation& from, std::set<int>& into);
    void mention_value(int value, std::set<int>& into);
    void mention_expr(int id, std::set<int>& into);
    int add_expression(int expr, SourceRange where);
    int assignment(int place, int value, SourceRange where);
    void translate_store(const mlir::Operation& from, std::vector<int>& into);
    void translate_branch(const mlir::Operation& from, std::vector<int>& into);
    void translate_return(const mlir::Operation& from, std::vector<int>& into);

    // What a DO counts by is the first thing that its body is given; it is stored first, and counted last.
    bool is_plain_loop(const mlir::Operation& from) const;
    bool is_concurrent_loop(const mlir::Operation& from) const;  // DO CONCURRENT, which counts for itself
    void translate_loop(const mlir::Operation& from, std::vector<int>& into);
    // Makes what is in a loop, and tells where its last statement stands.
    using Body = std::function<SourceRange(std::vector<int>& into)>;
    struct Counter {
        int place = -1;              // expression
        int lower = -1, upper = -1;  // values
        std::int64_t step = 1;
    };
    void add_loop(const mlir::Operation& from, const Counter& counter, const Body& body,
                  std::vector<int>& into);
    SourceRange last_place(const mlir::Block& body, SourceRange place) const;
    int step_of(int counter, std::int64_t step, SourceRange where);

    // ---- arrays (translate_arrays.cpp)

    struct Along {
        int lower = -1, upper = -1;  // expressions: the first subscript, and the last
    };
    // Makes the statements for the element at these places, which are counted from 1. Whether they read what
    // may be changed by that for other elements.
    using ElementBody = std::function<bool(const std::vector<int>& places, std::vector<int>& into)>;
    bool is_array(int value);
    std::optional<std::vector<Along>> axes_of(int value, SourceRange where);
    // Whether it is as long as these along each axis by what the text says; numbers are. Lengths that arrays
    // of assumed shape have of their own are then the same.
    bool is_as_long(int value, const std::vector<Along>& axes, SourceRange where);
    int loops_over(const std::vector<Along>& axes, SourceRange where, const ElementBody& body);
    int fit(int value, c::Number type);
    // value: an expression.
    void assign_element(int to, int value, const std::vector<int>& places, SourceRange where,
                        std::vector<int>& into);
    void translate_array_store(const mlir::Operation& from, std::vector<int>& into);
    // An element of an array, by its subscripts.
    struct Element {
        int variable = -1;
        std::vector<std::optional<Polynomial>> subscripts;  // in variables; nothing: not known
        friend bool operator==(const Element&, const Element&) = default;
    };
    std::optional<Polynomial> polynomial(int expr) const;
    Element element_named(int place) const;
    // Whether the expression reads the array; the array at another element than this.
    bool reads(int expr, int variable) const;
    bool reads_another(int expr, const Element& element) const;

    // The value that a region ends with; -1: it is empty.
    int yielded(const std::vector<mlir::Block>& region);
    void find_assignments(const mlir::Operation& from, std::vector<const mlir::Operation*>& into) const;
    void translate_where(const mlir::Operation& from, std::vector<int>& into);
    struct Masks {
        std::vector<Along> axes;
        std::vector<Element> changed;  // by what comes before, for all elements
    };
    int masked(const mlir::Operation& from, const std::vector<int>& places, Masks& around);
    int unless_changed(int value, const Masks& around, SourceRange where);

    bool is_same_length(const Polynomial& difference);
    int same_as(int length) const;
    std::map<int, int> same_;  // of lengths that are the same as another

    // ---- constructs (translate_constructs.cpp)

    void translate_constructs(const std::vector<Construct>& list, std::vector<int>& into);
    int block_of(const std::vector<Construct>& list, SourceRange where);
    void translate_condition(const Construct& from, std::vector<int>& into);
    // SELECT CASE: a list of values and ranges for each block; that of the default has none.
    void translate_cases(const Construct& from, std::vector<int>& into);
    void translate_counted(const Construct& from, std::vector<int>& into);
    void translate_other_loop(const Construct& from, std::vector<int>& into);
    void translate_jump(const Construct& from, std::vector<int>& into);
    // What the function returns, read there; -1: it returns nothing.
    int result_in(const mlir::Block& epilogue, SourceRange where);
};

}  // namespace halo::lift::fortran
