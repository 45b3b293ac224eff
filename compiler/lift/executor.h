// The symbolic execution of a function, for execute*.cpp alone.
//
// Integers are polynomials over symbols as long as they are made by + - *; numbers of cells are Terms. A
// variable holds a Term, a pointer (an array and the subscripts so far), a closure, or `nothing` with the
// reason why it has no value here. What is executed tentatively (a loop's body, before it is known which kind
// of loop it is) is run on a copy of the State.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lift/c_code.h"
#include "compiler/lift/execute_block.h"
#include "compiler/lift/model.h"

namespace halo::lift {

struct Pointer {
    int object = -1;
    std::vector<PathEntry> path;
    int level = 0;
    int type = -1;  // pointed to
    friend bool operator==(const Pointer&, const Pointer&) = default;
};

struct Shift {  // by which a pointer is moved
    Polynomial by;
    std::vector<Edge> edges;
    friend bool operator==(const Shift&, const Shift&) = default;
};

struct Value;
struct Closure {
    int expr = -1;
    std::map<int, Value> copies;
};

struct Record;
struct Place;

struct Value {
    enum class Kind : std::uint8_t {
        nothing,
        term,
        pointer,
        closure,
        record,  // an object of a class, or a pointer to one
        place    // what a function returns a reference to
    };
    Kind kind = Kind::nothing;
    int term = -1;
    Pointer pointer;
    std::shared_ptr<const Closure> closure;
    std::shared_ptr<const Record> record;
    std::shared_ptr<const Place> place;
    std::string reason;  // of nothing

    static Value of(int term);
    static Value of(Pointer pointer);
    static Value of(Record record);
    static Value of(Place place);
    static Value none(std::string reason);
    friend bool operator==(const Value& a, const Value& b) {
        return a.kind == b.kind && a.term == b.term && a.pointer == b.pointer && a.closure == b.closure &&
               a.record == b.record && a.place == b.place;
    }
};

// An object: one that the function is given, or a part of it, which nothing changes; and over it what has
// been put into the members of one that is made here.
struct Record {
    int variable = -1;  // that is given; -1: none
    std::vector<std::string> members;
    std::map<std::string, Value> own;
    bool is_hidden = false;  // the function that is lifted may not name it
};

// What an expression names.
struct Place {
    enum class Kind : std::uint8_t {
        variable,
        element,   // of an array, or a part of one: pointer.type says what lies there
        cell,      // of a small array that is the function's own: variable, index
        chosen,    // by a condition that differs from cell to cell: one of two
        constant,  // of an array of constants: variable; pointer.path says which
        record     // an object, or a member of one that is made here: variable, or what record holds; members
    };
    Kind kind = Kind::variable;
    int variable = -1;
    std::int64_t index = 0;
    Pointer pointer;
    int condition = -1;
    std::shared_ptr<const Place> then, otherwise;
    std::vector<std::string> members;
    std::shared_ptr<const Record> record;  // of an object that has no name
    bool is_hidden = false;                // as of Record
    friend bool operator==(const Place&, const Place&) = default;
};

class Executor {
public:
    Executor(const c::Unit& unit, const Assumptions& assumptions, bool chooses)
        : unit_(unit), assumptions_(assumptions), chooses_(chooses) {}
    Model run();

private:
    struct State {
        std::map<int, Value> variables;
        std::map<std::pair<int, std::int64_t>, Value> cells;  // of small arrays
        std::map<int, std::vector<Value>> constants;          // constant arrays of the function
        std::map<int, Place> references;
        std::map<int, bool> small;  // local arrays: whether they are small
        std::vector<Store> stores;
        std::vector<int> loops;
        std::map<int, Bounds> bounds;  // by loop
        std::vector<int> guards;
        std::optional<Value> result;
        bool left = false;  // by return or continue
    };
    struct Header {  // of a for loop
        int variable = -1;
        Polynomial lower, upper;
        std::int64_t step = 1;
        bool descending = false, parallel = false, reads_first = false;
        bool is_window = false;  // of a fixed number of cells around that of a loop around it
        // Of a window that is cut off at an edge: its first cell there, and the one behind its last.
        std::optional<Polynomial> cut_low, cut_high;
        std::string name;
        SourceRange where;
    };
    struct BodyEffects {           // what one iteration of a loop did
        std::vector<int> changed;  // variables that existed before
        bool stores = false;       // to arrays
        bool moves = false;        // some store is at a cell that depends on the loop's index
        bool stays = false;        // some is at the same cell in every iteration
        SourceRange staying;
    };

    // statements (execute.cpp)
    void run_statement(int id);
    void run_list(const std::vector<int>& list, std::size_t begin = 0);
    void run_rest();
    void run_isolated(int body, int open_loops);
    void run_branch(const c::Statement& branch);
    void run_where(int condition, SourceRange where, const std::function<void()>& body);
    void run_declaration(const c::Statement& declared);
    bool may_leave(int statement, bool in_loop = false) const;
    std::optional<bool> known_truth(int term) const;
    void bind_parameters();
    void finish();
    void check_results();
    void check_references();
    void check_copies() const;
    Value given_number(int variable);
    void name_scalars_of_arrays();
    int object_named(const Scalar& element) const;
    bool join_stores(int condition, const State& before, const State& then, std::size_t first_read,
                     const std::vector<std::size_t>& guards);
    void merge(int condition, const State& before, State then);
    Value merged(int condition, const Value& then, const Value& otherwise, SourceRange where);
    // Variables that have a value in one branch alone (execute_garbage.cpp).
    Value value_of_one(int variable, int condition, bool holds, const Value& held);
    int garbage(c::Number type, SourceRange where);
    void skip_choices(Term& select) const;
    bool has_garbage(int term) const;
    std::optional<bool> is_asked(int condition);
    int without_garbage(int term, SourceRange where);
    void add_guard(int term, bool holds, SourceRange where);
    void narrow_by_alternatives();
    // What a function checks, and ends the program where it does not hold (execute_checks.cpp).
    bool is_checked(int condition, bool holds);
    bool is_checked(const Polynomial& least);
    std::optional<bool> decided(const Term& comparison);
    bool narrow(const Term& comparison, bool holds);

    // loops (execute_loops.cpp)
    void run_loop(const c::Statement& loop);
    Header read_header(const c::Statement& loop);
    void read_start(const c::Statement& loop, Header& header, Polynomial& start);
    void read_step(const c::Statement& loop, Header& header, const Polynomial& start, bool& is_grid_stride);
    bool is_sum(const c::Expr& from) const;
    void read_condition(const c::Statement& loop, Header& header, const Polynomial& start);
    bool mirrors_cells(const State& before, std::size_t reads_before, int loop_id);
    std::set<std::pair<int, std::int64_t>> changed_cells(const State& before) const;
    void forget_cells(const std::set<std::pair<int, std::int64_t>>& cells);
    bool add_changed(const State& before, int loop_id, const Header& header, std::vector<int>& carried,
                     std::set<std::pair<int, std::int64_t>>& cells) const;
    static bool can_unroll(const Header& header);
    void run_unrolled(const c::Statement& loop, const Header& header);
    std::vector<int> cut_conditions(const Header& header, const Polynomial& at);
    Polynomial window_bound(int expr, const std::string& what, bool is_low, std::optional<Polynomial>& cut);
    void run_body(const c::Statement& loop, const Header& header, int loop_id);
    void run_as_found(const c::Statement& loop, const Header& header, const State& before, int loop_id,
                      const BodyEffects& body);
    std::vector<std::string> assume_notes(const Polynomial& count) const;
    int add_loop(const Header& header);
    bool mentions(int expr, int variable) const;
    bool has_effects(int expr) const;
    void check_bound(const c::Statement& loop, const Header& header, const std::vector<int>& changed) const;
    BodyEffects effects_of_body(const State& before, int loop_id) const;
    void run_time_loop(const c::Statement& loop, const Header& header, const State& before, int loop_id,
                       const BodyEffects& body);
    void settle_roles(const std::map<int, int>& roles);
    std::set<int> touched_objects() const;

    // sums and largest values over a loop (execute_reduce.cpp)
    struct ReductionMatch {
        std::string op;
        bool is_single = false;    // parts has one that an inner loop has accumulated
        std::vector<Store> parts;  // value, guards, loops, bounds
        std::vector<int> values;   // of an inner loop's
    };
    bool is_result(int variable) const;
    c::Number number_in(int variable) const;
    int running(int variable, SourceRange where);
    bool has_running(int term, int variable) const;  // -1: of any
    bool is_same(int a, int b, bool at_once = true) const;
    bool match_reduction(int term, int variable, ReductionMatch& found);
    bool match_select(const Term& chosen, int variable, ReductionMatch& found);
    bool match_call(const Term& call, int variable, ReductionMatch& found);
    bool add_part(ReductionMatch& found, const std::string& op, int value);
    std::optional<Value> reduction(int variable, const Value& before, const Value& after, int loop,
                                   const Bounds& bounds, SourceRange where);
    void settle_carried(const Header& header, const State& before, const std::vector<int>& carried, int loop);

    // loops that carry values along (execute_march.cpp)
    class March;
    bool march(const c::Statement& loop, const Header& header, const State& before);
    void check_kept() const;

    // expressions (execute_values.cpp)
    Value value(int expr);
    int term(int expr);  // a number, else refused
    std::optional<Polynomial> integer(int expr);
    Polynomial known_integer(int expr, const std::string& what);
    Pointer pointer(int expr);
    Value binary(const c::Expr& expr);
    Value arithmetic(const std::string& op, int left, int right, c::Number type, SourceRange where);
    Value whole_division(const std::string& op, int left, int right, c::Number type, SourceRange where);
    int compare(const std::string& op, int left, int right, SourceRange where);
    Value convert(int term, c::Number type, SourceRange where);
    bool is_never_negative(const Polynomial& poly) const;
    bool has_changed(const State& before) const;
    Value conditional(const c::Expr& expr, bool is_place = false);
    Value value_where(int condition, bool holds, int expr, SourceRange where, bool is_place = false);
    Value unary(const c::Expr& expr);
    static Shift opposite_of(Shift shift);
    static std::optional<Shift> combined(const std::string& op, const Shift& a, const Shift& b);
    Value move(Pointer pointer, int type, const Shift& by);
    // Indices at edges (execute_edges.cpp).
    struct Side {
        int loop = -1;
        bool is_below = false;
        Polynomial bound;
    };
    std::optional<Shift> index_of(int term);
    std::optional<Shift> index_where(int term, const std::map<int, bool>& known, int& unknown);
    struct Choice {  // between two indices
        int condition = -1;
        std::optional<Shift> then, otherwise;  // where it is another one than the text's, in its one cell
    };
    const Choice& choice(int select);
    bool is_plain_part(int type_id) const;
    Place chosen_part(const Place& of, const c::Expr& subscript);
    std::optional<Place> chosen_place(const Pointer& at, int index, std::map<int, bool> known);
    Value load_chosen(const Place& from, SourceRange where);
    int index_term(const Shift& from, c::Number type, SourceRange where);
    std::optional<Shift> shift(int expr);
    std::optional<int> index_arithmetic(const std::string& op, int left, int right, c::Number type,
                                        SourceRange where);
    std::optional<Side> side(const Term& comparison);
    Bounds known_bounds(int loop) const;
    bool varies(const Polynomial& poly) const;
    std::optional<Shift> chosen_index(const Term& test, const Shift& then, const Shift& otherwise);
    std::optional<Shift> extremum(const Term& test, const Shift& then, const Shift& otherwise);
    std::optional<int> wrapped_index(int left, int right, c::Number type, SourceRange where);
    // Threads that are numbered through (execute_flat.cpp).
    struct Flattened {  // thrown: the index of that name is divided into rows of that length
        std::string key;
        Polynomial row;
    };
    Polynomial thread_index(const std::string& key);
    std::optional<Polynomial> divided_index(const std::string& op, const Polynomial& whole,
                                            const Polynomial& by) const;
    std::optional<int> flat_division(const std::string& op, int left, int right, c::Number type,
                                     SourceRange where);
    std::optional<Polynomial> compared_rows(const std::string& key, const Polynomial& bound,
                                            std::string& row);
    std::optional<Side> flat_side(const std::string& op, const Polynomial& apart);
    void begin_again();
    // Threads that nothing holds back, by their launch.
    bool takes_launch();
    bool has_end() const;
    void limit_threads();
    void note_launch();
    // Threads that share memory, one after the other (execute_block.cpp).
    struct Waits {};  // thrown: the thread is at the barrier at which it is to stop
    bool shares_memory() const;
    bool is_shared(int id) const { return variable(id).is_shared; }
    bool has_expr(int statement, const std::function<bool(const c::Expr&)>& wanted) const;
    bool waits(int statement) const;
    bool waits_ahead() const;
    int barriers_in(int statement, const std::string& around, bool in_loop = false) const;
    void run_waiting_loop(const c::Statement& loop, const Header& header);
    void run_block(const c::Function& function);
    void find_block(const c::Function& function);
    void probe_statement(int id);
    Polynomial in_block(Polynomial poly);
    int launch_number(const std::string& name, const std::string& axis);
    bool run_thread(const c::Function& function, const ThreadPlace& at, int stop);
    Value wait();
    void check_leaving(const c::Statement& branch) const;
    void check_left(SourceRange where) const;
    bool always_leaves(int statement) const;
    int index_symbol(const std::string& name, SourceRange where);
    void keep_written();
    void check_races(int phase) const;
    void check_loop_races() const;
    bool writes_shared(const State& before) const;
    bool fills_shared(const c::Statement& loop) const;
    Place shared_place(int variable) const;
    std::int64_t shared_index(const Place& place, SourceRange where) const;
    Value load_shared(const Place& from, SourceRange where);
    int shared_before(const BlockOfThreads::Slot& slot, int phase, SourceRange where);
    int seen(const BlockOfThreads::Written& from);
    int overlaid(int value, const BlockOfThreads::Written& other, int variable, SourceRange where);
    void complete_shared(const State& from, State& into);
    int unwritten(c::Number type);
    bool has_unwritten(int term) const;
    void check_threads() const;
    // What one thread computes, as another one sees it (execute_shared.cpp).
    int keep(int term, std::map<int, int>& known);
    std::map<int, Bounds> with_symbols(const std::map<int, Bounds>& bounds) const;
    Read kept_read(Read read) const;
    Polynomial moved(const Polynomial& poly, const ThreadPlace& by) const;
    int loop_with(int symbol);
    int copied(int kept, const ThreadPlace& by, std::map<int, int>& known);
    int copied_read(int kept, const ThreadPlace& by);
    int filled(int term, const std::function<int()>& before);
    int folded(Term made);
    int chosen(Term select, const std::function<int(int, bool)>& operand);
    std::optional<bool> truth_here(int term);
    std::optional<bool> comparison_here(const Term& of);
    bool is_positive_here(const Polynomial& poly) const;
    bool is_at_least_one(const Polynomial& poly) const;
    int interned(const std::string& what);
    std::string path_text(const std::vector<PathEntry>& path) const;
    std::string number_text(const Polynomial& poly) const;
    std::optional<std::pair<std::string, bool>> comparison_text(const Term& of);
    int same_as(int term, std::map<int, int>& known);
    std::string store_text(const Store& kept);
    void compare_thread();
    // Whole numbers as C has them (execute_whole.cpp).
    struct Span {
        double low = 0, high = 0;
    };
    int computed(const Polynomial& poly, c::Number type, const std::vector<int>& from, SourceRange where);
    int truncated(int term, c::Number to, SourceRange where);
    Span span(const Polynomial& poly, int depth = 0) const;
    Span span_of(int symbol, int depth) const;
    static Span span_of(c::Number type);
    Polynomial least_within(Polynomial poly, const std::vector<int>& loops) const;
    bool is_never_negative(const Polynomial& poly, const std::vector<int>& loops) const;
    void require_exact(int term, const std::vector<int>& loops) const;
    int truth(int term, SourceRange where);
    int negation(int term, SourceRange where);

    // places, calls (execute_places.cpp)
    Place place(int expr);
    Value load(const Place& place, SourceRange where);
    void assign(const Place& place, Value value, SourceRange where);
    bool reads_array(int term) const;
    void name_heap(const Value& given, const std::string& name);
    Value assignment(const c::Expr& expr);
    Value step(const c::Expr& expr);
    Value given_value(int variable, SourceRange where);
    Value load_variable(int variable, SourceRange where);
    Value load_element(const Pointer& pointer, SourceRange where);
    bool is_literal(int expr) const;
    bool names_place(int expr) const;
    Value referred(int expr);
    void bind(int variable, const Value& to);
    Value returned(int expr);
    bool ends_with_call(const Place& place) const;
    void flatten(int list, int type, std::vector<Value>& into, SourceRange where);
    Value array_of(int list);
    Value array_at(const Place& place, SourceRange where);
    void set_array(int variable, const Value& given);
    bool is_array(int variable) const;
    Value constant_element(int variable, const Pointer& pointer, SourceRange where);
    Place subscript(const c::Expr& expr);
    // Objects of classes (execute_objects.cpp).
    Place member(const c::Expr& expr);
    Place object_at(int expr);
    Value held_by(const Place& place, SourceRange where);
    std::optional<Place> launch_place(const c::Expr& expr);
    Place given_member(const Record& given, int type, SourceRange where);
    std::optional<Place> numbered_member(const c::Expr& subscript);
    void check_numbered() const;
    Value load_record(const Place& place, SourceRange where);
    void assign_member(const Place& place, Value value, SourceRange where);
    Value make(const c::Expr& expr);
    void set_member(Record& of, const std::string& name, int expr);
    Value merged_records(int condition, const Record& then, const Record& otherwise, SourceRange where);
    bool is_class(int variable) const;
    bool is_pointer(const Place& place) const;
    Value call(const c::Expr& expr);
    Value call_known(const c::Expr& expr, int function, const std::vector<int>& arguments);
    std::optional<Value> call_library(const c::Expr& expr);
    std::optional<Value> call_of_choice(const c::Expr& expr);
    std::optional<double> value_of_constants(const Term& call) const;
    Value scalar(Scalar wanted);
    int object(int variable, const std::vector<std::string>& members, int type, SourceRange where);
    Polynomial elements(int type);  // numbers in a value of the type
    void measure(int type);
    std::int64_t flat_index(const Pointer& pointer, SourceRange where) const;
    bool is_small(int variable) const;

    // terms
    int add(Term term);
    int number(double value, c::Number type, SourceRange where = {});
    int whole(const Polynomial& poly, c::Number type, SourceRange where = {});
    Polynomial in_threads(Polynomial poly);  // blockIdx.x*blockDim.x + threadIdx.x as one index
    int thread_loop(const std::string& axis);
    std::vector<int> loops_around() const;  // those over threads first
    Bounds& bounds_of(int loop);
    int symbol(Symbol::Kind kind, const std::string& name);

    const c::Expr& expr(int id) const { return unit_.exprs[static_cast<std::size_t>(id)]; }
    const c::Type& type(int id) const { return unit_.types[static_cast<std::size_t>(id)]; }
    const c::Variable& variable(int id) const { return unit_.variables[static_cast<std::size_t>(id)]; }
    const c::Statement& statement(int id) const { return unit_.statements[static_cast<std::size_t>(id)]; }
    c::Number number_of(int type_id) const { return type(type_id).number; }
    bool is_integer_type(int type_id) const { return c::is_integer(type(type_id).number); }

    const c::Unit& unit_;
    const Assumptions& assumptions_;
    const bool chooses_;  // at an edge, by a condition
    Model model_;
    State state_;
    std::map<std::string, int> symbols_, objects_, scalars_;
    std::map<int, Choice> choices_;
    std::map<int, SourceRange> kept_;        // arrays of which loops keep cells in variables
    std::unique_ptr<BlockOfThreads> block_;  // where threads share memory
    std::map<int, Polynomial> element_counts_;
    std::vector<int> active_;              // functions being executed
    std::vector<std::set<int>> declared_;  // by each of them that is called: its variables
    std::map<std::string, int> threads_;   // loop of x, y, z, or of what they are divided into
    std::map<std::string, Polynomial> rows_,
        limits_;              // by which one is divided; how far it goes, where known
    std::set<int> striding_;  // of these, those that a loop over further cells has taken the place of
    using Rest = std::pair<const std::vector<int>*, std::size_t>;  // of a list of statements, from there on
    std::vector<Rest> rest_;    // what follows the statement that runs, innermost last
    int open_loops_ = 0;        // of the function that is executed
    bool is_launched_ = false;  // as many threads run as where the file launches the kernel
    int iterations_ = 0, work_ = 0;
};

}  // namespace halo::lift
