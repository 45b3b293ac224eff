// Random stencils as .halo text, for tests that compare engines.
//
// A program is kept as a structure, printed by text(), and shrunk on that structure. What it computes stays
// tame: all inputs, states and params are within [-1, 1], every statement is scaled so that its value is,
// too, and nothing in it amplifies a rounding error by more than about its size. Conditions compare only what
// every arithmetic computes exactly (inputs, idx, len, numbers) or choose between values that meet at the
// switch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/core/grid_rules.h"

namespace halo::test {

// splitmix64: the same numbers on every machine.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    int between(int low, int high);  // inclusive
    bool chance(int percent) { return between(1, 100) <= percent; }
    template <class T>
    const T& pick(const std::vector<T>& choices) {
        return choices[static_cast<std::size_t>(between(0, static_cast<int>(choices.size()) - 1))];
    }

private:
    std::uint64_t state_;
};

struct GeneratorOptions {
    int min_rank = 1, max_rank = 3;  // of four axes without noise, tables, points,
                                     // sweeps and several grids
    int max_radius = 4;
    int max_statements = 5;
    int max_depth = 4;               // of an expression
    std::int64_t max_cells = 20000;  // of a grid
    bool f64 = true;                 // some fields in f64
    bool functions = false;          // exp, sin …: engines agree on them within a bound only
    bool reductions = true;
    bool noise = true;
    bool tables = false;         // sums over a table, whose rows are table_rows()
    bool series = false;         // one, whose values are series_values()
    bool sweeps = false;         // statements that go along an axis cell after cell
    bool repeats = false;        // statements that are done several times in a step
    bool shared_cells = false;   // several statements for the same part of the grid
    bool points = false;         // off the grid: statements that inject and sample at them
    bool fewer_axes = false;     // inputs over some of the axes
    bool stretched = false;      // axes whose cells are not equally far apart
    bool several_grids = false;  // statements for coarser grids, and reads between grids
    bool interleaved = false;    // fields are components that lie side by side, where they can
    bool chains = false;         // runs that chain others
};

using Cells = std::array<int, 4>;
inline constexpr unsigned kAllAxes = 15;  // bits

// Levels of a repeat, and of one around another.
inline constexpr int kIterate = 100, kNextIterate = 101, kOuter = 102, kNextOuter = 103;

struct Node {
    enum class Kind : std::uint8_t {
        number,      // numerator / denominator
        param,       // name
        access,      // name[t+time, offset]
        coordinate,  // of `axis`, mapped into [-1, 1]; `order` 0: idx/len, 1: pos
        sum,
        difference,
        product,
        minimum,
        maximum,
        negation,
        quotient,  // a / (2 + |b|)
        power,     // a ^ order
        function,  // name is a pattern with @ for the argument
        blend,     // a call of the program's def
        chosen,    // if condition then a else b; the condition is `name`, a pattern with no argument
        capped,    // if a < 1/4 then a else 1/4
        shifted,   // (a)[offset]
        weighted,  // sum(r in 1..order) w[r] * (name[axis+r] - name[axis-r]); launch-time weights where time
                   // is 1. Time 2 and 3: a sum over a box of `order`, even and odd
        derivative,  // d(a, axis), of accuracy `order`
        second_derivative,
        laplacian,
        table_sum  // over the program's one table, of (a column * a + another) / 512
    };
    Kind kind = Kind::number;
    std::vector<Node> operands;
    std::string name;
    int time = 0;  // of an access: kIterate and kNextIterate, too
    Cells offset{};
    int axis = 0;
    int order = 0;
    int numerator = 1, denominator = 1;  // of an access: times and over of the map between grids
};

struct Faces {  // of a field or let, by [axis][side]: "periodic", "fixed 1/2", "free" …
    bool written = false;
    std::array<std::array<std::string, 2>, 4> kind;
};

struct FieldSpec {
    std::string name;
    bool f64 = false;
    Faces faces;
    unsigned over = kAllAxes;  // the axes (bits) that it lies over
    int coarse = 1;            // how much coarser its grid is
};

struct StatementSpec {
    enum class Kind : std::uint8_t { let, output, state, reduction, inject, sample, iterate };
    Kind kind = Kind::output;
    std::string target;
    Node value;
    Faces faces;            // of a let
    std::string operation;  // of a reduction
    int time = 0;           // of an injection: 1 into a state. What is sampled goes into the trace `target`
    std::string guard;      // "on x.low", "where idx(x) < 3"; empty for all cells. Not of a let
    std::string order;      // "sweep y up", "repeat it to 3"; empty for all cells at once
    std::string around;     // "repeat ot to 3": a repeat around that, or around the statement alone
    bool joins = false;     // in the sweep or repeat of the statement before it
    int coarse = 1;         // how much coarser the grid is that it is for
};

struct RandomProgram {
    std::uint64_t seed = 0;
    int rank = 1;
    std::vector<FieldSpec> fields;
    std::vector<StatementSpec> statements;
    std::array<std::string, 4> spacing{"1", "1", "1", "1"};  // numbers, or a param's name
    halo::rt::Extent grid{};
    bool has_components = false;  // fields of equal boundaries are components of one
    bool interleaved = false;     // these are of one type and sort, and lie side by side
    bool own_faces = false;       // each component has boundaries of its own, so that they need not be equal
    std::map<std::string, unsigned>
        halves;  // of fields and lets: the axes (bits) along which they lie half a cell up

    bool is_staggered() const {
        return std::any_of(halves.begin(), halves.end(), [](const auto& each) { return each.second != 0; });
    }

    std::string interpolation = "linear";  // of points
    std::string chained;                   // other stencils, and the run that chains them: as text

    std::string text() const;
    std::string describe() const;  // seed, grid and text, for a failing test
};

RandomProgram random_program(std::uint64_t seed, const GeneratorOptions& options = {});

// The smallest program found, by dropping statements and terms, simplifying faces, types and offsets and
// shrinking the grid, that still fails. `still_fails` says false for texts that are refused.
RandomProgram shrink(RandomProgram failing, const std::function<bool(const RandomProgram&)>& still_fails,
                     int max_attempts = 3000);

// Rows of a table with `columns` columns to give: within [-1, 1], each a float; none, few, or more than a
// chunk.
std::vector<double> table_rows(std::uint64_t seed, std::size_t columns);

// Values of a series, within [-1, 1]: one, or fewer or more than there are steps.
std::vector<double> series_values(std::uint64_t seed);

// Initial cells of a field: within [-1, 1], each a float.
std::vector<double> initial_cells(std::uint64_t seed, const std::string& field, int time, std::size_t count);

}  // namespace halo::test
