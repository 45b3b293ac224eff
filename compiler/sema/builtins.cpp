#include "compiler/sema/builtins.h"

#include <algorithm>
#include <array>

namespace halo::sema {

namespace {

using ir::Function;

constexpr std::array<BuiltinFunction, 21> kFunctions{{
    {"sqrt", Function::sqrt, 1},   {"rsqrt", Function::rsqrt, 1}, {"cbrt", Function::cbrt, 1},
    {"exp", Function::exp, 1},     {"log", Function::log, 1},     {"sin", Function::sin, 1},
    {"cos", Function::cos, 1},     {"tan", Function::tan, 1},     {"asin", Function::asin, 1},
    {"acos", Function::acos, 1},   {"atan", Function::atan, 1},   {"sinh", Function::sinh, 1},
    {"cosh", Function::cosh, 1},   {"tanh", Function::tanh, 1},   {"abs", Function::abs, 1},
    {"floor", Function::floor, 1}, {"ceil", Function::ceil, 1},   {"pow", Function::pow, 2},
    {"atan2", Function::atan2, 2}, {"round", Function::round, 1}, {"trunc", Function::trunc, 1},
}};

constexpr std::array<std::string_view, 24> kOperatorNames{
    "d",    "d2",  "laplacian", "biharmonic", "upwind", "interpolate", "grad",   "div",
    "curl", "pos", "idx",       "len",        "min",    "max",         "dot",    "cross",
    "norm", "re",  "im",        "conj",       "arg",    "mod",         "random", "normal"};

struct Translation {
    std::string_view from, to;
};
constexpr std::array<Translation, 59> kTranslations{{
    {"rand", "random"},
    {"randn", "normal"},
    {"gauss", "normal"},
    {"uniform", "random"},
    {"avg", "interpolate"},
    {"average", "interpolate"},
    {"interp", "interpolate"},
    {"fabs", "abs"},
    {"fabsf", "abs"},
    {"sqrtf", "sqrt"},
    {"expf", "exp"},
    {"ln", "log"},
    {"logf", "log"},
    {"sinf", "sin"},
    {"cosf", "cos"},
    {"fmin", "min"},
    {"fmax", "max"},
    {"power", "pow"},
    {"powf", "pow"},
    {"lap", "laplacian"},
    {"Laplacian", "laplacian"},
    {"laplace", "laplacian"},
    {"del2", "laplacian"},
    {"float", "f32"},
    {"double", "f64"},
    {"float32", "f32"},
    {"float64", "f64"},
    {"gradient", "grad"},
    {"divergence", "div"},
    {"rot", "curl"},
    {"diff", "d"},
    {"real", "f64"},
    {"complex", "c64"},
    {"complex64", "c64"},
    {"complex128", "c128"},
    {"imag", "im"},
    {"half", "f16"},
    {"float16", "f16"},
    {"bfloat16", "bf16"},
    {"int", "i32"},
    {"int32", "i32"},
    {"integer", "i32"},
    {"int64", "i64"},
    {"long", "i64"},
    {"uint8", "u8"},
    {"byte", "u8"},
    {"char", "u8"},
    {"boolean", "bool"},
    {"logical", "bool"},
    {"fmod", "mod"},
    {"rint", "round"},
    {"dirichlet", "fixed"},
    {"neumann", "clamp"},
    {"reflect", "mirror"},
    {"maximum", "max"},
    {"minimum", "min"},
    {"norm", "norm2"},
    {"l1", "norm1"},
    {"l2", "norm2"},
}};

// Functions of other languages that are an expression here.
constexpr std::array<Translation, 14> kExpressions{{
    {"clamp", "min(max(a, low), high)"},
    {"clip", "min(max(a, low), high)"},
    {"hypot", "sqrt(a^2 + b^2)"},
    {"square", "a^2"},
    {"sqr", "a^2"},
    {"sign", "if a > 0 then 1 else if a < 0 then -1 else 0"},
    {"sgn", "if a > 0 then 1 else if a < 0 then -1 else 0"},
    {"select", "if condition then a else b"},
    {"ifelse", "if condition then a else b"},
    {"where", "if condition then a else b"},
    {"lerp", "(1 - s) * a + s * b"},
    {"log10", "log(a) / log(10)"},
    {"log2", "log(a) / log(2)"},
    {"exp2", "2^a"},
}};

template <class List>
std::optional<std::string> translated(const List& list, std::string_view word) {
    const auto found = std::ranges::find(list, word, &Translation::from);
    if (found == list.end()) return std::nullopt;
    return std::string(found->to);
}

template <class List>
bool contains(const List& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

const BuiltinFunction* find_builtin(std::string_view name) {
    const auto found = std::find_if(kFunctions.begin(), kFunctions.end(),
                                    [&](const BuiltinFunction& function) { return function.name == name; });
    return found == kFunctions.end() ? nullptr : &*found;
}

bool is_reserved_name(std::string_view name, bool as_function) {
    if (name == "t" || name == "pi" || name == "true" || name == "false") return true;
    return as_function && (find_builtin(name) || contains(kOperatorNames, name));
}

std::optional<std::string> translate_word(std::string_view word) {
    return translated(kTranslations, word);
}

std::optional<std::string> expression_for(std::string_view function) {
    return translated(kExpressions, function);
}

int derivative_called(std::string_view word, std::string_view axis) {
    const std::string along(axis);
    for (const char* first : {"d", "D", "dd", "d_", "d_d"})
        if (word == first + along) return 1;
    for (const std::string& second : {"d" + along + along, "D" + along + along, "d2" + along, "d2d" + along,
                                      "d2d" + along + "2", "d2_d" + along + "2"})
        if (word == second) return 2;
    return 0;
}

const std::vector<std::string>& function_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> result(kOperatorNames.begin(), kOperatorNames.end());
        result.insert(result.end(), {"f32", "f64"});  // a def may be called so, and comes before them
        for (const BuiltinFunction& function : kFunctions)
            result.emplace_back(function.name);
        return result;
    }();
    return names;
}

const std::vector<std::string>& type_names() {
    static const std::vector<std::string> names{"f32", "f64", "f16",  "bf16", "i32",
                                                "i64", "u8",  "bool", "c64",  "c128"};
    return names;
}

}  // namespace halo::sema
