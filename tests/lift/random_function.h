// A generator of C functions, for tests that compare what they are lifted to with what they compute. It knows
// nothing of the lifter. By construction each function ends, and stays within its arrays, for every set of
// arguments that `draw` gives.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace halo::test {

// A part of the text: before, the parts inside, after. A shrinker removes statements and takes one operand of
// a value in place of the value.
struct Piece {
    enum class Kind : std::uint8_t { statement, value, fixed };
    Kind kind = Kind::fixed;
    std::string before, between, after;
    std::vector<Piece> inner;

    std::string text() const;
};

enum class CType : std::uint8_t { f32, f64, i32, u32, i64, u64, u8, boolean };
const char* c_name(CType type);
std::size_t c_bytes(CType type);

struct Argument {
    enum class Role : std::uint8_t {
        array,   // of the function's sizes
        size,    // 0 to 9; unsigned ones from 4
        count,   // -3 to 12: where loops begin
        margin,  // 2 to 4: cells that loops leave out at an edge
        list,    // an array of 9 weights
        row,     // how far apart rows lie: n at least
        plane,   // and planes, which overlap in some runs
        number,  // any
    };
    std::string name;
    CType type = CType::f32;
    Role role = Role::number;
    bool is_restrict = false;
    std::vector<int> over = {};  // of an array with fewer axes than the function's: which
};

// The function's name is FUNCTION and those of what it calls begin with it: the user replaces it.
struct RandomFunction {
    std::uint64_t seed = 0;
    int rank = 1;
    CType result = CType::i32;  // boolean: void
    std::vector<Argument> arguments;
    std::vector<double> literals;                      // that it compares and computes with
    std::vector<std::pair<std::string, int>> assumed;  // of margins, for some: what --assume says
    Piece helpers, head, body;

    std::string text(const std::string& name) const;
    std::string head_text(const std::string& name) const;
};

RandomFunction random_function(std::uint64_t seed);

// The same function with one part less, by number; false where there is no such part.
bool remove_part(RandomFunction& function, int number);

// Declares the functions of <math.h> that random functions call.
extern const char kMathDeclarations[];

}  // namespace halo::test
