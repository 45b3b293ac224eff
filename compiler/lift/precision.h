// What is computed in float and what in double, in C and in a spec. C converts where its rules say so; a spec
// computes where a float meets a double in double, numbers in the type of what they meet, and params in
// double.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/lift/form.h"

namespace halo::lift {

// The type that a spec computes in.
enum class Compute : unsigned char {
    weak,  // numbers and params: in double, then in the type of what they meet
    f32,
    f64,
    whole,    // fields of integers
    counted,  // idx: a whole number, or of the widest real field where it meets a fraction
    truth
};

struct Precision {
    std::vector<Compute> compute;          // by Term
    std::map<int, std::string> type;       // by Form::fields: as a spec has it
    std::vector<std::string> differences;  // what may round otherwise in the last place, as sentences
};

// May rewrite Terms to what has the same value in every bit. Throws Refusal where a spec would round
// otherwise.
Precision find_precision(Model& model, const Form& form);

}  // namespace halo::lift
