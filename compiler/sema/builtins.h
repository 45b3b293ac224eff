// The words that the language knows: functions, differential operators, coordinates, constants, types,
// boundaries.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::sema {

struct BuiltinFunction {
    std::string_view name;
    ir::Function function;
    int arity;
};
const BuiltinFunction* find_builtin(std::string_view name);  // sqrt … atan2; not min and max

// A name that a declaration may not take. Functions live beside values: a param may be called `d`, a def may
// not.
bool is_reserved_name(std::string_view name, bool as_function);

// What a word of another language is called here: `fabs` is `abs`, `double` is `f64`.
std::optional<std::string> translate_word(std::string_view word);
// What is written here for a function that other languages have: `min(max(a, low), high)` for `clamp`.
std::optional<std::string> expression_for(std::string_view function);

// `ddx`, `dxx`, `d_dx`: how others call derivatives along an axis; 0: it is no such name.
int derivative_called(std::string_view word, std::string_view axis);

// How a function is called, and what it gives: for people.
struct FunctionForm {
    std::string_view name;
    std::string_view call;  // "d(u, x, …, order=2, side=low|high)"
    std::string_view gives;
};
const std::vector<FunctionForm>& function_forms();  // of all function_names(), and of sum and prod

const std::vector<std::string>& function_names();  // all that can be called
const std::vector<std::string>& type_names();

}  // namespace halo::sema
