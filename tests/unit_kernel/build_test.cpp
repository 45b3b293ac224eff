#include "catch.h"
#include "compiler/support/error.h"
#include "printed.h"

using namespace halo;
using namespace halo::kernel;

TEST_CASE("integer sums are written as one would write them") {
    const Expr i = i32("i"), n = i32("n");
    CHECK(printed(i + 0) == "i");
    CHECK(printed(0 + i) == "i");
    CHECK(printed(i + 1 + 2) == "i + 3");
    CHECK(printed(i + 1 - 3) == "i - 2");
    CHECK(printed(i - 2 + 2) == "i");
    CHECK(printed(1 + i) == "i + 1");
    CHECK(printed((i + 1) + (n + 2)) == "i + n + 3");
    CHECK(printed((i + 1) - (n - 2)) == "i - n + 3");
    CHECK(printed(i + (n - i)) == "i + n - i");
    CHECK(printed(3 - i) == "3 - i");
    CHECK(printed(Expr(2) + 3) == "5");
    CHECK(printed(-Expr(2)) == "-2");
}

TEST_CASE("integer products lose their ones and noughts") {
    const Expr i = i32("i"), n = i32("n");
    CHECK(printed(i * 1) == "i");
    CHECK(printed(1 * i) == "i");
    CHECK(printed(i * 0) == "0");
    CHECK(printed(Expr(3) * 4) == "12");
    CHECK(printed(i / 1) == "i");
    CHECK(printed(Expr(5) % 3) == "2");
    CHECK(printed(i % 3) == "i % 3");
    CHECK(printed((i + 1) * n) == "(i + 1) * n");
}

TEST_CASE("real arithmetic stays as it is") {
    const Expr a = f32("a"), zero = real_literal(0, Type::f32), one = real_literal(1, Type::f32);
    CHECK(printed(a + zero) == "a + 0.0f");
    CHECK(printed(a * one) == "a * 1.0f");
    CHECK(printed(a * zero) == "a * 0.0f");
    CHECK(printed((a + one) + (a + one)) == "a + 1.0f + (a + 1.0f)");
}

TEST_CASE("integers of two widths give the wider one; nothing else mixes") {
    const Expr i = i32("i"), slice = variable("slice", Type::i64);
    CHECK((i * slice).type() == Type::i64);
    CHECK((slice + i + 1).type() == Type::i64);
    CHECK((i < slice).type() == Type::boolean);
    CHECK_THROWS_AS(i + f32("a"), InternalError);
    CHECK_THROWS_AS(f32("a") * variable("b", Type::f64), InternalError);
    CHECK_THROWS_AS(select(i < 1, i, f32("a")), InternalError);
}

TEST_CASE("conversions to the type that is there are none") {
    const Expr i = i32("i");
    CHECK(printed(convert(i, Type::i32)) == "i");
    CHECK(printed(convert(i, Type::i64)) == "static_cast<long long>(i)");
    CHECK(printed(convert(Expr(3), Type::i64)) == "3");
}

TEST_CASE("comparisons of literals are known, and empty conditions leave the others") {
    const Expr i = i32("i"), none;
    CHECK(printed(Expr(1) < 2) == "true");
    CHECK(printed(Expr(1) >= 2) == "false");
    CHECK(printed(Expr(2) == 2) == "true");
    CHECK(printed(none && i < 3) == "i < 3");
    CHECK(printed(i < 3 && none) == "i < 3");
    CHECK(printed(none || i < 3) == "i < 3");
    CHECK(printed(i < 3 || (i > 5 || i == 4)) == "i < 3 || i > 5 || i == 4");
    CHECK_FALSE((none && none).has_value());
}

TEST_CASE("literals are told from other expressions") {
    CHECK(int_value(Expr(7)) == 7);
    CHECK_FALSE(int_value(i32("i")));
    CHECK_FALSE(int_value(real_literal(7, Type::f64)));
}
