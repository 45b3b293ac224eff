// What the functions of the language look like where they are called. docs/language.md says all of it.
#include "compiler/sema/builtins.h"

namespace halo::sema {

const std::vector<FunctionForm>& function_forms() {
    static const std::vector<FunctionForm> forms{
        {"d", "d(u, x, …, order=2, side=low|high)", "the derivative of u along the axes that are named"},
        {"d2", "d2(u, x, order=2, side=low|high)", "the second derivative of u along x"},
        {"laplacian", "laplacian(u, order=2)", "the sum of the second derivatives of u along all axes"},
        {"biharmonic", "biharmonic(u, order=2)", "the Laplacian of the Laplacian of u"},
        {"upwind", "upwind(u, x, v, order=1)",
         "v times the derivative of u, taken on the side that v comes from"},
        {"interpolate", "interpolate(u, x, …, order=2)",
         "u half a cell further along the axes that are named"},
        {"grad", "grad(u, order=2)", "the vector of the first derivatives of u"},
        {"div", "div(v, order=2) or div(a, b)",
         "the sum of the derivative of each component of v along its axis; of two numbers the quotient, "
         "rounded down"},
        {"curl", "curl(v, order=2)", "the curl of v; with two axes a number, or of a number a vector"},
        {"pos", "pos(x)", "the coordinate of the cell along x"},
        {"idx", "idx(x)", "the index of the cell along x, from 0"},
        {"len", "len(x)", "the number of cells along x"},
        {"min", "min(a, b, …) or min(i in low..high) term", "the least"},
        {"max", "max(a, b, …) or max(i in low..high) term", "the greatest"},
        {"sum", "sum(i in low..high) term", "the sum of the terms"},
        {"prod", "prod(i in low..high) term", "the product of the terms"},
        {"dot", "dot(a, b)", "the scalar product of two vectors"},
        {"cross", "cross(a, b)", "the vector product; with two components a number"},
        {"norm", "norm(a)", "the length of a vector"},
        {"re", "re(z)", "the real part"},
        {"im", "im(z)", "the imaginary part"},
        {"conj", "conj(z)", "the complex conjugate"},
        {"arg", "arg(z)", "the angle of a complex number"},
        {"mod", "mod(a, b)", "a - b*div(a, b), of the sign of b"},
        {"random", "random()", "a number from 0 to 1, another in each cell and step"},
        {"normal", "normal()", "a number of the normal distribution, another in each cell and step"},
        {"f32", "f32(a)", "a, rounded to 32 bits"},
        {"f64", "f64(a)", "a, rounded to 64 bits"},
        {"sqrt", "sqrt(a)", "the square root"},
        {"rsqrt", "rsqrt(a)", "1 / sqrt(a)"},
        {"cbrt", "cbrt(a)", "the cube root"},
        {"exp", "exp(a)", "e to the power of a"},
        {"log", "log(a)", "the natural logarithm"},
        {"sin", "sin(a)", "the sine of a in radians"},
        {"cos", "cos(a)", "the cosine of a in radians"},
        {"tan", "tan(a)", "the tangent of a in radians"},
        {"asin", "asin(a)", "the arc sine"},
        {"acos", "acos(a)", "the arc cosine"},
        {"atan", "atan(a)", "the arc tangent"},
        {"atan2", "atan2(y, x)", "the angle of the point (x, y)"},
        {"sinh", "sinh(a)", "the hyperbolic sine"},
        {"cosh", "cosh(a)", "the hyperbolic cosine"},
        {"tanh", "tanh(a)", "the hyperbolic tangent"},
        {"abs", "abs(a)", "the absolute value"},
        {"floor", "floor(a)", "a, rounded down to a whole number"},
        {"ceil", "ceil(a)", "a, rounded up to a whole number"},
        {"round", "round(a)", "the nearest whole number, of two the even one"},
        {"trunc", "trunc(a)", "a, rounded towards 0 to a whole number"},
        {"pow", "pow(a, b)", "a to the power of b"},
    };
    return forms;
}

}  // namespace halo::sema
