// How the equation of a `solve` is solved: by statements that the language has, with fields and reductions
// beside the unknown.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/sema/evaluator.h"
#include "compiler/sema/linear_form.h"

namespace halo::sema {

// A(u) = right, where A is linear.
struct Equation {
    ir::FieldId unknown;
    int time = 0;             // of the level that is solved for
    bool is_written = false;  // a statement before has given it a value, which is where iterations begin
    Value right;
    LinearForm form;        // of A, in `direction`
    ir::FieldId direction;  // what A is applied to: the unknown's boundaries, but nothing given past them
    Value of_direction;     // A(direction)
    bool has_given_values = false;  // past some face that A reads
    std::function<Value(ir::FieldId, int)>
        apply;  // A, as it is written, of a field with the unknown's own boundaries
    Value tolerance;
    std::int64_t most = 1;
    int axis = 0;        // of tridiagonal
    int grids = 1;       // of multigrid, the unknown's own among them
    std::string suffix;  // of the names of what is added
    SourceRange where;
};

// Numbers of repeats and sweeps that the program has.
struct SolveCounts {
    int& repeats;
    int& sweeps;
};

// A field that ends an iteration with the value of another, so that halos of both are to be alike.
struct ExchangedFields {
    ir::FieldId field, next;
};

// Each adds its statements to the program.
std::vector<ExchangedFields> solve_by_cg(Evaluator& evaluator, const Equation& equation, SolveCounts counts);
std::vector<ExchangedFields> solve_by_multigrid(Evaluator& evaluator, const Equation& equation,
                                                SolveCounts counts);
std::vector<ExchangedFields> solve_by_bicgstab(Evaluator& evaluator, const Equation& equation,
                                               SolveCounts counts);
std::vector<ExchangedFields> solve_tridiagonal(Evaluator& evaluator, const Equation& equation,
                                               SolveCounts counts);

struct SolveMethod {
    std::string_view name;
    decltype(&solve_by_cg) solve;
    bool iterates = true;
    int reductions = 0;  // how many reductions it adds to the program
    bool needs_symmetry = false;
    bool has_grids = false;
};
inline constexpr SolveMethod kSolveMethods[] = {
    {.name = "cg", .solve = solve_by_cg, .reductions = 6, .needs_symmetry = true},
    {.name = "multigrid",
     .solve = solve_by_multigrid,
     .reductions = 7,
     .needs_symmetry = true,
     .has_grids = true},
    {.name = "bicgstab", .solve = solve_by_bicgstab, .reductions = 7},
    {.name = "tridiagonal", .solve = solve_tridiagonal, .iterates = false},
};
const SolveMethod* find_solve_method(std::string_view name);  // nullptr: there is none

}  // namespace halo::sema
