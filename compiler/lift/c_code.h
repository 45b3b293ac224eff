// A function of C, C++ or CUDA as plain data: what the lifter reads, without a Clang header.
//
// Types, variables, expressions, statements and functions live in arenas of one Unit and are named by index;
// -1 is none. What the lifter does not know becomes an `unknown` node that says what it is in the user's
// words; it is refused only where it matters. Macros are expanded; places are those in the file as the user
// sees it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/source.h"

namespace halo::lift::c {

enum class Number : std::uint8_t { none, boolean, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };

inline bool is_real(Number number) {
    return number == Number::f32 || number == Number::f64;
}
inline bool is_integer(Number number) {
    return number != Number::none && !is_real(number);
}

struct Type {
    enum class Kind : std::uint8_t { number, pointer, array, other };
    Kind kind = Kind::other;
    Number number = Number::none;       // of a number
    int element = -1;                   // of a pointer (or reference) and an array
    std::optional<std::int64_t> count;  // of an array of known length
    int count_expr = -1;                // of an array whose length is an expression
    bool is_const = false, is_restrict = false, is_reference = false;
    bool is_vector = false;     // std::vector: a pointer to its elements
    bool is_std_array = false;  // std::array: an array
    bool is_class = false;      // of another kind: a struct or a class
    std::string text;           // as the compiler writes it
    std::string plain;          // without names of types
};

struct Variable {
    std::string name;
    int type = -1;
    enum class Storage : std::uint8_t { parameter, local, global } storage = Storage::local;
    bool is_const = false;
    bool is_extern = false;     // of a global: defined elsewhere
    bool is_shared = false;     // __shared__ of CUDA
    bool is_static = false;     // of a local
    bool is_own = false;        // points to memory that no other array is in: what an allocation gave
    bool is_outer = false;      // points to what was there when the function was called
    bool is_reached = false;    // its address has been taken
    bool is_unordered = false;  // counts a loop whose iterations have no order
    std::string module;         // of Fortran: of a global, that it is of
    bool is_object = false;     // `this`: the first parameter of a member function, bound to its object
    int init = -1;              // expression
    std::vector<int> shares;    // of a nest's: other variables that have been set to what it points to
    SourceRange where;
};

// Calls that say something to the compiler alone.
inline bool is_hint(const std::string& function) {
    return function == "__builtin_unreachable" || function == "__builtin_assume";
}

struct Expr {
    enum class Kind : std::uint8_t {
        integer,      // `integer`; of booleans, too
        real,         // `real`
        variable,     // `variable`
        unary,        // text: - + ! ~
        binary,       // text: + - * / % < <= > >= == != && || & | ^ << >>
        conditional,  // condition, then, otherwise
        convert,      // to `type`
        subscript,    // base, index
        dereference,
        address,
        member,  // text: its name; of a part that a base class is, that name and `::`
        call,    // text: the name; function: the callee where its body is known; of a member function the
                 // first operand is the object
        make,    // an object. function: the constructor, without its first argument; -1: `names` are members
        invoke,  // of a closure: the closure, then the arguments
        assign,  // text: = += -= …; target, value
        step,    // text: ++x, --x, x++, x--
        comma,
        list,     // { … }: one operand an element; those left out are zero
        closure,  // function: its body; operands: none; captured: what it copies
        unknown   // text: what it is
    };
    Kind kind = Kind::unknown;
    int type = -1;
    std::string text;
    std::int64_t integer = 0;
    double real = 0;
    int variable = -1;
    int function = -1;
    std::vector<int> operands;
    std::vector<int> captured;       // variables that a closure copies
    std::vector<std::string> names;  // of made objects: the member that each operand is
    bool is_hidden = false;          // of a member: the function that is lifted may not name it
    bool is_loaded = false;          // what it names is read here, and cannot be changed through this
    bool is_end = false;             // it ends the program, or throws
    bool is_opaque = false;          // of unknown: it may change everything that the function has
    SourceRange where;
};

struct Statement {
    enum class Kind : std::uint8_t {
        none,
        block,             // statements
        expression,        // expr
        declare,           // variables
        branch,            // expr; statements: then, otherwise (or one alone)
        for_loop,          // statements: start (or -1), body; expr: condition (or -1); step (or -1)
        return_statement,  // expr (or -1)
        continue_statement,
        break_statement,  // text
        goto_statement,   // text
        while_loop,       // also do: expr: condition; statements: body; text; step: 1 where the body is first
        unknown           // text; statements: what is in it
    };
    Kind kind = Kind::none;
    std::vector<int> statements;
    std::vector<int> variables;
    int expr = -1;
    int step = -1;
    bool is_opaque = false;  // as of Expr
    bool is_loop = false;    // of whatever kind
    bool is_switch = false;  // of unknown: what it chooses by, and its body
    bool is_label = false;   // of unknown: of a switch; in front of its last statement
    // Of for_loop: all its iterations read what was there before any of them writes, as in assignments of
    // whole arrays.
    bool reads_first = false;
    std::string text;
    SourceRange where;
};

struct Function {
    std::string name, full_name;  // full: with its namespaces
    std::string space;            // the namespace that it, or its class, is in
    std::vector<int> parameters;
    int result = -1;         // type
    int body = -1;           // statement; -1: not in this file
    bool is_kernel = false;  // __global__
    bool is_plain = true;    // no template: can be called by its name, or for an object
    bool is_const = false;   // of a member function
    // Of a member function that is defined outside of its class: where the class ends; 0: of any other.
    std::uint32_t class_end = 0;
    SourceRange where;              // its head
    std::uint32_t begin = 0;        // where its definition begins
    std::uint32_t outer_begin = 0;  // or that of the class around it
};

struct Unit {
    SourceFile source{"", ""};  // the main file, and further files that places are in
    std::vector<Type> types;
    std::vector<Variable> variables;
    std::vector<Expr> exprs;
    std::vector<Statement> statements;
    std::vector<Function> functions;
    int function = -1;  // the one that is lifted
    // Of a loop nest as a function of its own (outline.h): parameters that it changes and that are read
    // after it.
    std::vector<int> results;
    bool is_cxx = false, is_cuda = false, is_fortran = false;
    // Of Fortran's arrays of assumed shape: parameters that stand for how long their axes are.
    std::map<int, std::vector<int>> shapes;
    // And other such lengths, by name, that are the same as one: their arrays are assigned to each other.
    std::map<int, std::vector<std::string>> same_lengths;
    // Of a kernel that the file launches, always with as many threads a block: how many.
    std::optional<std::array<std::int64_t, 3>> block;
    // And the parameter that is how many threads there are along each axis, in whole blocks: dim3(nx / 64,
    // …); -1: none.
    std::array<int, 3> thread_counts{-1, -1, -1};
    bool has_kokkos = false;  // it uses views or loops of Kokkos, by the header of haloc lift's own
    bool fast_math = false;   // the file is compiled with -ffast-math or the like
};

// Whether a statement ends the program, or throws, as the last one of a block does.
bool ends_program(const Unit& unit, int statement);

// Whether it calls a template that has loops, whose work is in a lambda or an object that it is given:
// parallel_for(n, [=](int i) { … }).
bool is_call_of_loops(const Unit& unit, const Statement& statement);

}  // namespace halo::lift::c
