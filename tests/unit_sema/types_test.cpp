#include "analyze_text.h"

using halo::DiagnosticKind;
using halo::ir::Scalar;
using halo::ir::Storage;

TEST_CASE("a field has what it is stored in and what it is computed in") {
    const Analyzed made = stencil(
        "field a: f16\nfield b: bf16 as f32\nfield c: f32 as f64\nfield d: u8\nfield e: bool\nfield f: i64\n"
        "a[t+1] = a + b + c + d + f + (if e then 1 else 0)");
    const auto is = [&](const char* name, Scalar type, Storage storage) {
        return made.field(name).type == type && made.field(name).storage == storage;
    };
    CHECK(is("a", Scalar::f32, Storage::f16));
    CHECK(is("b", Scalar::f32, Storage::bf16));
    CHECK(is("c", Scalar::f64, Storage::f32));
    CHECK(is("d", Scalar::i32, Storage::u8));
    CHECK(is("e", Scalar::boolean, Storage::boolean));
    CHECK(is("f", Scalar::i64, Storage::i64));
}

TEST_CASE("integers stay integers among whole values") {
    const std::string fields = "param n: i32 = 3, p = 0.5\nfield a, b: i32\nfield u: f32\n";
    CHECK(stencil(fields + "a[t+1] = 2*a + b - 1").value(0) == "2 * a + b - 1");
    CHECK(stencil(fields + "a[t+1] = a * n").value(0) == "a * i32(n)");
    CHECK(stencil(fields + "a[t+1] = a + idx(x)").value(0) == "a + idx(x)");
    CHECK(stencil(fields + "a[t+1] = a + (2*idx(x) + len(x))").value(0) == "a + (2 * idx(x) + i32(len(x)))");
    CHECK(stencil(fields + "a[t+1] = mod(idx(x) + idx(y), 2)").value(0) == "mod(idx(x) + idx(y), 2)");
    CHECK(stencil(fields + "a[t+1] = div(a, 3)").value(0) == "div(a, 3)");
    CHECK(stencil(fields + "a[t+1] = a + (if b > 0 then 1 else 0)").value(0) ==
          "a + (if b > 0 then 1 else 0)");
}

TEST_CASE("integers take the type of a real that they meet, else the compute type") {
    const std::string fields = "param p = 0.5\nfield a: i32\nfield u: f32\nfield w: f64\n";
    CHECK(stencil(fields + "u[t+1] = u * a").value(0) == "u * f32(a)");
    CHECK(stencil(fields + "w[t+1] = w * a").value(0) == "w * f64(a)");
    CHECK(stencil(fields + "a[t+1] = a / 2").value(0) == "i32(f64(a) / 2)");
    CHECK(stencil(fields + "a[t+1] = a * p").value(0) == "i32(f64(a) * p)");
    CHECK(stencil(fields + "a[t+1] = sqrt(a)").value(0) == "i32(sqrt(f64(a)))");
    CHECK(stencil("field a: u8\na[t+1] = a / 2").value(0) == "i32(f32(a) / 2)");
    CHECK(stencil("field a: i32\na[t+1] = a / 2").value(0) == "i32(f64(a) / 2)");
}

TEST_CASE("whole numbers are divided and rounded exactly") {
    const auto number = [](const std::string& value) {
        return stencil("field u: f64\nu[t+1] = " + value).value(0);
    };
    CHECK(number("div(7, 2)") == "3");
    CHECK(number("div(-7, 2)") == "-4");
    CHECK(number("mod(-7, 2)") == "1");
    CHECK(number("mod(7, -2)") == "-1");
    CHECK(number("mod(5.5, 2)") == "3/2");
    CHECK(number("round(2.5)") == "2");
    CHECK(number("round(3.5)") == "4");
    CHECK(number("round(-2.5)") == "-2");
    CHECK(number("trunc(-2.5)") == "-2");
    CHECK(number("u - 2.5 * floor(u / 2.5)") == number("mod(u, 2.5)"));
}

TEST_CASE("a bool field is a condition") {
    const Analyzed made =
        stencil("field a, b: bool\nfield u: f32\na[t+1] = a and not b\nu[t+1] = if a then u else 0");
    CHECK(made.value(0) == "a and not b");
    CHECK(made.value(1) == "if a then u else 0");
    CHECK(stencil("field a, b: bool\na[t+1] = a == b").value(0) == "if a then b else not b");
    CHECK(stencil("field a: bool\na[t+1] = a == true").value(0) ==
          stencil("field a: bool\na[t+1] = if a then true else not true").value(0));
}
