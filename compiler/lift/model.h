// What a function does to its arrays, found by executing it once with symbols in place of numbers: the
// stores, in order, each with the loops around it and the expression that it stores. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lift/c_code.h"
#include "compiler/lift/polynomial.h"

namespace halo::lift {

// Why something is not lifted, at a place of the source. One mistake, one message.
class Refusal : public std::runtime_error {
public:
    Refusal(SourceRange place, const std::string& message, std::vector<std::string> remarks = {})
        : std::runtime_error(message), where(place), notes(std::move(remarks)) {}
    Refusal& label(SourceRange place, std::string text) {
        labels.emplace_back(place, std::move(text));
        return *this;
    }
    SourceRange where;
    std::vector<std::string> notes;
    std::vector<std::pair<SourceRange, std::string>> labels;
    bool unrolling_may_help = false;  // a subscript that must be known has a loop's index in it
    bool choosing_may_help = false;   // an index at an edge is that of no boundary
};

struct Symbol {
    enum class Kind : std::uint8_t {
        size,    // an integer that the function is given
        index,   // of a loop
        builtin  // blockIdx.x and its like
    };
    Kind kind = Kind::size;
    std::string name;
    int scalar = -1;                      // of a size: which Scalar
    std::optional<std::int64_t> assumed;  // what the user says that it is
};

// A number that the function is given: a parameter, a global variable, a member of a struct.
struct Scalar {
    std::string name;    // for the spec, before it is made unique
    std::string access;  // how the source reads it: "dt", "p->dx", "c[3]"
    c::Number number = c::Number::f64;
    int variable = -1;  // the variable that it is, or is reached through
    std::vector<std::string> members;
    std::optional<std::int64_t> element;
    bool in_memory = false;  // reached by a pointer or reference, or a global: a store might change it
    bool is_apart = false;   // in memory that no allocation gives
    bool is_hidden = false;  // a member that the function may not name
    int symbol = -1;         // of an integer
    SourceRange where;
};

// An array.
struct Object {
    std::string name;
    c::Number number = c::Number::none;  // of its elements
    int variable = -1;
    std::vector<std::string> members;  // of a struct that holds the pointer
    enum class Origin : std::uint8_t { pointer, global, local } origin = Origin::pointer;
    bool is_restrict = false;
    bool is_own = false, is_outer = false;  // as of c::Variable
    std::vector<int> shares;                // as of c::Variable
    bool rows_by_pointers = false;          // double **a
    bool is_vector = false;                 // std::vector, which shares memory with no other
    bool is_inside = false;                 // an array that lies in the struct
    bool is_in_memory = false;              // a member of a struct that others may know, too
    bool is_hidden = false;                 // as of Scalar
    int role_of = -1;  // in a time loop that swaps pointers: the array that this one is at first
    SourceRange where;
};

// Where a loop's index is below a bound, or at least the bound, an index is more than elsewhere.
struct Edge {
    int loop = -1;
    bool is_low = false;
    Polynomial bound, more;
    friend bool operator==(const Edge&, const Edge&) = default;
};

struct PathEntry {  // one subscript
    int level = 0;  // pointers passed on the way: 1 for j of double **a, a[i][j]
    Polynomial stride = 1, index;
    std::optional<int> modulus, phase;  // a[(t + phase) % modulus]
    std::vector<Edge> edges;            // of the index
    friend bool operator==(const PathEntry&, const PathEntry&) = default;
};

struct Loop {
    int symbol = -1;
    std::string name;
    Polynomial lower, upper;  // half-open
    bool descending = false, parallel = false, is_time = false;
    bool reads_first = false;  // as of c::Statement
    SourceRange where;
};

struct Term {
    enum class Kind : std::uint8_t {
        number,    // number
        integer,   // poly
        scalar,    // index: of Model::scalars
        read,      // index: of Model::reads
        unary,     // text: - not
        binary,    // text: + - * / mod < <= > >= == != and or
        select,    // condition, then, otherwise
        call,      // text: a function of the language
        convert,   // to `type`
        running,   // index: a variable, as earlier iterations of a loop over cells have left it
        reduced,   // index: of Model::reductions; operands: what the variable was before
        carried,   // index: of what a loop carries along, within the executor alone (execute_march.cpp)
        garbage,   // within the executor alone: what is in a variable that has no value
        unwritten  // of shared memory, within the executor alone: what was there before
    };
    Kind kind = Kind::number;
    c::Number type = c::Number::f64;
    double number = 0;
    Polynomial poly;
    std::vector<Polynomial> needs;  // of an integer: C's number is poly where none of these is below zero
    int bits = 64;                  // and anyway the same in its lowest bits, as many as these
    int index = -1;
    std::string text;
    std::vector<int> operands;
    std::string hint;  // the variable that holds it
    SourceRange where;
};

struct Bounds {
    std::vector<Polynomial> lower, upper;  // all of them hold; the last inside, and the first past it
};
struct Read {
    int object = -1;
    std::vector<PathEntry> path;
    int sequence = 0;              // stores made before it
    std::vector<int> loops;        // around it, outermost first
    std::map<int, Bounds> bounds;  // of these, where it is read
    SourceRange where;
};
struct Store {
    int object = -1;     // -1: a reduction
    int reduction = -1;  // of Model::reductions
    std::vector<PathEntry> path;
    int value = -1;           // Term
    std::vector<int> guards;  // Terms that all hold
    std::vector<int> loops;
    std::map<int, Bounds> bounds;  // by loop
    SourceRange where;
};

using ThreadPlace = std::array<std::int64_t, 3>;  // of a thread within its block

// What a nest accumulates over its cells: before OP value OP value … .
struct Reduction {
    std::string op;    // sum min max
    std::string name;  // of the variable
    int variable = -1;
    c::Number type = c::Number::f64;  // of the variable
    Store cells;                      // value, guards, loops and bounds
    std::vector<int> parts;           // what the value is made of, where an iteration adds several
};

struct Model {
    std::vector<Symbol> symbols;
    std::vector<Scalar> scalars;
    std::vector<Object> objects;
    std::vector<Loop> loops;
    std::vector<Term> terms;  // operands come before their users
    std::vector<Read> reads;
    std::vector<Store> stores;  // a reduction is one, after all others
    std::vector<Reduction> reductions;
    int time_loop = -1;
    bool has_rows = false;  // of threads that are numbered through
    // Of threads that share memory: how many a block has, and how many cells are from it to the next.
    std::optional<ThreadPlace> block, block_stride;
    // Of threads that nothing in the kernel holds back: how many the launch has along each axis.
    std::array<std::optional<Polynomial>, 3> launched;
    std::vector<Polynomial> needs;   // of sizes: 1 at least, else the function does something else
    std::vector<Polynomial> checks;  // likewise, else it ends the program
    // How far apart cells of an array are along which a loop goes that is written out.
    struct WrittenOut {
        int object = -1, level = 0;
        Polynomial stride;
    };
    std::vector<WrittenOut> written_out;
    // Of a time loop: what each array is called after a step, where pointers were swapped. By object.
    std::map<int, int> after_step;
    std::vector<std::string> remarks;  // what the reader of the spec should know

    std::string name(int symbol) const { return symbols[static_cast<std::size_t>(symbol)].name; }
    std::string text(const Polynomial& poly) const {
        return poly.text([this](int symbol) { return name(symbol); });
    }
    const Term& term(int id) const { return terms[static_cast<std::size_t>(id)]; }
    const Object& object(int id) const { return objects[static_cast<std::size_t>(id)]; }
    const Loop& loop(int id) const { return loops[static_cast<std::size_t>(id)]; }
    const Read& read(int id) const { return reads[static_cast<std::size_t>(id)]; }
    const Reduction& reduction(int id) const { return reductions[static_cast<std::size_t>(id)]; }
};

// How the source names a member of a struct that a variable is, or points to: "p->grid.nx". members_text:
// behind the variable.
std::string access_text(const c::Unit& unit, int variable, const std::vector<std::string>& members);
std::string members_text(const std::vector<std::string>& members);
// Behind an object, or a pointer to one. A base class whose name is qualified is reached by a cast, as behind
// a dot the first part of such a name is no namespace.
std::string way_text(std::string object, bool is_pointer, const std::vector<std::string>& members);
// For the spec.
std::string member_name(const c::Variable& named, const std::vector<std::string>& members);

// What the user says of whole numbers that a function is given: by how the source reads them.
using Assumptions = std::map<std::string, std::int64_t>;

// Executes unit.function with symbols for its numbers. Throws Refusal.
// chooses: what is read at an edge is chosen by a condition, and is no boundary.
Model execute(const c::Unit& unit, const Assumptions& assumptions = {}, bool chooses = false);

}  // namespace halo::lift
